"""Reads table files of any known format, chosen by the end of their names."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from latentforest.data.columns.missing_texts import Missing, MissingTexts
from latentforest.data.columns.raw_column import Kind, RawTable
from latentforest.data.columns.recipe import Recipe, plan_encoding, read_recipe
from latentforest.data.columns.state_names import DEFAULT_MISSING
from latentforest.data.conform import encode_like, open_dataset
from latentforest.data.dataset import Dataset
from latentforest.data.encode import Encoding, Kinds, Weights, encode_table
from latentforest.data.files.arff_file import read_arff
from latentforest.data.files.arrow_file import read_arrow
from latentforest.data.files.csv_file import read_csv
from latentforest.data.files.excel_file import read_excel
from latentforest.data.files.frequency_file import read_frequencies
from latentforest.data.files.parquet_file import read_parquet
from latentforest.data.files.sparse import read_sparse
from latentforest.data.files.stat_file import read_stat
from latentforest.data.files.text_file import is_compressed, name_inside, open_binary
from latentforest.data.join import join_tables
from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ParameterError

#: Name of standard input where a path is expected.
STANDARD_INPUT = "-"

_FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sav": "spss",
    ".zsav": "spss",
    ".por": "spss",
    ".dta": "stata",
    ".xpt": "sas",
    ".sas7bdat": "sas",
    ".npz": "sparse",
    ".mtx": "sparse",
    ".arff": "arff",
    ".data": "frequency",
}
_OTHER_NAMES = {"feather": "arrow"}
#: Formats that are read as text, compressed or not; they have no signs of their own for missing.
_TEXT = ("csv", "tsv", "arff", "frequency")
_SELF_CONTAINED = ("arff", "frequency")

FilePath: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are opened, beside what is wanted of their columns."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    sheet: str | int | None = None
    labels: bool = True
    catalog: FilePath | None = None
    vocabulary: Mapping[str, int] | Sequence[str] | FilePath | None = None
    counts: str = "presence"
    weights: Weights | None = None


def read(
    path: FilePath | Sequence[FilePath],
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
    sheet: str | int | None = None,
    labels: bool = True,
    catalog: FilePath | None = None,
    vocabulary: Mapping[str, int] | Sequence[str] | FilePath | None = None,
    counts: str = "presence",
    like: Sequence[Variable] | None = None,
    unseen: str = "missing",
    decimal: str | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read a table from a file, or from several with the same columns.

    Parameters
    ----------
    path
        A file: text (``.csv``, ``.tsv``, ``.txt``, ``.arff``, ``.data`` of frequency counts),
        ``.parquet``, Arrow (``.feather``, ``.arrow``), a workbook (``.xlsx``, ``.xls``,
        ``.ods``), SPSS (``.sav``, ``.zsav``, ``.por``), Stata (``.dta``), SAS (``.xpt``,
        ``.sas7bdat``) or a sparse matrix (``.npz``, ``.mtx``); it may be compressed by gzip
        or zstd, text also by zip. ``"-"`` is standard input. A list of files gives their rows
        one after the other.
    format
        ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"`` (or ``"feather"``), ``"excel"``,
        ``"spss"``, ``"stata"``, ``"sas"``, ``"sparse"``, ``"arff"`` or ``"frequency"``, if the name
        of the file does not tell. Standard input is CSV if this is left out.
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
        Of a text file, or of an SPSS, Stata or SAS file that does not tell its own.
    sheet
        Of a workbook: name of the sheet, or its number counted from 1; the first if left out.
    labels
        Whether value labels of SPSS, Stata and SAS files become the names of states.
    catalog
        SAS catalog (``.sas7bcat``) with the value labels of a ``.sas7bdat`` file.
    vocabulary
        Names of a sparse matrix's columns: words in their order, a mapping from words to
        columns, or a file with a word in each line.
    counts
        Of a sparse matrix: ``"presence"`` makes 1 of all counts above 0, ``"values"`` keeps them.
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
    if like is not None and (kinds or states or columns is not None or exclude):
        raise ParameterError("like= takes the place of kinds=, states=, columns= and exclude=")
    plan = read_recipe(recipe)
    plan = replace(plan, decimal=decimal or plan.decimal)
    weight_column = plan.weight if weights is None else weights
    options = FileOptions(
        format,
        delimiter,
        encoding,
        sheet,
        labels,
        catalog,
        vocabulary,
        counts,
        weight_column,
    )
    files = _list_files(path)
    formats = [choose_format(file, format) for file in files]
    default = () if set(formats) <= set(_SELF_CONTAINED) else DEFAULT_MISSING
    texts = plan.with_missing(missing).texts(default)
    asked = Encoding(kinds, states or {}, default, columns, exclude, decimal)
    hints = _join_hints(plan, asked, texts) if like is None else _want_variables(like, plan, texts)
    with contextlib.ExitStack() as stack:
        tables = [
            stack.enter_context(_opening(file, name, options, hints))
            for file, name in zip(files, formats, strict=True)
        ]
        table = join_tables(tables, files)
        if weights is None and (plan.weight is None or (like and plan.weight not in table.names)):
            weights = table.weights
        if like is not None:
            return encode_like(
                table, like, unseen=unseen, weights=weights, missing=texts, recipe=plan
            )
        wanted, weights = plan_encoding(plan, table.names, asked, weights, missing)
        return Dataset(*encode_table(table, wanted, weights), labels=table.labels)


def _join_hints(recipe: Recipe, asked: Encoding, missing: MissingTexts) -> Encoding:
    """What is known of columns before their names are."""
    kinds = asked.kinds if isinstance(asked.kinds, str) else {**recipe.kinds, **(asked.kinds or {})}
    return replace(
        asked,
        kinds=kinds or None,
        states={**recipe.states, **asked.states},
        missing=missing,
        decimal=recipe.decimal,
        labels=recipe.labels,
    )


def _want_variables(
    variables: Sequence[Variable], recipe: Recipe, missing: MissingTexts
) -> Encoding:
    """What given variables say of the columns; their states do not count as missing."""
    states = {v.name: v.states for v in variables if v.states is not None}
    kinds: dict[str, Kind] = {v.name: "continuous" for v in variables if v.states is None}
    texts = _drop_states(missing, variables)
    names = [v.name for v in variables]
    return Encoding(kinds, states, texts, names, decimal=recipe.decimal, labels=recipe.labels)


def _list_files(path: FilePath | Sequence[FilePath]) -> list[Path]:
    listed = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not listed:
        raise ParameterError("path: got an empty list, expected at least one file")
    files = [Path(item) for item in listed]
    for file in files:
        if str(file) != STANDARD_INPUT:
            _check_file(file)
    return files


@contextlib.contextmanager
def _opening(path: Path, format: str, options: FileOptions, wanted: Encoding) -> Iterator[RawTable]:
    """Open a file; what is not a plain file is copied to one that lives meanwhile."""
    if options.delimiter is not None:
        _check_delimiter(options.delimiter, format)
    if options.sheet is not None and format != "excel":
        raise ParameterError(f"sheet: got {options.sheet!r}, which is for workbooks (.xlsx, .ods)")
    is_stream = str(path) == STANDARD_INPUT
    if not is_stream and (format in _TEXT or not is_compressed(path)):
        yield _open_file(path, format, options, wanted)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "table"
        with copy.open("wb") as target:
            if is_stream:
                shutil.copyfileobj(sys.stdin.buffer, target)
            else:
                with open_binary(path) as source:
                    shutil.copyfileobj(source, target)
        name = "standard input" if is_stream else str(path)
        try:
            if copy.stat().st_size == 0:
                raise FileFormatError(f"{copy} is empty")
            table = _open_file(copy, format, options, wanted)
        except FileFormatError as error:
            raise FileFormatError(str(error).replace(str(copy), name)) from None
        yield table


def _open_file(path: Path, format: str, options: FileOptions, wanted: Encoding) -> RawTable:
    text_encoding = None if options.encoding == "utf-8" else options.encoding
    if format == "arff":
        table, weights = read_arff(path, options.encoding)
        return replace(table, weights=weights)
    if format == "frequency":
        data = read_frequencies(path, options.encoding)
        return replace(open_dataset(data), weights=data.weights)
    if format == "parquet":
        return read_parquet(path)
    if format == "arrow":
        return read_arrow(path)
    if format == "excel":
        return read_excel(path, options.sheet)
    if format == "sparse":
        vocabulary = options.vocabulary
        words = Path(vocabulary) if isinstance(vocabulary, str | os.PathLike) else vocabulary
        return read_sparse(path, words, options.counts)
    if format in ("spss", "stata", "sas"):
        catalog = None if options.catalog is None else Path(options.catalog)
        return read_stat(
            path,
            format,
            wanted,
            use_labels=options.labels,
            weights=options.weights,
            catalog=catalog,
            text_encoding=text_encoding,
        )
    mark = "\t" if format == "tsv" and options.delimiter is None else options.delimiter
    return read_csv(
        path,
        delimiter=mark,
        missing=wanted.missing,
        encoding=options.encoding,
        needs_text=wanted.needs_text,
    )


def _drop_states(texts: Collection[str], variables: Sequence[Variable]) -> list[str]:
    """Marker texts that are not a state of any variable."""
    states = {state for variable in variables for state in variable.states or ()}
    return [text for text in texts if text not in states]


def _check_delimiter(delimiter: str, format: str) -> None:
    usable = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'
    if format not in ("csv", "tsv") or not usable:
        raise ParameterError(
            f"delimiter: got {delimiter!r}, expected one character, for CSV files, "
            "that is not a quote or line end"
        )


def choose_format(path: Path, format: str | None) -> str:
    """Format that is given, or that the end of the file's name tells."""
    known = sorted(set(_FORMATS.values()))
    if format is not None:
        name = _OTHER_NAMES.get(format, format)
        if name not in known:
            raise ParameterError(f"format: got {format!r}, expected one of {', '.join(known)}")
        return name
    if str(path) == STANDARD_INPUT:
        return "csv"
    found = _FORMATS.get(name_inside(path).suffix.lower())
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
