"""Published tables, and generators of random models and of data from them."""

from latentforest.datasets.generate import (
    generate,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
    with_missing,
)
from latentforest.datasets.tables import TableDescription, describe, load, names

__all__ = [
    "TableDescription",
    "describe",
    "generate",
    "load",
    "names",
    "random_latent_class",
    "random_latent_forest",
    "random_latent_tree",
    "with_missing",
]
