"""Single changes of arcs by comparing all structures; constraints are obeyed."""

from itertools import product

import numpy as np
import pytest

from latentforest.inference.counts import list_bits
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.structural.arcs import (
    find_ancestors,
    list_changes,
    obey,
    perturb,
    to_masks,
    to_names,
)

NAMES = ("a", "b", "c", "d")
FREE = read_constraints(NAMES)
BOUND = read_constraints(NAMES, [("a", "b")], [("d", "c"), ("c", "a")], 2)


def is_acyclic(parents):
    left = set(range(len(parents)))
    while left:
        free = {j for j in left if not left & set(list_bits(parents[j]))}
        if not free:
            return False
        left -= free
    return True


def obeys(parents, constraints):
    return is_acyclic(parents) and all(
        mask & needed == needed
        and not mask & ~allowed
        and mask.bit_count() <= constraints.max_parents
        for mask, needed, allowed in zip(
            parents, constraints.required, constraints.allowed, strict=True
        )
    )


def list_structures(constraints):
    masks = [m for m in product(range(16), repeat=4) if all(not m[j] >> j & 1 for j in range(4))]
    return [parents for parents in masks if obeys(parents, constraints)]


def arcs_of(parents):
    return {(parent, child) for child, mask in enumerate(parents) for parent in list_bits(mask)}


def is_neighbour(one, other):
    """Whether structures differ in one arc, or in the direction of one."""
    differ = arcs_of(one) ^ arcs_of(other)
    return len({frozenset(arc) for arc in differ}) == 1


@pytest.mark.parametrize("constraints", [FREE, BOUND], ids=["free", "bound"])
def test_changes_are_all_neighbours_that_obey(constraints):
    structures = list_structures(constraints)
    for start in structures[:: max(1, len(structures) // 25)]:
        found = [change.parents for change in list_changes(start, constraints)]
        expected = {other for other in structures if is_neighbour(start, other)}
        assert set(found) == expected
        assert len(found) == len(expected)


def test_changes_say_what_they_do():
    start = to_masks(NAMES, {"b": ["a"]})
    changes = {
        (c.operator, NAMES[c.parent], NAMES[c.child]): to_names(NAMES, c.parents)
        for c in list_changes(start, FREE)
    }
    assert changes["delete", "a", "b"]["b"] == ()
    assert changes["reverse", "a", "b"] == {"a": ("b",), "b": (), "c": (), "d": ()}
    assert changes["add", "c", "b"]["b"] == ("a", "c")
    assert ("add", "b", "a") not in changes


def test_ancestors():
    parents = to_masks(NAMES, {"b": ["a"], "c": ["b"], "d": ["b"]})
    assert [list_bits(mask) for mask in find_ancestors(parents)] == [[], [0], [0, 1], [0, 1]]


def test_what_obeys_stays():
    for start in list_structures(BOUND):
        assert obey(start, BOUND) == start


def test_what_does_not_obey_is_mended():
    cycle = to_masks(NAMES, {"a": ["c"], "b": ["a"], "c": ["b", "d"], "d": ["b", "c", "a"]})
    mended = obey(cycle, BOUND)
    assert obeys(mended, BOUND)
    assert arcs_of(mended) >= {(0, 1), (1, 2), (2, 3)}


def test_perturbed_structures_obey_and_follow_the_seed():
    start = obey((0,) * 4, BOUND)
    drawn = [perturb(start, BOUND, 3, np.random.default_rng(s)) for s in range(20)]
    assert all(obeys(each, BOUND) for each in drawn)
    assert len(set(drawn)) > 5
    assert drawn[3] == perturb(start, BOUND, 3, np.random.default_rng(3))
