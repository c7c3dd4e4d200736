"""From a tree of cliques and some rows to the kernel's arrays; see ``kernels.cliques``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentforest.errors import ModelError
from latentforest.inference.junction.clique_tree import (
    CliqueTree,
    FactorItem,
    Member,
    TreeNode,
)
from latentforest.inference.patterns import Mask, PatternColumn, PatternStore, single_bits
from latentforest.kernels.cliques import propagation as K
from latentforest.kernels.cliques.layout import GroupShapes, shape_groups
from latentforest.kernels.cliques.propagation import CliquePlan
from latentforest.kernels.forest.patterns import join
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray, IntArray, LongArray

if TYPE_CHECKING:
    from latentforest.inference.junction.dense_gaussians import GaussianFactor

MAX_CELLS = 1 << 24  # of a clique's table, by default
CALL_COST = 1 << 17  # numbers that are touched while a cluster's densities are asked for
MOST_BITS = 62  # of a whole number that tells which variables are missing


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
    measured, alone
        Clusters of continuous columns: those in cliques, by name, and those that no categorical
        variable which is not given stands above.
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
    measured: Mapping[str, GaussianFactor] = field(default_factory=dict)
    alone: Sequence[GaussianFactor] = ()

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
        clusters = (*self.measured.values(), *self.alone)
        numbers = sum(CALL_COST + 8 * each.measure_work(len(self.rows)) for each in clusters)
        return int(items.sum()) + 8 * len(self.plan.weights) + numbers


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
        self.maps: list[AnyArray] = []
        self.offsets: list[AnyArray] = []
        self.reports: list[int] = []
        self.children: list[int] = []
        self.n_maps, self.n_offsets = 0, 0
        self.places: list[AnyArray] = []  # of each node: where the message of a pattern starts
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
        entries, is_there = self._start(item, rows)
        entries = np.where(is_there, entries, -1).astype(np.int64)
        counts = np.bincount(entries[is_there], self.weights[is_there], self.ones.start)
        return Lookup(entries, counts.astype(np.float64))

    def _add(self, number: int, node: TreeNode) -> None:
        """Lay out a node: its patterns, sorted by what is missing in them."""
        column = self._find_column(node)
        self.patterns.append(column)
        is_summed, kind = self._find_kinds(node, column.first)
        shapes = self._shape(number, node, is_summed)
        order, n_patterns = np.argsort(kind, kind="stable"), np.bincount(kind)
        steps = shapes.size[kind[order]]
        places = np.empty(len(order), np.int64)
        places[order] = self.taken + np.cumsum(steps) - steps
        self.places.append(places)
        starts = [*self._start_factors(node, column), *self._start_children(node, column)]
        first, place = 0, self.taken
        for g, n in enumerate(n_patterns.tolist()):
            self._add_group(number, node, shapes, g, n, first, place)
            first, place = first + n, place + n * int(shapes.size[g])
        self.taken = place
        if starts:
            self.offsets.append(np.stack(starts, axis=1)[order].astype(np.uint32).ravel())
            self.n_offsets += len(starts) * len(order)
        self.maps.append(shapes.maps)
        self.n_maps += len(shapes.maps)

    def _find_kinds(self, node: TreeNode, rows: IntArray) -> tuple[BoolArray, AnyArray]:
        """Find which variables of a node are summed over together, and where."""
        always = np.array([name not in self.columns for name in node.scope], bool)
        seen = [name for name in node.scope if name in self.columns]
        if not seen:
            return always[None], np.zeros(len(rows), np.int64)
        missing = np.stack([self.columns[name][rows] < 0 for name in seen], axis=1)
        keys = missing[:, :MOST_BITS] @ (1 << np.arange(min(len(seen), MOST_BITS)))
        _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
        if len(seen) > MOST_BITS:
            _, first, kind = np.unique(missing, axis=0, return_index=True, return_inverse=True)
        is_summed = np.repeat(always[None], len(first), axis=0)
        is_summed[:, ~always] = missing[first]
        return is_summed, kind.ravel()

    def _shape(self, number: int, node: TreeNode, is_summed: BoolArray) -> GroupShapes:
        """Find the sizes and cells of the groups of a node."""
        cards = np.array([self.tree.open[name] for name in node.scope], np.int64)
        n_cells = np.where(is_summed, cards, 1).astype(np.float64).prod(axis=1)
        if n_cells.max() > self.max_cells:
            summed = [
                n for n, used in zip(node.scope, is_summed[n_cells.argmax()], strict=True) if used
            ]
            raise TooWideError(
                f"the largest clique has {n_cells.max():,.0f} cells ({_shorten(summed)}); "
                f"at most {self.max_cells:,} are allowed"
            )
        separators = [*(self.tree.nodes[c].separator for c in node.children), node.separator]
        return shape_groups(
            cards,
            is_summed,
            _list_strides(node.scope, [item.members for item in node.factors]),
            _list_places(node.scope, separators),
            _list_strides(node.scope, [t.members for t in self.targets.get(number, ())]),
        )

    def _start_factors(self, node: TreeNode, column: PatternColumn) -> list[AnyArray]:
        found = [self._start(item, column.first) for item in node.factors]
        return [np.where(is_there, start, self.ones.start) for start, is_there in found]

    def _start_children(self, node: TreeNode, column: PatternColumn) -> list[AnyArray]:
        rows = column.first
        return [self.places[child][self.patterns[child].codes[rows]] for child in node.children]

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
        shapes: GroupShapes,
        g: int,
        n_patterns: int,
        first: int,
        place: int,
    ) -> None:
        """Write down a group of patterns in which the same variables are summed over."""
        record = [0] * K.N_FIELDS
        n_items = len(node.factors) + len(node.children)
        record[K.N_PATTERNS], record[K.N_CELLS] = n_patterns, int(shapes.n_cells[g])
        record[K.N_ITEMS], record[K.FIRST_CHILD] = n_items, len(node.factors)
        record[K.SIZE], record[K.NODE] = int(shapes.size[g]), number
        record[K.PLACE] = place
        record[K.MAPS] = self.n_maps + int(shapes.first_map[g])
        record[K.OFFSETS] = self.n_offsets + n_items * first
        targets = self.targets.get(number, ())
        record[K.REPORTS], record[K.N_REPORTS] = len(self.reports), len(targets)
        for t, target in enumerate(targets):
            entry = int(shapes.first_report[g] + t * shapes.n_cells[g])
            self.reports += [target.start, self.n_maps + entry]
        record[K.CHILDREN] = len(self.children)
        self.children += node.children
        record[K.IS_PLAIN], record[K.KEEPS_ALL] = int(shapes.is_plain[g]), int(shapes.keeps_all[g])
        self.groups.append(record)

    def _start(self, item: FactorItem, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Where a factor begins in some rows, and whether it is there at all."""
        start, is_there = np.full(len(rows), item.start), np.ones(len(rows), bool)
        if item.is_dense:
            dense = self.dense[item.name]
            start = dense.place + dense.size * dense.patterns.codes[rows].astype(np.int64)
        for name, stride in item.members:
            if name in self.columns:
                codes = self.columns[name][rows].astype(np.int64)
                if name in self.tree.closed:
                    is_there &= codes >= 0
                start = start + stride * np.maximum(codes, 0)  # missing ones are summed over
        return start, is_there


