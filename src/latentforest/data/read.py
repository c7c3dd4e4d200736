"""Reads a table file of any known format, chosen by the end of its name."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from latentforest.data.arff_file import read_arff
from latentforest.data.conform import encode_like
from latentforest.data.csv_file import read_csv
from latentforest.data.dataset import Dataset
from latentforest.data.encode import Encoding, Kinds, Weights, encode_table
from latentforest.data.frequency_file import read_frequencies
from latentforest.data.missing_texts import Missing
from latentforest.data.parquet_file import read_parquet
from latentforest.data.raw_column import RawTable
from latentforest.data.recipe import Recipe, plan_encoding, read_recipe
from latentforest.data.state_names import DEFAULT_MISSING
from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ParameterError

_FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".data": "frequency",
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    kinds: Kinds | None = None,
    states: Mapping[str, Sequence[object]] | None = None,
    weights: Weights | None = None,
    missing: Missing | None = None,
    columns: Collection[str] | None = None,
    exclude: Collection[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    like: Sequence[Variable] | None = None,
    unseen: str = "missing",
    decimal: str | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read a table from a file.

    Parameters
    ----------
    path
        A file ending in ``.csv``, ``.tsv``, ``.txt``, ``.arff``, ``.data`` (frequency counts),
        each also with ``.gz`` behind it, or ``.parquet``.
    format
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arff"`` or ``"frequency"``, if the name of
        the file does not tell.
    kinds, states, weights
        As for ``Dataset.from_table``. ARFF and frequency files declare their kinds and
        states, and may hold weights.
    missing
        Texts that mean "no value", or a mapping from columns to such lists, as for
        ``Dataset.from_table``. If left out: the usual ones, and only ``?`` in ARFF and frequency
        files.
    columns, exclude
        Names of the columns to read (default all) and to leave out.
    delimiter
        Separator of a CSV file; if left out, whichever of comma, semicolon, tab and ``|`` splits
        the header into most names.
    encoding
        Of a text file.
    like
        Variables to encode the table with, found by name as ``encode_like`` does; other columns
        are ignored. It takes the place of kinds, states, columns and exclude.
    unseen
        With ``like``, what to do with states that a variable does not have: ``"missing"``
        counts them as missing, with one warning; ``"error"`` raises an error.
    decimal
        The decimal mark of texts that are numbers, ``"."`` or ``","``, where both are possible.
    recipe
        A `Recipe`, or the TOML file of one. The other arguments win over it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = path.write_text("smokes,age\\nyes,31.5\\nno,?\\n")
    >>> read(path)
    Dataset(2 rows, 2 columns: 1 categorical, 1 continuous; 1 missing value)
    """
    file = Path(path)
    _check_file(file)
    name = choose_format(file, format)
    if delimiter is not None:
        _check_delimiter(delimiter, name)
    if like is not None and (kinds or states or columns is not None or exclude):
        raise ParameterError("like= takes the place of kinds=, states=, columns= and exclude=")
    if name == "frequency":
        data = read_frequencies(file, encoding)
        if like is not None:
            return encode_like(data, like, unseen=unseen, weights=weights, missing=())
        data = data.select(_choose(data, columns, exclude))
        return Dataset.from_table(data, kinds=kinds, states=states, weights=weights)
    default = () if name == "arff" else DEFAULT_MISSING
    plan = read_recipe(recipe)
    texts = plan.with_missing(missing).texts(default)
    table: RawTable
    if name == "arff":
        table, own_weights = read_arff(file, encoding)
        weights = own_weights if weights is None and plan.weight is None else weights
    elif name == "parquet":
        table = read_parquet(file)
    else:
        mark = "\t" if name == "tsv" and delimiter is None else delimiter
        markers = _drop_states(texts, like or ())
        table = read_csv(file, delimiter=mark, missing=markers, encoding=encoding)
    if like is not None:
        return encode_like(table, like, unseen=unseen, weights=weights, missing=texts, recipe=plan)
    asked = Encoding(kinds, states or {}, default, columns, exclude, decimal)
    options, weights = plan_encoding(plan, table.names, asked, weights, missing)
    return Dataset(*encode_table(table, options, weights))


def _drop_states(texts: Collection[str], variables: Sequence[Variable]) -> list[str]:
    """Marker texts that are not a state of any variable."""
    states = {state for variable in variables for state in variable.states or ()}
    return [text for text in texts if text not in states]


def _choose(data: Dataset, columns: Collection[str] | None, exclude: Collection[str]) -> list[str]:
    for name in (*(columns or ()), *exclude):
        data.index(name)
    options = Encoding(columns=columns, exclude=exclude)
    return [name for name in data.names if options.keeps(name)]


def _check_delimiter(delimiter: str, format: str) -> None:
    usable = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'
    if format not in ("csv", "tsv") or not usable:
        raise ParameterError(
            f"delimiter: got {delimiter!r}, expected one character, for CSV files, "
            "that is not a quote or line end"
        )


def choose_format(path: Path, format: str | None) -> str:
    known = sorted(set(_FORMATS.values()))
    if format is not None:
        if format not in known:
            raise ParameterError(f"format: got {format!r}, expected one of {', '.join(known)}")
        return format
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    found = _FORMATS.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise FileFormatError(
            f"{path}: the format is not known from the name, which ends in none of "
            f"{', '.join(_FORMATS)}; pass format= ({', '.join(known)})"
        )
    return found


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise FileFormatError(f"{path} is empty")
