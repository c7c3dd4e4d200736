"""Pattern columns of sets of variables, and how the children of a node are grouped.

The pattern of a set of variables in a row is the tuple of their values; it is numbered by first
occurrence, so the column of a set does not depend on the order in which it was joined. That
makes a set of variables (a bit mask) the key under which its column is kept and shared by all
structures that have a subtree over just these variables.
"""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from latentforest.kernels.forest.patterns import count_joint, join
from latentforest.kernels.types import AnyArray, FloatArray, IntArray

WINDOW = 8  # children this far apart in the list are considered for one group

FEW_ROWS = 20_000  # up to so many, the columns of single variables are kept too
FEW_CELLS = 1 << 22  # unless there are more rows times columns than this
MOST_VARIABLES = 100  # above more of them, all products are of two messages and scaled
MOST_PATTERNS = 1 << 12  # messages of larger groups would be gathered from outside the cache
FEW_PATTERNS = (
    1 << 9
)  # up to so many of a node, groups save less time than is spent on finding them
MOST_COUNTS = 1 << 20  # numbers of patterns that are remembered

Mask = int
Key = TypeVar("Key")
Value = TypeVar("Value")


class Grouping(NamedTuple):
    """How the children of a node are grouped: what is left at the top, and the merges before."""

    tops: tuple[Mask, ...]
    merges: tuple[tuple[Mask, Mask], ...]


class PatternColumn(NamedTuple):
    """The patterns of a set of variables: number per row, how many, first row of each."""

    codes: IntArray
    n_patterns: int
    first: IntArray


class PatternStore:
    """Pattern columns of one chunk of rows, kept up to a number of bytes.

    Parameters
    ----------
    columns
        Codes of categorical variables, -1 for missing, and values of continuous ones, nan for
        missing; bit ``j`` of a mask stands for ``columns[j]``.
    cards
        Number of states of each categorical variable.
    capacity
        Bytes of joined columns to keep.
    """

    def __init__(
        self, columns: Sequence[AnyArray], cards: Sequence[int], capacity: int = 1 << 28
    ) -> None:
        self._columns = columns
        self._cards = cards
        self._kept: OrderedDict[Mask, PatternColumn] = OrderedDict()
        self.counts: dict[Mask, int] = {}  # of patterns, as far as they are known
        self._size = 0
        self._capacity = capacity
        self._lock = threading.RLock()
        self.n_rows = len(columns[0]) if columns else 0

    def with_rows(self, n: int) -> PatternStore:
        """Return a store with so many further columns that tell all rows apart."""
        rows = np.arange(self.n_rows, dtype=np.float64)
        columns, cards = [*self._columns, *[rows] * n], [*self._cards, *[0] * n]
        return PatternStore(columns, cards, self._capacity)

    def column(self, mask: Mask, parts: Sequence[Mask] = ()) -> PatternColumn:
        """Return the pattern column of a set, joining ``parts`` (default: its variables)."""
        with self._lock:
            return self._find(mask, parts)

    def _find(self, mask: Mask, parts: Sequence[Mask]) -> PatternColumn:
        kept = self._kept.get(mask)
        if kept is not None:
            self._kept.move_to_end(mask)
            return kept
        if not mask:
            return PatternColumn(np.zeros(self.n_rows, np.int32), 1, np.zeros(1, np.int32))
        if not mask & (mask - 1):
            j = mask.bit_length() - 1
            if self._columns[j].dtype.kind == "f":
                return self._keep(mask, self._rank(j))
            column = self._read(j)
            is_kept = self.n_rows <= FEW_ROWS and self.n_rows * len(self._columns) <= FEW_CELLS
            return self._keep(mask, column) if is_kept else column
        parts = [part for part in (parts or single_bits(mask)) if part]
        result = self.column(parts[0])
        for part in parts[1:]:
            if result.n_patterns == self.n_rows and len(result.first):  # all rows differ already
                break
            result = self._join(result, self.column(part))
        return self._keep(mask, result)

    def count(self, left: Mask, right: Mask) -> int:
        """Return the number of patterns of a union without keeping its column."""
        known = self.counts.get(left | right)
        if known is not None:
            return known
        with self._lock:
            a, b = self.column(left), self.column(right)
            count = count_joint(a.codes, a.n_patterns, b.codes, b.n_patterns)
            if len(self.counts) < MOST_COUNTS:
                self.counts[left | right] = count
            return count

    def _read(self, j: int) -> PatternColumn:
        codes = self._columns[j].astype(np.int32)
        missing = codes < 0
        n_patterns = self._cards[j]
        if missing.any():
            codes[missing] = n_patterns
            n_patterns += 1
        return PatternColumn(codes, n_patterns, np.zeros(0, np.int32))

    def _rank(self, j: int) -> PatternColumn:
        """Number the distinct values of a continuous column by first occurrence."""
        values = self._columns[j]
        distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(distinct), np.int32)
        rank[order] = np.arange(len(distinct), dtype=np.int32)
        return PatternColumn(rank[inverse], len(distinct), first[order].astype(np.int32))

    def values(self, mask: Mask, parts: Sequence[Mask]) -> FloatArray:
        """Return the values of some continuous columns in each pattern of a set that holds them.

        The shape is (n_patterns, number of parts).
        """
        first = self.column(mask).first
        columns = [self._columns[part.bit_length() - 1][first] for part in parts]
        return np.stack(columns, axis=1)

    def _join(self, a: PatternColumn, b: PatternColumn) -> PatternColumn:
        codes, first = join(a.codes, a.n_patterns, b.codes, b.n_patterns)
        return PatternColumn(codes, len(first), first)

    def _keep(self, mask: Mask, column: PatternColumn) -> PatternColumn:
        if mask in self._kept:
            return column
        self._kept[mask] = column
        self._size += column.codes.nbytes + column.first.nbytes
        self.trim(self._capacity)
        return column

    def trim(self, capacity: int) -> None:
        """Forget the columns that were not used for longest, down to so many bytes."""
        with self._lock:
            while self._size > capacity and len(self._kept) > 1:
                _, old = self._kept.popitem(last=False)
                self._size -= old.codes.nbytes + old.first.nbytes


