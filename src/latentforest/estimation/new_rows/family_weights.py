"""Pseudo-observations for every row of every table, with weights by the evidence of its family."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.new_rows.gaussian_weights import GaussianWeights
from latentforest.estimation.new_rows.pseudo_count_weights import (
    shape_marginal,
    weigh_cells,
    weigh_table_rows,
)
from latentforest.inference.engine import Engine
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

ONE_STEP = EMSettings(max_iterations=1, tolerance=1e-7, accelerate=False)


class PseudoCounts(NamedTuple):
    """Pseudo-counts in the layout of the parameters.

    ``shares`` tells how much of the columns' correlations pseudo-observations of several columns
    have: see ``extend_prior``.
    """

    counts: FloatArray
    shares: FloatArray


def weigh_families(engine: Engine, network: Network) -> PseudoCounts:
    """Return pseudo-counts shaped like the columns' distributions, with weights by evidence.

    Parameters
    ----------
    engine
        The structure over the table.
    network
        Has the parameters under which rows are shared out to states.

    Examples
    --------
    >>> from latentforest import ChowLiu, datasets
    >>> from latentforest.inference.engine import make_engine
    >>> from latentforest.inference.forest import PatternedData
    >>> data = PatternedData(datasets.load("role-conflict"))
    >>> network = ChowLiu(smoothing=0).fit(data.dataset).network_
    >>> engine = make_engine(network.structure, data)
    >>> weigh_families(engine, network).counts.round(1).tolist()[:2]
    [1.5, 1.5]
    """
    structure, counts = engine.structure, np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    prior, shares = np.zeros(structure.n_values), np.ones(structure.n_values)
    if structure.continuous:
        fitted = fit(engine, network.parameters, None, ONE_STEP, names_bounded=False).parameters
        gaussians = GaussianWeights(engine.data, network, network.with_parameters(fitted), counts)
    for name in structure.names:
        view, cost = structure.table_view(prior, name), find_cost(structure, name)
        if structure.variable(name).is_categorical:
            view[...] = _weigh_table(structure.table_view(counts, name), cost)
        elif _depends(structure, name):
            weights, share = gaussians.weigh(structure.pouch(name)[0], cost)
            view[...] = weights.reshape(view.shape[:-1])[..., None]
            structure.table_view(shares, name)[...] = share
    return PseudoCounts(prior, shares)


def scale(structure: Structure, pseudo: PseudoCounts, factor: float) -> PseudoCounts:
    """Return pseudo-counts times a factor; those of variables without parents stay."""
    counts = pseudo.counts.copy()
    for name in filter(lambda each: _depends(structure, each), structure.names):
        structure.table_view(counts, name)[...] *= factor
    return PseudoCounts(counts, pseudo.shares)


def find_cost(structure: Structure, name: str) -> float:
    """Log-odds against a family's links: each was chosen among as many as there are columns."""
    n_links = len(structure.parents(name)) + len(structure.pouch(name)) - 1
    return n_links * math.log(max(len(structure.observed), 2))


def _depends(structure: Structure, name: str) -> bool:
    """Whether a variable has parents or is not alone in its pouch."""
    return bool(structure.parents(name)) or len(structure.pouch(name)) > 1


def _weigh_table(counts: FloatArray, cost: float) -> FloatArray:
    """Pseudo-counts of a categorical table."""
    rows = counts.reshape(-1, counts.shape[-1])
    totals = rows.sum(axis=0)
    if len(rows) == 1:
        return np.full(counts.shape, weigh_cells(totals))
    marginal = shape_marginal(totals)
    weights = weigh_table_rows(rows, marginal, cost)
    shaped: FloatArray = (weights[:, None] * marginal).reshape(counts.shape)
    return shaped
