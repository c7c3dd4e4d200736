"""The library's own file, which holds everything that a network has: JSON."""

from latentforest.model.document import load, save

__all__ = ["load", "save"]
