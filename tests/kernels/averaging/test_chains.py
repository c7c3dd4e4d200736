"""Chains over orders and networks: what they add up for a state, and where they converge."""

import numpy as np
import pytest
from scipy.special import logsumexp

from latentforest.inference.structures.network_sums import add_up_networks
from latentforest.inference.structures.structure_chains import (
    CandidateScores,
    compute_r_hat,
    run_chains,
)
from latentforest.kernels.averaging.chains import expect_arcs, walk_networks, walk_orders

N = 4
CANDIDATES = np.array([[u for u in range(N) if u != v] for v in range(N)])


@pytest.fixture
def families():
    return CandidateScores(CANDIDATES, np.random.default_rng(0).normal(size=(N, 1 << (N - 1))))


def check_arcs(families, state, is_order, list_possible):
    """Compare probabilities of arcs in a state with those by definition; return the sums."""
    arcs, totals = np.empty((1, N, N - 1)), []
    expect_arcs(families.sums, CANDIDATES, np.array([state]), is_order, arcs)
    for v in range(N):
        possible = list_possible(v)
        allowed = [s for s in range(8) if set(families.list_parents(v, s)) <= possible]
        total = logsumexp(families.scores[v, allowed])
        totals.append(total - families.scores[v].max())
        for c in range(N - 1):
            inside = [chosen for chosen in allowed if chosen >> c & 1]
            share = np.exp(logsumexp(families.scores[v, inside]) - total) if inside else 0.0
            assert arcs[0, v, c] == pytest.approx(share, abs=1e-12)
    return totals


def test_an_order_by_definition(families):
    order, states, scores = np.array([2, 0, 3, 1]), np.empty((1, N), np.int64), np.empty(1)
    draws = np.array([[0.99, 0.0, 0.0, 0.5, 0.5]])  # exchanges a variable with itself
    walk_orders(families.sums, CANDIDATES, order.copy(), draws, 1, states, scores)
    totals = check_arcs(families, order, True, lambda v: set(np.flatnonzero(order < order[v])))
    assert scores[0] == pytest.approx(sum(totals), abs=1e-12)
    assert states[0].tolist() == order.tolist()


def test_a_network_by_definition(families):
    # 0 -> 1 -> 2, and 3 alone: bit c of a mask is candidate c
    parents, possible = [0, 0b001, 0b010, 0], [{3}, {0, 3}, {0, 1, 3}, {0, 1, 2}]
    check_arcs(families, parents, False, lambda v: possible[v])
    states, scores = np.empty((1, N), np.int64), np.empty(1)
    draws = np.array([[0.0, 0.99, 1e-9, 0.5, 0.5]])  # variable 3 gets its best parents
    start = np.array(parents)
    walk_networks(
        families.sums, families.weights, families.ranks, CANDIDATES, start, draws, 1, states, scores
    )
    assert states[0].tolist() == [*parents[:3], int(np.argmax(families.scores[3]))]
    assert scores[0] == pytest.approx(families.weights[range(N), states[0]].sum(), abs=1e-12)


@pytest.mark.parametrize("prior", ["networks", "orders"])
def test_chains_converge_to_the_exact_average(families, prior):
    local = np.full((N, 1 << N), -np.inf)
    for v in range(N):
        for chosen, score in enumerate(families.scores[v]):
            local[v, sum(1 << u for u in families.list_parents(v, chosen))] = score
    is_order = prior == "orders"
    starts = np.tile(np.arange(N) if is_order else np.zeros(N, int), (3, 1)).astype(np.int64)
    found = run_chains(families, starts, 60_000, 4_000, is_order, seed=0)
    np.testing.assert_allclose(found.arcs, add_up_networks(local, prior).arcs, atol=0.015)
    assert found.r_hat < 1.01
    assert found.spread < 0.05
    assert 0.1 < found.acceptance < 1.0
    again = run_chains(families, starts, 60_000, 4_000, is_order, seed=0, n_jobs=2)
    assert np.array_equal(found.states, again.states)


def test_chains_that_stay_apart_are_noticed():
    rng = np.random.default_rng(0)
    together = [rng.normal(size=100) for _ in range(4)]
    assert compute_r_hat(together) < 1.05
    assert compute_r_hat([*together[:3], together[3] + 2]) > 1.3
