"""Tables of results as text for people: plain, Markdown, LaTeX, HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from latentforest.visible import make_label, make_visible

Columns = Mapping[str, Sequence[Any]]

MAX_ROWS = 60  # of a table in a notebook; the others are counted in a note
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # which a line break before them would take
}
_MARKDOWN = re.compile(r"[\\|`*~$\[\]]|(?<!\w)_|_(?!\w)")  # an underscore within a word is one
# The colours are those of the page around it, light or dark.
_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:0.15em 0.6em;text-align:{};border:0"
_HEAD = _CELL + ";border-bottom:1px solid;font-weight:bold"


def format_cell(value: Any) -> str:
    """Write a value for a person: numbers with few digits, nothing for missing ones."""
    if value is None or (isinstance(value, float | np.floating) and value != value):
        return ""
    if isinstance(value, float | np.floating):
        number = float(value)
        return f"{number:,.3f}" if 1e-3 <= abs(number) < 1e7 or number == 0 else f"{number:.3g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(format_cell, value))
    return str(value)


def align(columns: Columns) -> str:
    """Write a table with aligned columns."""
    cells = [
        [make_label(name), *(make_label(format_cell(value)) for value in values)]
        for name, values in columns.items()
    ]
    return "\n".join(line.rstrip() for line in _pad(cells, "  "))


def _pad(cells: list[list[str]], gap: str) -> Iterable[str]:
    widths = [max(map(len, column)) for column in cells]
    for line in zip(*cells, strict=True):
        yield gap.join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))


def write_markdown(columns: Columns) -> str:
    """Write a table with pipes, as GitHub and pandoc read it."""
    cells, sides = _write_cells(columns, escape_markdown)
    if not cells:
        return ""
    widths = [max(3, *map(len, column)) for column in cells]
    rules = [
        "-" * (width - 1) + ":" if side == "right" else "-" * width
        for width, side in zip(widths, sides, strict=True)
    ]
    padded = [
        [cell.rjust(width) if side == "right" else cell.ljust(width) for cell in column]
        for column, width, side in zip(cells, widths, sides, strict=True)
    ]
    lines = list(zip(*padded, strict=True))
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], rules, *lines[1:]])


def escape_markdown(text: str) -> str:
    """Make text of one line that Markdown shows as it is."""
    escaped = html.escape(make_visible(" ".join(text.split())), quote=False)
    return _MARKDOWN.sub(r"\\\g<0>", escaped)


def write_latex(columns: Columns) -> str:
    """Write a ``tabular``, which needs no package."""
    cells, sides = _write_cells(columns, escape_latex)
    lines = [" & ".join(line) + r" \\" for line in zip(*cells, strict=True)]
    places = "".join(side[0] for side in sides)
    head = [rf"\begin{{tabular}}{{{places}}}", r"\hline", *lines[:1], r"\hline"]
    return "\n".join([*head, *lines[1:], *([r"\hline"] * (len(lines) > 1)), r"\end{tabular}"])


def escape_latex(text: str) -> str:
    """Make text of one line that LaTeX shows as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in make_visible(" ".join(text.split())))


def write_html(
    columns: Columns,
    title: str = "",
    notes: Sequence[str] = (),
    max_rows: int | None = None,
) -> str:
    """Write a table for a page or a notebook; names and values are text, whatever is in them.

    Parameters
    ----------
    columns
        Values by name.
    title
        Above the table.
    notes
        Below the table.
    max_rows
        How many rows are shown; the others are counted in a note.
    """
    n_rows = len(next(iter(columns.values()), []))
    shown = n_rows if max_rows is None else min(n_rows, max_rows)
    cells, sides = _write_cells(
        {name: values[:shown] for name, values in columns.items()}, escape_html
    )
    head, *lines = zip(*cells, strict=True) if cells else [()]
    rows = [_write_row("th", head, [_HEAD.format(side) for side in sides])]
    rows += [_write_row("td", line, [_CELL.format(side) for side in sides]) for line in lines]
    caption = f'<caption style="text-align:left">{escape_html(title)}</caption>' if title else ""
    if shown < n_rows:
        notes = (*notes, f"{shown} of {n_rows:,} rows are shown.")
    below = "".join(f"<p>{escape_html(note)}</p>" for note in notes)
    body = f"<thead>{rows[0]}</thead><tbody>{''.join(rows[1:])}</tbody>"
    return f'<table style="{_STYLE}">{caption}{body}</table>{below}'


def escape_html(text: str) -> str:
    """Make text harmless in HTML; what a page cannot hold, or would obey, is a visible escape."""
    return html.escape(make_visible(text))


def _write_row(tag: str, cells: Sequence[str], styles: Sequence[str]) -> str:
    pairs = zip(cells, styles, strict=True)
    return "<tr>" + "".join(f'<{tag} style="{s}">{cell}</{tag}>' for cell, s in pairs) + "</tr>"


def _write_cells(
    columns: Columns, escape: Callable[[str], str]
) -> tuple[list[list[str]], list[str]]:
    """Write all cells, headers first; numbers stand at the right."""
    cells = [[escape(name), *(escape(format_cell(v)) for v in vs)] for name, vs in columns.items()]
    return cells, ["right" if _are_numbers(values) else "left" for values in columns.values()]


def _are_numbers(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in known
    )
