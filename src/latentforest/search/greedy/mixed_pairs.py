"""Latent class models of two variables, one of them continuous or both.

A latent variable that is known by its posterior takes part with all its states in every row, each
weighted by its probability: the pseudo-frequencies of ``two_way``, with values instead of cells.
"""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.estimation.two_way import TwoWayClasses
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.search.greedy.groups import GroupFits, GroupModel, GroupSettings

LEFT, RIGHT = "left", "right"
SETTINGS = EMSettings(max_iterations=200, tolerance=1e-7)


def choose_pair_classes(
    left: FloatArray,
    right: FloatArray,
    weights: FloatArray,
    *,
    n_states: int | None = None,
    max_states: int = 10,
    n_starts: int = 8,
    seed: int = 0,
) -> TwoWayClasses:
    """Fit models to two variables and return the one with the highest BIC.

    Parameters
    ----------
    left, right
        Values of a continuous variable, ``(n_rows,)``, nan for missing; or probabilities of the
        states of another one, ``(n_rows, n_states)``, zeros for missing. One or both are
        continuous.
    weights
        Shape ``(n_rows,)``.
    n_states
        Number of classes; none: from one up to ``max_states`` as long as BIC rises.
    n_starts, seed
        Random starts of each fit.
    """
    pair = _pair_up(left, right, weights)
    settings = GroupSettings("diagonal", max_states, n_starts, SETTINGS, seed)
    fits = GroupFits(PatternedData(pair), settings)
    model = fits.best(pair.names) if n_states is None else fits.fit(pair.names, n_states)
    return TwoWayClasses(
        _sizes(model), _table(model, LEFT), _table(model, RIGHT), model.log_likelihood, model.bic
    )


def _pair_up(left: FloatArray, right: FloatArray, weights: FloatArray) -> Dataset:
    """Make a table of the two; a row for each state of a variable that has some."""
    n, sides = len(weights), {LEFT: left, RIGHT: right}
    soft = next((values for values in (left, right) if values.ndim == 2), None)
    if soft is None:
        variables = [Variable(name) for name in sides]
        return Dataset(variables, [left, right], weights)
    n_states = soft.shape[1]
    is_missing = (soft.sum(axis=1, keepdims=True) == 0).astype(np.float64)
    shares = np.concatenate([soft, is_missing], axis=1) * weights[:, None]
    rows, codes = np.nonzero(shares > 0)
    if not len(rows):
        rows, codes = np.arange(n), np.full(n, n_states)
    columns, variables = [], []
    for name, values in sides.items():
        if values is soft:
            variables.append(Variable(name, tuple(map(str, range(n_states)))))
            columns.append(np.where(codes < n_states, codes, -1))
        else:
            variables.append(Variable(name))
            columns.append(values[rows])
    return Dataset(variables, columns, shares[rows, codes])


def _sizes(model: GroupModel) -> FloatArray:
    latents = model.network.latents
    return np.array(model.network.table_view(latents[0])) if latents else np.ones(1)


def _table(model: GroupModel, name: str) -> FloatArray:
    return np.atleast_2d(model.network.table_view(name))
