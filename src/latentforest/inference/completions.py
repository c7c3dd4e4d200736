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
) -> tuple[Dataset, Dataset]:
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
    tuple of Dataset
        The observed variables, complete, and the latent ones. A cell of a row that is impossible
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
    parts = [
        Dataset([structure.variable(n) for n in names], [columns[n] for n in names], table.weights)
        if names
        else Dataset([], [], table.weights)
        for names in (structure.observed, structure.latents)
    ]
    return parts[0], parts[1]
