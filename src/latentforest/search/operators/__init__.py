"""The five operators on latent trees, one file each."""

from latentforest.search.operators.node_deletion import NodeDeletion
from latentforest.search.operators.node_introduction import NodeIntroduction
from latentforest.search.operators.node_relocation import NodeRelocation
from latentforest.search.operators.state_deletion import StateDeletion
from latentforest.search.operators.state_introduction import StateIntroduction

__all__ = [
    "NodeDeletion",
    "NodeIntroduction",
    "NodeRelocation",
    "StateDeletion",
    "StateIntroduction",
]
