"""One file per learning algorithm."""

from latentforest.learners.east import EAST
from latentforest.learners.independence import Independence
from latentforest.learners.latent_class import LatentClass

__all__ = ["EAST", "Independence", "LatentClass"]
