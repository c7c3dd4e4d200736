"""Dynamic programming over subsets, against all networks over four variables."""

import numpy as np
import pytest

from latentforest.kernels.counts.sinks import (
    find_parents,
    score_best_networks,
    score_families,
    score_sink,
    spread_best,
)
from reference.dags import all_dags, subsets

N = 4
ALL = (1 << N) - 1


def to_mask(columns):
    return sum(1 << j for j in columns)


def score(values, child, parents):
    mask = to_mask(parents)
    return values[mask | 1 << child] - values[mask]


@pytest.fixture(params=range(5))
def values(request):
    """Whole numbers, so that ties are many and sums exact; some sets are out of reach."""
    rng = np.random.default_rng(request.param)
    values = rng.integers(-5, 5, 1 << N).astype(float)
    values[[0b1111, 0b0111]] = -np.inf
    return values


def find_best(values, child, required, allowed, most, weights=(0.0,) * N):
    """Best scores of a variable within all sets of the others."""
    best = np.empty(1 << (N - 1))
    score_families(values, values, np.array(weights), child, required, allowed, most, best)
    spread_best(best)
    return best


@pytest.fixture
def best(values):
    return np.stack([find_best(values, j, 0, ALL ^ 1 << j, 2) for j in range(N)])


def test_best_network_over_every_set(values, best):
    totals = np.empty(1 << N)
    score_best_networks(best, totals)
    dags = [dag for dag in all_dags(N) if max(map(len, dag)) <= 2]
    for members in subsets(range(N)):
        inside = [
            sum(score(values, j, dag[j]) for j in members)
            for dag in dags
            if all(set(dag[j]) <= set(members) for j in members)
        ]
        assert totals[to_mask(members)] == max(inside)
        if members:
            sinks = [score_sink(best, totals, to_mask(members), j) for j in members]
            assert max(sinks) == max(inside)


def test_parents_are_the_best_and_none_can_be_spared(values):
    for child in range(N):
        others = [j for j in range(N) if j != child]
        best = find_best(values, child, 1 << others[0], to_mask(others), 2)
        for within in subsets(others):
            ways = [p for p in subsets(within) if others[0] in p and len(p) <= 2]
            if not ways:
                continue
            found = find_parents(best, child, to_mask(within))
            top = max(score(values, child, p) for p in ways)
            if top == -np.inf:
                continue
            chosen = next(p for p in ways if to_mask(p) == found)
            assert score(values, child, chosen) == top
            smaller = [p for p in ways if set(p) < set(chosen)]
            assert all(score(values, child, p) < top for p in smaller)


def test_forbidden_parents(values):
    best = find_best(values, 2, 0, 0b0010, 3)
    alone, with_one = score(values, 2, ()), score(values, 2, (1,))
    assert best[0b101] == alone
    assert best[0b111] == best[0b010] == max(alone, with_one)


def test_weights_of_arcs_and_values_of_parents():
    """Column 1 of three, with parents 0 and 2 (which is bit 1 of the others)."""
    values, above = np.arange(8.0), 10.0 * np.arange(8)
    scores = np.empty(4)
    score_families(values, above, np.array([0.5, 9.0, 0.25]), 1, 0, 0b101, 2, scores)
    assert scores.tolist() == [2.0 - 0, 3.0 - 10 + 0.5, 6.0 - 40 + 0.25, 7.0 - 50 + 0.75]
