"""Continuous columns in a junction tree: densities given the categorical variables above them.

Complete columns condition the network, continuous ones too: families are judged one by one, each by
a look-up and a regression, unless they share a variable that some rows have no value for. Such
families are a *cluster*, whose joint Gaussian is made for the configurations of categorical
variables that matter. Of these, complete columns pick one for each row; the others, *open* ones,
make the cluster a factor in cliques.

Sums for the M-step are those of each family, see ``blocks.find_family_blocks``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latentforest.inference.forest import PatternedData
from latentforest.inference.junction.clique_plan import TooWideError
from latentforest.inference.junction.clique_tree import FactorItem, Member, find_strides
from latentforest.inference.patterns import Mask
from latentforest.kernels.gaussian.leaves import LOG_2_PI, N_ROWS
from latentforest.kernels.types import AnyArray, FloatArray, LongArray
from latentforest.model.covariances import factorize
from latentforest.model.gaussian import (
    Cluster,
    LinearJoint,
    find_clusters,
    join_cluster,
    list_configurations,
)
from latentforest.model.structure import Structure

MOST_DENSE = 1 << 26  # densities of a cluster, of all rows and open configurations
AT_ONCE = 1 << 21  # numbers that are computed with at a time


class ClusterRows(NamedTuple):
    """Rows, or patterns, as a cluster sees them.

    Attributes
    ----------
    values, outside
        Of the cluster's variables, nan for missing, and of its parents outside, a row for each.
    codes
        States of the categorical variables that are given.
    """

    values: FloatArray
    outside: FloatArray
    codes: Mapping[str, LongArray]

    def take(self, rows: AnyArray | slice) -> ClusterRows:
        """Return some of the rows."""
        codes = {name: code[rows] for name, code in self.codes.items()}
        return ClusterRows(self.values[rows], self.outside[rows], codes)


class _Filled(NamedTuple):
    """Values of rows in each open configuration, expected ones for those that are missing.

    ``values`` is ``(n_rows, n_open, n_names)``, or one for all open configurations where nothing is
    missing; ``rest`` has the covariances of what is missing, for each configuration of ``which``.
    """

    values: FloatArray
    rest: FloatArray | None = None
    which: LongArray | None = None


def make_factors(
    structure: Structure,
    data: PatternedData,
    missing: Collection[str],
    never: Collection[str],
    is_open: Collection[str],
) -> list[GaussianFactor]:
    """Make the factors of all continuous columns for some rows.

    Parameters
    ----------
    structure, data
        The network, the table.
    missing
        Continuous columns that some of the rows have no value for.
    never
        Those that none of the rows has a value for. If nothing below one is there, it is left out.
    is_open
        Categorical variables that are not given in all rows.
    """
    barren = set[str]()
    for name in reversed(structure.order):
        pouch, below = structure.pouch(name), structure.children(name)
        if name in never and all(child in barren for child in below) and len(pouch) == 1:
            barren.add(name)
    names = [name for name in structure.continuous if name not in barren]
    clusters = find_clusters(structure, names, missing)
    return [GaussianFactor(structure, data, cluster, is_open) for cluster in clusters]


class GaussianFactor:
    """One cluster of continuous columns.

    Parameters
    ----------
    structure, data
        The network, the table.
    cluster
        The variables.
    is_open
        Categorical variables that are not given in all rows.
    """

    def __init__(
        self,
        structure: Structure,
        data: PatternedData,
        cluster: Cluster,
        is_open: Collection[str],
    ) -> None:
        self.structure, self.data, self.cluster = structure, data, cluster
        self.names, self.scope = cluster.names, cluster.scope
        self.open = tuple(name for name in cluster.scope if name in is_open)
        self.given = tuple(name for name in cluster.scope if name not in is_open)
        self.cards = [structure.shape(name)[-1] for name in self.open]
        size = math.prod(map(float, self.cards))
        if size > MOST_DENSE:
            raise TooWideError(
                f"the continuous columns {_shorten(self.names)} depend on {size:,.0f} joint states "
                f"of {_shorten(self.open)}, which are not observed; at most {MOST_DENSE:,} are "
                "allowed"
            )
        self.n_open = int(size)
        self._families = list(dict.fromkeys(structure.pouch(name) for name in self.names))

    @cached_property
    def _grid(self) -> dict[str, LongArray]:
        """Codes of the open variables in all their joint states."""
        return list_configurations(self.open, self.cards)

    @property
    def key(self) -> str:
        """The name of the factor."""
        return self.names[0]

    @property
    def mask(self) -> Mask:
        """The columns that its values depend on."""
        columns = (*self.names, *self.cluster.outside, *self.given)
        return sum(self.data.bits[name] for name in columns)

    @property
    def item(self) -> FactorItem:
        """The cluster as an item of cliques."""
        members = zip(self.open, find_strides(self.cards), strict=True)
        return FactorItem(self.key, self.n_open, tuple(Member(*m) for m in members), True)

    def measure_work(self, n_rows: int) -> int:
        """About how many numbers are computed with for the densities of so many rows."""
        return n_rows * self.n_open * len(self.names) ** 2

    def check_size(self, n_rows: int) -> None:
        """Refuse more densities than memory allows."""
        if self.open and n_rows * self.n_open > MOST_DENSE:
            raise TooWideError(
                f"the continuous columns {_shorten(self.names)} depend on {self.n_open:,} joint "
                f"states of {_shorten(self.open)}, which are not observed, in each of {n_rows:,} "
                f"rows; at most {MOST_DENSE:,} such numbers are allowed"
            )

    def read(self, rows: AnyArray) -> ClusterRows:
        """Return some rows of the (merged) table."""
        dataset = self.data.dataset

        def stack(names: Sequence[str]) -> FloatArray:
            found = np.empty((len(rows), len(names)))
            for j, name in enumerate(names):
                found[:, j] = dataset.column(name)[rows]
            return found

        codes = {name: dataset.column(name)[rows].astype(np.int64) for name in self.given}
        return ClusterRows(stack(self.names), stack(self.cluster.outside), codes)

    def log_densities(self, theta: FloatArray, rows: ClusterRows) -> FloatArray:
        """Log-densities of what rows have, ``(n_rows, n_open)``."""
        result = np.zeros((len(rows.values), self.n_open))
        for seen, which in self._over(rows):
            here = rows.take(which)
            if len(seen) == len(self.names):
                for family in self._families:
                    result[which] += self._judge_family(theta, family, here)
            elif len(seen):
                result[which] = self._judge_joint(theta, seen, here)
        return result

    def collect(
        self,
        theta: FloatArray,
        rows: ClusterRows,
        weights: FloatArray,
        sums: Mapping[str, int],
        counts: FloatArray,
    ) -> None:
        """Add the sums of rows with these weights, ``(n_rows, n_open)``, for all families.

        ``sums`` are the places of the families' sums. Rows that have none of the values add
        nothing.
        """
        for seen, which in self._over(rows):
            if len(seen):
                here = rows.take(which)
                filled = self._fill(theta, seen, here)
                for family in self._families:
                    place, share = sums[family[0]], weights[which]
                    if len(family) == 1 and not self.structure.continuous_parents(family[0]):
                        self._collect_leaf(theta, family[0], here, filled, share, place, counts)
                    else:
                        self._collect_block(theta, family, here, filled, share, place, counts)

    def complete(
        self, theta: FloatArray, rows: ClusterRows, generator: np.random.Generator | None
    ) -> FloatArray:
        """Fill missing values given the others; all categorical variables are given.

        They are drawn or, without a generator, the expected ones.
        """
        result = rows.values.copy()
        for seen, which in self._over(rows):
            missing = np.setdiff1d(np.arange(len(self.names)), seen)
            if len(missing) == 0:
                continue
            filled = self._fill(theta, seen, rows.take(which))
            values = filled.values[:, 0, missing].copy()
            if generator is not None and filled.rest is not None and filled.which is not None:
                rest = filled.rest[:, 0][:, missing][:, :, missing]
                spread, roots = factorize(rest)
                noise = generator.standard_normal(values.shape)
                turned = np.einsum("rij,rj->ri", roots[filled.which], noise)
                values += spread[filled.which] * turned
            result[np.ix_(which, missing)] = values
        return result

    # Configurations

    def _over(self, rows: ClusterRows) -> Iterator[tuple[LongArray, LongArray]]:
        """Go through the rows, those with the same columns seen together, some at a time."""
        there = ~np.isnan(rows.values)
        if there.all():
            kinds, which = there[:1], np.zeros(len(there), np.int64)
        elif there.shape[1] == 1:
            kinds, which = np.array([[False], [True]]), there[:, 0].astype(np.int64)
        else:
            kinds, which = np.unique(there, axis=0, return_inverse=True)
        step = max(AT_ONCE // (self.n_open * len(self.names)), 1)
        for i, kind in enumerate(kinds):
            here = np.flatnonzero(which.ravel() == i)
            for start in range(0, len(here), step):
                yield np.flatnonzero(kind), here[start : start + step]

    def _place(self, name: str, rows: ClusterRows) -> LongArray:
        """Say which row of a variable's table applies, ``(n_rows, n_open)`` or one of these."""
        place: LongArray = np.zeros((1, 1), np.int64)
        grid, shape = self._grid, self.structure.shape(name)
        for parent, card in zip(self.structure.categorical_parents(name), shape, strict=False):
            code = grid[parent][None] if parent in grid else rows.codes[parent][:, None]
            place = place * card + code
        return place

    def _select(self, theta: FloatArray, name: str, rows: ClusterRows) -> FloatArray:
        """Rows of a variable's table, ``(n_rows, n_open, width)``, or 1 instead of these."""
        table = self.structure.table_view(np.asarray(theta), name)
        return np.asarray(table.reshape(-1, table.shape[-1])[self._place(name, rows)])

    def _join(self, theta: FloatArray, rows: ClusterRows) -> tuple[LinearJoint, LongArray]:
        """Multiply the families out for the states that are given, and all open ones.

        Returns a joint Gaussian for each configuration of given states and open one, and the former
        of each row.
        """
        which, first = _number(list(rows.codes.values()), len(rows.values))
        n_open, n_given = self.n_open, len(first)
        codes = {name: np.tile(code, n_given) for name, code in self._grid.items()}
        codes |= {name: np.repeat(code[first], n_open) for name, code in rows.codes.items()}
        return join_cluster(self.structure, np.asarray(theta), self.cluster, codes), which

    # Densities

    def _judge_family(
        self, theta: FloatArray, family: tuple[str, ...], rows: ClusterRows
    ) -> FloatArray:
        """Log-densities of a variable, or a pouch, whose values and parents are all there."""
        if len(family) > 1:
            return self._judge_pouch(theta, family, rows)
        (name,) = family
        table = self._select(theta, name, rows)
        away = self._column(name, rows) - table[..., 0]
        for a, parent in enumerate(self.structure.continuous_parents(name)):
            away = away - table[..., 1 + a] * self._column(parent, rows)
        variances = table[..., -1]
        return np.asarray(-0.5 * (LOG_2_PI + np.log(variances) + away * away / variances))

    def _judge_pouch(
        self, theta: FloatArray, family: tuple[str, ...], rows: ClusterRows
    ) -> FloatArray:
        tables = [self.structure.table_view(np.asarray(theta), name) for name in family]
        size, place = len(family), self._place(family[0], rows)
        joined = np.stack(tables, axis=-2).reshape(-1, size, 1 + size)
        whiten, logs = _factorize(joined[..., 1:])
        values = np.concatenate([self._column(name, rows) for name in family], axis=1)
        away = values[:, None] - joined[..., 0][place]
        z = np.einsum("roij,roj->roi", np.broadcast_to(whiten[place], (*away.shape, size)), away)
        return np.asarray(logs[place] - 0.5 * (z * z).sum(axis=-1))

    def _column(self, name: str, rows: ClusterRows) -> FloatArray:
        """Values of a variable of the cluster, or outside of it, ``(n_rows, 1)``."""
        if name in self.names:
            return rows.values[:, self.names.index(name), None]
        return rows.outside[:, self.cluster.outside.index(name), None]

    def _judge_joint(self, theta: FloatArray, seen: LongArray, rows: ClusterRows) -> FloatArray:
        """Log-densities of some variables, the others integrated out."""
        joint, which = self._join(theta, rows)
        result = np.empty((len(rows.values), self.n_open))
        for k, here in _split(which):
            lines, covariances = self._at(joint, k)
            away = rows.values[here][:, None, seen] - _predict(lines[:, seen], rows.outside[here])
            result[here] = _judge(away, covariances[:, seen][:, :, seen])
        return result

    def _at(self, joint: LinearJoint, k: int) -> tuple[FloatArray, FloatArray]:
        """Lines and covariances of the open configurations of a given one."""
        some = slice(k * self.n_open, (k + 1) * self.n_open)
        return joint.lines[some], joint.covariances[some]

    # Sums

    def _fill(self, theta: FloatArray, seen: LongArray, rows: ClusterRows) -> _Filled:
        """Expected values where some are missing, and their covariances."""
        if len(seen) == len(self.names):
            return _Filled(rows.values[:, None])
        joint, which = self._join(theta, rows)
        rest = np.zeros_like(joint.covariances)
        values = np.empty((len(rows.values), self.n_open, len(self.names)))
        missing = np.setdiff1d(np.arange(len(self.names)), seen)
        for k, here in _split(which):
            lines, covariances = self._at(joint, k)
            means = _predict(lines, rows.outside[here])
            values[here] = np.where(np.isnan(rows.values[here])[:, None], means, 0.0)
            values[here] += np.nan_to_num(rows.values[here])[:, None]
            across = covariances[:, missing][:, :, seen]
            left = covariances[:, missing][:, :, missing]
            if len(seen):
                gain = _regress(covariances[:, seen][:, :, seen], across)
                away = rows.values[here][:, None, seen] - means[..., seen]
                values[np.ix_(here, np.arange(self.n_open), missing)] += np.einsum(
                    "oms,ros->rom", gain, away
                )
                left = left - gain @ np.swapaxes(across, -1, -2)
            block = np.zeros_like(covariances)
            block[np.ix_(np.arange(self.n_open), missing, missing)] = left
            rest[k * self.n_open : (k + 1) * self.n_open] = block
        size = len(self.names)
        return _Filled(values, rest.reshape(-1, self.n_open, size, size), which)

    def _collect_leaf(
        self,
        theta: FloatArray,
        name: str,
        rows: ClusterRows,
        filled: _Filled,
        weights: FloatArray,
        place: int,
        counts: FloatArray,
    ) -> None:
        """Add the sums of a Gaussian without continuous parents: see ``kernels.gaussian.leaves``.

        They are in units of its deviation, around its mean.
        """
        table, i = self._select(theta, name, rows), self.names.index(name)
        unit = np.sqrt(2.0 * table[..., 1])
        y = (filled.values[..., i] - table[..., 0]) / unit
        squares = y * y + _read_rest(filled, i, i) / (unit * unit)
        n_states = math.prod(self.structure.shape(name)[:-1])
        sums = counts[place : place + N_ROWS * n_states].reshape(n_states, N_ROWS)
        cells = self._place(name, rows)
        for j, term in enumerate((weights, weights * y, weights * squares)):
            _add(sums[:, j], cells, term)

    def _collect_block(
        self,
        theta: FloatArray,
        family: tuple[str, ...],
        rows: ClusterRows,
        filled: _Filled,
        weights: FloatArray,
        place: int,
        counts: FloatArray,
    ) -> None:
        """Add the sums of a line, or a pouch: see ``kernels.gaussian.block_updates``.

        They are in units of the columns' deviations, around the center of each state: of parents
        the columns' means, of the family what it expects at these.
        """
        parents = self.structure.continuous_parents(family[0])
        columns, d = [*family, *parents], len(family) + len(parents)
        cells = self._place(family[0], rows)
        n_states = math.prod(self.structure.shape(family[0])[:-1])
        size = 1 + d + d * d
        sums = counts[place : place + size * n_states].reshape(n_states, size)
        z = [self._center(theta, name, rows, filled, parents) for name in columns]
        units = [math.sqrt(self.data.summary(name).variance) for name in columns]
        _add(sums[:, 0], cells, weights)
        for a in range(d):
            _add(sums[:, 1 + a], cells, weights * z[a])
            for b in range(a + 1):
                product = z[a] * z[b]
                if columns[a] in self.names and columns[b] in self.names:
                    i, j = self.names.index(columns[a]), self.names.index(columns[b])
                    product = product + _read_rest(filled, i, j) / (units[a] * units[b])
                _add(sums[:, 1 + d + a * d + b], cells, weights * product)

    def _center(
        self,
        theta: FloatArray,
        name: str,
        rows: ClusterRows,
        filled: _Filled,
        parents: Sequence[str],
    ) -> FloatArray:
        """Scaled values of a variable around the center of its state."""
        if name in self.names:
            values = filled.values[..., self.names.index(name)]
        else:
            values = self._column(name, rows)
        about = self.data.summary(name)
        center: FloatArray | float = about.mean
        if name not in parents:
            table = self._select(theta, name, rows)
            center = table[..., 0]
            for a, parent in enumerate(parents):
                center = center + table[..., 1 + a] * self.data.summary(parent).mean
        return np.asarray((values - center) / math.sqrt(about.variance))


