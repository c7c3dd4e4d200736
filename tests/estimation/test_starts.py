import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_class
from latentforest.estimation.starts import SHARE, base_distribution, random_starts, split_starts
from latentforest.model import Network, Structure

A = Variable("A", ("a", "b", "c"))
B = Variable("B", ("a", "b"))
Y = Variable.hidden("Y", 2)
STRUCTURE = Structure([A, Y, B], {"A": "Y", "B": "Y"})
DATASET = Dataset([A, B], [[0, 0, 1, -1], [-1, -1, -1, -1]], [1.0, 2.0, 1.0, 5.0])


def test_rows_are_distributions_around_the_frequencies():
    starts = random_starts(STRUCTURE, DATASET, 200, 0)
    assert starts.shape == (200, STRUCTURE.n_values)
    tables = np.array([STRUCTURE.table_view(start, "A") for start in starts])
    np.testing.assert_allclose(tables.sum(axis=-1), 1.0, rtol=1e-14)
    frequencies = np.array([0.75, 0.25, 0.0])
    assert np.all(tables > (1 - SHARE) * frequencies)
    # A uniform point of the simplex of three states has mean one third.
    expected = (1 - SHARE) * frequencies + SHARE / 3
    np.testing.assert_allclose(tables.mean(axis=(0, 1)), expected, atol=0.05)


def test_starts_are_valid_parameters():
    for start in random_starts(STRUCTURE, DATASET, 3, 1):
        Network(STRUCTURE, start)
        assert np.all(start > 0)


def test_latent_and_never_observed_variables_are_uniform():
    assert base_distribution(STRUCTURE, DATASET, "Y").tolist() == [0.5, 0.5]
    assert base_distribution(STRUCTURE, DATASET, "B").tolist() == [0.5, 0.5]
    assert base_distribution(STRUCTURE, DATASET, "A").tolist() == [0.75, 0.25, 0.0]


def test_seeds_decide():
    first = random_starts(STRUCTURE, DATASET, 2, 5)
    assert np.array_equal(first, random_starts(STRUCTURE, DATASET, 2, 5))
    assert not np.array_equal(first, random_starts(STRUCTURE, DATASET, 2, 6))


def test_a_start_does_not_depend_on_how_many_there_are():
    few, many = (random_starts(STRUCTURE, DATASET, n, 5) for n in (2, 9))
    assert np.array_equal(few, many[:2])


def test_tables_of_equal_shape_differ():
    variables = [Variable(name, ("a", "b")) for name in "CD"]
    structure = Structure([Y, *variables], {"C": "Y", "D": "Y"})
    dataset = Dataset(variables, [[0, 1], [0, 1]])
    starts = random_starts(structure, dataset, 2, 0)
    c, d = (structure.table_view(starts[0], name) for name in "CD")
    assert not np.allclose(c, d)
    assert not np.allclose(c[0], c[1])
    assert not np.allclose(starts[0], starts[1])


def test_weights_and_not_rows_are_counted():
    heavy = DATASET.with_weights([0.0, 0.0, 4.0, 1.0])
    assert base_distribution(STRUCTURE, heavy, "A").tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_each_state_is_split_once(n_classes):
    network = random_latent_class(4, n_classes, n_states=3, random_state=0)
    larger = random_latent_class(4, n_classes + 1, n_states=3, random_state=0).structure
    starts = split_starts(network, "Y1", larger)
    assert starts.shape == (n_classes, larger.n_values)
    for s, start in enumerate(starts):
        Network(larger, start)
        root = larger.table_view(start, "Y1")
        assert root[s] == root[n_classes] == network.cpd("Y1")[s] / 2
        table, old = larger.table_view(start, "X1"), network.cpd("X1")
        others = np.delete(np.arange(n_classes), s)
        assert np.array_equal(table[others], old[others])
        assert not np.allclose(table[s], table[n_classes])


def test_a_split_start_is_close_to_the_network_it_came_from():
    network = random_latent_class(3, 2, random_state=0)
    larger = random_latent_class(3, 3, random_state=0).structure
    dataset = generate(network, 5, random_state=0)
    assert dataset.n_rows == 5
    for start in split_starts(network, "Y1", larger):
        marginal = Network(larger, start).marginal("X1")
        np.testing.assert_allclose(marginal, network.marginal("X1"), atol=0.15)


def test_starts_below_several_categorical_variables():
    rng = np.random.default_rng(0)
    variables = [Variable.hidden("X", 3), Variable("A", ("0", "1")), Variable("height")]
    structure = Structure(variables, {"A": "X", "height": ["X", "A"]})
    dataset = Dataset(variables[1:], [rng.integers(0, 2, 50), rng.normal(size=50)])
    starts = random_starts(structure, dataset, 4, 0)
    for start in starts:
        Network(structure, start)
        means = structure.table_view(start, "height")[..., 0]
        assert means.shape == (3, 2)
        assert len(np.unique(means)) == 6


def test_rows_of_tables_with_several_parents_are_near_the_frequencies():
    variables = [Variable.hidden("X", 3), Variable("A", ("0", "1")), Variable("B", ("0", "1", "2"))]
    structure = Structure(variables, {"A": "X", "B": ["A", "X"]})
    dataset = Dataset(variables[1:], [[0, 1, 1, 1], [0, 1, 2, 2]])
    (start,) = random_starts(structure, dataset, 1, 0)
    table = structure.table_view(start, "B")
    assert table.shape == (2, 3, 3)
    assert np.all(table >= 0.5 * np.array([0.25, 0.25, 0.5]))
