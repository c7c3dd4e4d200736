"""A root with a base, against the same model as an ordinary plan with fixed messages."""

import numpy as np
import pytest

from latentforest.kernels import layout as P
from latentforest.kernels.forest.layout import Sketch, lay_out
from latentforest.kernels.forest.plan import Plan, make_workspace
from latentforest.kernels.forest.propagation import make_steps, propagate
from latentforest.kernels.vector import LANES

NOTHING = np.empty(0)
STEPS = make_steps(has_base=True)


def sketch(card, n_states, n_rows, children, stride):
    """A root over a leaf with a missing value, and maybe fixed messages for each row."""
    records = [
        (P.HIDDEN, card, card, n_rows, 1, 1, 0, children, stride),
        (P.LEAF, n_states, card, n_states + 1, 0, 1, card, 0, 0),
        (P.DENSE, card, card, n_rows, 0, 0, 0, 0, 0),
    ]
    columns = [np.array(each, np.int64) for each in zip(*records[: children + 1], strict=True)]
    return Sketch(*columns, np.arange(1, children + 1))


def make_ordinary(base, codes, weights, n_states):
    n_rows, card = base.shape
    nodes, slot_child, slot_index, sizes = lay_out(sketch(card, n_states, n_rows, 2, 0))
    links = np.concatenate([codes, np.arange(n_rows)]).astype(np.int32)
    evidence = np.zeros((n_rows, -(-card // LANES) * LANES))
    evidence[:, :card] = base
    plan = Plan(nodes, slot_child, slot_index, links, weights, evidence.ravel(), sizes, STEPS)
    return plan, make_workspace(plan)


def make_based(base, codes, weights, n_states):
    n_rows, card = base.shape
    stride = (n_rows + 2 * LANES - 1) // LANES * LANES
    nodes, slot_child, slot_index, sizes = lay_out(sketch(card, n_states, n_rows, 1, stride))
    order = np.argsort(codes, kind="stable")
    runs = np.searchsorted(codes[order], np.arange(n_states + 2)).astype(np.int32)
    # What lies behind the rows is never used: it may be anything that is finite.
    evidence = np.full((card + card % 2, stride), 7.0)
    evidence[:card, :n_rows] = base[order].T
    evidence[card:] = 0.0
    sorted_weights = np.full(stride, 5.0)
    sorted_weights[:n_rows] = weights[order]
    plan = Plan(nodes, slot_child, slot_index, runs, sorted_weights, evidence.ravel(), sizes, STEPS)
    work = make_workspace(plan)
    return plan, work._replace(likelihood=np.ones(stride), logarithm=np.ones(stride))


def draw_case(seed, card, n_states, n_rows):
    rng = np.random.default_rng(seed)
    base = rng.random((n_rows, card)) * 10.0 ** rng.uniform(-30, 0, (n_rows, 1))
    codes = rng.integers(0, n_states + 1, n_rows)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_rows)
    table = rng.dirichlet(np.ones(n_states), card)
    theta = np.concatenate([rng.dirichlet(np.ones(card)), table.ravel()])
    return base, codes, weights, theta


@pytest.mark.parametrize("n_states", [2, 3, 9])
@pytest.mark.parametrize("card", [1, 2, 3, 4, 5, 7, 8, 9])
def test_a_base_is_a_fixed_message_for_each_row(card, n_states):
    for n_rows in (1, 2, 3, 4, 5, 7, 8, 9, 31):
        base, codes, weights, theta = draw_case(n_rows, card, n_states, n_rows)
        results = []
        for make in (make_ordinary, make_based):
            plan, work = make(base, codes, weights, n_states)
            counts = np.empty(len(theta))
            value, n_vanished = propagate(plan, work, theta, counts, NOTHING, 0.0, True)
            assert n_vanished == 0
            results.append((value, counts))
        (expected, expected_counts), (value, counts) = results
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(counts, expected_counts, rtol=1e-12, atol=1e-14)


def test_without_judgement_the_counts_are_the_same():
    base, codes, weights, theta = draw_case(0, 3, 4, 30)
    plan, work = make_based(base, codes, weights, 4)
    judged, unjudged = np.empty(len(theta)), np.empty(len(theta))
    value, _ = propagate(plan, work, theta, judged, NOTHING, 0.0, True)
    assert propagate(plan, work, theta, unjudged, NOTHING, 0.0, False) == (0.0, 0)
    assert value < 0.0
    assert np.array_equal(judged, unjudged)


@pytest.mark.parametrize("row", [0, 3, 4, 10])
@pytest.mark.parametrize("tiny", [0.0, 1e-201])
def test_a_row_that_vanishes_is_noticed_wherever_it_lies(row, tiny):
    base, codes, weights, theta = draw_case(1, 3, 2, 11)
    base[row] = tiny
    plan, work = make_based(base, codes, weights, 2)
    for is_judged in (True, False):
        _, n_vanished = propagate(plan, work, theta, np.empty(len(theta)), NOTHING, 0.0, is_judged)
        assert n_vanished == 1
