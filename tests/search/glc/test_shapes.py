import itertools

import pytest

from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Structure
from latentforest.search.glc.regularization import is_regular, list_equivalents
from latentforest.search.glc.shapes import (
    Fork,
    Idle,
    Island,
    Star,
    Tie,
    find_fork,
    find_idle,
    find_islands,
    find_shapes,
    find_star,
    find_tie,
)
from reference.generalized import is_island, is_printed_star, is_printed_tie, random_generalized

SEEDS = range(150)


def make(latents, parents, **states):
    """A structure; manifest variables are binary unless ``states`` says otherwise."""
    names = dict.fromkeys([*parents, *itertools.chain(*parents.values())])
    columns = [name for name in names if name not in latents]
    variables = [Variable.hidden(name, card) for name, card in latents.items()]
    variables += [Variable(name, tuple("abcdefgh"[: states.get(name, 2)])) for name in columns]
    return Structure(variables, parents)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_papers_definitions_are_found(seed):
    structure = random_generalized(seed, max_latent_states=6).structure
    for rooted in list_equivalents(structure):
        inside = {name for island in find_islands(rooted) for name in island.names}
        for name in rooted.latents:
            assert is_island(rooted, name) == (name in inside)
            if is_printed_tie(rooted, name):
                assert find_tie(rooted, name) is not None
            if is_printed_star(rooted, name):
                assert find_star(rooted, name) is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_regular_structure_has_no_shape_in_any_equivalent(seed):
    structure = random_generalized(seed).structure
    shapes = [shape for rooted in list_equivalents(structure) for shape in find_shapes(rooted)]
    assert is_regular(structure) == (not shapes)


def test_equivalents_have_the_roots_at_every_latent_variable():
    structure = make(
        {"X": 2, "Y": 2, "Z": 2, "W": 2},
        {"Y": "X", "Z": "Y", "A": "X", "B": "Y", "C": "Z", "D": "W"},
    )
    equivalents = list(list_equivalents(structure))
    assert equivalents[0] == structure
    assert {each.roots for each in equivalents} == {("X", "W"), ("Y", "W"), ("Z", "W")}
    assert {each.dimension for each in equivalents} == {structure.dimension}


def test_an_island_is_a_connected_part():
    structure = make({"X": 2, "Y": 2, "Z": 2, "W": 2}, {"Y": "X", "Z": "X", "W": "Z", "A": "X"})
    assert find_islands(structure) == [Island(("Y",)), Island(("Z", "W"))]


@pytest.mark.parametrize(
    ("above", "states", "below", "is_tie"),
    [
        (2, 2, 4, True),
        (4, 2, 2, True),
        (3, 2, 3, True),  # not by the paper's condition, but 7 parameters become 6
        (4, 2, 4, False),  # 10 parameters would become 12
        (5, 3, 4, True),
        (6, 3, 6, False),
    ],
)
def test_a_tie_is_what_costs_nothing_to_integrate(above, states, below, is_tie):
    structure = make({"X": above, "Y": states}, {"Y": "X", "A": "Y", "B": "X"}, A=below)
    expected = Tie("Y", "X", "A") if is_tie else None
    assert find_tie(structure, "Y") == expected
    before = above * (states - 1) + states * (below - 1)
    assert is_tie == (above * (below - 1) <= before)


def test_a_tie_beside_other_parents_of_its_child():
    parents = {"Y": "X", "A": ["Y", "B", "C"], "D": "X"}
    assert find_tie(make({"X": 3, "Y": 3}, parents), "Y") == Tie("Y", "X", "A")
    assert find_tie(make({"X": 3, "Y": 2}, parents), "Y") is None  # 3 + 8 would become 12


def test_a_tie_whose_parent_is_a_parent_of_its_child():
    structure = make({"X": 8, "Y": 2}, {"Y": "X", "A": ["X", "Y"], "B": "X"})
    assert find_tie(structure, "Y") == Tie("Y", "X", "A")


