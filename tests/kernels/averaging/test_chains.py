"""Chains over orders and partitions: what they add up for a state, and where they converge."""

import numpy as np
import pytest
from scipy.special import logsumexp

from latentforest.inference.network_sums import add_up_networks
from latentforest.inference.order_chains import CandidateScores, compute_r_hat, run_chains
from latentforest.kernels.averaging.chains import expect_arcs, run_chain

N = 4
CANDIDATES = np.array([[u for u in range(N) if u != v] for v in range(N)])


@pytest.fixture
def families():
    return CandidateScores(CANDIDATES, np.random.default_rng(0).normal(size=(N, 1 << (N - 1))))


def list_allowed(families, levels, v, is_order):
    """Sets of candidates that the levels allow, by definition."""
    for chosen in range(1 << (N - 1)):
        around = [levels[u] for u in families.list_parents(v, chosen)]
        reaches = levels[v] - 1 in around if levels[v] > 0 and not is_order else True
        if all(level < levels[v] for level in around) and reaches:
            yield chosen


@pytest.mark.parametrize(
    ("levels", "is_order"), [([2, 0, 3, 1], True), ([0, 1, 1, 2], False), ([0, 0, 0, 0], False)]
)
def test_a_state_by_definition(families, levels, is_order):
    state, scores = np.array([levels]), np.empty(1)
    # A step that is never accepted records the state as it is.
    draws = np.array([[0.99, 0.0, 0.0, 0.5]])
    states = np.empty((1, N), np.int64)
    run_chain(families.sums, CANDIDATES, state[0].copy(), is_order, draws, 1, states, scores)
    shift = families.scores.max(axis=1)
    arcs = np.empty((1, N, N - 1))
    expect_arcs(families.sums, CANDIDATES, state, is_order, arcs)
    expected = 0.0
    for v in range(N):
        allowed = list(list_allowed(families, levels, v, is_order))
        total = logsumexp(families.scores[v, allowed])
        expected += total - shift[v]
        for c in range(N - 1):
            inside = [chosen for chosen in allowed if chosen >> c & 1]
            share = np.exp(logsumexp(families.scores[v, inside]) - total) if inside else 0.0
            assert arcs[0, v, c] == pytest.approx(share, abs=1e-12)
    assert scores[0] == pytest.approx(expected, abs=1e-12)


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
