"""Latent variables of two models matched by what they say of the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.scores.compared_models import ComparedModel
from latentforest.scores.contingency import adjusted_rand, match_states, mutual_information

ALIKE = 0.1  # adjusted Rand index from which a match counts as one
_PIECE = 1 << 16  # rows that are counted at a time


@dataclass(frozen=True)
class LatentMatch:
    """Two latent variables that are matched, and the weights of rows by their states."""

    first: str
    second: str
    counts: FloatArray
    adjusted_rand: float


def match_latents(first: ComparedModel, second: ComparedModel) -> list[LatentMatch]:
    """Match latent variables one to one, so that the sum of their agreement is largest."""
    from scipy.optimize import linear_sum_assignment

    ours, theirs = first.network.latents, second.network.latents
    if not ours or not theirs:
        return []
    tables = _count_pairs(first, second)
    agreement = np.array([[adjusted_rand(table) for table in row] for row in tables])
    rows, columns = linear_sum_assignment(-agreement.round(9))  # whatever the last bits are
    found = [
        LatentMatch(ours[i], theirs[j], tables[i][j], float(agreement[i, j]))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    return sorted(found, key=lambda match: -round(match.adjusted_rand, 9))


def _count_pairs(first: ComparedModel, second: ComparedModel) -> list[list[FloatArray]]:
    """Weights of the rows by the states of every two latent variables."""
    ours, theirs = _list_offsets(first), _list_offsets(second)
    counts = np.zeros((ours[-1], theirs[-1]))
    for start in range(0, first.table.n_rows, _PIECE):
        rows = slice(start, start + _PIECE)
        weighted = _mark(first, ours, rows) * first.weights[rows, None]
        counts += weighted.T @ _mark(second, theirs, rows)
    return [[counts[a:b, c:d] for c, d in pairwise(theirs)] for a, b in pairwise(ours)]


def _list_offsets(model: ComparedModel) -> list[int]:
    """Where the states of each latent variable begin if all stand in one row."""
    sizes = [model.network.structure.variable(name).n_states for name in model.network.latents]
    return [0, *np.cumsum(sizes).tolist()]


def _mark(model: ComparedModel, offsets: Sequence[int], rows: slice) -> FloatArray:
    """One for the state of each latent variable that a row is assigned to."""
    states = [codes[rows] for codes in model.states]
    marks = np.zeros((len(states[0]), offsets[-1]))
    for start, codes in zip(offsets, states, strict=False):
        marks[np.arange(len(codes)), start + codes] = 1.0
    return marks


def describe_matches(
    first: ComparedModel, second: ComparedModel, matches: Sequence[LatentMatch]
) -> list[dict[str, Any]]:
    """Rows of the table of latent variables."""
    rows = []
    for match in matches:
        ours = first.network.structure.states(match.first)
        theirs = second.network.structure.states(match.second)
        pairs = match_states(match.counts.round(9))
        total = float(match.counts.sum())
        rows.append(
            {
                "first": first.name,
                "latent": match.first,
                "second": second.name,
                "other_latent": match.second,
                "adjusted_rand": match.adjusted_rand,
                "bits": mutual_information(match.counts) / math.log(2),
                "states": ", ".join(f"{ours[a]}={theirs[b]}" for a, b in pairs),
                "share": sum(float(match.counts[a, b]) for a, b in pairs) / total,
            }
        )
    return rows
