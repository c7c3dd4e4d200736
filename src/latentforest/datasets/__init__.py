"""Published tables and generators of random models."""

from latentforest.datasets.tables import TableDescription, describe, load, names

__all__ = ["TableDescription", "describe", "load", "names"]
