"""Variational Bayes: potentials, posteriors and their distance from the prior; the climb.

The loop is that of ``em``, with a vector of posterior parameters instead of probabilities. It is as
long as the vector of counts. A row of a table holds the parameters of a Dirichlet distribution. A
Gaussian has a Normal-Gamma distribution: mean and rate lie where mean and variance lie in a
parameter vector, weight and shape in the first two of the three places of its sums. A prior is
such a vector too.

The E-step takes *potentials*, the exponentials of expected logarithms: of a table those of its
probabilities; of a Gaussian, in the places of its sums, minus the mean, the factor of the distance
from it, and the logarithm of the constant.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.em import (
    CONVERGED,
    LONGEST,
    LOWEST,
    N_DONE,
    OBJECTIVE,
    PHASE,
    WARM_UP,
    Climb,
    Families,
    Limits,
    copy,
    put_best_first,
    restart,
)
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.propagation import propagate
from latentforest.kernels.gaussian.leaves import LOG_2_PI, N_ROWS
from latentforest.kernels.types import Flag, FloatArray

SERIES = 9.0  # from here on, the asymptotic series of digamma has the precision of a double
TINIEST = 1e-290  # potentials do not fall below it


@kernel
def digamma(x: float) -> float:
    """Derivative of the logarithm of the gamma function, for positive numbers."""
    result = 0.0
    while x < SERIES:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 12.0 - y * (
        1.0 / 120.0
        - y
        * (
            1.0 / 252.0
            - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * (691.0 / 32760.0 - y * (1.0 / 12.0))))
        )
    )
    return result + math.log(x) - 0.5 / x - y * series


@kernel
def fill_potentials(families: Families, q: FloatArray, potentials: FloatArray) -> None:
    """Compute the potentials of the free families from their posteriors."""
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        for r in range(families.n_rows[f]):
            if n_states < 0:
                i, s = families.offset[f] + 2 * r, N_ROWS * r - n_states
                weight, shape, rate = q[s], q[s + 1], q[i + 1]
                potentials[s] = -q[i]
                potentials[s + 1] = math.sqrt(0.5 * shape / rate)
                potentials[s + 2] = 0.5 * (
                    digamma(shape) - math.log(rate) - LOG_2_PI - 1.0 / weight
                )
                continue
            start = families.offset[f] + r * n_states
            total = 0.0
            for i in range(start, start + n_states):
                total += q[i]
            expected = digamma(total)
            for i in range(start, start + n_states):
                potentials[i] = max(math.exp(digamma(q[i]) - expected), TINIEST)


@kernel
def update_posterior(
    families: Families,
    counts: FloatArray,
    prior: FloatArray,
    potentials: FloatArray,
    q: FloatArray,
) -> None:
    """Add the expected counts of an E-step, which used these potentials, to the prior."""
    for f in range(families.offset.shape[0]):
        start, n_states = families.offset[f], families.n_states[f]
        if n_states > 0:
            for i in range(start, start + families.n_rows[f] * n_states):
                q[i] = prior[i] + counts[i]
            continue
        for r in range(families.n_rows[f]):
            i, s = start + 2 * r, N_ROWS * r - n_states
            # Sums are around the mean of the E-step, in units of its own.
            n, unit, center = counts[s], 1.0 / potentials[s + 1], -potentials[s]
            first, second = unit * counts[s + 1], unit * unit * counts[s + 2]
            away = prior[i] - center
            weight = prior[s] + n
            step = (prior[s] * away + first) / weight
            q[i] = center + step
            q[i + 1] = prior[i + 1] + 0.5 * max(
                second - 2.0 * step * first + n * step * step + prior[s] * (away - step) ** 2, 0.0
            )
            q[s] = weight
            q[s + 1] = prior[s + 1] + 0.5 * n


@kernel
def divergence(families: Families, prior: FloatArray, q: FloatArray) -> float:
    """Sum the Kullback-Leibler divergences of the free families' posteriors from their priors."""
    result = 0.0
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        for r in range(families.n_rows[f]):
            if n_states < 0:
                i, s = families.offset[f] + 2 * r, N_ROWS * r - n_states
                ratio, shape, away = prior[s] / q[s], q[s + 1], q[i] - prior[i]
                precision = shape / q[i + 1]
                result += 0.5 * (prior[s] * away * away * precision + ratio - 1.0 - math.log(ratio))
                result += (shape - prior[s + 1]) * digamma(shape)
                result += math.lgamma(prior[s + 1]) - math.lgamma(shape)
                result += prior[s + 1] * math.log(q[i + 1] / prior[i + 1])
                result += precision * prior[i + 1] - shape
                continue
            start = families.offset[f] + r * n_states
            total, before = 0.0, 0.0
            for i in range(start, start + n_states):
                total += q[i]
                before += prior[i]
            expected = digamma(total)
            result += math.lgamma(total) - math.lgamma(before)
            for i in range(start, start + n_states):
                result += math.lgamma(prior[i]) - math.lgamma(q[i])
                result += (q[i] - prior[i]) * (digamma(q[i]) - expected)
    return result


