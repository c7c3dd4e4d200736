"""Weights of the pseudo-observations of continuous variables, by the evidence of what was seen."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.new_rows.pseudo_count_weights import LINE_WEIGHTS, weigh_gaussian_rows
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.parameters import join_covariances
from latentforest.model.structure import Structure


class GaussianWeights:
    """Weights for the continuous variables of a network.

    What was seen in each configuration of their categorical parents is read off fitted parameters;
    continuous parents are taken to be distributed as in the whole table. All is in units in which
    columns have variance one.

    Parameters
    ----------
    data
        The table.
    network
        Has the parameters under which rows are shared out to states.
    fitted
        The same network with the parameters that fit the rows best that were so shared out.
    counts
        Expected counts of the tables.
    """

    def __init__(
        self, data: PatternedData, network: Network, fitted: Network, counts: FloatArray
    ) -> None:
        self._data, self._network, self._fitted, self._counts = data, network, fitted, counts
        self._structure = network.structure
        self._known: dict[tuple[str, ...], FloatArray] = {}

    def weigh(self, name: str, cost: float) -> tuple[FloatArray, float]:
        """Return a weight for each configuration, and the share of the columns' correlations.

        Pseudo-observations over all rows together are uncorrelated. Those of a configuration have
        the correlations that are left by these.

        Parameters
        ----------
        name
            The first variable of its pouch, with parents or others in the pouch.
        cost
            Log-odds against the family's links before any row was seen.
        """
        structure = self._structure
        pouch, lines = structure.pouch(name), structure.continuous_parents(name)
        parents, joint = structure.categorical_parents(name), (*pouch, *lines)
        trust = _find_trust(structure, self._fitted.parameters, name, self._data.dataset)
        sizes = self._count(name, parents)
        share, d = 1.0, len(joint)
        correlations = self._data.correlations(joint)
        if d > 1:
            n_rows, part = np.array([trust * sizes.sum()]), (d - 1) / (d - 1 + len(parents))
            whole = weigh_gaussian_rows(
                n_rows,
                np.zeros((1, d)),
                correlations[None],
                np.eye(d),
                len(pouch),
                part * cost,
                LINE_WEIGHTS,
            )
            if not parents:
                return whole / trust, 0.0
            share = float(n_rows[0] / (n_rows[0] + whole[0]))
        spread = share * correlations + (1.0 - share) * np.eye(d)
        offsets, covariances = self._find_moments(pouch, lines, spread)
        if lines:
            covariances = _unbias(covariances, sizes, spread)
        weights = weigh_gaussian_rows(trust * sizes, offsets, covariances, spread, len(pouch), cost)
        return np.maximum(weights / trust, _find_least(sizes, len(lines))), share

    def _find_moments(
        self, pouch: tuple[str, ...], lines: tuple[str, ...], spread: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Means less those of the columns, and covariances, in each configuration."""
        about = [self._data.summary(each) for each in (*pouch, *lines)]
        scales, centers = np.sqrt([a.variance for a in about]), np.array([a.mean for a in about])
        tables = [self._structure.table_view(self._fitted.parameters, each) for each in pouch]
        rows = tables[0].reshape(-1, tables[0].shape[-1])
        if lines:
            return _join_line(rows, centers, scales, spread)
        offsets = np.stack([table[..., 0].ravel() for table in tables], axis=1) - centers
        covariances = rows[:, 1:, None]
        if len(pouch) > 1:
            covariances = join_covariances(self._structure, pouch, self._fitted.parameters)
            covariances = covariances.reshape(-1, len(pouch), len(pouch))
        return offsets / scales, covariances / np.outer(scales, scales)

    def _count(self, name: str, parents: tuple[str, ...]) -> FloatArray:
        """Expected weights of the configurations, in rows in which the variable has a value."""
        if parents not in self._known:
            self._known[parents] = self._count_all(parents)
        weights = self._data.dataset.weights
        has_value = ~np.isnan(self._data.dataset.column(name))
        return self._known[parents] * float(weights[has_value].sum() / weights.sum())

    def _count_all(self, parents: tuple[str, ...]) -> FloatArray:
        total = self._data.total_weight
        if not parents:
            return np.array([total])
        if len(parents) == 1:
            table = self._structure.table_view(self._counts, parents[0])
            found = table.reshape(-1, table.shape[-1]).sum(axis=0)
            if found.sum() > 0:
                scaled: FloatArray = found * (total / found.sum())
                return scaled
        joint: FloatArray = total * self._network.query(list(parents)).ravel()
        return joint


