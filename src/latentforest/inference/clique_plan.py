"""From a tree of cliques and some rows to the kernel's arrays; see ``kernels.cliques``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from latentforest.errors import ModelError
from latentforest.inference.clique_tree import (
    CliqueTree,
    FactorItem,
    Member,
    TreeNode,
    find_strides,
)
from latentforest.inference.patterns import Mask, PatternColumn, PatternStore, single_bits
from latentforest.kernels.cliques import propagation as K
from latentforest.kernels.cliques.propagation import CliquePlan
from latentforest.kernels.forest.patterns import join
from latentforest.kernels.types import AnyArray, FloatArray, IntArray, LongArray

MAX_CELLS = 1 << 24  # of a clique's table, by default


class TooWideError(ModelError):
    """A clique has more cells than are allowed."""


class Lookup(NamedTuple):
    """For each row, the entry of a family's table among the parameters; -1 for none."""

    entries: LongArray
    counts: FloatArray  # weights of the rows with each parameter


class DenseRows(NamedTuple):
    """Where the dense messages of a factor lie in the buffer, one for each of its patterns."""

    place: int
    patterns: PatternColumn
    size: int

    @property
    def slice(self) -> slice:
        """Their part of the buffer."""
        return slice(self.place, self.place + self.patterns.n_patterns * self.size)


class Target(NamedTuple):
    """Some open variables whose joint posterior is wanted: where its cells go in a result."""

    members: tuple[Member, ...]
    start: int


@dataclass
class LaidRows:
    """Some rows with the plan for them.

    Attributes
    ----------
    rows
        Their numbers in the merged table.
    roots
        For each row and tree, where the root's message starts.
    n_buffer
        Length of the buffer.
    """

    rows: LongArray
    plan: CliquePlan
    roots: LongArray
    trees: IntArray
    n_nodes: int
    n_buffer: int
    ones: slice
    lookups: list[Lookup]
    tree: CliqueTree
    dense: dict[str, DenseRows]

    @property
    def known(self) -> FloatArray:
        """Counts of families without open members, laid out like the parameters."""
        known = np.zeros(self.ones.start)
        for lookup in self.lookups:
            known += lookup.counts
        return known

    @property
    def cost(self) -> int:
        """About how many numbers a propagation touches."""
        groups = self.plan.groups
        items = groups[:, K.N_PATTERNS] * groups[:, K.N_CELLS] * (groups[:, K.N_ITEMS] + 1)
        return int(items.sum()) + 8 * len(self.plan.weights)


def lay_rows(
    tree: CliqueTree,
    store: PatternStore,
    columns: Mapping[str, AnyArray],
    weights: FloatArray,
    rows: LongArray,
    n_values: int,
    targets: Sequence[Target] = (),
    max_cells: int = MAX_CELLS,
    dense: Mapping[str, Mask] | None = None,
) -> LaidRows:
    """Lay a tree of cliques out over some rows.

    Parameters
    ----------
    tree
        The cliques.
    store
        Pattern columns of the rows.
    columns
        Codes of the observed categorical variables in these rows.
    weights
        Of the rows.
    rows
        Their numbers.
    n_values
        Number of parameters.
    targets
        What is to be reported of every row.
    max_cells
        Most cells of a clique.
    dense
        Columns of each dense factor.
    """
    layout = _Layout(tree, store, columns, weights, n_values, targets, max_cells)
    return layout.finish(rows, dense or {})