@part
def _extrapolate(
    families: Families,
    first: FloatArray,
    second: FloatArray,
    third: FloatArray,
    prior: FloatArray,
    longest: float,
    result: FloatArray,
) -> float:
    """SQUAREM's step through three posteriors, in units of observations; see ``em``."""
    r_square, v_square = 0.0, 0.0
    for f in range(families.offset.shape[0]):
        start, n_states = families.offset[f], families.n_states[f]
        width = n_states if n_states > 0 else 2
        for i in range(start, start + families.n_rows[f] * width):
            unit = 1.0
            if n_states < 0:
                s = N_ROWS * ((i - start) // 2) - n_states
                rate = prior[start + 1] / prior[s + 1]
                unit = 1.0 / rate if (i - start) & 1 == 1 else third[s] / math.sqrt(rate)
            r = (second[i] - first[i]) * unit
            v = (third[i] - second[i]) * unit - r
            r_square += r * r
            v_square += v * v
    length = math.sqrt(r_square / v_square) if v_square > 0.0 else 1.0
    length = min(max(length, 1.0), longest)
    for f in range(families.offset.shape[0]):
        start, n_states = families.offset[f], families.n_states[f]
        for row in range(families.n_rows[f]):
            width = n_states if n_states > 0 else 4
            for j in range(width):
                i = start + row * width + j
                least = prior[i]
                if n_states < 0:
                    i = start + 2 * row + j if j < 2 else N_ROWS * row - n_states + j - 2
                    least = prior[i]
                r = second[i] - first[i]
                v = third[i] - second[i] - r
                value = first[i] + 2.0 * length * r + length * length * v
                if n_states > 0 or j > 0:
                    value = max(value, least + LOWEST * (third[i] - least))
                result[i] = value
    return length


@kernel
def advance_posterior(
    climb: Climb,
    families: Families,
    q: FloatArray,
    potentials: FloatArray,
    log_normalizer: float,
    prior: FloatArray,
    limits: Limits,
    trajectory: FloatArray,
) -> bool:
    """Do all of a VBEM iteration but its E-step, like ``em.advance``.

    The objective is the evidence lower bound: log normalizer less divergence.
    """
    flags, values = climb.flags, climb.values
    phase, last = flags[PHASE], values[OBJECTIVE]
    objective = log_normalizer - divergence(families, prior, q)
    n = flags[N_DONE]
    flags[N_DONE] = n + 1
    goes_on: bool = n + 1 < min(limits.max_iterations, limits.pause)
    is_last = n + 1 >= limits.max_iterations
    if phase == 2 and not objective >= last:  # fall back to the safe point
        copy(climb.third, q)
        values[LONGEST] = max(1.0, values[LONGEST] / 4.0)
        flags[PHASE] = 0
        trajectory[n] = last
        return goes_on
    trajectory[n] = objective
    values[OBJECTIVE] = objective
    if phase != 2 and objective - last <= limits.least_gain:
        flags[CONVERGED] = 1
        return False
    if phase == 0:
        copy(q, climb.first)
    elif phase == 1:
        copy(q, climb.second)
    update_posterior(families, climb.counts, prior, potentials, q)
    if not limits.accelerate or is_last or n + 1 < WARM_UP or phase == 2:
        flags[PHASE] = 0
    elif phase == 0:
        flags[PHASE] = 1
    else:
        copy(q, climb.third)
        longest = values[LONGEST]
        length = _extrapolate(families, climb.first, climb.second, climb.third, prior, longest, q)
        if length == longest:
            values[LONGEST] = 4.0 * longest
        flags[PHASE] = 2
    return goes_on


@kernel
def climb_posteriors(
    plan: Plan,
    work: Workspace,
    climb: Climb,
    families: Families,
    starts: FloatArray,
    potentials: FloatArray,
    prior: FloatArray,
    limits: Limits,
    resumes: Flag,
    trajectory: FloatArray,
) -> tuple[int, float, bool]:
    """Run VBEM from several starts, as ``em.climb_pyramid`` runs EM.

    ``potentials`` holds those of the frozen families; the others are filled in.
    """
    n_alive, n_done, n_next = starts.shape[0], 0, 1
    alive, objectives, nothing = np.arange(n_alive), np.empty(n_alive), np.empty(0)
    is_judged = np.bool_(True)
    while n_alive > 0:
        level = Limits(n_next + 1, -np.inf, False, n_next + 1)
        if n_alive == 1:
            n_next = max(limits.max_iterations - n_done, 1)
            level = Limits(n_next, limits.least_gain, limits.accelerate, limits.pause)
        for i in range(n_alive):
            q, goes_on = starts[alive[i]], True
            if not resumes:
                restart(climb)
            while goes_on:
                fill_potentials(families, q, potentials)
                value, n_vanished = propagate(
                    plan, work, potentials, climb.counts, nothing, 0.0, is_judged
                )
                if n_vanished > 0:
                    return alive[i], value, False
                goes_on = advance_posterior(
                    climb, families, q, potentials, value, prior, level, trajectory
                )
            objectives[i] = climb.values[OBJECTIVE]
        put_best_first(alive, objectives, n_alive)
        n_alive = (n_alive + 1) // 2 if n_alive > 1 else 0
        n_done += n_next + 1
        n_next *= 2
    q = starts[alive[0]]
    fill_potentials(families, q, potentials)
    value, n_vanished = propagate(plan, work, potentials, nothing, nothing, 0.0, is_judged)
    return alive[0], value - divergence(families, prior, q), n_vanished == 0
