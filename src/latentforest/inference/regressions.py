"""Regressions of a column on others, in each of several groups of rows, from their moments.

Rules for what moments do not tell:

- A parent gets no slope in a group where the parents before it leave hardly any of its variance
  there: a constant or a linear function of others adds nothing.
- Variances do not fall below a bound: a small share of what the parents leave of the column's
  variance over all rows, as in EM.
- A group with no more rows than a line has coefficients would be met exactly, whatever it holds.
  Such a *thin* group, and one without any rows, takes the line and variance of all rows together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.moments import GroupMoments, MomentTable
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import BoolArray, FloatArray

# Shares of a parent's variance, in its group and over all rows, that others must leave for it to
# get a slope. As in the M-step, see ``kernels.gaussian.block_updates``.
COLLINEAR = 1e-10
NEGLIGIBLE = 1e-13


class Lines(NamedTuple):
    """A line for each group, in units of the columns' deviations.

    Attributes
    ----------
    intercepts, variances
        Shape ``(n_groups,)``; variances are above their bound.
    slopes
        Shape ``(n_groups, n_parents)``.
    """

    intercepts: FloatArray
    slopes: FloatArray
    variances: FloatArray


def eliminate(covariances: FloatArray, parents: Sequence[int]) -> FloatArray:
    """Take the parents out of covariances, one by one.

    Parameters
    ----------
    covariances
        Shape ``(n_groups, n_columns, n_columns)``.
    parents
        Columns.

    Returns
    -------
    factor
        Shape ``(n_parents, n_groups, n_columns)``: the columns' covariances with each parent, less
        what the parents before it say, over the parent's deviation; zeros for one that adds
        nothing. Its squares, summed over parents, are what these explain of each column.
    """
    factor = np.zeros((len(parents), *covariances.shape[:2]))
    for i, parent in enumerate(parents):
        done = factor[:i]
        row = covariances[:, parent] - np.einsum("ik,ikn->kn", done[:, :, parent], done)
        left = row[:, parent].copy()
        is_free = is_left(left, covariances[:, parent, parent])
        factor[i] = row * (is_free / np.sqrt(np.where(is_free, left, 1.0)))[:, None]
    return factor


def is_left(left: FloatArray, variances: FloatArray) -> BoolArray:
    """Whether enough of columns' variances is left for them to get slopes."""
    found: BoolArray = (left > COLLINEAR * variances) & (left > NEGLIGIBLE)
    return found


def find_bounds(table: MomentTable, child: int, parents: Sequence[int]) -> float:
    """Return the least variance of a column around its line."""
    return float(bound_additions(table, child, parents, [parents[0]] if parents else [child])[0])


def bound_additions(
    table: MomentTable, child: int, parents: Sequence[int], added: Sequence[int]
) -> FloatArray:
    """Return the least variances of a column with one more parent, for each of some candidates.

    Parents, or the column itself, among the candidates change nothing.
    """
    left = leave(table.correlations[None], child, parents, added)[0]
    about = table.about[child]
    return np.asarray(left * (about.least_variance / about.variance))


def leave(
    covariances: FloatArray, child: int, parents: Sequence[int], added: Sequence[int]
) -> FloatArray:
    """Return what parents and one more leave of a column's variance, for each of some candidates.

    The shape is ``(n_groups, n_candidates)``.
    """
    factor, some = eliminate(covariances, parents), list(added)
    own = covariances[:, child, child] - (factor[:, :, child] ** 2).sum(axis=0)
    variances = np.diagonal(covariances, axis1=1, axis2=2)[:, some]
    left = variances - (factor[:, :, some] ** 2).sum(axis=0)
    shared = covariances[:, child, some] - np.einsum(
        "ik,ika->ka", factor[:, :, child], factor[:, :, some]
    )
    is_known = [each == child or each in parents for each in some]
    is_free = is_left(left, variances) & ~np.array(is_known, bool)
    gain = np.where(is_free, shared**2 / np.where(is_free, left, 1.0), 0.0)
    return np.asarray(np.maximum(own[:, None] - gain, 0.0))


def solve(covariances: FloatArray, child: int, parents: Sequence[int]) -> FloatArray:
    """Return the slopes of a column on its parents, ``(n_groups, n_parents)``."""
    factor = eliminate(covariances, parents)
    slopes = np.zeros((len(covariances), len(parents)))
    for i in range(len(parents) - 1, -1, -1):
        rest = factor[i, :, child].copy()
        for j in range(i + 1, len(parents)):
            rest -= factor[i, :, parents[j]] * slopes[:, j]
        unit = factor[i, :, parents[i]]
        slopes[:, i] = np.where(unit > 0, rest / np.where(unit > 0, unit, 1.0), 0.0)
    return slopes


def fit_lines(table: MomentTable, child: int, parents: Sequence[int], groups: Mask) -> Lines:
    """Regress a column on its parents in each group that occurs, by the rules above."""
    moments = table.measure(groups, [child, *parents])
    least, places = find_bounds(table, child, parents), range(1, 1 + len(parents))
    lines = _regress(moments, places, least)
    pooled = fit_pooled(table, child, parents)
    is_thin = find_thin(moments, len(parents))
    return Lines(
        np.where(is_thin, pooled.intercepts, lines.intercepts),
        np.where(is_thin[:, None], pooled.slopes, lines.slopes),
        np.where(is_thin, pooled.variances, lines.variances),
    )


def fit_pooled(table: MomentTable, child: int, parents: Sequence[int]) -> Lines:
    """Regress a column on its parents over all rows together."""
    moments = table.measure(0, [child, *parents])
    return _regress(moments, range(1, 1 + len(parents)), find_bounds(table, child, parents))


def find_thin(moments: GroupMoments, n_parents: int) -> BoolArray:
    """Whether a line would meet all rows of a group, whatever they hold."""
    return np.asarray(moments.n_rows <= n_parents + 1)


def measure_misfit(moments: GroupMoments, lines: Lines) -> FloatArray:
    """Return the mean square distances of groups from lines; the first column is the child."""
    weights = np.concatenate([np.ones((len(lines.slopes), 1)), -lines.slopes], axis=1)
    weights = np.broadcast_to(weights, (len(moments.means), weights.shape[1]))
    away = (moments.means * weights).sum(axis=1) - lines.intercepts
    around = np.einsum("ki,kij,kj->k", weights, moments.covariances, weights)
    return np.asarray(np.maximum(around, 0.0) + away**2)


def _regress(moments: GroupMoments, parents: Sequence[int], least: float) -> Lines:
    """Regress the first column on others."""
    slopes = solve(moments.covariances, 0, parents)
    intercepts = moments.means[:, 0] - (slopes * moments.means[:, parents]).sum(axis=1)
    misfit = measure_misfit(moments, Lines(intercepts, slopes, intercepts))
    return Lines(intercepts, slopes, np.maximum(misfit, least))
