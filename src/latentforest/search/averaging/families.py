"""Scores of all families of a few columns, or of those with parents from a few candidates."""

from __future__ import annotations

import numpy as np

from latentforest.errors import ParameterError
from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.inference.structures.structure_chains import CandidateScores
from latentforest.kernels.types import FloatArray
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.exact import tabulate_scores
from latentforest.search.dags.family_scores import MOST_CELLS, FamilyScores
from latentforest.ties import is_higher, sort_best_first


def score_all_families(scores: FamilyScores, constraints: ArcConstraints) -> FloatArray:
    """Return the scores of all variables with all sets of parents, ``(n, 2^n)``, by bit masks.

    Families that the constraints rule out, or with more than ``MOST_CELLS`` cells, have -inf.
    """
    n = scores.n_columns
    sets = np.arange(1 << n)
    local = np.full((n, 1 << n), -np.inf)
    for v, row in enumerate(tabulate_scores(scores, constraints, MOST_CELLS)):
        local[v, sets[(sets >> v & 1) == 0]] = row
    return local


def score_candidates(
    scores: FamilyScores, constraints: ArcConstraints, n_candidates: int
) -> CandidateScores:
    """Choose candidates for the parents of each variable, and score all sets of them.

    Candidates are the required parents, those that greedy search adds one by one, then those that
    tell most of the variable by themselves.
    """
    n = scores.n_columns
    width = min(n_candidates, n - 1)
    candidates = np.full((n, width), -1, np.int64)
    local = np.full((n, 1 << width), -np.inf)
    for v in range(n):
        chosen = _choose(scores, constraints, v, width)
        candidates[v, : len(chosen)] = chosen
        _score_sets(scores, constraints, v, chosen, local[v])
    return CandidateScores(candidates, local)


def _choose(
    scores: FamilyScores, constraints: ArcConstraints, variable: int, most: int
) -> list[int]:
    required, allowed = constraints.required[variable], constraints.allowed[variable]
    if required.bit_count() > most:
        raise ParameterError(
            f"column {scores.table.names[variable]!r} has {required.bit_count()} required parents, "
            f"but n_candidates is {most}"
        )
    chosen = _add_greedily(scores, variable, required, allowed, constraints.max_parents)
    others = [j for j in list_bits(allowed) if j not in chosen]
    if others:
        alone = scores.score_additions(variable, 0, others)
        chosen += [others[place] for place in sort_best_first(alone)]
    return chosen[:most]


def _add_greedily(
    scores: FamilyScores, variable: int, parents: Mask, allowed: Mask, most: int
) -> list[int]:
    """Add the parent that helps most, as long as one does."""
    chosen, score = list_bits(parents), scores.score(variable, parents)
    while len(chosen) < most:
        others = [j for j in list_bits(allowed) if j not in chosen]
        if not others:
            break
        found = scores.score_additions(variable, parents, others)
        best = sort_best_first(found)[0]
        if not is_higher(float(found[best]), score):
            break
        chosen.append(others[best])
        parents, score = parents | 1 << others[best], float(found[best])
    return chosen


def _score_sets(
    scores: FamilyScores,
    constraints: ArcConstraints,
    variable: int,
    chosen: list[int],
    local: FloatArray,
) -> None:
    """Score all sets of candidates that the constraints allow; sets grow by later candidates."""
    required, most = constraints.required[variable], constraints.max_parents
    stack: list[tuple[int, Mask, int]] = [(0, 0, 0)]  # set of places, of columns, next place
    if not required:
        local[0] = scores.score(variable, 0)
    while stack:
        places, parents, first = stack.pop()
        if places.bit_count() == most or first == len(chosen):
            continue
        found = scores.score_additions(variable, parents, chosen[first:])
        for place, value in enumerate(found.tolist(), first):
            grown = parents | 1 << chosen[place]
            if scores.table.count_cells(grown | 1 << variable) > MOST_CELLS:
                continue
            if grown & required == required:
                local[places | 1 << place] = value
            stack.append((places | 1 << place, grown, place + 1))
