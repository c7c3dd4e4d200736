"""From the variables and tables of a model file to a network, checked."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError, FileFormatWarning, ModelError
from latentforest.formats.tokens import shorten
from latentforest.model.network import Network
from latentforest.model.parameters import TOLERANCE
from latentforest.model.structure import Structure

MAX_DEVIATION = 0.01  # of the sum of a row from one that rounding explains
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def scale_rows(table: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Scale the rows that rounding keeps from summing to one.

    Returns
    -------
    rows
        Those that are no distributions at all, which are left as they are.
    sums
        Of all rows, as they were.
    """
    sums = table.sum(axis=1)
    good = np.all(table >= 0, axis=1) & (np.abs(sums - 1) <= MAX_DEVIATION + TOLERANCE)
    off = np.flatnonzero(good & (np.abs(sums - 1) > TOLERANCE))
    table[off] /= sums[off, np.newaxis]
    return np.flatnonzero(~good), sums


@dataclass
class FamilyReader:
    """Collects what a file says of each variable, then makes the network.

    Parameters
    ----------
    source
        The file, for error messages.
    """

    source: str
    variables: dict[str, Variable] = field(default_factory=dict)
    parents: dict[str, Sequence[str]] = field(default_factory=dict)
    numbers: dict[str, Sequence[float]] = field(default_factory=dict)

    def add_variable(self, name: str, states: Sequence[str], latent: bool) -> None:
        """Add a variable with its states."""
        if name in self.variables:
            self.fail(f"a second variable is named {name!r}")
        try:
            self.variables[name] = Variable(name, tuple(states), latent)
        except DataError as error:
            self.fail(str(error))

    def add_family(self, name: str, parents: Sequence[str], numbers: Sequence[float]) -> None:
        """Add a table: the variable's own state changes fastest, the first parent's slowest."""
        for each in (name, *parents):
            if each not in self.variables:
                self.fail(f"table of {name!r}: no variable is named {each!r}")
        if name in self.parents:
            self.fail(f"variable {name!r} has a second table")
        shape = [self.variables[each].n_states for each in (*parents, name)]
        if math.prod(shape) != len(numbers):
            text = " x ".join(map(str, shape))
            self.fail(
                f"table of {name!r}: expected {math.prod(shape):,} numbers ({text}), "
                f"found {len(numbers):,}"
            )
        self.parents[name], self.numbers[name] = parents, numbers

    def build(self) -> Network:
        """Make the network."""
        if not self.variables:
            self.fail("expected a network with variables, found none")
        for name in self.variables:
            if name not in self.parents:
                self.fail(f"expected a table for variable {name!r}, found none")
        try:
            structure = Structure(list(self.variables.values()), self.parents)
        except ModelError as error:
            self.fail(str(error))
        rounded: dict[str, float] = {}
        arrays = [self._check(structure, name, rounded) for name in structure.names]
        self._warn_of_rounding(rounded)
        return Network(structure, np.concatenate(arrays))

    def fail(self, problem: str) -> NoReturn:
        """Raise an error that names the file."""
        raise FileFormatError(f"{self.source}: {problem}")

    def _check(
        self, structure: Structure, name: str, rounded: dict[str, float]
    ) -> NDArray[np.float64]:
        table = np.array(self.numbers[name], dtype=np.float64).reshape(
            -1, structure.shape(name)[-1]
        )
        bad, sums = scale_rows(table)
        if bad.size:
            row = int(bad[0])
            self.fail(
                f"table of {name!r}, row {row + 1} of {len(table)}: expected probabilities that "
                f"sum to one, found {table[row].tolist()} with sum {sums[row]:.12g}"
            )
        worst = float(sums[np.abs(sums - 1).argmax()])
        if abs(worst - 1) > TOLERANCE:
            rounded[name] = worst
        return table.ravel()

    def _warn_of_rounding(self, rounded: Mapping[str, float]) -> None:
        if rounded:
            name = max(rounded, key=lambda each: abs(rounded[each] - 1))
            message = (
                f"{self.source}: rows of {len(rounded)} tables did not sum to one and were scaled; "
                f"the worst, of {name!r}, had the sum {rounded[name]:.12g}"
            )
            warnings.warn(message, FileFormatWarning, stacklevel=2)


def read_numbers(reader: FamilyReader, name: str, text: str) -> list[float]:
    """Read the numbers of a table, separated by space."""
    words = text.split()
    for word in words:
        if not _NUMBER.fullmatch(word):
            reader.fail(f"table of {name!r}: expected numbers, found {shorten(word)}")
    return [float(word) for word in words]
