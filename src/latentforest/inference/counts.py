"""Counts of categorical columns for searches over networks of them, and tables of a network.

Weights are rounded to a binary fraction that is fine enough (the total has 52 bits), so that all
their sums are exact: no count depends on the order of rows or columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError
from latentforest.inference.patterns import Mask, PatternColumn, PatternStore, single_bits
from latentforest.kernels.bits import WORD_BITS, Words
from latentforest.kernels.counts.additions import count_additions, count_family
from latentforest.kernels.counts.bit_additions import count_bit_additions, mark_rows
from latentforest.kernels.types import AnyArray, FloatArray, LongArray
from latentforest.model.structure import Structure

EXACT_BITS = 52  # sums of whole numbers of so many bits are exact in float64
BUFFER = 1 << 22  # counts of candidates that are made at a time
PIECE_WORDS = 256  # words of a set of rows that are counted at a time
MOST_REPEATS = 8.0  # whole weights become repeated rows while these are not so many times more
FEW_BITS = 12  # up to so many are listed one by one
BITS_GAIN = 256.0  # comparing so many sets of rows takes no longer than counting row by row


class FamilyCounts(NamedTuple):
    """Counts of a variable given its parents, for the configurations of these that occur.

    Attributes
    ----------
    counts
        Shape ``(n_seen, n_states)``.
    configurations
        States of the parents, in the order they were given, ``(n_seen, n_parents)``.
    n_configurations
        Of the parents, whether they occur or not; a float, since it may be huge.
    """

    counts: FloatArray
    configurations: LongArray
    n_configurations: float


class JointCounts(NamedTuple):
    """Positive counts of several sets of columns, one set after the other.

    Attributes
    ----------
    counts
        All of them.
    ends
        Where those of each set end.
    n_cells
        Number of configurations of each set, whether they occur or not.
    """

    counts: FloatArray
    ends: LongArray
    n_cells: FloatArray


class CountingTable:
    """A complete categorical table, laid out for counting. Equal rows are merged.

    Sets of columns are bit masks: bit j stands for column j.

    Parameters
    ----------
    data
        Categorical columns without missing values.

    Attributes
    ----------
    names, cards
        Names of the columns and their numbers of states.
    states
        Names of the states of each column.
    codes
        Shape ``(n_columns, n_rows)``.
    weights, total
        Weights of the merged rows, and their sum.
    is_whole
        Whether all weights are whole numbers.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> table = CountingTable(load("role-conflict"))
    >>> table.count_family(0, [1, 2]).counts
    array([[65.,  5.],
           [31.,  7.],
           [30., 11.],
           [45., 22.]])
    """

    def __init__(self, data: Dataset) -> None:
        _check_complete(data)
        merged, _ = data.with_weights(round_weights(data.weights)).merged()
        kept = merged.weights > 0
        columns = [column[kept] for column in merged.columns]
        self.names = data.names
        self.states = [variable.states or () for variable in data.variables]
        self.cards = np.array([len(states) for states in self.states], dtype=np.int64)
        kind = np.uint8 if self.cards.max() <= 256 else np.int32
        self.codes: AnyArray = np.stack([column.astype(kind) for column in columns])
        self.weights: FloatArray = np.ascontiguousarray(merged.weights[kept])
        self.total = float(self.weights.sum())
        self.is_whole = bool(np.all(self.weights == np.rint(self.weights)))
        self._patterns = PatternStore(list(self.codes), self.cards.tolist())

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.cards)

    def reordered(self, order: Sequence[int]) -> CountingTable:
        """Return the same table with its columns in another order."""
        table = object.__new__(CountingTable)
        table.__dict__.update(self.__dict__)
        table.__dict__.pop("_bits", None)
        table.names = tuple(self.names[j] for j in order)
        table.states = [self.states[j] for j in order]
        table.cards, table.codes = self.cards[list(order)], self.codes[list(order)]
        table._patterns = PatternStore(list(table.codes), table.cards.tolist())
        return table

    def count_cells(self, columns: Mask) -> float:
        """Number of configurations of a set, whether they occur or not."""
        return float(math.prod(self.cards[list_bits(columns)].tolist()))

    def count_set(self, columns: Mask) -> tuple[FloatArray, LongArray]:
        """Count the configurations of a set that occur.

        Returns the counts, and the codes of each configuration, an axis for the columns.
        """
        pattern = self._number(columns)
        counts = np.bincount(pattern.codes, self.weights, pattern.n_patterns).astype(np.float64)
        first = np.zeros(pattern.n_patterns, np.int64)
        first[pattern.codes[::-1]] = np.arange(len(pattern.codes))[::-1]
        seen = counts > 0  # the states of a single column are all numbered
        return counts[seen], self.codes[list_bits(columns)][:, first[seen]].T.astype(np.int64)

    def count_family(self, variable: int, parents: Sequence[int]) -> FamilyCounts:
        """Count a variable's states in each configuration of its parents that occurs."""
        pattern = self._number(sum(1 << j for j in parents))
        table = np.zeros((pattern.n_patterns, int(self.cards[variable])))
        count_family(pattern.codes, self.codes, variable, self.weights, table)
        first = np.zeros(pattern.n_patterns, np.int64)
        first[pattern.codes[::-1]] = np.arange(len(pattern.codes))[::-1]
        configurations = self.codes[list(parents)][:, first].T.astype(np.int64)
        seen = table.sum(axis=1) > 0  # the states of a single parent are all numbered
        n_configurations = math.prod(float(self.cards[j]) for j in parents)
        return FamilyCounts(table[seen], configurations[seen], n_configurations)

    def count_additions(self, columns: Mask, added: Sequence[int]) -> list[JointCounts]:
        """Count a set together with each of some further columns, in pieces of bounded size."""
        pattern, n_cells = self._number(columns), self.count_cells(columns)
        sizes = np.minimum(self.cards[list(added)] * pattern.n_patterns, len(self.weights))
        pieces = np.cumsum(sizes) // BUFFER
        return [
            self._count_piece(pattern, n_cells, np.array(added, np.int64)[pieces == piece])
            for piece in np.unique(pieces)
        ]

    def _count_piece(self, pattern: PatternColumn, n_cells: float, added: LongArray) -> JointCounts:
        cards = self.cards[added]
        most = int(np.minimum(cards * pattern.n_patterns, len(self.weights)).sum())
        counts, ends = np.empty(most), np.empty(len(added), np.int64)
        n_pairs = pattern.n_patterns * int((cards - 1).sum())
        if self._bits is not None and n_pairs <= self._bits.most_pairs * len(added):
            self._bits.count(pattern, self.cards, added, counts, ends)
        else:
            count_additions(
                pattern.codes,
                pattern.n_patterns,
                self.codes,
                self.cards,
                added,
                self.weights,
                counts,
                ends,
            )
        return JointCounts(counts, ends, n_cells * cards.astype(np.float64))

    @cached_property
    def _bits(self) -> _RowBits | None:
        """Rows as bits, unless weights are broken or would make too many rows."""
        if not self.is_whole or self.total > MOST_REPEATS * len(self.weights):
            return None
        return _RowBits(self)

    def _number(self, columns: Mask) -> PatternColumn:
        """Number the configurations of a set; sets grow by their last column, mostly."""
        last = 1 << (columns.bit_length() - 1) if columns else 0
        return self._patterns.column(columns, (columns ^ last, last) if columns ^ last else ())


