import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.inference.forest import NOTHING, Forest, PatternedData
from latentforest.kernels.forest.plan import make_workspace
from latentforest.kernels.forest.propagation import propagate
from latentforest.model import Network
from reference.enumeration import enumerate_rows


@pytest.fixture
def network():
    return random_latent_tree(8, depth=2, width=2, n_states=(2, 3), random_state=0)


@pytest.fixture
def forest(network):
    return Forest(network.structure, PatternedData(generate(network, 60, 0.1, random_state=1)))


def test_results_do_not_depend_on_what_is_asked_for(network, forest):
    (plan,), theta = forest.plans, network.parameters
    counts, values = np.empty(forest.n_values), np.empty(len(plan.weights))
    everything = propagate(plan, make_workspace(plan), theta, counts, values, 0.0, True)
    assert propagate(plan, make_workspace(plan), theta, NOTHING, NOTHING, 0.0, True) == everything
    only_counts = np.empty(forest.n_values)
    propagate(plan, make_workspace(plan), theta, only_counts, NOTHING, 0.0, True)
    assert np.array_equal(only_counts, counts)
    assert plan.weights @ values == pytest.approx(everything[0], rel=1e-13)


def test_used_memory_leaves_no_trace(network, forest):
    (plan,), theta = forest.plans, np.array(network.parameters)
    fresh, used = make_workspace(plan), make_workspace(plan)
    scaled, zeros = theta * 1e-60, np.zeros_like(theta)
    for other in (scaled, zeros, scaled):
        propagate(plan, used, other, np.empty_like(theta), NOTHING, 0.0, True)
    a, b = np.empty_like(theta), np.empty_like(theta)
    assert propagate(plan, used, theta, a, NOTHING, 0.0, True) == propagate(
        plan, fresh, theta, b, NOTHING, 0.0, True
    )
    assert np.array_equal(a, b)


def test_small_potentials_only_change_the_normalizer(network, forest):
    (plan,), theta, tiny = forest.plans, np.array(network.parameters), 1e-20
    a, b = np.empty_like(theta), np.empty_like(theta)
    value, n_vanished = propagate(plan, make_workspace(plan), theta, a, NOTHING, 0.0, True)
    scaled, n_scaled = propagate(plan, make_workspace(plan), theta * tiny, b, NOTHING, 0.0, True)
    assert n_vanished == n_scaled == 0
    np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13)
    missing = sum(
        (forest.data.dataset.column(x) < 0) @ forest.data.dataset.weights for x in network.observed
    )
    n_tables = forest.data.total_weight * len(network.names) - missing
    assert scaled == pytest.approx(value + n_tables * np.log(tiny), rel=1e-12)


def test_vanished_patterns_are_listed():
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network.from_tables([a, b], {"b": "a"}, {"a": [1.0, 0.0], "b": [[0.5, 0.5]] * 2})
    dataset = Dataset([a, b], [[0, 1, 1, 0], [0, 0, 1, 1]], [1.0, 2.0, 3.0, 4.0])
    forest = Forest(network.structure, PatternedData(dataset))
    (plan,), counts = forest.plans, np.empty(6)
    work = make_workspace(plan)
    value, n_vanished = propagate(plan, work, network.parameters, counts, NOTHING, 0.0, True)
    assert n_vanished == 2
    assert sorted(plan.weights[work.vanished[1:3]]) == [2.0, 3.0]
    assert value == pytest.approx(5 * np.log(0.5))
    expected = enumerate_rows(network.structure, network.parameters, dataset)[1]
    np.testing.assert_allclose(counts, expected, rtol=1e-14)


def test_rows_that_vanish_below_the_root_add_nothing():
    names = ["X1", "X2"]
    variables = [Variable.hidden("R", 2), Variable.hidden("Y", 2)]
    variables += [Variable(name, ("0", "1")) for name in names]
    tables = {
        "R": [0.5, 0.5],
        "Y": [[0.5, 0.5]] * 2,
        "X1": [[1.0, 0.0]] * 2,
        "X2": [[0.5, 0.5]] * 2,
    }
    network = Network.from_tables(variables, {"Y": "R"} | dict.fromkeys(names, "Y"), tables)
    dataset = Dataset(variables[2:], [[0, 1, 1], [0, 0, 1]])
    (plan,) = Forest(network.structure, PatternedData(dataset)).plans
    value, n_vanished = propagate(
        plan, make_workspace(plan), network.parameters, NOTHING, NOTHING, 0.0, True
    )
    assert n_vanished == 2
    assert value == pytest.approx(np.log(0.5))


def test_a_floor_gives_upper_bounds(network, forest):
    (plan,), theta = forest.plans, network.parameters
    values = []
    for floor in (0.0, 1e-300, 1e-3, 1e-2):
        values.append(np.empty(len(plan.weights)))
        propagate(plan, make_workspace(plan), theta, NOTHING, values[-1], floor, True)
    exact, tiny, small, large = values
    assert np.array_equal(tiny, exact)
    assert np.all(small >= exact)
    assert np.all(large >= small)
    assert np.any(large > exact)


@pytest.mark.parametrize("n_leaves", [2, 3])
def test_a_floor_does_not_raise_zeros(n_leaves):
    names = [f"X{j}" for j in range(n_leaves)]
    variables = [Variable.hidden("R", 2), Variable.hidden("Y", 2)]
    variables += [Variable(name, ("0", "1")) for name in names]
    tables = {"R": [0.5, 0.5], "Y": [[1.0, 0.0], [0.0, 1.0]]}
    tables |= {name: [[0.5, 0.5], [0.0, 1.0]] for name in names}
    network = Network.from_tables(variables, {"Y": "R"} | dict.fromkeys(names, "Y"), tables)
    dataset = Dataset(variables[2:], [[0]] * n_leaves)
    (plan,) = Forest(network.structure, PatternedData(dataset)).plans
    values = np.empty(1)
    propagate(plan, make_workspace(plan), network.parameters, NOTHING, values, 1e-3, True)
    assert values[0] == pytest.approx((n_leaves + 1) * np.log(0.5), rel=1e-14)


def test_patterns_of_weight_zero_vanish_only_if_values_are_asked_for():
    a = Variable("a", ("0", "1"))
    network = Network.from_tables([a], {}, {"a": [1.0, 0.0]})
    (plan,) = Forest(network.structure, PatternedData(Dataset([a], [[0, 1]], [1.0, 0.0]))).plans
    for values, expected in ((NOTHING, 0), (np.empty(2), 1)):
        work = make_workspace(plan)
        assert propagate(plan, work, network.parameters, NOTHING, values, 0.0, True) == (
            0.0,
            expected,
        )
