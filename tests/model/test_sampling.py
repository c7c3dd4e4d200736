import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.data.variable import Variable
from latentforest.errors import ParameterError
from latentforest.model import Network, Structure
from reference.joint import joint_table
from reference.random_networks import fill_randomly, networks


@pytest.fixture
def network():
    variables = [Variable("B", ("0", "1", "2")), Variable.hidden("Y", 2), Variable("A", ("0", "1"))]
    return fill_randomly(Structure(variables, {"A": "Y", "B": ("Y", "A")}), seed=5)


def test_frequencies_approach_the_joint(network):
    n_rows = 40_000
    data = network.sample(n_rows, random_state=0, latents=True)
    counts = np.zeros([variable.n_states for variable in network.variables])
    np.add.at(counts, data.columns, 1.0)
    joint = joint_table(network)
    errors = np.sqrt(joint * (1 - joint) / n_rows)
    assert np.all(np.abs(counts / n_rows - joint) <= 4.5 * errors)


def test_columns_are_the_observed_variables(network):
    data = network.sample(10, random_state=0)
    assert data.names == ("B", "A")
    assert data.n_rows == 10
    assert all(column.dtype == np.int8 for column in data.columns)


def test_latents_become_observed_columns_on_request(network):
    with_latents = network.sample(10, random_state=0, latents=True)
    assert with_latents.names == ("B", "Y", "A")
    assert not any(variable.latent for variable in with_latents.variables)
    plain = network.sample(10, random_state=0)
    assert np.array_equal(plain.column("B"), with_latents.column("B"))


def test_seed_decides(network):
    first, again, other = (network.sample(50, random_state=seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, first.columns, again.columns))
    assert not all(map(np.array_equal, first.columns, other.columns))
    generator = np.random.default_rng(1)
    assert all(map(np.array_equal, first.columns, network.sample(50, generator).columns))


@given(network=networks(max_parents=2), seed=st.integers(0, 1000))
def test_impossible_rows_are_never_drawn(network, seed):
    data = network.sample(20, random_state=seed, latents=True)
    assert np.all(joint_table(network)[data.columns] > 0)


def test_many_states_need_a_wider_type():
    variable = Variable("X", tuple(map(str, range(300))))
    network = Network.from_tables([variable], {}, {"X": np.eye(300)[299]})
    column = network.sample(5, random_state=0).column("X")
    assert column.tolist() == [299] * 5
    assert column.dtype == np.int16


@pytest.mark.parametrize("n_rows", [0, -1, 2.0, True, "5", None])
def test_bad_numbers_of_rows_are_refused(network, n_rows):
    with pytest.raises(ParameterError, match="n_rows must be a whole number of at least 1, got"):
        network.sample(n_rows)
