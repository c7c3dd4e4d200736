"""Columns of the input beside the results, so that rows are known again: ``--id``, ``--keep``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from latentforest.cli.boundary import warn
from latentforest.cli.options import OUTPUT, split_names
from latentforest.cli.tables import Reading, is_built_in, read_delimiter, read_sheet
from latentforest.errors import ParameterError

ALL = "all"
NOTE = "note"  # column that says what is odd about a row

Identifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that names the rows, written first, as it is. May be repeated, or a,b.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="COLUMNS",
        help="Columns of the table to write beside the results, as they are: a,b, or all.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]


def read_kept(
    source: str | Sequence[str], how: Reading, ids: Sequence[str] | None, keep: str | None
) -> dict[str, Any]:
    """Read the columns that were asked for, exactly as they are written.

    If no column names the rows, those do that the recipe of the model says and the table has.
    """
    named = list(dict.fromkeys(name for text in ids or () for name in split_names(text)))
    sources = [source] if isinstance(source, str) else list(source)
    recipe = how.recipe
    known = () if named or isinstance(recipe, Path) or recipe is None else recipe.id
    if known and "-" in sources:
        warn(f"the rows come from standard input, so they are not named by {', '.join(known)}")
        known = ()
    others = [] if keep == ALL else list(split_names(keep))
    wanted = list(dict.fromkeys([*named, *others]))
    if not wanted and not known and keep != ALL:
        return {}
    found = _read(sources, how, None if keep == ALL else wanted, known)
    missing = [name for name in named if name not in found]
    if missing:
        raise ParameterError(f"--id: there is no column {missing[0]!r} in the table")
    return {name: found[name] for name in dict.fromkeys([*named, *found])}


def _read(
    sources: Sequence[str], how: Reading, names: Sequence[str] | None, if_present: Sequence[str]
) -> dict[str, Any]:
    if len(sources) == 1 and is_built_in(sources[0]):
        from latentforest import datasets

        data = datasets.load(sources[0])
        return {name: data.decode(name) for name in (data.names if names is None else names)}
    from latentforest.data.files.kept_columns import read_as_written

    return read_as_written(
        sources,
        names,
        format=how.format,
        delimiter=read_delimiter(how.delimiter),
        encoding=how.encoding,
        if_present=if_present,
        sheet=read_sheet(how.sheet),
        labels=how.labels,
        catalog=how.catalog,
        vocabulary=how.vocabulary,
    )


def put_beside(kept: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """Put columns of the table before the results; a name must not occur in both."""
    both = [name for name in kept if name in results]
    if both:
        raise ParameterError(
            f"the table has a column {both[0]!r}, and so has the result; leave it out of --id and "
            "--keep (list the others: --keep a,b), or give it another name in the table"
        )
    lengths = {len(values) for values in (*kept.values(), *results.values())}
    if len(lengths) > 1:
        raise ParameterError(f"the columns to keep have other rows than the result: {lengths}")
    return {**kept, **results}
