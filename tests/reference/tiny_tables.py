"""Networks with latent and missing values over a few rows, whose evidence can be enumerated."""

from functools import cache

import numpy as np
from tests.reference.evidence import network_evidence

from latentforest import Dataset, Structure, Variable
from latentforest.learners.latent_class import make_structure

BINARY = ("no", "yes")


def draw_rows(n_rows, seed, n_columns=4, missing=0.0):
    """Binary columns that depend on a hidden class."""
    random = np.random.default_rng(seed)
    z = random.integers(0, 2, n_rows)
    columns = [np.where(random.random(n_rows) < 0.8, z, 1 - z) for _ in range(n_columns)]
    columns = [np.where(random.random(n_rows) < missing, -1, column) for column in columns]
    return Dataset([Variable(name, BINARY) for name in "abcdef"[:n_columns]], columns)


def latent_class(n_states, n_rows, seed, missing=0.0):
    table = draw_rows(n_rows, seed, 4, missing)
    return make_structure(table.variables, n_states), table


def two_latents(n_rows, seed, missing=0.0):
    """Two latent variables, one below the other."""
    table = draw_rows(n_rows, seed, 4, missing)
    latents = [Variable.hidden("Y", 2), Variable.hidden("Z", 2)]
    parents = {"a": "Y", "b": "Y", "Z": "Y", "c": "Z", "d": "Z"}
    return Structure([*latents, *table.variables], parents), table


def no_forest(n_rows, seed, missing=0.3):
    """A latent variable and an observed one are parents; an observed parent has gaps."""
    table = draw_rows(n_rows, seed, 4, missing)
    parents = {"b": ("Y", "a"), "c": ("Y",), "d": ("a", "c")}
    return Structure([Variable.hidden("Y", 2), *table.variables], parents), table


@cache
def evidence_of(structure, table, prior):
    """Log evidence with a constant prior."""
    return network_evidence(structure, np.full(structure.n_values, prior), table)


CASES = {
    "two classes": latent_class(2, 10, 0),
    "three classes": latent_class(3, 8, 1),
    "classes and gaps": latent_class(2, 7, 2, missing=0.2),
    "two latent variables": two_latents(6, 3),
    "no forest, and gaps": no_forest(6, 4),
    "gaps alone": (
        Structure(draw_rows(1, 0).variables, {"b": "a", "c": ("a", "b"), "d": "c"}),
        draw_rows(7, 5, missing=0.25),
    ),
}
