"""Where hidden variables may be: semi-cliques, and structures with a new parent of them."""

from itertools import combinations

import numpy as np
import pytest

from latentforest import Structure, Variable
from latentforest.search.structural.hidden import (
    find_idle,
    find_semicliques,
    list_candidates,
    replace_arcs,
)

NAMES = "abcdefgh"


def structure_of(arcs, latents=()):
    names = sorted({name for arc in arcs for name in arc})
    variables = [
        Variable.hidden(name, 2) if name in latents else Variable(name, ("0", "1"))
        for name in names
    ]
    parents = {}
    for parent, child in arcs:
        parents.setdefault(child, []).append(parent)
    return Structure(variables, parents)


def is_semiclique(members, neighbours):
    return all(len(neighbours[m] & set(members)) >= (len(members) - 1) / 2 for m in members)


@pytest.mark.parametrize("seed", range(5))
def test_semicliques_cannot_grow(seed):
    rng = np.random.default_rng(seed)
    neighbours = {name: set() for name in NAMES}
    for one, other in combinations(NAMES, 2):
        if rng.random() < 0.6:
            neighbours[one].add(other)
            neighbours[other].add(one)
    found = find_semicliques(neighbours)
    assert found
    assert [len(c) for c in found] == sorted((len(c) for c in found), reverse=True)
    for clique in found:
        assert len(clique) >= 4
        assert is_semiclique(clique, neighbours)
        others = set(NAMES) - set(clique)
        assert not any(is_semiclique((*clique, name), neighbours) for name in others)


def test_a_tree_has_none():
    assert find_semicliques({"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}) == []


CLIQUE = structure_of(["xa", "ab", "ac", "bc", "bd", "cd", "dy"])


def test_arcs_are_replaced_by_a_common_parent():
    parents = replace_arcs(CLIQUE, tuple("abcd"), "H", False)
    assert parents == {
        "x": (), "y": ("d",), "H": (), "a": ("x", "H"), "b": ("H",), "c": ("H",), "d": ("H",)
    }  # fmt: skip


def test_parents_of_members_become_parents_of_the_new_one():
    parents = replace_arcs(CLIQUE, tuple("abcd"), "H", True)
    assert parents["H"] == ("x",)
    assert parents["a"] == ("H",)
    assert replace_arcs(structure_of(["ab", "bc", "ac"]), tuple("abc"), "H", True) is None
    around = structure_of(["ab", "bc", "ac", "ax", "xc"])
    assert replace_arcs(around, tuple("abc"), "H", True) is None


def test_candidates_are_structures():
    described = {}
    for candidate in list_candidates(CLIQUE, 3):
        described[str(candidate.change)] = Structure(candidate.variables, candidate.parents)
    assert "Y1 -> a, b, c, d with 2 states" in described
    assert "Y1 -> a, b, c, d, x, y with 3 states" in described
    latent = structure_of(["Ha", "Hb", "Hc", "Hd"], "H")
    named = [str(candidate.change) for candidate in list_candidates(latent, 3)]
    assert named[-3:] == [*(f"Y1 beside H with {n} states" for n in (2, 3)), "H with 3 states"]


def test_idle_latent_variables():
    assert find_idle(structure_of(["Ha", "Hb", "Ga", "aF"], "HGF")) == ["F", "G"]
