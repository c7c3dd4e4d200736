"""Rows whose missing cells and latent variables are filled in: most probable, or random, ones."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.forest import PatternedData
from latentforest.inference.junction.dense_gaussians import (
    ClusterRows,
    GaussianFactor,
    make_factors,
)
from latentforest.inference.junction.junction_tree import JunctionTree
from latentforest.kernels.types import AnyArray
from latentforest.model.network import Network


def complete_rows(
    network: Network,
    table: Dataset,
    generator: np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> tuple[Dataset, dict[str, AnyArray]]:
    """Fill in what rows leave open.

    Parameters
    ----------
    network
        Its observed variables are columns of the table, of the same states.
    table
        The rows.
    generator
        Draws from the joint posterior of all that is open; without it, the categorical variables
        get their most probable joint states, and numbers their expectation given these.
    n_jobs
        Threads.

    Returns
    -------
    tuple
        The observed variables, complete, and the codes of the latent ones. What cannot be explained
        stays missing.
    """
    data, structure = PatternedData(table, n_jobs), network.structure
    engine, theta = JunctionTree(structure, data), network.parameters
    found = engine.complete(theta, generator)
    columns: dict[str, AnyArray] = {name: table.column(name) for name in structure.observed}
    columns |= found
    missing = [name for name in structure.continuous if np.isnan(columns[name]).any()]
    for factor in make_factors(structure, data, missing, (), ()):
        if any(name in missing for name in factor.names):
            rows = _read(factor, columns, table.n_rows)
            filled = factor.complete(theta, rows, generator)
            states = [columns[name] >= 0 for name in factor.scope]
            possible = np.logical_and.reduce(states) if states else np.ones(len(filled), bool)
            filled = np.where(possible[:, None], filled, rows.values)
            columns |= dict(zip(factor.names, filled.T, strict=True))
    variables = [structure.variable(name) for name in structure.observed]
    complete = Dataset(variables, [columns[v.name] for v in variables], table.weights)
    return complete, {name: columns[name] for name in structure.latents}


def _read(factor: GaussianFactor, columns: dict[str, AnyArray], n_rows: int) -> ClusterRows:
    """What a cluster sees of completed rows; impossible ones get any state."""
    values = np.stack([columns[name] for name in factor.names], axis=1)
    outside = np.empty((n_rows, len(factor.cluster.outside)))
    for j, name in enumerate(factor.cluster.outside):
        outside[:, j] = columns[name]
    codes = {name: np.maximum(columns[name], 0).astype(np.int64) for name in factor.scope}
    return ClusterRows(values, outside, codes)
