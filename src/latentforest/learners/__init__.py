"""One file per learning algorithm."""

from latentforest.learners.double_hill_climbing import DoubleHillClimbing
from latentforest.learners.east import EAST
from latentforest.learners.hill_climbing import HillClimbing
from latentforest.learners.independence import Independence
from latentforest.learners.latent_class import LatentClass
from latentforest.learners.recursive_grouping import ChowLiuRecursiveGrouping, RecursiveGrouping

__all__ = [
    "EAST",
    "ChowLiuRecursiveGrouping",
    "DoubleHillClimbing",
    "HillClimbing",
    "Independence",
    "LatentClass",
    "RecursiveGrouping",
]
