"""Networks: structure, probabilities, questions, samples, pictures and files."""

from latentforest.model.network import Network
from latentforest.model.structure import Structure

__all__ = ["Network", "Structure"]
