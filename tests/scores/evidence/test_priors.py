"""Dirichlet priors of tables."""

import numpy as np
import pytest

from latentforest import Network, Structure, Variable
from latentforest.errors import ParameterError
from latentforest.scores.evidence.priors import read_dirichlets

A, B = Variable("a", ("0", "1")), Variable("b", ("0", "1", "2"))
STRUCTURE = Structure([A, B], {"b": "a"})
PRIOR = Network.from_tables(
    [A, B], {"a": "b"}, {"b": [0.5, 0.3, 0.2], "a": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]}
)


def test_a_number_for_each_cell():
    assert read_dirichlets(STRUCTURE, 0.5).tolist() == [0.5] * 8


def test_bdeu_shares_the_sample_size_out():
    assert read_dirichlets(STRUCTURE, "bdeu", 6.0).tolist() == [3.0] * 2 + [1.0] * 6


def test_arrays_by_variable():
    found = read_dirichlets(STRUCTURE, {"b": [1.0, 2.0, 3.0]})
    assert found.tolist() == [1, 1, 1, 2, 3, 1, 2, 3]


def test_a_network_gives_joint_probabilities():
    found = read_dirichlets(STRUCTURE, PRIOR, 10.0)
    joint = PRIOR.query(["a", "b"])
    np.testing.assert_allclose(STRUCTURE.table_view(found, "b"), 10 * joint)
    np.testing.assert_allclose(STRUCTURE.table_view(found, "a"), 10 * joint.sum(axis=1))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (0, "prior must be a positive number, 'bdeu', arrays by variable or a Network, got 0"),
        (True, "got True"),
        ("bde", "got 'bde'"),
        ({"b": [1, 2]}, r"the prior of 'b' must be numbers that fit the table's shape \(2, 3\)"),
        ({"b": [1, 0, 2]}, "the prior of 'b' has a concentration of 0 to 2"),
        ({"c": 1}, "a prior is given for 'c', which is not a table's variable"),
        (Network.from_tables([A], {}, {"a": [0.5, 0.5]}), "the prior network has no variable 'b'"),
        (
            Network.from_tables(
                [A, Variable("b", ("0", "1"))], {}, {"a": [0.5, 0.5], "b": [0.5, 0.5]}
            ),
            r"variable 'b' has states \('0', '1'\) in the prior network",
        ),
    ],
)
def test_priors_that_make_no_sense(prior, message):
    with pytest.raises(ParameterError, match=message):
        read_dirichlets(STRUCTURE, prior)


@pytest.mark.parametrize("size", [0, -1, float("inf"), "1"])
def test_sample_sizes_that_make_no_sense(size):
    with pytest.raises(ParameterError, match="equivalent_sample_size must be positive"):
        read_dirichlets(STRUCTURE, "bdeu", size)