class _Layout:
    """The arrays of a plan while they grow."""

    def __init__(
        self,
        tree: CliqueTree,
        store: PatternStore,
        columns: Mapping[str, AnyArray],
        weights: FloatArray,
        n_values: int,
        targets: Sequence[Target],
        max_cells: int,
    ) -> None:
        self.tree, self.store, self.columns, self.weights = tree, store, columns, weights
        self.max_cells = max_cells
        largest = max((_extent(f, columns, tree) for f in self._closed_factors()), default=0)
        self.ones, self.taken = slice(n_values, n_values + largest), n_values + largest
        self.dense: dict[str, DenseRows] = {}
        self.groups: list[list[int]] = []
        self.maps: list[IntArray] = []
        self.offsets: list[IntArray] = []
        self.reports: list[int] = []
        self.children: list[int] = []
        self.n_maps, self.n_offsets = 0, 0
        self.places: list[IntArray] = []  # of each node: where the message of a pattern starts
        self.patterns: list[PatternColumn] = []
        self.targets = _find_homes(tree.nodes, targets)

    def _closed_factors(self) -> list[FactorItem]:
        closed = self.tree.closed
        return [f for node in self.tree.nodes for f in node.factors if f.name in closed]

    def finish(self, rows: LongArray, dense: Mapping[str, Mask]) -> LaidRows:
        self._place_dense(dense)
        first_place = self.taken
        for number, node in enumerate(self.tree.nodes):
            self._add(number, node)
        roots, root_weights, row_roots = [], [], []
        for _, last in self.tree.trees:
            column, places = self.patterns[last], self.places[last]
            roots.append(places)
            root_weights.append(np.bincount(column.codes, self.weights, column.n_patterns))
            row_roots.append(places[column.codes])
        owner = np.zeros(self.taken, np.int32)
        groups = np.array(self.groups, np.int64).reshape(-1, K.N_FIELDS)
        for g, record in enumerate(groups):
            start, size = int(record[K.PLACE]), int(record[K.SIZE])
            owner[start : start + size * int(record[K.N_PATTERNS])] = g
        assert first_place <= self.taken < 1 << 31  # places are 32 bits long
        plan = CliquePlan(
            groups,
            _concatenate(self.maps, np.uint32),
            _concatenate(self.offsets, np.uint32),
            _concatenate(roots, np.int64),
            _concatenate(root_weights, np.float64),
            owner,
            np.array(self.reports, np.int64),
            np.array(self.children, np.int64),
        )
        n_trees, n_rows = len(self.tree.trees), len(rows)
        stacked = np.stack(row_roots, axis=1) if n_trees else np.zeros((n_rows, 0), np.int64)
        return LaidRows(
            rows,
            plan,
            stacked.astype(np.int64),
            np.array(self.tree.trees, np.int32).reshape(-1, 2),
            len(self.tree.nodes),
            self.taken,
            self.ones,
            [self._look_up(item) for item in self.tree.lookups],
            self.tree,
            self.dense,
        )

    def _place_dense(self, masks: Mapping[str, Mask]) -> None:
        for node in self.tree.nodes:
            for item in node.factors:
                if item.is_dense:
                    patterns = self._find_patterns(masks[item.name], ())
                    self.dense[item.name] = DenseRows(self.taken, patterns, item.start)
                    self.taken += patterns.n_patterns * item.start

    def _look_up(self, item: FactorItem) -> Lookup:
        rows: AnyArray = np.arange(self.store.n_rows)
        entries, is_there = self._start(item, rows, ())
        entries = np.where(is_there, entries, -1).astype(np.int64)
        counts = np.bincount(entries[is_there], self.weights[is_there], self.ones.start)
        return Lookup(entries, counts.astype(np.float64))

    def _add(self, number: int, node: TreeNode) -> None:
        """Lay out a node: its patterns, sorted by what is missing in them."""
        column = self._find_column(node)
        self.patterns.append(column)
        seen = [name for name in node.scope if name in self.columns]
        first = column.first
        missing = np.stack(
            [np.zeros(len(first), bool), *(self.columns[name][first] < 0 for name in seen)], axis=1
        )
        kinds, which = np.unique(missing, axis=0, return_inverse=True)
        places = np.zeros(len(first), np.int32)
        self.places.append(places)
        for kind, absent in enumerate(kinds):
            given = {
                name for name, is_absent in zip(seen, absent[1:], strict=True) if not is_absent
            }
            summed = [name for name in node.scope if name not in given]
            self._add_group(number, node, summed, np.flatnonzero(which.ravel() == kind), places)

    def _find_column(self, node: TreeNode) -> PatternColumn:
        return self._find_patterns(node.mask, [self.tree.nodes[c].mask for c in node.children])

    def _find_patterns(self, mask: Mask, parts: Sequence[Mask]) -> PatternColumn:
        rest = mask & ~_union(parts)
        column = self.store.column(mask, [*parts, *single_bits(rest)])
        if len(column.first) == column.n_patterns:
            return column
        zeros = np.zeros(len(column.codes), np.int32)  # only patterns that occur
        codes, first = join(column.codes, column.n_patterns, zeros, 1)
        return PatternColumn(codes, len(first), first)

    def _add_group(
        self,
        number: int,
        node: TreeNode,
        summed: Sequence[str],
        patterns: LongArray,
        places: IntArray,
    ) -> None:
        """Lay out the patterns of a node in which the same variables are summed over."""
        cards = [self.tree.open[name] for name in summed]
        n_cells = math.prod(cards)
        if n_cells > self.max_cells:
            raise TooWideError(
                f"the largest clique has {n_cells:,} cells ({_shorten(summed)}); "
                f"at most {self.max_cells:,} are allowed"
            )
        states = dict(zip(summed, np.indices(cards).reshape(len(cards), n_cells), strict=True))
        rows = self.patterns[number].first[patterns]
        starts, maps = [], []
        for item in node.factors:
            start, is_there = self._start(item, rows, summed)
            starts.append(np.where(is_there, start, self.ones.start))
            maps.append(_map_cells(states, {m.name: m.stride for m in item.members}, n_cells))
        for child in node.children:
            starts.append(self.places[child][self.patterns[child].codes[rows]])
            maps.append(self._map_message(states, self.tree.nodes[child], n_cells))
        maps.append(self._map_message(states, node, n_cells))
        size = math.prod(states_of(self.tree, node.separator, states))
        places[patterns] = self.taken + size * np.arange(len(patterns))
        first_report, n_reports = self._report(number, states, n_cells)
        record = [0] * K.N_FIELDS
        record[K.N_PATTERNS], record[K.N_CELLS] = len(patterns), n_cells
        record[K.N_ITEMS], record[K.FIRST_CHILD] = len(starts), len(node.factors)
        record[K.SIZE], record[K.PLACE] = size, self.taken
        cells = np.arange(n_cells)
        record[K.IS_PLAIN] = int(all(np.array_equal(each, cells) for each in maps[:-1]))
        record[K.KEEPS_ALL] = int(np.array_equal(maps[-1], cells))
        record[K.MAPS] = self._keep_map(np.stack(maps, axis=1))
        record[K.OFFSETS], record[K.NODE] = self.n_offsets, number
        record[K.REPORTS], record[K.N_REPORTS] = first_report, n_reports
        record[K.CHILDREN] = len(self.children)
        self.children += node.children
        self.groups.append(record)
        if starts:
            self.offsets.append(np.stack(starts, axis=1).astype(np.int32).ravel())
            self.n_offsets += len(starts) * len(patterns)
        self.taken += size * len(patterns)

    def _keep_map(self, entries: AnyArray) -> int:
        start = self.n_maps
        self.maps.append(entries.astype(np.int32).ravel())
        self.n_maps += entries.size
        return start

    def _start(
        self, item: FactorItem, rows: AnyArray, summed: Sequence[str]
    ) -> tuple[AnyArray, AnyArray]:
        """Where a factor begins in some rows, and whether it is there at all."""
        start, is_there = np.full(len(rows), item.start), np.ones(len(rows), bool)
        if item.is_dense:
            dense = self.dense[item.name]
            start = dense.place + dense.size * dense.patterns.codes[rows].astype(np.int64)
        for name, stride in item.members:
            if name in self.columns and name not in summed:
                codes = self.columns[name][rows].astype(np.int64)
                if name in self.tree.closed:
                    is_there &= codes >= 0
                start = start + stride * codes
        return start, is_there

    def _map_message(
        self, states: Mapping[str, AnyArray], node: TreeNode, n_cells: int
    ) -> AnyArray:
        names = [name for name in node.separator if name in states]
        strides = find_strides([self.tree.open[name] for name in names])
        return _map_cells(states, dict(zip(names, strides, strict=True)), n_cells)

    def _report(self, number: int, states: Mapping[str, AnyArray], n_cells: int) -> tuple[int, int]:
        """Write down which targets this node reports, and where their cells go."""
        first = len(self.reports)
        targets = self.targets.get(number, ())
        for target in targets:
            places = _map_cells(states, dict(target.members), n_cells)
            self.reports += [target.start, self._keep_map(places)]
        return first, len(targets)


