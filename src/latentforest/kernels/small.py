"""EM for small models: one or two latent variables over a few columns, from a table of counts.

Legend: ``y`` the states of the root, ``z`` those of the second latent variable below it (a single
one if there is none), ``i`` a column, ``p`` a pattern of the columns with its weight. Column ``i``
hangs below the root or, where ``is_far[i]``, below the second variable. Parameters are P(y),
P(z | y), then P(column | its parent) for each column. A code equal to the column's number of
states is a missing value.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import (
    OBJECTIVE,
    Climb,
    Limits,
    Method,
    advance,
    copy,
    is_above,
    restart,
)
from latentforest.kernels.types import BoolArray, FloatArray, IntArray

VANISHING = 1e-250  # below this, a sum of products may lack what underflow removed


@part
def _expect(
    codes: IntArray,
    weights: FloatArray,
    is_far: BoolArray,
    families: Families,
    theta: FloatArray,
    counts: FloatArray,
    joint: FloatArray,
    belief: FloatArray,
) -> float:
    """Fill ``counts`` with the expected counts and return the log-likelihood.

    ``belief`` has room for a number for each state of the root, then of the second variable.
    """
    n_y, n_z = families.n_rows[1], families.n_states[1]
    counts[:] = 0.0
    log_likelihood = 0.0
    for p in range(codes.shape[0]):
        for y in range(n_y):
            belief[y] = theta[y]
        for z in range(n_z):
            belief[n_y + z] = 1.0
        for i in range(codes.shape[1]):
            card, code = families.n_states[i + 2], codes[p, i]
            if code < card:
                first = n_y if is_far[i] else 0
                place = families.offset[i + 2] + code
                for k in range(families.n_rows[i + 2]):
                    belief[first + k] *= theta[place + k * card]
        total = 0.0
        for y in range(n_y):
            for z in range(n_z):
                joint[y * n_z + z] = belief[y] * theta[n_y + y * n_z + z] * belief[n_y + z]
                total += joint[y * n_z + z]
        if total < VANISHING:
            value = _rescue(codes[p], is_far, families, theta, joint, belief)
            if value == -np.inf:
                return value
            log_likelihood += weights[p] * value
            total = 1.0
        else:
            log_likelihood += weights[p] * math.log(total)
        scale = weights[p] / total
        belief[:] = 0.0
        for y in range(n_y):
            for z in range(n_z):
                share = joint[y * n_z + z] * scale
                counts[n_y + y * n_z + z] += share
                belief[y] += share
                belief[n_y + z] += share
            counts[y] += belief[y]
        for i in range(codes.shape[1]):
            card, code = families.n_states[i + 2], codes[p, i]
            if code < card:
                first = n_y if is_far[i] else 0
                place = families.offset[i + 2] + code
                for k in range(families.n_rows[i + 2]):
                    counts[place + k * card] += belief[first + k]
    return log_likelihood


@part
def _rescue(
    codes: IntArray,
    is_far: BoolArray,
    families: Families,
    theta: FloatArray,
    joint: FloatArray,
    belief: FloatArray,
) -> float:
    """Fill ``joint`` with the posterior of a pattern by way of logarithms; return its own."""
    n_y, n_z = families.n_rows[1], families.n_states[1]
    for y in range(n_y):
        belief[y] = math.log(theta[y])
    for z in range(n_z):
        belief[n_y + z] = 0.0
    for i in range(codes.shape[0]):
        card, code = families.n_states[i + 2], codes[i]
        if code < card:
            first = n_y if is_far[i] else 0
            for k in range(families.n_rows[i + 2]):
                belief[first + k] += math.log(theta[families.offset[i + 2] + code + k * card])
    highest, total = -np.inf, 0.0
    for y in range(n_y):
        for z in range(n_z):
            link = math.log(theta[n_y + y * n_z + z])
            joint[y * n_z + z] = belief[y] + link + belief[n_y + z]
            highest = max(highest, joint[y * n_z + z])
    if highest == -np.inf:
        return highest
    for k in range(n_y * n_z):
        joint[k] = math.exp(joint[k] - highest)
        total += joint[k]
    for k in range(n_y * n_z):
        joint[k] /= total
    return highest + math.log(total)


@kernel
def fit_small(
    codes: IntArray,
    weights: FloatArray,
    is_far: BoolArray,
    families: Families,
    starts: FloatArray,
    method: Method,
    state: Climb,
    limits: Limits,
) -> tuple[int, float]:
    """Fit from several starts, the rows of ``starts``, which are changed in place.

    Each start gets ``limits.pause`` iterations; the best goes on to ``limits.max_iterations``
    in all. Returns the best row and its log-likelihood.
    """
    n_starts = starts.shape[0]
    prior = np.zeros(starts.shape[1])
    joint = np.empty(families.n_rows[1] * families.n_states[1])
    belief = np.empty(families.n_rows[1] + families.n_states[1])
    trajectory = np.empty(limits.max_iterations + limits.pause + 2)
    first = Limits(limits.pause, -np.inf, False, limits.pause)
    last = Limits(
        limits.max_iterations, limits.least_gain, limits.accelerate, limits.max_iterations
    )
    best, highest = 0, -np.inf
    for s in range(n_starts + 1):
        theta = starts[s if s < n_starts else best]
        restart(state)
        goes_on = n_starts > 1 or s == n_starts
        while goes_on:
            value = _expect(codes, weights, is_far, families, theta, state.counts, joint, belief)
            level = first if s < n_starts else last
            goes_on = advance(method, families, prior, state, theta, value, level, trajectory)
        if s < n_starts and is_above(state.values[OBJECTIVE], highest):
            best, highest = s, state.values[OBJECTIVE]
    if state.flags[0] == 2:
        copy(state.third, starts[best])
    value = _expect(codes, weights, is_far, families, starts[best], state.counts, joint, belief)
    return best, value
