"""Information distances between columns, with their standard errors.

Choi, Tan, Anandkumar and Willsky (2011) use -log |det J| / sqrt(det P det Q), where J is the joint
distribution of two variables and P, Q are diagonal with their marginals: the sum of -log over the
singular values of P^-1/2 J Q^-1/2. The largest of these is one, the others are the canonical
correlations. Determinants need equal numbers of states; here the sum goes over the ``rank``
largest singular values, whatever the shape of the table.

If c separates a from b, the matrix of (a, b) is the product of those of (a, c) and (c, b). The
product of the nonzero singular values of A B is that of A times that of B if A has as many columns
as its rank, and B as many rows. So distances add up along the paths of a tree, exactly, if all
latent variables have ``rank`` states, observed leaves at least as many, observed inner nodes
exactly as many, and no table loses rank. Otherwise (binary leaves below variables of three states,
latent variables of different sizes) they add up only roughly.

Continuous columns are cut at their quantiles first. What separates a column from others separates
any function of it too, so distances between such columns add up as they do between others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray

CHUNK_CELLS = 1 << 23  # cells of the indicator matrix that are held at once
NOTHING = 1e-12  # a singular value that is zero but for rounding
N_BINS = 5  # classes of equal weight that a continuous column is cut into


@dataclass(frozen=True)
class Distances:
    """Distances between columns.

    Attributes
    ----------
    values
        Shape (n_columns, n_columns); infinite between columns of different groups, where a group
        is connected by pairs that depend on each other.
    errors
        Standard errors; infinite where a distance is only bounded by those along a path.
    rank
        Number of singular values that count, the trivial one included.
    """

    values: FloatArray
    errors: FloatArray
    rank: int


@dataclass(frozen=True)
class _Pairs:
    """Facts on all pairs of columns, as matrices."""

    values: FloatArray
    errors: FloatArray
    ranks: AnyArray


def compute_distances(data: Dataset, rank: int | None = None) -> Distances:
    """Compute the distances between all columns, each pair over the rows that have both values.

    Parameters
    ----------
    data
        Columns of any kind.
    rank
        Number of states of the latent variables. At most as many singular values count as the
        smallest column has states, so that all distances are sums of equally many terms. Default:
        the numerical rank that every column reaches with at least one other, by BIC.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> found = compute_distances(load("hiv-tests"))
    >>> found.values[0].round(2), found.rank
    (array([0.  , 0.58, 0.12, 0.1 ]), 2)
    """
    data = cut_numbers(data)
    tables = count_pairs(data)
    offsets = _find_offsets(data)
    present = [int(np.count_nonzero(data.counts(name))) for name in data.names]
    smallest = min((n for n in present if n > 1), default=2)
    if rank is None:
        rank = _choose_rank(_measure_all(tables, offsets, smallest).ranks)
    rank = max(2, min(rank, smallest))
    return _complete(_measure_all(tables, offsets, rank), rank)


def cut_numbers(data: Dataset, n_classes: int = N_BINS) -> Dataset:
    """Cut continuous columns into classes of about equal weight; equal values stay together.

    A column with few different values has fewer classes than asked for.
    """
    variables, columns = [], []
    for variable, column in zip(data.variables, data.columns, strict=True):
        if variable.is_categorical:
            variables.append(variable)
            columns.append(column)
            continue
        codes, n_found = _cut(column, data.weights, n_classes)
        variables.append(Variable(variable.name, tuple(map(str, range(n_found)))))
        columns.append(codes)
    return Dataset(variables, columns, data.weights)


def _cut(values: FloatArray, weights: FloatArray, n_classes: int) -> tuple[AnyArray, int]:
    used = ~np.isnan(values) & (weights > 0)
    if not used.any():
        return np.full(len(values), -1), 1
    order = np.argsort(values[used], kind="stable")
    x, below = values[used][order], np.cumsum(weights[used][order])
    places = np.searchsorted(below, below[-1] * np.arange(1, n_classes) / n_classes)
    edges = np.unique(x[np.minimum(places, len(x) - 1)])
    edges = edges[edges < x[-1]]  # the last class must not be empty
    codes = np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), -1, codes), len(edges) + 1


def count_pairs(data: Dataset) -> FloatArray:
    """Weight of the rows for each pair of states of all columns, missing values left out.

    Rows and columns are the states of the first column, then of the second, and so on.
    """
    offsets = _find_offsets(data)
    n_states, n_rows = offsets[-1], data.n_rows
    step = max(1, CHUNK_CELLS // max(n_states, 1))
    tables = np.zeros((n_states, n_states))
    for low in range(0, n_rows, step):
        high = min(low + step, n_rows)
        indicators = np.zeros((high - low, n_states))
        for offset, column in zip(offsets, data.columns, strict=False):
            codes = column[low:high].astype(np.intp)
            (seen,) = np.nonzero(codes >= 0)
            indicators[seen, offset + codes[seen]] = 1.0
        tables += (indicators * data.weights[low:high, None]).T @ indicators
    return tables


def _find_offsets(data: Dataset) -> list[int]:
    cards = [variable.n_states for variable in data.variables]
    return [0, *np.cumsum(cards).tolist()]


def _measure_all(tables: FloatArray, offsets: list[int], rank: int) -> _Pairs:
    """Measure all pairs, those of equal shape together."""
    n = len(offsets) - 1
    cards = np.diff(offsets)
    values, errors = np.zeros((n, n)), np.zeros((n, n))
    ranks = np.zeros((n, n), np.int64)
    for a in np.unique(cards):
        rows = np.flatnonzero(cards == a)
        for b in np.unique(cards[cards >= a]):
            columns = np.flatnonzero(cards == b)
            for i in rows:
                others = columns[columns > i] if a == b else columns
                if len(others) == 0:
                    continue
                places = np.asarray(offsets)[others][:, None] + np.arange(b)
                some = tables[offsets[i] : offsets[i + 1]][:, places].transpose(1, 0, 2)
                for matrix, found in zip(
                    (values, errors, ranks), measure_tables(some, rank), strict=True
                ):
                    matrix[i, others] = matrix[others, i] = found
    return _Pairs(values, errors, ranks)


def measure_tables(tables: FloatArray, rank: int) -> tuple[FloatArray, FloatArray, AnyArray]:
    """Return the distance, its standard error and the numerical rank of tables of counts.

    Errors are those of the delta method, at least one observation's worth. The rank is the lowest
    for which N times the sum of the squares of further singular values, which then follows a χ²
    distribution, is below the number of its degrees of freedom times log N: one if the two
    variables are independent by BIC.

    Parameters
    ----------
    tables
        Counts, shape (n_tables, n_states, n_other_states).
    rank
        Number of singular values.
    """
    totals = tables.sum(axis=(1, 2))
    joint = tables / np.where(totals > 0, totals, 1.0)[:, None, None]
    p, q = joint.sum(axis=2), joint.sum(axis=1)
    inverse_p, inverse_q = _invert(p), _invert(q)
    scale = np.sqrt(inverse_p[:, :, None] * inverse_q[:, None, :])
    u, s, v = np.linalg.svd(joint * scale, full_matrices=False)
    s = np.clip(s, 0.0, 1.0)
    ranks = _estimate_ranks(s, totals, (p > 0).sum(axis=1), (q > 0).sum(axis=1))
    u, s, v = u[:, :, :rank], s[:, :rank], v[:, :rank]
    is_full = (s[:, -1] > NOTHING) & (s.shape[1] == rank)
    s = np.where(is_full[:, None], s, 1.0)
    values = np.where(is_full, -np.log(s).sum(axis=1), np.inf)
    influence = -(u / s[:, None, :]) @ v * scale
    influence += 0.5 * ((u**2).sum(axis=2) * inverse_p)[:, :, None]
    influence += 0.5 * ((v**2).sum(axis=1) * inverse_q)[:, None, :]
    variances = (joint * influence**2).sum(axis=(1, 2)) / np.maximum(totals, 1.0)
    errors = np.sqrt(variances + 1.0 / np.maximum(totals, 1.0) ** 2)
    return np.maximum(values, 0.0), np.where(is_full, errors, np.inf), ranks


def _invert(values: FloatArray) -> FloatArray:
    """One over each value, zero for those that are zero."""
    inverse: FloatArray = np.where(values > 0, 1.0 / np.where(values > 0, values, 1.0), 0.0)
    return inverse


def _estimate_ranks(s: FloatArray, totals: FloatArray, a: AnyArray, b: AnyArray) -> AnyArray:
    ranks = np.minimum(a, b)
    penalty = np.log(np.maximum(totals, np.e))
    for rank in range(s.shape[1], 0, -1):
        rest = totals * (s[:, rank:] ** 2).sum(axis=1)
        is_enough = rest <= np.maximum(a - rank, 0) * np.maximum(b - rank, 0) * penalty
        ranks = np.where(is_enough, np.minimum(ranks, rank), ranks)
    return ranks


def _choose_rank(ranks: AnyArray) -> int:
    """The rank that every column reaches with another one, if it depends on any."""
    reached = ranks.max(axis=1)
    return int(reached[reached > 1].min(initial=np.iinfo(np.int64).max))


def _complete(pairs: _Pairs, rank: int) -> Distances:
    """Bound the distances that are not known by those along a path; separate the groups."""
    values, errors = pairs.values.copy(), pairs.errors.copy()
    is_edge: BoolArray = (pairs.ranks > 1) & np.isfinite(values)
    np.fill_diagonal(is_edge, False)
    _, group = connected_components(csr_array(is_edge), directed=False)
    is_apart = group[:, None] != group[None, :]
    unknown = ~np.isfinite(values) & ~is_apart
    if unknown.any():
        places = np.nonzero(is_edge)
        edges = coo_array((values[places], places), shape=values.shape)  # keeps zeros
        values[unknown] = shortest_path(edges.tocsr(), directed=False)[unknown]
        errors[unknown] = np.inf
    values[is_apart] = errors[is_apart] = np.inf
    np.fill_diagonal(values, 0.0)
    np.fill_diagonal(errors, 0.0)
    return Distances(values, errors, rank)
