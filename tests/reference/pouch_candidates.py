"""All operators on latent trees with pouches, and their candidates."""

from latentforest.search.pouches.operators.limb_deletion import LimbDeletion
from latentforest.search.pouches.operators.limb_introduction import LimbIntroduction
from latentforest.search.pouches.operators.limb_relocation import LimbRelocation
from latentforest.search.pouches.operators.limb_state_deletion import LimbStateDeletion
from latentforest.search.pouches.operators.limb_state_introduction import LimbStateIntroduction
from latentforest.search.pouches.operators.pouching import Pouching
from latentforest.search.pouches.operators.unpouching import Unpouching
from latentforest.search.trees.tree import Rules

OPERATORS = [
    Pouching,
    Unpouching,
    LimbIntroduction,
    LimbStateIntroduction,
    LimbStateDeletion,
    LimbRelocation,
    LimbDeletion,
]
RULES = Rules(any_mediator=True)


def propose(tree, rules=RULES, operators=OPERATORS):
    return [candidate for each in operators for candidate in each.propose(tree, rules)]


def as_sets(tree):
    return {name: set(limbs) for name, limbs in tree.limbs.items()}, dict(tree.cards)
