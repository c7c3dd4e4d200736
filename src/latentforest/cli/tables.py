"""Finding and reading the table that DATA names: a file or a built-in table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from latentforest.errors import ParameterError

if TYPE_CHECKING:
    from latentforest.data import Dataset, Variable
    from latentforest.data.columns.recipe import Recipe


@dataclass(frozen=True)
class Reading:
    """How a table is read, as asked for on the command line."""

    weights: str | None = None
    categorical: Sequence[str] = ()
    continuous: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str = "utf-8"
    format: str | None = None
    exclude: Sequence[str] = ()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sheet: str | None = None
    labels: bool = True
    catalog: Path | None = None
    vocabulary: Path | None = None
    decimal: str | None = None
    recipe: Path | Recipe | None = None

    @property
    def files(self) -> list[Path]:
        """Files that are read beside the table."""
        found = (self.recipe, self.catalog, self.vocabulary)
        return [each for each in found if isinstance(each, Path)]

    def with_recipe(self, recipe: Recipe | None) -> Reading:
        """Return the same with the recipe of a model."""
        return replace(self, recipe=recipe)

    def kinds(self) -> dict[str, Any]:
        """Kind of each column that was named."""
        both = set(self.categorical) & set(self.continuous)
        if both:
            raise typer.BadParameter(
                f"column {min(both)!r} is also in --categorical", param_hint="--continuous"
            )
        return {
            **dict.fromkeys(self.categorical, "categorical"),
            **dict.fromkeys(self.continuous, "continuous"),
        }


def name_sources(sources: Sequence[str]) -> str:
    """Names of the files for reports."""
    return ", ".join("standard input" if source == "-" else source for source in sources)


def read_data(sources: Sequence[str], how: Reading) -> Dataset:
    """Read files, or load a built-in table."""
    kinds = how.kinds()
    if is_built_in(sources[0]) and len(sources) == 1:
        return _load_built_in(sources[0], how)
    return _read_files(sources, how, kinds=kinds or None, states=how.order)


def read_like(
    sources: Sequence[str], how: Reading, variables: Sequence[Variable], unseen: str = "missing"
) -> Dataset:
    """Read the columns of a model, with its states."""
    from latentforest.data import encode_like

    if is_built_in(sources[0]) and len(sources) == 1:
        return encode_like(_load_built_in(sources[0], how), variables, unseen=unseen)
    return _read_files(sources, how, like=variables, unseen=unseen)


def is_built_in(source: str) -> bool:
    """Whether the name is that of a built-in table and not of a file."""
    from latentforest import datasets

    return source in datasets.names() and not Path(source).exists()


def _load_built_in(source: str, how: Reading) -> Dataset:
    from latentforest import datasets

    recipe = None if isinstance(how.recipe, Path) else how.recipe  # of a model: applies to files
    if replace(how, recipe=None) != Reading(exclude=how.exclude) or recipe is not how.recipe:
        raise ParameterError(
            f"{source} is a built-in table: the options for reading files do not apply to it"
        )
    return drop_columns(datasets.load(source), how.exclude)


def _read_files(sources: Sequence[str], how: Reading, **encoding: Any) -> Dataset:
    from latentforest.data import read

    for source in sources:
        _check_source(source)
    return read(
        list(sources),
        format=how.format,
        weights=how.weights,
        decimal=how.decimal,
        recipe=_make_recipe(how),
        delimiter=read_delimiter(how.delimiter),
        encoding=how.encoding,
        exclude=how.exclude,
        sheet=read_sheet(how.sheet),
        labels=how.labels,
        catalog=how.catalog,
        vocabulary=how.vocabulary,
        **encoding,
    )


def _check_source(source: str) -> None:
    from latentforest import datasets

    if source == "-":
        return
    if not Path(source).exists():
        raise FileNotFoundError(
            f"there is no file {source}; the built-in tables are {', '.join(datasets.names())}"
        )
    if Path(source).is_dir():
        raise IsADirectoryError(f"{source} is a folder; expected a table file")


def read_delimiter(text: str | None) -> str | None:
    """Read ``--delimiter``: a character, or a name of the tab, which is hard to type."""
    return "\t" if text in ("tab", "\\t") else text


def read_sheet(text: str | None) -> str | int | None:
    """Read ``--sheet``: the number of a sheet, or its name."""
    return int(text) if text and text.isdecimal() else text


def _make_recipe(how: Reading) -> Recipe:
    """The recipe asked for, with further texts that mean "no value"."""
    from latentforest.data.columns.recipe import read_recipe

    recipe = read_recipe(how.recipe)
    return replace(recipe, missing=tuple(dict.fromkeys((*recipe.missing, *how.missing))))


def drop_columns(data: Dataset, names: Sequence[str]) -> Dataset:
    """Leave out some columns."""
    for name in names:
        data.index(name)
    kept = [name for name in data.names if name not in names]
    if not kept:
        raise ParameterError("exclude= leaves no column")
    return data.select(kept)


def read_folds(text: str | None, data: Dataset) -> tuple[Any, Dataset]:
    """Read ``--folds``: a number, a column of the table (then left out), or a file of labels."""
    if text is None:
        return None, data
    if text.isdecimal():
        return int(text), data
    if text in data.names:
        return _check_labels(text, data, text), drop_columns(data, [text])
    if not Path(text).exists():
        raise typer.BadParameter(
            f"{text!r} is neither a number nor a column of the table nor a file",
            param_hint="--folds",
        )
    from latentforest.data import read

    table = read(text, kinds="categorical")
    if table.n_columns != 1 or table.n_rows != data.n_rows:
        raise ParameterError(
            f"{text} has {table.n_rows} rows and {table.n_columns} columns, expected "
            f"{data.n_rows} rows, as the table has, and one column with the fold of each"
        )
    return _check_labels(text, table, table.names[0]), data


def _check_labels(source: str, table: Dataset, name: str) -> Any:
    labels = table.decode(name).astype(str)
    if table.select([name]).has_missing:
        raise ParameterError(f"--folds {source}: some rows have no fold")
    if len(set(labels.tolist())) < 2:
        raise ParameterError(f"--folds {source}: there must be at least two folds")
    return labels
