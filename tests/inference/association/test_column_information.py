"""What columns tell about a latent variable: exact alone, close to exact together."""

import itertools

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import ModelError, ParameterError

HIDDEN, OTHER = lf.Variable.hidden("Y", 2), lf.Variable.hidden("Z", 2)
COLUMNS = [lf.Variable(name, ("a", "b")) for name in "ABC"]
NETWORK = lf.Network.from_tables(
    [HIDDEN, OTHER, *COLUMNS, lf.Variable("x")],
    {"A": "Y", "B": "Y", "Z": "Y", "C": "Z", "x": "Z"},
    {
        "Y": [0.6, 0.4],
        "Z": [[0.9, 0.1], [0.3, 0.7]],
        "A": [[0.9, 0.1], [0.2, 0.8]],
        "B": [[0.7, 0.3], [0.4, 0.6]],
        "C": [[0.8, 0.2], [0.1, 0.9]],
        "x": [[0.0, 1.0], [3.0, 1.0]],
    },
)


def inform(joint):
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return sum(
        joint[i, j] * np.log2(joint[i, j] / rows[i] / columns[j])
        for i, j in itertools.product(*map(range, joint.shape))
    )


def test_single_columns_are_exact():
    table = lf.latent_information(NETWORK, "Y")
    found = dict(zip(table["column"], table["bits"], strict=True))
    for name in "ABC":
        assert found[name] == pytest.approx(inform(NETWORK.query(["Y", name]).values), rel=1e-12)
    assert table["bits"] == sorted(table["bits"], reverse=True)
    entropy = -0.6 * np.log2(0.6) - 0.4 * np.log2(0.4)
    assert table["share"][0] == pytest.approx(table["bits"][0] / entropy)


def test_columns_together():
    table = lf.latent_information(NETWORK, "Y", columns=["A", "B", "C"])
    for k in (2, 3):
        names = table["column"][:k]
        joint = NETWORK.query(["Y", *names]).values.reshape(2, -1)
        assert table["cumulative"][k - 1] == pytest.approx(inform(joint), abs=0.02)
    assert np.all(np.diff(table["cumulative"]) >= 0)
    assert table["coverage"][-1] < 1  # x tells something, too


def test_only_the_first_are_taken_together():
    table = lf.latent_information(NETWORK, "Y", max_together=2)
    assert [value is None for value in table["coverage"]] == [False, False, True, True]


def test_what_is_not_there_is_refused():
    with pytest.raises(ModelError, match="'A' is not a latent variable"):
        lf.latent_information(NETWORK, "A")
    with pytest.raises(ParameterError, match="'Z' is not an observed variable"):
        lf.latent_information(NETWORK, "Y", ["Z"])


def test_edges():
    table = NETWORK.edge_information()
    found = {(row["parent"], row["child"]): row for row in table.rows()}
    assert len(found) == 5
    expected = inform(NETWORK.query(["Y", "Z"]).values)
    assert found["Y", "Z"]["bits"] == pytest.approx(expected, rel=1e-12)
    assert found["Z", "x"]["share"] is None
    assert found["Z", "x"]["bits"] > found["Y", "B"]["bits"]
