import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from latentforest.inference.forest import NOTHING, Forest, PatternedData
from latentforest.kernels.forest.plan import make_workspace
from latentforest.kernels.forest.rescue import add_logs, add_row
from reference.enumeration import enumerate_rows
from reference.random_networks import networks, tables_for


@njit
def add(a, b):
    return add_logs(a, b)  # has no way in from Python


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.5), (0.5, 0.3), (0.0, 0.4), (0.4, 0.0), (1e-9, 1.0)])
def test_logs_are_added(a, b):
    with np.errstate(divide="ignore"):
        assert add(np.log(a), np.log(b)) == pytest.approx(np.log(a + b), rel=1e-14)


def test_the_sum_of_two_zeros_is_zero():
    assert add(-np.inf, -np.inf) == -np.inf


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_row_by_row_equals_enumeration(data):
    network = data.draw(networks(max_states=4))
    dataset = data.draw(tables_for(network))
    structure, theta = network.structure, network.parameters
    (plan,) = Forest(structure, PatternedData(dataset)).plans
    counts, work, total = np.zeros(structure.n_values), make_workspace(plan), 0.0
    for entry, weight in enumerate(plan.weights):
        value = add_row(plan, work, theta, counts, entry)
        assert add_row(plan, work, theta, NOTHING, entry) == value
        total += weight * value if np.isfinite(value) else 0.0
    values, expected = enumerate_rows(structure, theta, dataset)
    np.testing.assert_allclose(counts, expected, atol=1e-10)
    possible = np.where(np.isfinite(values), values, 0.0)
    assert total == pytest.approx(dataset.weights @ possible.sum(axis=1), abs=1e-10)
