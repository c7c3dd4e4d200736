"""One file per learning algorithm."""

from latentforest.learners.bridged_islands import BridgedIslands
from latentforest.learners.double_hill_climbing import DoubleHillClimbing
from latentforest.learners.east import EAST
from latentforest.learners.hierarchical_latent_tree import HierarchicalLatentTree
from latentforest.learners.hill_climbing import HillClimbing
from latentforest.learners.independence import Independence
from latentforest.learners.latent_class import LatentClass

__all__ = [
    "EAST",
    "BridgedIslands",
    "DoubleHillClimbing",
    "HierarchicalLatentTree",
    "HillClimbing",
    "Independence",
    "LatentClass",
]