def _list_strides(scope: Sequence[str], members: Sequence[tuple[Member, ...]]) -> LongArray:
    """For each set of members and variable of a scope, how far apart its states are."""
    place = {name: v for v, name in enumerate(scope)}
    strides = np.zeros((len(members), len(scope)), np.int64)
    for i, some in enumerate(members):
        for name, stride in some:
            if name in place:
                strides[i, place[name]] = stride
    return strides


def _list_places(scope: Sequence[str], separators: Sequence[tuple[str, ...]]) -> IntArray:
    """For each separator, the places of its variables in a scope, then -1."""
    place = {name: v for v, name in enumerate(scope)}
    width = max(1, *map(len, separators))
    places = np.full((len(separators), width), -1, np.int32)
    for i, names in enumerate(separators):
        places[i, : len(names)] = [place[name] for name in names]
    return places


def _find_homes(nodes: Sequence[TreeNode], targets: Sequence[Target]) -> dict[int, list[Target]]:
    """Find the smallest node that holds each target."""
    homes: dict[int, list[Target]] = {}
    holders: dict[str, list[int]] = {}
    for i, node in enumerate(nodes):
        for name in node.scope:
            holders.setdefault(name, []).append(i)
    for target in targets:
        names = {member.name for member in target.members}
        fewest = min((holders[name] for name in names), key=len)
        able = [i for i in fewest if names <= set(nodes[i].scope)]
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
