"""A small table of results: named columns that print well and convert to data frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latentforest.errors import DataError, MissingExtraError
from latentforest.visible import make_label


class Table:
    """Named columns of equal length.

    Examples
    --------
    >>> table = Table({"n_states": [1, 2], "bic": [-10.25, -9.5]})
    >>> print(table)
    n_states      bic
           1  -10.250
           2   -9.500
    >>> table["bic"], len(table)
    ([-10.25, -9.5], 2)
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = {name: list(values) for name, values in columns.items()}
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of a table must have equal lengths, got {sorted(lengths)}")

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Make a table of dictionaries with equal keys."""
        names = list(rows[0]) if rows else []
        return cls({name: [row[name] for row in rows] for name in names})

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; the columns are {', '.join(self._columns)}")
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dictionaries."""
        for values in zip(*self._columns.values(), strict=True):
            yield dict(zip(self._columns, values, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as a dictionary of lists."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_pandas(self) -> Any:
        """Convert to a pandas data frame."""
        return _load("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Convert to a polars data frame."""
        return _load("polars").DataFrame(self.to_dict())

    def __str__(self) -> str:
        cells = [
            [make_label(name), *(make_label(format_cell(value)) for value in values)]
            for name, values in self._columns.items()
        ]
        widths = [max(map(len, column)) for column in cells]
        lines = zip(*cells, strict=True)
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(map(make_label, self._columns))})"


def format_cell(value: Any) -> str:
    """Write a value for a person: numbers with few digits, nothing for missing ones."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}" if 1e-3 <= abs(value) < 1e7 or value == 0 else f"{value:.3g}"
    return str(value)


def _load(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(
            f"{package} is not installed: pip install 'latentforest[{package}]'"
        ) from error
