"""From the blocks of a BIF file to a network: names looked up, tables filled and checked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from latentforest.errors import FileFormatError, FileFormatWarning, ModelError
from latentforest.formats.bif_blocks import BifBlocks, ProbabilityBlock, ProbabilityEntry
from latentforest.formats.families import scale_rows
from latentforest.formats.tokens import TokenReader, shorten, split_names
from latentforest.model.network import Network
from latentforest.model.parameters import TOLERANCE
from latentforest.model.structure import Structure

MAX_ROWS = 2**24  # of a table that a default fills


def build_network(blocks: BifBlocks) -> Network:
    """Build a network from the blocks of a file."""
    tokens, variables = blocks.tokens, blocks.variables
    families: dict[str, ProbabilityBlock] = {}
    parents: dict[str, list[str]] = {}
    for family in blocks.families:
        name, *others = _look_up_names(blocks, family)
        if name in families:
            tokens.fail(f"variable {name!r} has a second probability block", family.place)
        families[name], parents[name] = family, others
    for name in variables:
        if name not in families:
            tokens.fail(f"expected a probability block for variable {name!r}, found none")
    try:
        structure = Structure(list(variables.values()), parents)
    except ModelError as error:
        raise FileFormatError(f"{tokens.source}: {error}") from None
    tables = [_TableReader(blocks, structure, name, families[name]) for name in structure.names]
    arrays = [table.read().ravel() for table in tables]
    _warn_of_rounding(tokens, tables)
    return Network(structure, np.concatenate(arrays))


def _look_up_names(blocks: BifBlocks, family: ProbabilityBlock) -> list[str]:
    """Return the variable of a probability block, then its parents."""
    child, parents = split_names(family.child)[0], split_names(family.parents)[0]
    names: list[str] = []
    for name in child + parents:
        # In old files there are only spaces between names.
        parts = [name] if name in blocks.variables else name.split()
        if not parts or not blocks.variables.keys() >= set(parts):
            blocks.tokens.fail(f"no variable is named {name!r}", family.place)
        names += parts
    if not child or (parents and len(child) > 1):
        blocks.tokens.fail("expected the name of one variable before its parents", family.place)
    if len(set(names)) < len(names):
        text = shorten(", ".join(names))
        blocks.tokens.fail(f"a probability block names a variable twice: {text}", family.place)
    return names


class _TableReader:
    """Fills the table of one variable and checks its rows."""

    def __init__(
        self, blocks: BifBlocks, structure: Structure, name: str, family: ProbabilityBlock
    ) -> None:
        self._blocks, self._name, self._family = blocks, name, family
        self._parents = structure.parents(name)
        self._codes = [
            {state: code for code, state in enumerate(structure.states(parent))}
            for parent in self._parents
        ]
        self._n_rows, self._width = math.prod(map(len, self._codes)), structure.shape(name)[-1]
        self.rounded: list[tuple[float, int]] = []  # sums and places of rows that are scaled

    def read(self) -> NDArray[np.float64]:
        """Return the table, one row for each combination of the parents' states."""
        entries: dict[str, list[ProbabilityEntry]] = {"row": [], "table": [], "default": []}
        for entry in self._family.entries:
            entries[entry.kind].append(entry)
        for kind in ("table", "default"):
            if len(entries[kind]) > 1:
                self._fail(f"a second {kind}", entries[kind][1])
        if not entries["table"]:
            return self._read_rows(entries["row"], entries["default"])
        for other in entries["row"] + entries["default"]:
            self._fail("a table and rows, expected either", other)
        return self._read_whole(entries["table"][0])

    def _read_whole(self, entry: ProbabilityEntry) -> NDArray[np.float64]:
        """Read all numbers at once: the variable's own state changes last."""
        numbers = self._read_numbers(entry, self._n_rows * self._width)
        table = np.array(numbers).reshape(self._width, self._n_rows).T
        hint = "; in a table the variable's own state changes slowest" if self._parents else ""
        return self._check(table, [entry.place] * self._n_rows, hint)

    def _read_rows(
        self, entries: Sequence[ProbabilityEntry], default: Sequence[ProbabilityEntry]
    ) -> NDArray[np.float64]:
        rows: dict[int, list[float]] = {}
        places: dict[int, int] = {}
        for entry in entries:
            row = self._find_row(entry)
            if row in rows:
                self._fail(f"a second row for {self._describe(row)}", entry)
            rows[row] = self._read_numbers(entry, self._width)
            places[row] = entry.place
        # A damaged file may declare a table far larger than itself, so it is not made before.
        if len(rows) < self._n_rows:
            if not default:
                missing = next(row for row in range(self._n_rows) if row not in rows)
                self._fail(f"no row for {self._describe(missing)}", self._family)
            if self._n_rows > MAX_ROWS:
                problem = f"{self._n_rows:,} rows; at most {MAX_ROWS:,} can have a default"
                self._fail(problem, default[0])
        if default:
            numbers = self._read_numbers(default[0], self._width)
            for row in range(self._n_rows):
                rows.setdefault(row, numbers)
                places.setdefault(row, default[0].place)
        order = range(self._n_rows)
        return self._check(np.array([rows[row] for row in order]), [places[row] for row in order])

    def _find_row(self, entry: ProbabilityEntry) -> int:
        what = f"states of the parents of {self._name!r}"
        states = self._blocks.choose_names(entry.states, len(self._codes), what, entry.place)
        row = 0
        for parent, codes, state in zip(self._parents, self._codes, states, strict=True):
            if state not in codes:
                known = shorten(", ".join(codes))
                self._fail(f"no state of {parent!r} is named {state!r}, expected {known}", entry)
            row = row * len(codes) + codes[state]
        return row

    def _read_numbers(self, entry: ProbabilityEntry, count: int) -> list[float]:
        words = entry.numbers.replace(",", " ").split()
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != len(words) or "_" in entry.numbers:
            self._fail(f"expected {count} numbers, found {shorten(entry.numbers)}", entry)
        if len(numbers) != count:
            self._fail(f"expected {count} numbers, found {len(numbers)}", entry)
        return numbers

    def _check(
        self, table: NDArray[np.float64], places: list[int], hint: str = ""
    ) -> NDArray[np.float64]:
        """Refuse rows that are no distributions, and scale those that rounding keeps from one."""
        bad, sums = scale_rows(table)
        for row in bad.tolist():
            where = f", {self._describe(row)}" if self._parents else ""
            self._blocks.tokens.fail(
                f"table of {self._name!r}{where}: expected probabilities that sum to one, "
                f"found {table[row].tolist()} with sum {sums[row]:.12g}{hint}",
                places[row],
            )
        off = np.flatnonzero(np.abs(sums - 1) > TOLERANCE)
        self.rounded = [(float(sums[row]), places[row]) for row in off]
        return table

    def _describe(self, row: int) -> str:
        """Name the states of the parents that select a row."""
        pairs = []
        for parent, codes in zip(self._parents[::-1], self._codes[::-1], strict=True):
            row, code = divmod(row, len(codes))
            pairs.append(f"{parent}={list(codes)[code]}")
        return ", ".join(pairs[::-1])

    def _fail(self, problem: str, where: ProbabilityEntry | ProbabilityBlock) -> NoReturn:
        self._blocks.tokens.fail(f"table of {self._name!r}: {problem}", where.place)


def _warn_of_rounding(tokens: TokenReader, tables: Sequence[_TableReader]) -> None:
    """Say how many rows were scaled, and which of them most."""
    rounded = [each for table in tables for each in table.rounded]
    if rounded:
        total, place = max(rounded, key=lambda each: abs(each[0] - 1))
        message = (
            f"{tokens.source}: {len(rounded)} rows of probabilities did not sum to one and were "
            f"scaled; the worst, on line {tokens.line(place)}, had the sum {total:.12g}"
        )
        warnings.warn(message, FileFormatWarning, stacklevel=2)
