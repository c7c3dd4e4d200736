"""One file per learning algorithm."""

from latentforest.learners.independence import Independence
from latentforest.learners.latent_class import LatentClass

__all__ = ["Independence", "LatentClass"]
