"""Starts of structural EM: latent variables above columns, kept parameters."""

import numpy as np

from latentforest import Dataset, Structure, Variable
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.structural.arcs import to_masks, to_names
from latentforest.search.structural.starts import (
    draw_below,
    draw_parameters,
    hang_columns,
    span_columns,
)
from reference.random_networks import fill_randomly

COLUMNS = [Variable(name, ("0", "1")) for name in "abcd"]
VARIABLES = [*COLUMNS, Variable.hidden("H", 3)]
NAMES = [variable.name for variable in VARIABLES]


def test_columns_hang_below_latent_variables():
    arcs = to_masks(NAMES, {"b": ["a"], "c": ["b"], "d": ["c"]})
    free = read_constraints(NAMES)
    hung = to_names(NAMES, hang_columns(arcs, VARIABLES, {"H": ["a", "b", "c"]}, free))
    assert hung == {"a": ("H",), "b": ("H",), "c": ("H",), "d": ("c",), "H": ()}


def test_latent_parents_come_first_where_parents_are_few():
    arcs = to_masks(NAMES, {"d": ["c"], "b": ["a"]})
    bound = read_constraints(NAMES, required=[("a", "c")], max_parents=1)
    hung = to_names(NAMES, hang_columns(arcs, VARIABLES, {"H": ["a", "c", "d"]}, bound))
    assert hung["c"] == ("a",)
    assert hung["d"] == ("H",)
    assert all(len(parents) <= 1 for parents in hung.values())


def test_a_column_has_no_more_latent_parents_than_its_table_bears():
    latents = [Variable.hidden(f"H{i}", 4) for i in range(8)]
    variables = [*COLUMNS, *latents]
    names = [variable.name for variable in variables]
    below = {latent.name: list("abcd") for latent in latents}
    hung = hang_columns((0,) * 12, variables, below, read_constraints(names))
    assert [len(p) for p in to_names(names, hung).values()][:4] == [4, 4, 4, 4]


def test_the_forest_of_pairs():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.9, a, 1 - a)
    c = np.where(rng.random(500) < 0.9, b, 1 - b)
    columns = [np.where(rng.random(500) < 0.1, -1, x) for x in (a, b, c, rng.integers(0, 2, 500))]
    table = Dataset(COLUMNS, columns)
    found = to_names("abcd", span_columns(table, read_constraints("abcd"), 1))
    assert found == {"a": (), "b": ("a",), "c": ("b",), "d": ()}
    turned = span_columns(table, read_constraints("abcd", forbidden=[("a", "b")]), 1)
    assert to_names("abcd", turned)["a"] == ("b",)


def test_families_of_a_network_keep_their_parameters():
    old = fill_randomly(Structure(COLUMNS, {"b": "a", "c": "b", "d": "a"}), 0, 0.0)
    new = Structure(VARIABLES, {"b": "a", "c": ("b", "H"), "d": "H"})
    table = old.sample(50, random_state=0)
    starts = draw_parameters(new, old, table, 3, 7)
    for start in starts:
        assert (new.table_view(start, "b") == old.structure.table_view(old.parameters, "b")).all()
        assert np.allclose(new.table_view(start, "c").sum(axis=-1), 1.0)
    assert not np.allclose(new.table_view(starts[0], "d"), new.table_view(starts[1], "d"))


def test_random_columns_below_latent_variables():
    drawn = [draw_below(["G", "H"], "abcdef", np.random.default_rng(s)) for s in range(10)]
    assert all(3 <= len(columns) <= 6 for below in drawn for columns in below.values())
    assert drawn[4] == draw_below(["G", "H"], "abcdef", np.random.default_rng(4))
    assert len({str(below) for below in drawn}) > 5
