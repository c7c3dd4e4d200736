"""State introduction (SI) and state removal (SR) at a latent variable of a candidate."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.bayes.posterior_vector import (
    copy_families,
    pack_priors,
    read_family,
    write_family,
)
from latentforest.kernels.types import FloatArray
from latentforest.model.conjugate import NormalGamma
from latentforest.model.structure import Structure
from latentforest.search.incremental.candidate import JoinCandidate, fit_candidate
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.states import alternate, merge_shares, move_apart


def introduce_state(context: GrowthContext, candidate: JoinCandidate, name: str) -> JoinCandidate:
    """Give a latent variable one more state: each of its states is split in one of the starts."""
    old = candidate.structure
    n_states = old.shape(name)[-1]
    structure = with_states(old, name, n_states + 1)
    blend = []
    for s in range(n_states):
        rows = np.eye(n_states)[[*range(n_states), s]]
        rows[[s, n_states]] *= 0.5
        blend.append(rows)
    starts = [move_states(context, candidate, structure, name, rows, True) for rows in blend]
    return fit_candidate(context, "SI", candidate.parts, structure, np.stack(starts))


def remove_state(context: GrowthContext, candidate: JoinCandidate, name: str) -> JoinCandidate:
    """Take a state from a latent variable: two of its states become one in each of the starts."""
    old = candidate.structure
    n_states = old.shape(name)[-1]
    structure = with_states(old, name, n_states - 1)
    starts = []
    for a, b in combinations(range(n_states), 2):
        rows = merge_shares(np.eye(n_states), a, b).T
        starts.append(move_states(context, candidate, structure, name, rows, False))
    return fit_candidate(context, "SR", candidate.parts, structure, np.stack(starts))


def with_states(structure: Structure, name: str, n_states: int) -> Structure:
    """Return the structure with another number of states of a latent variable."""
    return Structure(
        [Variable.hidden(name, n_states) if v.name == name else v for v in structure.variables],
        {each: structure.parents(each) for each in structure.names},
    )


def move_states(
    context: GrowthContext,
    candidate: JoinCandidate,
    structure: Structure,
    name: str,
    blend: FloatArray,
    is_split: bool,
) -> FloatArray:
    """Make a posterior in which new states are sums of shares of the old ones.

    Parameters
    ----------
    context
        The priors.
    candidate
        With the old states.
    structure
        With the new ones.
    name
        The latent variable.
    blend
        What of each old state goes to each new one, ``(n_new, n_old)``.
    is_split
        Whether to push states apart that are made of the same old one.
    """
    old, values = candidate.structure, candidate.posterior
    q, before = (pack_priors(each, context.priors) for each in (structure, old))
    changed = {name, *structure.children(name)}
    same = tuple(each for each in structure.names if each not in changed)
    copy_families(old, values, structure, q, same)
    counts = old.table_view(values, name) - old.table_view(before, name)
    structure.table_view(q, name)[...] += np.maximum(counts, 0.0) @ blend.T
    for child in structure.children(name):
        if child in candidate.messages:
            continue
        if child in structure.continuous:
            _move_gaussian(old, values, before, structure, q, child, blend, is_split)
            continue
        counts = old.table_view(values, child) - old.table_view(before, child)
        rows = blend @ np.maximum(counts, 0.0)
        if is_split:
            rows *= 1.0 + _find_sides(blend)[:, None] * alternate(rows.shape[1])
        structure.table_view(q, child)[...] += rows
    return q


def _find_sides(blend: FloatArray) -> FloatArray:
    """One for the first half of a split state, minus one for the other, zero elsewhere."""
    is_half = (blend > 0).any(axis=1) & (blend.max(axis=1) < 1.0)
    sides = np.zeros(len(blend))
    sides[np.flatnonzero(is_half)[:1]] = 1.0
    sides[np.flatnonzero(is_half)[1:]] = -1.0
    return sides


def _move_gaussian(
    old: Structure,
    values: FloatArray,
    before: FloatArray,
    structure: Structure,
    q: FloatArray,
    child: str,
    blend: FloatArray,
    is_split: bool,
) -> None:
    now, prior = (read_family(old, each, child) for each in (values, before))
    assert isinstance(now, NormalGamma)
    assert isinstance(prior, NormalGamma)
    n = blend * np.maximum(now.weight - prior.weight, 1e-9)  # (n_new, n_old)
    total = n.sum(axis=1)
    mean = n @ now.mean / total
    variance = (n * (now.variance + (now.mean - mean[:, None]) ** 2)).sum(axis=1) / total
    if is_split:
        mean, variance = move_apart(mean, variance, _find_sides(blend))
    shape = prior.shape.flat[0] + 0.5 * total
    after = NormalGamma(mean, prior.weight.flat[0] + total, shape, shape * variance)
    write_family(structure, q, child, after)