def _join_line(
    rows: FloatArray, centers: FloatArray, scales: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and covariances of a variable and its continuous parents."""
    slopes, inner = rows[:, 1:-1] * scales[1:] / scales[0], spread[1:, 1:]
    offsets = np.zeros((len(rows), len(scales)))
    offsets[:, 0] = (rows[:, 0] + rows[:, 1:-1] @ centers[1:] - centers[0]) / scales[0]
    covariances = np.tile(spread, (len(rows), 1, 1))
    covariances[:, 0, 1:] = covariances[:, 1:, 0] = slopes @ inner
    explained = np.sum(covariances[:, 0, 1:] * slopes, axis=1)
    covariances[:, 0, 0] = explained + rows[:, -1] / scales[0] ** 2
    return offsets, covariances


def _unbias(covariances: FloatArray, sizes: FloatArray, spread: FloatArray) -> FloatArray:
    """Add to the variance around lines what their coefficients took; too few rows tell nothing."""
    slopes = np.linalg.solve(spread[1:, 1:], covariances[:, 1:, 0].T).T
    explained = np.sum(slopes * covariances[:, 0, 1:], axis=1)
    free = sizes - len(spread)
    around = (covariances[:, 0, 0] - explained) * sizes / np.maximum(free, 1.0)
    result = covariances.copy()
    result[:, 0, 0] = explained + around
    result[free < 1.0] = spread
    return result


def _find_least(sizes: FloatArray, n_slopes: int) -> FloatArray:
    """Least weights of lines: as many rows as they take, fewer where there are many."""
    if n_slopes == 0:
        return np.zeros(len(sizes))
    taken = n_slopes + 1.0
    return np.minimum(taken, taken**2 / np.maximum(sizes - taken, 1.0))


def _find_trust(structure: Structure, parameters: FloatArray, name: str, table: Dataset) -> float:
    """Return how many normal rows a row counts as: fewer than one if tails are heavy.

    The variance of a sample's variance grows with the fourth moment. The root of that ratio is
    taken. Only of variables whose parents are columns: latent states make room for tails.
    """
    parents = structure.parents(name)
    if not set(parents) <= set(structure.observed) or len(structure.pouch(name)) > 1:
        return 1.0
    used = np.ones(table.n_rows, bool)
    for each in (name, *parents):
        column = table.column(each)
        used &= column >= 0 if structure.variable(each).is_categorical else ~np.isnan(column)
    table = table.take(used)
    away = _standardize(structure, parameters, name, table)
    total, second, fourth = (float(np.sum(table.weights * away**k)) for k in (0, 2, 4))
    if not second > 0.0:
        return 1.0
    return float(np.sqrt(2.0 / max(fourth * total / second**2 - 1.0, 2.0)))


def _standardize(
    structure: Structure, parameters: FloatArray, name: str, table: Dataset
) -> FloatArray:
    """Distances of a column's values from what its parents let expect, in deviations there."""
    lines = structure.continuous_parents(name)
    where = tuple(table.column(each) for each in structure.categorical_parents(name))
    rows = structure.table_view(parameters, name)[where]
    x = np.stack([np.ones(table.n_rows), *(table.column(each) for each in lines)], axis=1)
    expected = np.sum(rows[..., :-1] * x, axis=1)
    away: FloatArray = (table.column(name) - expected) / np.sqrt(rows[..., -1])
    return away
