"""Operators that move whole limbs: dimensions, regularity, inverses, what is fixed."""

import pytest

from latentforest.search.pouches.operators.limb_deletion import LimbDeletion
from latentforest.search.pouches.operators.limb_introduction import LimbIntroduction
from latentforest.search.pouches.operators.limb_relocation import LimbRelocation
from latentforest.search.pouches.operators.limb_state_deletion import LimbStateDeletion
from latentforest.search.pouches.operators.limb_state_introduction import LimbStateIntroduction
from latentforest.search.pouches.tree import PouchTree
from latentforest.search.trees.tree import Rules
from reference.pouch_candidates import RULES, as_sets, propose
from reference.pouch_networks import SHAPES, make_pouch_structure


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_candidates_are_regular_and_know_their_dimension(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in propose(tree):
        structure = candidate.after.structure(candidate.root)
        assert candidate.change == structure.dimension - tree.dimension, candidate
        assert as_sets(PouchTree.of(structure)) == as_sets(candidate.after)
        assert all(candidate.after.is_regular(name) for name in candidate.after.cards)
        assert set(structure.observed) == set(tree.variables)


def test_all_operators_have_candidates():
    found = {
        c.operator for kind in SHAPES for c in propose(PouchTree.of(make_pouch_structure(kind)))
    }
    assert found == {"PO", "UP", "NI", "SI", "SD", "NR", "ND"}


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_other_operators_have_inverses(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in propose(tree, operators=[LimbIntroduction, LimbRelocation]):
        if isinstance(candidate, LimbIntroduction):
            inverses = LimbDeletion.propose(candidate.after, RULES)
        else:
            (limb,) = candidate.limbs
            inverses = LimbRelocation.between(
                candidate.after, RULES, limb, candidate.hub, [candidate.old]
            )
        assert any(as_sets(each.after) == as_sets(tree) for each in inverses), candidate
    for candidate in LimbStateIntroduction.propose(tree, RULES):
        inverses = LimbStateDeletion.propose(candidate.after, RULES)
        assert any(as_sets(each.after) == as_sets(tree) for each in inverses)


def test_fixed_variables_and_numbers_of_states_are_respected():
    tree = PouchTree.of(make_pouch_structure("chain"))
    rules = Rules(max_states=3, fixed=frozenset({"Y2", "a"}))
    for candidate in propose(tree, rules):
        assert candidate.after.cards["Y2"] == 2
        assert set(candidate.after.limbs["Y2"]) == set(tree.limbs["Y2"])
        assert ("a",) in candidate.after.limbs["Y1"]
        assert max(candidate.after.cards.values()) <= 3
