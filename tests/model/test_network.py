import pickle

import numpy as np
import pytest

from latentforest import load
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure

VARIABLES = [Variable.hidden("Y", 2), Variable("A", ("no", "yes")), Variable("B", ("l", "m", "h"))]
PARENTS = {"A": "Y", "B": ("Y", "A")}
TABLES = {
    "Y": [0.75, 0.25],
    "A": [[0.9, 0.1], [0.2, 0.8]],
    "B": [[[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], [[0.1, 0.1, 0.8], [0.4, 0.4, 0.2]]],
}


@pytest.fixture
def network():
    return Network.from_tables(VARIABLES, PARENTS, TABLES)


def test_tables_come_back_as_given(network):
    for name, table in TABLES.items():
        assert np.array_equal(network.cpd(name), table)


def test_attributes_are_those_of_the_structure(network):
    structure = Structure(VARIABLES, PARENTS)
    assert network.structure == structure
    assert network.variables == tuple(VARIABLES)
    assert network.names == ("Y", "A", "B")
    assert network.latents == ("Y",)
    assert network.observed == ("A", "B")
    assert network.dimension == 1 + 2 + 8


def test_tied_parameters_are_not_free(network):
    tied = Network(network.structure, network.parameters, n_tied=2)
    assert tied.dimension == network.dimension - 2
    assert tied != network
    others = [
        tied.with_parameters(network.parameters),
        tied.renamed({"A": "C"}),
        tied.relabelled("Y", [1, 0]),
        pickle.loads(pickle.dumps(tied)),
    ]
    assert [each.n_tied for each in others] == [2, 2, 2, 2]


def test_tied_parameters_stay_tied_at_another_root():
    tables = {"Y": [0.75, 0.25], "A": [[0.9, 0.1], [0.2, 0.8]]}
    tree = Network.from_tables(VARIABLES[:2], {"A": "Y"}, tables)
    tied = Network(tree.structure, tree.parameters, n_tied=1)
    assert tied.rooted_at("A").dimension == tied.dimension == 2


@pytest.mark.parametrize("n_tied", [-1, 12])
def test_impossible_numbers_of_tied_parameters_are_refused(network, n_tied):
    with pytest.raises(ModelError, match="n_tied must be from 0 to 11"):
        Network(network.structure, network.parameters, n_tied)


def test_parameters_are_a_read_only_copy(network):
    flat = network.parameters.copy()
    copy = network.with_parameters(flat)
    flat[0] = 0.0
    assert copy == network
    for array in (network.parameters, network.cpd("A")):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_parameters_are_stored_exactly(network):
    flat = network.parameters.copy()
    flat[0] += 3e-7
    assert np.array_equal(network.with_parameters(flat).parameters, flat)


def test_equality_and_hash(network):
    twin = Network(network.structure, network.parameters)
    assert twin == network
    assert hash(twin) == hash(network)
    flat = network.parameters.copy()
    flat[:2] = flat[1::-1]
    assert network.with_parameters(flat) != network
    assert network != "network"


def test_zeros_of_either_sign_are_equal():
    variable = Variable("X", ("a", "b"))
    plus, minus = (Network.from_tables([variable], {}, {"X": [1.0, z]}) for z in (0.0, -0.0))
    assert plus == minus
    assert hash(plus) == hash(minus)


def test_pickle_gives_an_equal_read_only_network(network):
    copy = pickle.loads(pickle.dumps(network))
    assert copy == network
    assert not copy.parameters.flags.writeable


def test_repr(network):
    assert repr(network) == "Network(3 variables, 1 of them latent, 11 free parameters)"


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("Z", [1.0], "a table is given for 'Z', which is not among the variables"),
        ("A", [0.5, 0.5], r"table of 'A' has shape \(2,\), expected \(2, 2\) with axes \(Y, A\)"),
        ("A", [[0.5, 0.5], [1.0]], "table of 'A' must be an array of numbers"),
        ("A", "half", "table of 'A' must be an array of numbers"),
        (
            "A",
            [[0.9, 0.1], [0.3, 0.6]],
            r"table of 'A', row Y=2: probabilities must sum to one, got \[0.3, 0.6\] with sum 0.89",
        ),
        ("A", [[0.9, 0.1], [1.5, -0.5]], r"'A', row Y=2: probabilities must be in \[0, 1\]"),
        ("Y", [np.nan, 1.0], r"table of 'Y': probabilities must be finite, got \[nan, 1.0\]"),
        ("Y", [np.inf, 0.0], r"table of 'Y': probabilities must be finite, got \[inf, 0.0\]"),
        ("Y", [1e308, 1.7e308], r"table of 'Y': probabilities must be in \[0, 1\]"),
    ],
)
def test_bad_tables_are_refused(name, table, message):
    with pytest.raises(ModelError, match=message):
        Network.from_tables(VARIABLES, PARENTS, {**TABLES, name: table})


def test_row_of_a_table_with_two_parents_is_named():
    bad = np.array(TABLES["B"])
    bad[1, 0] *= 2
    with pytest.raises(ModelError, match="table of 'B', row Y=2, A=no"):
        Network.from_tables(VARIABLES, PARENTS, {**TABLES, "B": bad})


def test_missing_table_is_refused():
    with pytest.raises(ModelError, match="no table is given for variable 'B'"):
        Network.from_tables(VARIABLES, PARENTS, {"Y": TABLES["Y"], "A": TABLES["A"]})


def test_wrong_length_is_refused(network):
    with pytest.raises(ModelError, match=r"parameters have shape \(17,\), expected \(18,\)"):
        network.with_parameters(network.parameters[1:])


def test_unknown_name_is_refused(network):
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        network.cpd("Z")


@pytest.mark.parametrize("name", ["model.bif", "model.bif.gz", "model.xdsl"])
def test_save_writes_what_the_name_says(tmp_path, name):
    network = Network.from_tables([Variable("coin", ("a", "b"))], {}, {"coin": [0.5, 0.5]})
    network.save(tmp_path / name)
    assert load(tmp_path / name) == network
    assert not (tmp_path / name).read_bytes().startswith(b"{")