def states_of(tree: CliqueTree, names: Sequence[str], states: Mapping[str, AnyArray]) -> list[int]:
    """Numbers of states of those among some variables that are summed over."""
    return [tree.open[name] for name in names if name in states]


def _map_cells(
    states: Mapping[str, AnyArray], strides: Mapping[str, int], n_cells: int
) -> AnyArray:
    """Entry of each cell in a table with these strides."""
    entries: AnyArray = np.zeros(n_cells, np.int64)
    for name, stride in strides.items():
        if name in states:
            entries = entries + stride * states[name]
    return entries


def _find_homes(nodes: Sequence[TreeNode], targets: Sequence[Target]) -> dict[int, list[Target]]:
    """Find the smallest node that holds each target."""
    homes: dict[int, list[Target]] = {}
    for target in targets:
        names = {member.name for member in target.members}
        able = [i for i, node in enumerate(nodes) if names <= set(node.scope)]
        homes.setdefault(min(able, key=lambda i: len(nodes[i].scope)), []).append(target)
    return homes


def _extent(item: FactorItem, columns: Mapping[str, AnyArray], tree: CliqueTree) -> int:
    """How many entries from its start a factor may reach by open variables."""
    reach = [m.stride * (tree.open[m.name] - 1) for m in item.members if m.name in tree.open]
    return 1 + sum(reach)


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _concatenate(parts: Sequence[AnyArray], kind: type) -> AnyArray:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