def _number(codes: Sequence[LongArray], n_rows: int) -> tuple[LongArray, LongArray]:
    """Number the configurations of rows: that of each, and the first row of each."""
    if not codes:
        return np.zeros(n_rows, np.int64), np.zeros(1, np.int64)
    _, first, which = np.unique(
        np.stack(codes, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return which.ravel(), first


def _split(which: LongArray) -> Iterator[tuple[int, LongArray]]:
    """List the rows of each configuration."""
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    for k, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        if end > start:
            yield k, order[start:end]


def _predict(lines: FloatArray, outside: FloatArray) -> FloatArray:
    """Means of rows given the values outside, ``(n_rows, n_open, n_names)``."""
    return np.asarray(lines[None, ..., 0] + np.einsum("onq,rq->ron", lines[..., 1:], outside))


def _judge(away: FloatArray, covariances: FloatArray) -> FloatArray:
    """Log-densities of distances from means, ``(n_rows, n_open, n_columns)``."""
    whiten, logs = _factorize(covariances)
    z = np.einsum("oij,roj->roi", whiten, away)
    return np.asarray(logs - 0.5 * (z * z).sum(axis=-1))


def _factorize(covariances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matrices that turn covariances into ones, and the logarithms of the highest densities."""
    spread, roots = factorize(covariances)
    logs = np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
    logs = -0.5 * covariances.shape[-1] * LOG_2_PI - logs - np.log(spread).sum(axis=-1)
    return np.asarray(np.linalg.inv(roots) / spread[..., None, :]), np.asarray(logs)


def _regress(inside: FloatArray, across: FloatArray) -> FloatArray:
    """Slopes of missing variables on those that are seen, ``(n_open, n_missing, n_seen)``."""
    spread, roots = factorize(inside)
    half = np.linalg.solve(roots, np.swapaxes(across / spread[..., None, :], -1, -2))
    slopes = np.linalg.solve(np.swapaxes(roots, -1, -2), half)
    return np.asarray(np.swapaxes(slopes, -1, -2) / spread[..., None, :])


def _read_rest(filled: _Filled, i: int, j: int) -> FloatArray | float:
    """Covariances of missing values that are left, ``(n_rows, n_open)``."""
    if filled.rest is None or filled.which is None:
        return 0.0
    return np.asarray(filled.rest[..., i, j][filled.which])


def _add(sums: FloatArray, cells: LongArray, terms: FloatArray) -> None:
    """Add terms to the cells they belong to."""
    cells = np.broadcast_to(cells, terms.shape)
    sums += np.bincount(cells.ravel(), terms.ravel(), len(sums))


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