class _RowBits:
    """The states of all columns as sets of rows; rows are repeated by their weights."""

    def __init__(self, table: CountingTable) -> None:
        self._repeats = table.weights.astype(np.int64)
        n_words = -(-int(table.total) // WORD_BITS)
        self._n_pieces = -(-n_words // PIECE_WORDS)
        self._width = -(-n_words // self._n_pieces)
        self._firsts = np.cumsum(table.cards - 1) - (table.cards - 1)
        self._states = self._make_sets(int((table.cards - 1).sum()))
        for column, first, card in zip(table.codes, self._firsts, table.cards, strict=True):
            self._mark(column, self._states[first : first + card - 1], 1)
        # Pairs of sets to be compared for each candidate, at which counting row by row is as fast.
        self.most_pairs = BITS_GAIN * len(table.weights) / table.total

    def _make_sets(self, n_sets: int) -> Words:
        return np.zeros((n_sets, self._n_pieces, self._width), np.uint64)

    def _mark(self, numbers: AnyArray, sets: Words, least: int) -> None:
        flat = sets.reshape(len(sets), self._n_pieces * self._width)
        mark_rows(numbers, self._repeats, flat, least)

    def count(
        self,
        pattern: PatternColumn,
        cards: LongArray,
        added: LongArray,
        counts: FloatArray,
        ends: LongArray,
    ) -> None:
        """Count the patterns of a set together with each of some further columns."""
        groups = self._make_sets(pattern.n_patterns)
        self._mark(pattern.codes, groups, 0)
        count_bit_additions(groups, self._states, self._firsts, cards, added, counts, ends)


def list_bits(columns: Mask) -> list[int]:
    """List the columns of a set."""
    if columns.bit_count() < FEW_BITS:
        return [bit.bit_length() - 1 for bit in single_bits(columns)]
    packed = columns.to_bytes((columns.bit_length() + 7) // 8, "little")
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
    found: list[int] = np.flatnonzero(bits).tolist()
    return found


def _check_complete(data: Dataset) -> None:
    for variable, column in zip(data.variables, data.columns, strict=True):
        if not variable.is_categorical:
            raise DataError(f"column {variable.name!r} is continuous; expected categorical columns")
        if (column < 0).any():
            raise DataError(
                f"column {variable.name!r} has {int((column < 0).sum())} missing values; "
                "expected a complete table"
            )


def round_weights(weights: FloatArray) -> FloatArray:
    """Round weights so that all sums of them are exact; whole ones stay as they are."""
    exponent = math.frexp(math.fsum(weights))[1]
    whole = np.rint(np.ldexp(weights, EXACT_BITS - exponent))
    rounded: FloatArray = np.ldexp(whole, exponent - EXACT_BITS)
    return rounded


def count_tables(structure: Structure, data: Dataset) -> FloatArray:
    """Return the counts of all tables of a categorical network, laid out like its parameters.

    Each family is counted on the rows in which it is complete.
    """
    counts = np.empty(structure.n_values)
    for name in structure.names:
        structure.table_view(counts, name)[...] = count_table(structure, data, name)
    return counts


def count_table(structure: Structure, data: Dataset, name: str) -> FloatArray:
    """Return the counts of the table of one categorical variable."""
    shape = structure.shape(name)
    family = [data.column(each).astype(np.intp) for each in (*structure.parents(name), name)]
    is_there = np.logical_and.reduce([codes >= 0 for codes in family])
    cells = np.ravel_multi_index([codes[is_there] for codes in family], shape)
    counts: FloatArray = np.bincount(cells, data.weights[is_there], math.prod(shape)).astype(float)
    return counts.reshape(shape)


def normalize_tables(structure: Structure, counts: FloatArray) -> FloatArray:
    """Divide the rows of all tables by their sums; uniform where nothing was counted."""
    parameters = np.empty_like(counts)
    for name in structure.names:
        table = structure.table_view(counts, name)
        sums = table.sum(axis=-1, keepdims=True)
        here = structure.table_view(parameters, name)
        here[...] = 1.0 / table.shape[-1]
        np.divide(table, sums, out=here, where=sums > 0)
    return parameters
