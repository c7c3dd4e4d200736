"""Rows filled in: the most probable states by enumeration, random ones by their frequencies."""

import numpy as np
import pytest

from latentforest import Dataset, Network, Predictor, Structure, Variable
from latentforest.errors import ParameterError
from reference.cases import by_code
from reference.general import list_cells
from reference.joint import joint_table
from reference.mixed_networks import draw_mixed
from reference.random_networks import fill_randomly

STRUCTURE = Structure(
    [Variable.hidden("Y", 2), Variable.hidden("Z", 3)]
    + [Variable(f"X{i}", ("a", "b", "c")) for i in range(4)],
    {"X0": ("Y", "Z"), "X1": ("Y",), "X2": ("Z", "X1"), "X3": ("X0", "X2")},
)


def with_gaps(table, share, seed):
    generator = np.random.default_rng(seed)
    columns = []
    for column in table.columns:
        values = column.copy()
        values[generator.random(len(values)) < share] = np.nan if values.dtype.kind == "f" else -1
        columns.append(values)
    return Dataset(table.variables, columns, table.weights)


@pytest.mark.parametrize("seed", range(4))
def test_explanations_are_the_most_probable_cells(seed):
    network = fill_randomly(STRUCTURE, seed, 0.0)
    table = with_gaps(network.sample(40, random_state=seed), 0.4, seed)
    found, joint = Predictor(network).explain(table), joint_table(network)
    for row, cell in enumerate(list_cells(network, table)):
        codes = tuple(int(found.column(name)[row]) for name in network.names)
        assert joint[codes] == pytest.approx(joint[cell].max())
        for name in network.observed:
            assert table.column(name)[row] in (-1, found.column(name)[row])


def test_imputed_cells_follow_their_posterior():
    network = fill_randomly(STRUCTURE, 3, 0.0)
    row = Dataset(network.variables[2:], [[0], [-1], [2], [-1]])
    n = 20_000
    many = row.take(np.zeros(n, int))
    found = Predictor(network).impute(many, random_state=0)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (found.column("X1"), found.column("X3")), 1 / n)
    expected = network.query(["X1", "X3"], by_code(network, {"X0": 0, "X2": 2}))
    np.testing.assert_allclose(pairs, expected, atol=4 * np.sqrt(0.25 / n))
    assert (found.column("X0") == 0).all()
    assert found.names == row.names


def test_several_imputations():
    network = fill_randomly(STRUCTURE, 3, 0.0)
    table = with_gaps(network.sample(30, random_state=1), 0.3, 1)
    found = Predictor(network).impute(table, n=3, random_state=0)
    assert len(found) == 3
    assert not any(each.has_missing for each in found)
    assert any((a != b).any() for a, b in zip(found[0].columns, found[1].columns, strict=True))
    again = Predictor(network, n_jobs=2).impute(table, n=3, random_state=0)
    for one, other in zip(found, again, strict=True):
        for a, b in zip(one.columns, other.columns, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ParameterError, match="n must be a positive whole number, got 0"):
        Predictor(network).impute(table, n=0)


def test_numbers_are_filled_in_given_the_rest():
    structure = Structure(
        [Variable.hidden("Y", 2), Variable("A", ("a", "b")), Variable("u"), Variable("v")],
        {"A": "Y", "u": "Y", "v": "u"},
    )
    network = draw_mixed(structure, 1)
    n = 20_000
    table = Dataset(structure.variables[1:], [[0] * n, [np.nan] * n, [1.5] * n])
    drawn = Predictor(network).impute(table, random_state=0).column("u")
    mixture = network.mixture("u", {"A": "a", "v": 1.5})
    assert drawn.mean() == pytest.approx(mixture.mean, abs=4 * np.sqrt(mixture.variance / n))
    assert drawn.var() == pytest.approx(mixture.variance, rel=0.1)
    explained = Predictor(network).explain(table.take([0]))
    state = int(explained.column("Y")[0])
    given = structure.table_view(network.parameters, "u")[state]
    slope, noise = structure.table_view(network.parameters, "v")[1:]
    precision = 1 / given[1] + slope**2 / noise
    intercept = structure.table_view(network.parameters, "v")[0]
    mean = (given[0] / given[1] + slope * (1.5 - intercept) / noise) / precision
    assert explained.column("u")[0] == pytest.approx(mean)


def test_networks_without_latent_variables():
    network = fill_randomly(Structure(STRUCTURE.variables[2:], {"X3": ("X0", "X2")}), 2, 0.0)
    table = with_gaps(network.sample(20, random_state=1), 0.3, 1)
    assert not Predictor(network).impute(table, random_state=0).has_missing
    assert Predictor(network).explain(table).names == table.names


def test_rows_that_vanish_are_completed_too():
    """The two numbers contradict each other by more than a double can tell."""
    structure = Structure(
        [Variable.hidden("X", 2), Variable("g", ("x", "y")), Variable("a"), Variable("b")],
        {"a": ("X", "g"), "b": "X"},
    )
    tables = {"X": [0.5, 0.5], "g": [0.4, 0.6], "b": [[0.0, 1e-4], [1.0, 1e-4]]}
    tables["a"] = [[[0.0, 1e-4], [0.1, 1e-4]], [[1.0, 1.1e-4], [1.1, 1e-4]]]
    network = Network.from_tables(structure.variables, {"a": ("X", "g"), "b": "X"}, tables)
    table = Dataset(structure.variables[1:], [[0, -1], [0.0, 0.0], [1.0, 1.0]])
    found = Predictor(network).explain(table)
    for row, given in enumerate(({"g": 0, "a": 0.0, "b": 1.0}, {"a": 0.0, "b": 1.0})):
        expected = network.most_probable(by_code(network, given))
        for name, state in expected.items():
            assert structure.states(name)[found.column(name)[row]] == state
    assert not Predictor(network).impute(table, random_state=0).has_missing
