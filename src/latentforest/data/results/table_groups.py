"""Several tables of results that belong together, with sentences about them, as text or a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from latentforest.data.results import table_text
from latentforest.data.results.table import Table
from latentforest.data.results.table_files import PAGE, export, write_sheets
from latentforest.files import write_atomically

_FORMATS = {".tex": "latex", ".md": "markdown", ".html": "html", ".json": "json"}


@dataclass(frozen=True)
class TableGroup:
    """Tables by name, the most important one first.

    Parameters
    ----------
    tables
        At least one.
    notes
        Sentences about all of them.
    titles
        What stands above some of the tables.
    """

    tables: Mapping[str, Table]
    notes: Sequence[str] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    def to(self, target: str | os.PathLike[str]) -> str | None:
        """Write all to a file, or as text in a format, see `Table.to`.

        LaTeX, Markdown and HTML have the notes, then all tables with their titles; JSON is one
        object; a workbook has a sheet for each table. CSV, TSV and Parquet hold a single table,
        which is the first.
        """
        name = os.fspath(target)
        suffix = Path(name).suffix.lower()
        if suffix == ".xlsx":
            write_sheets(self.tables, Path(name))
            return None
        if isinstance(target, str) and name.lower() in _WRITERS:
            return _WRITERS[name.lower()](self)
        if suffix not in _FORMATS:
            return export(next(iter(self.tables.values())), target)
        text = _WRITERS[_FORMATS[suffix]](self)
        write_atomically(name, PAGE.format(text) if suffix == ".html" else text + "\n")
        return None


def _write_markdown(group: TableGroup) -> str:
    escape = table_text.escape_markdown
    return _join(group, escape, table_text.write_markdown, lambda title: f"**{escape(title)}**")


def _write_latex(group: TableGroup) -> str:
    escape = table_text.escape_latex
    return _join(
        group, escape, table_text.write_latex, lambda title: rf"\textbf{{{escape(title)}}}"
    )


def _write_html(group: TableGroup) -> str:
    def paragraph(text: str) -> str:
        return f"<p>{table_text.escape_html(text)}</p>"

    def heading(text: str) -> str:
        return f"<h3>{table_text.escape_html(text)}</h3>"

    return _join(group, paragraph, table_text.write_html, heading)


def _join(
    group: TableGroup,
    escape: Callable[[str], str],
    write: Callable[[Table], str],
    head: Callable[[str], str],
) -> str:
    parts = [escape(note) for note in group.notes]
    for name, table in group.tables.items():
        if name in group.titles:
            parts.append(head(group.titles[name]))
        parts += [write(table), *(escape(note) for note in table.notes)]
    return "\n\n".join(parts)


def _write_json(group: TableGroup) -> str:
    rows = {name: json.loads(table.to_json()) for name, table in group.tables.items()}
    return json.dumps({"notes": list(group.notes), **rows}, ensure_ascii=False)


_WRITERS: dict[str, Callable[[TableGroup], str]] = {
    "markdown": _write_markdown,
    "latex": _write_latex,
    "html": _write_html,
    "json": _write_json,
}
