"""A small table of results: named columns that print well and become data frames, text, files."""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latentforest.data.results import table_files, table_text
from latentforest.errors import DataError, MissingExtraError
from latentforest.visible import make_label, make_visible


class Table(dict[str, list[Any]]):
    """Named columns of equal length.

    It is a dictionary of lists, so that ``pd.DataFrame(table)``, ``pl.DataFrame(table)`` and
    ``pa.table(table)`` work. Its length is the number of rows.

    Parameters
    ----------
    columns
        Values by name.
    notes
        Sentences about the table as a whole, printed below it.

    Examples
    --------
    >>> table = Table({"n_states": [1, 2], "bic": [-10.25, -9.5]})
    >>> print(table)
    n_states      bic
           1  -10.250
           2   -9.500
    >>> table["bic"], len(table)
    ([-10.25, -9.5], 2)
    >>> print(table.to("markdown"))
    | n_states |     bic |
    | -------: | ------: |
    |        1 | -10.250 |
    |        2 |  -9.500 |
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], notes: Sequence[str] = ()) -> None:
        super().__init__({name: list(values) for name, values in columns.items()})
        self.notes = tuple(notes)
        lengths = {len(values) for values in self.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of a table must have equal lengths, got {sorted(lengths)}")

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]], notes: Sequence[str] = ()) -> Table:
        """Make a table of dictionaries with equal keys."""
        names = list(rows[0]) if rows else []
        return cls({name: [row[name] for row in rows] for name in names}, notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self)

    def __missing__(self, name: object) -> list[Any]:
        raise KeyError(f"no column {name!r}; the columns are {', '.join(self)}")

    def __len__(self) -> int:
        return len(next(iter(self.values()), []))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.notes)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dictionaries."""
        for values in zip(*self.values(), strict=True):
            yield dict(zip(self, values, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of what JSON knows.

        Numbers of NumPy become those of Python, and what is not a finite number becomes None.
        """
        return {name: to_plain(values) for name, values in self.items()}

    def to_json(self) -> str:
        """Write the rows as a JSON list of objects.

        Examples
        --------
        >>> Table({"n": [1, 2], "p": [0.5, float("nan")]}).to_json()
        '[{"n": 1, "p": 0.5}, {"n": 2, "p": null}]'
        """
        return json.dumps(to_plain(list(self.rows())), allow_nan=False, ensure_ascii=False)

    def to_pandas(self) -> Any:
        """Convert to a pandas data frame."""
        return load_package("pandas").DataFrame(self)

    def to_polars(self) -> Any:
        """Convert to a polars data frame."""
        return load_package("polars").DataFrame(self)

    def to(self, target: str | os.PathLike[str]) -> str | None:
        """Write the table to a file, or as text.

        Parameters
        ----------
        target
            A file, whose name ends in .csv, .tsv, .parquet, .xlsx, .tex, .md, .html or .json; or
            one of "csv", "tsv", "latex", "markdown", "html", "json". Numbers are rounded in LaTeX,
            Markdown and HTML, which are for people, and whole in the others.

        Returns
        -------
        text
            If a format is given; nothing if a file is given.

        Examples
        --------
        >>> print(Table({"class": ["a & b"], "size": [0.25]}).to("latex"))
        \\begin{tabular}{lr}
        \\hline
        class & size \\\\
        \\hline
        a \\& b & 0.250 \\\\
        \\hline
        \\end{tabular}
        """
        return table_files.export(self, target)

    def __str__(self) -> str:
        return "\n".join([table_text.align(self), *map(make_visible, self.notes)])

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(map(make_label, self))})"

    def _repr_html_(self) -> str:
        return table_text.write_html(self, notes=self.notes, max_rows=table_text.MAX_ROWS)


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON knows; what is not a finite number becomes None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    return str(value)


def load_package(package: str, extra: str | None = None) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(
            f"{package} is not installed: pip install 'latentforest[{extra or package}]'"
        ) from error
