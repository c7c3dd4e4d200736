"""Rows whose missing cells and latent variables are filled in: most probable, or random, ones."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.dense_gaussians import find_gaussians
from latentforest.inference.forest import PatternedData
from latentforest.inference.junction_tree import JunctionTree
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
    for gaussian in find_gaussians(structure, data).values():
        codes = [columns[name] for name in gaussian.scope]
        shape = gaussian.cards or [1]
        rows = np.zeros(table.n_rows, np.int64)
        if codes:
            rows = np.ravel_multi_index([np.maximum(c, 0) for c in codes], shape)
        values = np.stack([columns[name] for name in gaussian.names], axis=1)
        filled = gaussian.complete(theta, values, rows, generator)
        possible = np.all([c >= 0 for c in codes], axis=0) if codes else np.ones(len(rows), bool)
        filled = np.where(possible[:, None], filled, values)
        columns |= dict(zip(gaussian.names, filled.T, strict=True))
    variables = [structure.variable(name) for name in structure.observed]
    complete = Dataset(variables, [columns[v.name] for v in variables], table.weights)
    return complete, {name: columns[name] for name in structure.latents}
