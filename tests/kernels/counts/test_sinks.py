"""Dynamic programming over subsets, against all networks over four variables."""

import numpy as np
import pytest

from latentforest.kernels.counts.sinks import (
    find_parents,
    score_best_networks,
    score_best_parents,
    score_sink,
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


@pytest.fixture
def best(values):
    best = np.empty((N, 1 << (N - 1)))
    for j in range(N):
        score_best_parents(values, j, 0, ALL ^ 1 << j, 2, best[j])
    return best


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


def test_parents_are_the_fewest_of_the_best(values):
    for child in range(N):
        others = [j for j in range(N) if j != child]
        for within in subsets(others):
            ways = [p for p in subsets(within) if others[0] in p and len(p) <= 2]
            found = find_parents(values, child, to_mask(within), 1 << others[0], to_mask(others), 2)
            if not ways:
                assert found == -1
                continue
            chosen = max(ways, key=lambda p: (score(values, child, p), -len(p), -to_mask(p)))
            assert found == to_mask(chosen)


def test_forbidden_parents(values):
    best = np.empty(1 << (N - 1))
    score_best_parents(values, 2, 0, 0b0010, 3, best)
    alone, with_one = score(values, 2, ()), score(values, 2, (1,))
    assert best[0b101] == alone
    assert best[0b111] == best[0b010] == max(alone, with_one)