def test_a_star_of_children_without_other_parents():
    parents = {"A": "X", "B": "X", "C": "X"}
    assert find_star(make({"X": 7}, parents, A=3), "X") == Star("X", "A", (("B", ()), ("C", ())), 4)
    assert find_star(make({"X": 4}, parents, A=3), "X") is None


def test_a_star_may_have_links_among_its_children():
    structure = make({"X": 5}, {"A": "X", "B": ["X", "A"], "C": ["X", "B"]})
    assert find_star(structure, "X") == Star("X", "C", (("A", ()), ("B", ())), 4)


def test_one_child_of_a_star_may_have_other_parents():
    structure = make({"X": 5}, {"A": ["X", "D", "E"], "B": "X", "C": "X"})
    assert find_star(structure, "X") == Star("X", "A", (("B", ()), ("C", ())), 4)


def test_other_parents_are_arguments():
    structure = make({"X": 9}, {"A": ["X", "D"], "B": "X", "C": ["X", "A"]})
    assert find_star(structure, "X") == Star("X", "A", (("B", ()), ("C", ("A",))), 8)
    structure = make({"X": 5}, {"A": ["X", "D"], "B": ["X", "E"], "C": ["X", "F"]})
    assert find_star(structure, "X") is None  # a star by the printed condition


def test_huge_families_are_no_stars():
    others = [f"B{i}" for i in range(25)]
    structure = make({"X": 5}, {"A": ["X", *others], "C": ["X", *others], "D": "X"})
    assert find_star(structure, "X") is None


@pytest.mark.parametrize("child", ["A", "Y"])
def test_a_root_with_one_child(child):
    parents = {"A": ["X", "B"]} if child == "A" else {"Y": "X", "A": "Y", "B": "Y", "C": "Y"}
    structure = make({"X": 2, "Y": 2} if child == "Y" else {"X": 2}, parents)
    assert find_idle(structure, "X") == Idle("X")


def test_a_latent_variable_of_one_state():
    structure = make({"X": 1}, {"A": "X", "B": "X", "C": "X"})
    assert find_idle(structure, "X") == Idle("X")


def test_a_root_of_two_manifest_children():
    assert find_fork(make({"X": 2}, {"A": "X", "B": "X"}), "X") == Fork("X", ("A", "B"))
    linked = make({"X": 2}, {"A": ["X", "B"], "B": "X"})
    assert find_fork(linked, "X") == Fork("X", ("B", "A"))


def test_the_cheaper_direction_of_a_link_is_taken():
    structure = make({"X": 2}, {"A": "X", "B": ["X", "C"]}, C=4)
    assert find_fork(structure, "X") == Fork("X", ("A", "B"))
    assert find_fork(make({"X": 2}, {"A": ["X", "C"], "B": "X"}, C=4), "X") == Fork("X", ("B", "A"))


def test_a_link_that_costs_more_is_not_made():
    others = {"A": ["X", "C", "D"], "B": ["X", "E", "F"]}
    assert find_fork(make({"X": 2}, others), "X") is None  # 1 + 8 + 8 would become 4 + 32


def test_continuous_children_keep_a_latent_variable():
    parts = [Variable.hidden("X", 3), Variable.hidden("Y", 3), Variable("A"), Variable("B")]
    alone = Structure([parts[0], parts[2]], {"A": "X"})
    tied = Structure(parts, {"Y": "X", "A": "Y", "B": "X"})
    for structure in (alone, tied):
        assert is_regular(structure)


def test_the_latent_part_must_be_above_the_manifest_one():
    structure = Structure([Variable.hidden("X", 2), Variable("A", ("0", "1"))], {"X": "A"})
    with pytest.raises(ModelError, match="latent variable 'X' has the manifest parent 'A'"):
        is_regular(structure)
    with pytest.raises(ModelError, match="no manifest variable"):
        is_regular(Structure([Variable.hidden("X", 2)], {}))
