"""Distributions of all variables of a network on their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentforest.model.gaussian import Mixture
from latentforest.model.questions import elimination
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]


def compute_marginals(
    structure: Structure, parameters: Floats, names: tuple[str, ...] | None = None
) -> dict[str, Floats]:
    """Compute the probabilities of categorical variables' states; in a forest, all in one pass."""
    wanted = structure.names if names is None else names
    wanted = tuple(name for name in wanted if structure.variable(name).is_categorical)
    if not structure.is_forest:
        return {
            name: elimination.compute_joint(structure, parameters, (name,), {}) for name in wanted
        }
    marginals: dict[str, Floats] = {}
    for name in structure.order:
        table = structure.table_view(parameters, name)
        parents = structure.parents(name)
        if structure.variable(name).is_categorical:
            marginals[name] = marginals[parents[0]] @ table if parents else table
    return {name: marginals[name] for name in wanted}


def compute_mixtures(structure: Structure, parameters: Floats) -> dict[str, Mixture]:
    """Compute the densities of the continuous variables."""
    return {
        name: elimination.compute_mixture(structure, parameters, name, {})
        for name in structure.continuous
    }
