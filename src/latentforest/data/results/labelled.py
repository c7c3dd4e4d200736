"""Arrays of probabilities whose axes are variables and whose places are states."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.results import table_text
from latentforest.data.results.table import Table, load_package
from latentforest.errors import DataError

MAX_TEXT_ROWS = 30  # that are printed


@dataclass(frozen=True)
class Axis:
    """One axis of an array: the name of a variable, and of what lies along the axis."""

    name: str
    labels: tuple[str, ...]


class LabelledArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of numbers that knows the variables of its axes and their states.

    It is an array of NumPy, and everything that takes one takes it. What is computed from it, a
    part or a sum say, is a plain array: labels are never carried to where they may be wrong. States
    may be given by name in place of their codes: ``table["1", "yes"]``. ``to_pandas()`` makes a
    frame with the labels; ``pandas.DataFrame(table)`` sees an array and numbers rows and columns.

    Parameters
    ----------
    values
        The numbers; they are not copied.
    axes
        One for each axis of the array.
    title
        Such as "P(fever | health)".
    quantity
        What the numbers are; heads their column where there is only one.

    Examples
    --------
    >>> axes = [Axis("health", ("1", "2")), Axis("fever", ("no", "yes"))]
    >>> table = LabelledArray(np.array([[1.0, 0.0], [0.5, 0.5]]), axes, "P(fever | health)")
    >>> print(table)
    P(fever | health)
    health     no    yes
         1  1.000  0.000
         2  0.500  0.500
    >>> float(table["2", "yes"]), table[1], table.sum()
    (0.5, array([0.5, 0.5]), np.float64(2.0))
    """

    axes: tuple[Axis, ...]
    title: str
    quantity: str

    def __new__(
        cls,
        values: NDArray[np.float64],
        axes: Sequence[Axis],
        title: str = "",
        quantity: str = "probability",
    ) -> LabelledArray:
        array = np.asarray(values).view(cls)
        if array.shape != tuple(len(axis.labels) for axis in axes):
            raise DataError(
                f"an array of shape {array.shape} needs labels of that shape, "
                f"got {tuple(len(axis.labels) for axis in axes)}"
            )
        array.axes, array.title, array.quantity = tuple(axes), title, quantity
        return array

    def __array_finalize__(self, source: Any) -> None:
        # Whatever is made from a labelled array begins without labels, which might be wrong.
        self.axes, self.title, self.quantity = (), "", ""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if plain.ndim == 0 else plain

    def __getitem__(self, key: Any) -> Any:
        return self.values[self._find_codes(key) if self.axes else key]

    def __reduce__(self) -> Any:
        if not self.axes:
            return self.values.__reduce__()
        return LabelledArray, (np.array(self), self.axes, self.title, self.quantity)

    def __deepcopy__(self, memo: Any) -> Any:
        values = np.array(self)
        return LabelledArray(values, self.axes, self.title, self.quantity) if self.axes else values

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers as a plain array, which is not a copy."""
        return np.asarray(self)

    def _find_codes(self, key: Any) -> Any:
        """Translate names of states to codes."""
        if isinstance(key, str):
            return self._find_code(0, key)
        if isinstance(key, tuple) and any(isinstance(each, str) for each in key):
            if any(each is Ellipsis or each is None for each in key):
                raise DataError(
                    "names of states cannot stand beside an ellipsis or a new axis; use slices"
                )
            return tuple(
                self._find_code(place, each) if isinstance(each, str) else each
                for place, each in enumerate(key)
            )
        return key

    def _find_code(self, place: int, label: str) -> int:
        if place >= len(self.axes):
            raise DataError(f"got a state {label!r} for axis {place}; there are {len(self.axes)}")
        axis = self.axes[place]
        if label not in axis.labels:
            raise DataError(
                f"{axis.name!r} has no state {label!r}; expected one of "
                f"{', '.join(map(repr, axis.labels[:10]))}{' …' * (len(axis.labels) > 10)}"
            )
        return axis.labels.index(label)

    def to_table(self) -> Table:
        """Return a table with the states of the last axis side by side.

        It has a row for each combination of the others; of one variable, one for each state.
        """
        axes = self._get_axes()
        if len(axes) == 1:
            (axis,) = axes
            return Table({axis.name: axis.labels, _free(self.quantity, [axis.name]): self.tolist()})
        *above, last = axes
        states = list(itertools.product(*(axis.labels for axis in above)))
        columns = {axis.name: [each[i] for each in states] for i, axis in enumerate(above)}
        flat = self.values.reshape(len(states), len(last.labels))
        for label, numbers in zip(last.labels, flat.T, strict=True):
            columns[_free(label, columns)] = numbers.tolist()
        return Table(columns)

    def to(self, target: str | os.PathLike[str]) -> str | None:
        """Write the array to a file or as text, as `Table.to` does, laid out by ``to_table``."""
        return self.to_table().to(target)

    def to_pandas(self) -> Any:
        """Convert to a pandas series (one axis) or data frame, with states as index and columns."""
        pandas, axes = load_package("pandas"), self._get_axes()
        indices = [pandas.Index(axis.labels, name=axis.name) for axis in axes]
        if len(axes) == 1:
            return pandas.Series(np.array(self), indices[0], name=self.quantity)
        *above, last = indices
        index = above[0] if len(above) == 1 else pandas.MultiIndex.from_product(above)
        return pandas.DataFrame(np.array(self).reshape(len(index), -1), index, last)

    def to_polars(self) -> Any:
        """Convert to a polars data frame, as ``to_table`` lays it out."""
        return self.to_table().to_polars()

    def _get_axes(self) -> tuple[Axis, ...]:
        if not self.axes:
            raise DataError("this array was computed from a labelled one and has no labels")
        return self.axes

    def __str__(self) -> str:
        if not self.axes:
            return str(self.values)
        table = self.to_table()
        shown = {name: values[:MAX_TEXT_ROWS] for name, values in table.items()}
        lines = [self.title] if self.title else []
        lines.append(table_text.align(shown))
        if len(table) > MAX_TEXT_ROWS:
            lines.append(f"{MAX_TEXT_ROWS} of {len(table):,} rows are shown; to_pandas() has all")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self) if self.axes else repr(self.values)

    def __format__(self, spec: str) -> str:
        return format(self.values, spec) if spec else str(self)

    def _repr_html_(self) -> str | None:
        if not self.axes:
            return None  # a plain array has no such thing
        return table_text.write_html(self.to_table(), self.title, max_rows=table_text.MAX_ROWS)


def _free(name: str, taken: Any) -> str:
    """A name that no other column has."""
    return name if name not in taken else _free(name + "_", taken)
