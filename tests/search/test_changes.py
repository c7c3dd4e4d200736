"""Steps of a search as columns of its history, and in words."""

import json

import pytest

import latentforest as lf
from latentforest.datasets.generate import random_latent_tree
from latentforest.search.changes import Change, read_change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change(), ""),
        (Change("NI", ("Y1", "Y2", "A", "B")), "Y1 - Y2 - A, B"),
        (Change("ND", ("Y1", "Y2")), "Y1, its neighbours to Y2"),
        (Change("NR", ("Y1", "Y2", "A")), "A from Y1 to Y2"),
        (Change("SI", ("Y1",), 3), "Y1 with 3 states"),
        (Change("PO", ("Y1", "a", "b")), "Y1: a, b"),
        (Change("link addition", ("A", "B")), "A -> B"),
        (Change("node deletion", ("Y1",)), "Y1"),
    ],
)
def test_changes_in_words(change, text):
    assert str(change) == text
    assert str(read_change(change.to_columns())) == text


def test_histories_name_variables():
    table = random_latent_tree(8, width=2, strength=0.9, random_state=0).sample(300, random_state=0)
    model = lf.EAST(random_state=0).fit(table)
    names = {*model.network_.observed}
    for row in model.history_.rows():
        assert isinstance(row["variables"], list)
        assert bool(row["operator"]) == bool(row["variables"])
        assert all(name in names or name.startswith("Y") for name in row["variables"])
        assert (row["n_states"] is not None) == (row["operator"] in ("SI", "SD"))
    assert json.loads(model.history_.to_json())[1]["variables"] == model.history_["variables"][1]
    assert "where" not in model.history_
