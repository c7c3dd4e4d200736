"""The five operators on latent trees, one file each."""

from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction

__all__ = [
    "NodeDeletion",
    "NodeIntroduction",
    "NodeRelocation",
    "StateDeletion",
    "StateIntroduction",
]
