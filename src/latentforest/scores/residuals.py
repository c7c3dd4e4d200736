"""Where a network misses a table: residuals of cells and of pairs of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.results.table import Table
from latentforest.inference.association.pair_tables import TreeTables, is_tree_like
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData, require_categorical
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray
from latentforest.model.network import Network
from latentforest.scores.effective_dimension import with_gaps
from latentforest.scores.saturated import MAX_CELLS, all_cells, count_cells, fit_saturated
from latentforest.scores.state_counts import StateCounts

BLOCK_STATES = 512  # of columns that are compared with all columns at once
LEAST_EXPECTED, FEW_EXPECTED, SMALL_SHARE = 1.0, 5.0, 0.2  # rows of cells that can be judged
NO_SIGN = 1e-6  # excess of a pair, as a share of its rows, that EM may leave where there is none


def compute_log_probabilities(network: Network, cells: Dataset) -> FloatArray:
    """Log-probabilities of rows with some or all of the observed variables of a network."""
    data = PatternedData(with_gaps(network.structure, cells))
    found: FloatArray = make_engine(network.structure, data).row_log_likelihoods(network.parameters)
    return found


def compute_cell_residuals(
    network: Network, data: PatternedData | Dataset, columns: Sequence[str] | None = None
) -> Table:
    """Compare observed and expected counts of each cell of a table.

    The residual is standardized: observed less expected count, over the root of the expected one
    (Pearson's). Rows with missing values are shared out among the cells by the saturated model.

    Parameters
    ----------
    network
        Any network; these columns are among its observed variables.
    data
        The table.
    columns
        Which columns make the cells; by default all that the network has.

    Returns
    -------
    Table
        A column for each of the ``columns``, then ``observed``, ``expected`` and ``residual``; the
        largest residual, whatever its sign, first. Cells that do not occur are left out if the
        table has more than a million.

    Examples
    --------
    >>> from latentforest import Independence, datasets
    >>> table = datasets.load("hiv-tests")
    >>> network = Independence().fit(table).network_
    >>> print(compute_cell_residuals(network, table, ["A", "B"]))
           A         B  observed  expected  residual
    negative  positive     6.000    62.030    -7.114
    positive  positive   133.000    76.970     6.387
    negative  negative   185.000   128.970     4.934
    positive  negative   104.000   160.030    -4.429
    """
    names = tuple(network.observed if columns is None else columns)
    table = _dataset(data).select(names)
    require_categorical(table)
    fit = fit_saturated(table, lambda cells: np.exp(compute_log_probabilities(network, cells)))
    cells, counts = fit.cells, fit.counts
    if fit.n_cells <= MAX_CELLS:
        counts = np.zeros(fit.n_cells)
        codes = [column.astype(np.intp) for column in fit.cells.columns]
        counts[np.ravel_multi_index(codes, [v.n_states for v in table.variables])] = fit.counts
        cells = all_cells(table.variables, np.arange(count_cells(table.variables)))
    expected = fit.counts.sum() * np.exp(compute_log_probabilities(network, cells))
    residuals = _standardize(counts, expected)
    order = np.argsort(-np.abs(residuals).round(9), kind="stable")
    values = {"observed": counts, "expected": expected, "residual": residuals}
    return Table(
        {name: cells.decode(name)[order].tolist() for name in names}
        | {_free_name(name, names): found[order].tolist() for name, found in values.items()}
    )


def _standardize(counts: FloatArray, expected: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts == expected, 0.0, (counts - expected) / np.sqrt(expected))


def _free_name(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _free_name(name + "_", taken)


def _dataset(data: PatternedData | Dataset) -> Dataset:
    return data.dataset if isinstance(data, PatternedData) else data


class PairResiduals(NamedTuple):
    """Residuals of all pairs of some columns, each an array ``(n_pairs,)``.

    ``first`` and ``second`` are places in ``names``. ``smallest`` is the smallest expected count of
    a cell, ``small_shares`` the share of cells whose count is expected to be below five.
    """

    names: tuple[str, ...]
    first: AnyArray
    second: AnyArray
    residuals: FloatArray
    signs: AnyArray
    smallest: FloatArray
    small_shares: FloatArray

    @property
    def judged(self) -> BoolArray:
        """Whether there are rows enough to judge a pair, ``(n_pairs,)``."""
        found: BoolArray = (self.smallest >= LEAST_EXPECTED) & (self.small_shares <= SMALL_SHARE)
        return found


def compute_bivariate_residuals(network: Network, data: PatternedData | Dataset) -> Table:
    """Compare observed and expected two-way tables of all pairs of categorical columns.

    The residual is Pearson's statistic of the two-way table over its degrees of freedom: far above
    one means that the network leaves an association between the two columns unexplained. Its sign
    says which way: 1 if high states of the two columns (in the order of the states) go together
    more often than the network says, -1 if less often. Rows that lack one of the two values are
    left out for that pair. `compute_cell_residuals` shows the cells of a pair.

    Parameters
    ----------
    network
        Any network.
    data
        The table.

    Returns
    -------
    Table
        Columns ``first``, ``second``, ``residual``, ``sign``, ``smallest_expected`` and
        ``small_cells``, largest residual first. The last two are the smallest expected count of a
        cell and the share of cells that are expected to have fewer than five rows: with less than
        one, or more than a fifth, there are too few rows to judge the pair.

    Examples
    --------
    >>> from latentforest import Independence, datasets
    >>> table = datasets.load("hiv-tests")
    >>> found = compute_bivariate_residuals(Independence().fit(table).network_, table)
    >>> print(found.to("csv").splitlines()[0])
    first,second,residual,sign,smallest_expected,small_cells
    >>> found["first"][0], found["second"][0], round(found["residual"][0], 1), found["sign"][0]
    ('A', 'D', 351.3, 1)
    """
    return tabulate_pairs(compare_pairs(network, _dataset(data)))


def tabulate_pairs(pairs: PairResiduals, p: FloatArray | None = None) -> Table:
    """Make a table of the residuals of pairs, largest first, with p-values if there are any."""
    names, order = pairs.names, np.argsort(-pairs.residuals, kind="stable")
    columns = {
        "first": [names[i] for i in pairs.first[order]],
        "second": [names[j] for j in pairs.second[order]],
        "residual": pairs.residuals[order].tolist(),
        "sign": pairs.signs[order].tolist(),
        "smallest_expected": pairs.smallest[order].tolist(),
        "small_cells": pairs.small_shares[order].tolist(),
    }
    return Table(columns if p is None else columns | {"p": p[order].tolist()})


def compare_pairs(network: Network, dataset: Dataset) -> PairResiduals:
    """Compute the residuals of all pairs of categorical columns."""
    continuous = set(network.structure.continuous)
    names = tuple(name for name in network.observed if name not in continuous)
    n, pairs = len(names), np.triu_indices(len(names), 1)
    found = np.zeros((4, n, n))
    if n > 1:
        counts, expect = StateCounts(dataset.select(names)), _expectation(network, names)
        for low, high in _cut(counts.edges):
            found[:, low:high] = _compare_block(counts, expect(low, high), low, high)
    residuals, signs, smallest, shares = (part[pairs] for part in found)
    return PairResiduals(names, *pairs, residuals, signs.astype(np.intp), smallest, shares)


def _cut(edges: AnyArray) -> Iterator[tuple[int, int]]:
    """Cut the columns into parts with about so many states, or one column."""
    low, n = 0, len(edges) - 1
    while low < n:
        high = int(np.searchsorted(edges, edges[low] + BLOCK_STATES, side="right")) - 1
        yield low, max(low + 1, high)
        low = max(low + 1, high)


def _compare_block(counts: StateCounts, chances: FloatArray, low: int, high: int) -> FloatArray:
    """Compare some columns with all: residual, sign, smallest count, share of small counts."""
    edges = counts.edges
    sizes = np.diff(edges)
    some, starts, ends = sizes[low:high], edges[low:high] - edges[low], edges[:-1]

    def add_up(cells: AnyArray) -> FloatArray:
        return np.asarray(np.add.reduceat(np.add.reduceat(cells, starts, axis=0), ends, axis=1))

    observed, n_rows = counts.count(low, high), counts.count_rows(low, high)
    expected = chances * np.repeat(np.repeat(n_rows, some, axis=0), sizes, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = (observed - expected) ** 2 / expected
    cells[(observed == 0) & (expected == 0)] = 0.0
    freedom = np.maximum(np.outer(some - 1, sizes - 1), 1)
    can_vary = np.outer(some > 1, sizes > 1)
    residuals = np.where(can_vary, add_up(cells) / freedom, 0.0)
    middles = np.concatenate([np.arange(size) - (size - 1) / 2 for size in sizes])
    excess = add_up((observed - expected) * np.outer(middles[edges[low] : edges[high]], middles))
    signs = np.sign(np.where(np.abs(excess) > NO_SIGN * n_rows, excess, 0.0))
    # A state that neither the table nor the network has makes no cells.
    either = (expected > 0) | (observed > 0)
    can_occur = np.outer(either.any(axis=1), either.any(axis=0))
    n_small = add_up((can_occur & (expected < FEW_EXPECTED)).astype(float))
    shares = n_small / np.maximum(add_up(can_occur.astype(float)), 1.0)
    smallest = _find_smallest(np.where(can_occur, expected, np.inf), starts, ends)
    return np.stack([residuals, signs, np.where(can_vary, smallest, 0.0), shares])


def _find_smallest(cells: FloatArray, starts: AnyArray, ends: AnyArray) -> FloatArray:
    """Smallest number of the two-way table of each pair; zero if it has no cells."""
    lows = np.minimum.reduceat(np.minimum.reduceat(cells, starts, axis=0), ends, axis=1)
    found: FloatArray = np.where(np.isfinite(lows), lows, 0.0)
    return found


def _expectation(network: Network, names: tuple[str, ...]) -> Callable[[int, int], FloatArray]:
    """Return how to find the probabilities of states of some columns with those of all."""
    if is_tree_like(network.structure):
        tables = TreeTables(network)
        return lambda low, high: tables.columns_by_columns(names[low:high], names)
    edges = np.cumsum([0, *(network.structure.shape(name)[-1] for name in names)])
    chances = _expect_pairs(network, names, edges)
    return lambda low, high: chances[edges[low] : edges[high]]


def _expect_pairs(network: Network, names: tuple[str, ...], edges: AnyArray) -> FloatArray:
    """Probabilities of each pair of states of any two observed variables."""
    states = np.full((len(names), edges[-1]), -1)  # one row for each state of each variable
    for column, low, high in zip(states, edges[:-1], edges[1:], strict=True):
        column[low:high] = np.arange(high - low)
    variables = [network.structure.variable(name) for name in names]
    data = PatternedData(with_gaps(network.structure, Dataset(variables, list(states))))
    engine = make_engine(network.structure, data)
    chances = np.exp(engine.row_log_likelihoods(network.parameters))
    others = np.concatenate(engine.posteriors(network.parameters, names), axis=1)
    return np.where(chances[:, None] > 0, others * chances[:, None], 0.0)