class Recent(Generic[Key, Value]):
    """Results that are kept up to a number of bytes; when there are more, all are forgotten.

    One that is larger than that is not kept.
    """

    def __init__(self, capacity: int) -> None:
        self._kept: dict[Key, Value] = {}
        self._size, self._capacity = 0, capacity

    def find(self, key: Key) -> Value | None:
        """Return what is kept under a key."""
        return self._kept.get(key)

    def keep(self, key: Key, value: Value, size: int) -> None:
        """Keep a result of so many bytes, its key included."""
        if size > self._capacity:
            return
        if self._size + size > self._capacity:
            self._kept, self._size = {}, 0
        self._kept[key] = value
        self._size += size


def single_bits(mask: Mask) -> list[Mask]:
    """Split a mask into its bits, lowest first."""
    bits = []
    while mask:
        bit = mask & -mask
        bits.append(bit)
        mask ^= bit
    return bits


def group_children(store: PatternStore, masks: Sequence[Mask]) -> Grouping:
    """Group the children of a node so that patterns of groups are shared by many of its own.

    A group of two costs about two steps for each of its patterns and saves its node one step for
    each of the node's patterns. The pair with the fewest joint patterns is merged as long as
    that pays. Above many variables, two children must be left: products of more than two
    messages would underflow. Masks differ, but may overlap.
    """
    everything = 0
    for mask in masks:
        everything |= mask
    target = store.column(everything, masks).n_patterns
    must_pair = everything.bit_count() > MOST_VARIABLES
    if target <= FEW_PATTERNS and not must_pair:
        return Grouping(tuple(masks), ())
    most = target if must_pair else min((target + 1) // 2 - 1, MOST_PATTERNS)  # for it to pay
    tops, merges = list(masks), list[tuple[Mask, Mask]]()
    alive = dict.fromkeys(tops)
    sizes = {mask: store.column(mask).n_patterns for mask in tops}
    queue: list[tuple[int, int, Mask, Mask]] = []
    counts = store.counts

    def consider(i: int, first: int, last: int) -> None:
        here = tops[i]
        if sizes[here] > most:  # a union has at least as many patterns
            return
        for j in range(max(first, 0), min(last + 1, len(tops))):
            there = tops[j]
            if j != i and sizes[there] <= most:
                count = counts.get(here | there) or store.count(here, there)
                if count <= most:
                    pair = (here, there) if i < j else (there, here)
                    heapq.heappush(queue, (count, len(queue), *pair))

    for i in range(len(tops)):
        consider(i, i + 1, i + WINDOW)
    while len(tops) > 2 and queue:
        _, _, low, high = heapq.heappop(queue)
        if low not in alive or high not in alive:
            continue
        merges.append((low, high))
        union = low | high
        if union in alive:  # masks may overlap: there is a group over the same columns already
            for mask in {low, high} - {union}:
                del alive[mask], tops[tops.index(mask)]
            continue
        del tops[tops.index(high)]
        i = tops.index(low)
        tops[i] = union
        del alive[low], alive[high]
        alive[union] = None
        sizes[tops[i]] = store.column(tops[i], [low, high]).n_patterns
        consider(i, i - WINDOW, i + WINDOW)
    return Grouping(tuple(tops), tuple(merges))
