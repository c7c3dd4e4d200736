"""What the states of a latent variable mean: columns by what they tell, a bar for each state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from latentforest.errors import ParameterError
from latentforest.model import Network
from latentforest.model.pictures import palette
from latentforest.model.pictures.names import name_states, name_variables
from latentforest.model.pictures.numbers import write_bits, write_count, write_number, write_share
from latentforest.model.pictures.shapes import (
    SIZE,
    SMALL,
    Box,
    Caption,
    Curve,
    Measure,
    Picture,
    draw_density,
    shorten,
    wrap,
)
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.models import choose_latent, find_network, read_rows
from latentforest.plots.profile_rows import ProfileBlock, ValueRow, list_blocks

WIDTH = 1000.0
MARGIN = 14.0
ROW = 22.0
DENSITY_ROW = 50.0
NAME, BITS, VALUE, ALL = 168.0, 108.0, 86.0, 62.0  # widths of the first columns
CELL_GAP = 12.0
BAR_STATES, HEAT_STATES = 5, 14  # up to which states are bars, then numbers on tints
WIDEST_CELL = 180.0
MIN_CELLS = {"bar": 96.0, "heat": 42.0, "tint": 14.0}


@dataclass(frozen=True)
class _ProfileTable:
    """What is drawn."""

    title: str
    note: str
    states: list[str]
    sizes: list[float]
    counts: list[float] | None
    blocks: list[ProfileBlock]
    footer: str


def profile(
    model: Any,
    latent: str | None = None,
    data: Any = None,
    *,
    columns: Sequence[str] | None = None,
    max_columns: int = 12,
    ax: Any = None,
) -> Any:
    """Show what the states of a latent variable mean.

    Columns stand in the order of what they tell about the variable. Each bar is the share of a
    value within a state, the upright mark its share in all rows. Of 6 to 14 states percentages
    stand on tints, of more there are tints only. Continuous columns are densities: that of the
    state over that of all rows, each scaled to its own peak, with mean and standard deviation.

    Parameters
    ----------
    model
        A fitted learner, a network or the path of a model file.
    latent
        A latent variable; by default the one with the largest entropy.
    data
        A table: the expected numbers of its rows in each state (sums of weights) are shown, too.
    columns
        Which variables are shown; by default the most telling columns.
    max_columns
        How many of them; the others are counted below.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> model = lf.LatentClass(2, random_state=0).fit(lf.datasets.load("hiv-tests"))
    >>> ax = lf.plots.profile(model, "class")
    >>> [text.get_text() for text in ax.texts[:2]]
    ['A + D', 'class · 2 states']
    """
    network = find_network(model)
    name = choose_latent(network, latent)
    if max_columns < 1:
        raise ParameterError(f"max_columns must be at least 1, got {max_columns!r}")
    table = _collect(network, name, data, columns, max_columns)
    return draw_shapes(partial(_draw, table), ax, WIDTH)


def _collect(
    network: Network, latent: str, data: Any, columns: Sequence[str] | None, most: int
) -> _ProfileTable:
    blocks, n_left, left = list_blocks(network, latent, columns, most)
    states, sizes = name_states(network, latent), network.query(latent).tolist()
    counts = None
    if data is not None:
        predictor, rows = read_rows(network, data)
        counts = (rows.weights @ predictor.posteriors(rows)[latent]).tolist()
    footer = ""
    if n_left:
        are = "columns tell at most" if n_left > 1 else "column tells"
        footer = f"{n_left:,} more {are} {write_bits(left)} bits{' each' * (n_left > 1)}."
    text = name_variables(network)[latent]
    note = f"{len(states):,} states" if text == latent else f"{latent} · {len(states):,} states"
    return _ProfileTable(text, note, states, sizes, counts, blocks, footer)


def _draw(table: _ProfileTable, measure: Measure, width: float) -> Picture:
    """Lay the table out."""
    n_states = len(table.states)
    form = "bar" if n_states <= BAR_STATES else "heat" if n_states <= HEAT_STATES else "tint"
    first = MARGIN + NAME + BITS + VALUE + ALL
    least = first + n_states * MIN_CELLS[form] + MARGIN
    picture = Picture(max(width, least), 0.0, title=f"Profile of {table.title}")
    cell = min((picture.width - MARGIN - first) / n_states, WIDEST_CELL)
    picture.width = first + n_states * cell + MARGIN
    pen = ProfilePen(picture, measure, form, first, cell)
    y = pen.draw_head(table)
    best = max((block.bits for block in table.blocks), default=0.0)
    for block in table.blocks:
        y = pen.draw_block(block, y, best)
    if table.footer:
        picture.add(Caption(MARGIN, y + 14, table.footer, SIZE, palette.SECOND))
        y += 26
    picture.height = y + MARGIN / 2
    return picture


class ProfilePen:
    """Draws the parts of a profile, from top to bottom."""

    def __init__(
        self, picture: Picture, measure: Measure, form: str, first: float, cell: float
    ) -> None:
        self.picture, self.measure, self.form = picture, measure, form
        self.first, self.cell = first, cell
        self.gap = CELL_GAP if form == "bar" else 2.0

    def draw_head(self, table: _ProfileTable) -> float:
        """Title, names and sizes of the states, heads of the columns; returns where it ends."""
        add, right = self.picture.add, self.picture.width - MARGIN
        title = shorten(table.title, 0.6 * right, self.measure, 19.0, bold=True)
        add(Caption(MARGIN, 20, title, 19.0, palette.INK, bold=True))
        wide = self.measure(title, 19.0, True)
        note = shorten(table.note, max(right - wide - 30, 0), self.measure)
        add(Caption(MARGIN + wide + 14, 22, note, SIZE, palette.SECOND))
        y = 42.0
        n_lines = self._draw_states(table, y)
        y += 10 + 15.0 * n_lines
        heads = (("Column", MARGIN, "left"), ("tells, bits", MARGIN + NAME + BITS - 14, "right"))
        add(*(Caption(x, y - 8, text, SIZE, palette.SECOND, align) for text, x, align in heads))
        value = self.first - ALL - 14
        add(Caption(value, y - 8, "value", SIZE, palette.SECOND, "right"))
        add(Caption(self.first - 16, y - 8, "all rows", SIZE, palette.SECOND, "right"))
        self._rule(y + 2, palette.RULE)
        return y + 4

    def _draw_states(self, table: _ProfileTable, y: float) -> int:
        """Bars of the sizes with names below; returns the number of lines of text."""
        colours = palette.ramp(palette.STATES, len(table.states))
        biggest = max(table.sizes)
        if self.form == "tint":
            for k, (size, colour) in enumerate(zip(table.sizes, colours, strict=True)):
                height = 22 * size / biggest
                box = Box(self._x(k), y + 14 - height, self.cell - 1, height, colour)
                self.picture.add(box)
                if k == 0 or (k + 1) % 5 == 0:
                    x = self._x(k) + self.cell / 2
                    text = shorten(table.states[k], 4.6 * self.cell, self.measure, SMALL, bold=True)
                    align = "left" if k == 0 else "middle"
                    x = self._x(k) if k == 0 else x
                    self.picture.add(Caption(x, y + 24, text, SMALL, palette.INK, align, True))
            return 2
        inner = self.cell - self.gap
        lines = [wrap(text, inner, self.measure, 3, SIZE, bold=True) for text in table.states]
        n_lines = max(map(len, lines))
        for k, (size, colour) in enumerate(zip(table.sizes, colours, strict=True)):
            x = self._x(k)
            self.picture.add(
                Box(x, y - 4, inner, 6, palette.PANEL),
                Box(x, y - 4, inner * size / biggest, 6, colour),
            )
            middle, align = (x, "left") if self.form == "bar" else (x + inner / 2, "middle")
            below = [(line, palette.INK, True) for line in lines[k]]
            text = write_share(size)
            if table.counts is not None and self.form == "bar":
                text += f" · {write_count(round(table.counts[k]))}"
            below.append((text, palette.SECOND, False))
            start = y + 12 + 15.0 * (n_lines - len(lines[k]))
            for n, (line, colour_, bold) in enumerate(below):
                self.picture.add(
                    Caption(middle, start + 15.0 * n, line, SIZE, colour_, align, bold)
                )
        return n_lines + 1

    def _x(self, k: int) -> float:
        return self.first + k * self.cell

    def draw_block(self, block: ProfileBlock, y: float, best: float) -> float:
        """A column; returns where it ends."""
        add = self.picture.add
        height = DENSITY_ROW if block.densities and self.form != "tint" else ROW
        rows = max(len(block.values), 1)
        lines = wrap(
            block.text, NAME - 12, self.measure, 2 if rows == 1 else min(rows, 3), bold=True
        )
        notes = [f"through {block.through}"] if block.through else []
        needed = 15.0 * len(lines) + 14.0 * len(notes) + 7
        for k, line in enumerate(lines):
            add(Caption(MARGIN, y + 12 + 15.0 * k, line, SIZE, palette.INK, bold=True))
        for note in notes:
            text = shorten(note, NAME - 12, self.measure, SMALL)
            add(Caption(MARGIN, y + 11 + 15.0 * len(lines), text, SMALL, palette.SECOND))
        bar = BITS - 68
        x = MARGIN + NAME
        add(Box(x, y + 8, bar, 6, palette.PANEL))
        add(Box(x, y + 8, bar * block.bits / best if best > 0 else 0.0, 6, palette.COLUMN_BAR))
        add(Caption(x + BITS - 14, y + 12, write_bits(block.bits), SIZE, palette.INK, "right"))
        bottom = y
        if block.densities:
            self._draw_densities(block, y)
            bottom += height
        for row in block.values:
            self._draw_value(row, bottom)
            bottom += ROW
        if block.n_hidden:
            text = f"+ {block.n_hidden}"
            add(Caption(self.first - ALL - 14, bottom + 6, text, SMALL, palette.SECOND, "right"))
            bottom += 14
        bottom = max(bottom, y + needed) + 2
        self._rule(bottom, palette.LINE)
        return bottom + 2

    def _draw_value(self, row: ValueRow, y: float) -> None:
        add, middle = self.picture.add, y + 12
        text = shorten(row.text, VALUE - 16, self.measure)
        add(Caption(self.first - ALL - 14, middle, text, SIZE, palette.INK, "right"))
        share = write_share(row.overall)
        add(Caption(self.first - 16, middle, share, SIZE, palette.SECOND, "right"))
        for k, given in enumerate(row.given):
            if self.form == "bar":
                self._draw_bar(self._x(k), y, given, row.overall)
            else:
                text = "" if self.form == "tint" else write_share(given, "")
                self._draw_tint(self._x(k), y, ROW, given, text)

    def _draw_bar(self, x: float, y: float, given: float, overall: float) -> None:
        width = self.cell - self.gap - 44
        mark = x + width * overall
        bold = given >= 0.5
        colour = palette.ZERO if given < 0.005 else palette.INK
        self.picture.add(
            Box(x, y + 5, width, 13, palette.PANEL),
            Box(x, y + 5, width * given, 13, palette.HIDDEN_BAR),
            Curve(((mark, y + 4), (mark, y + 19)), 2.0, palette.INK, is_plain=True),
            Caption(x + width + 41, y + 12, write_share(given), SIZE, colour, "right", bold),
        )

    def _draw_tint(self, x: float, y: float, height: float, share: float, text: str) -> None:
        ground = palette.blend(palette.HEAT, share)
        self.picture.add(Box(x, y, self.cell - self.gap, height, ground))
        if text:
            colour = palette.ZERO if text == "0" else palette.text_on(ground)
            middle = x + (self.cell - self.gap) / 2
            self.picture.add(Caption(middle, y + height / 2, text, SIZE, colour, "middle"))

    def _draw_densities(self, block: ProfileBlock, y: float) -> None:
        add = self.picture.add
        spread = block.deviations[0]
        overall = write_number(block.means[0], spread)
        add(Caption(self.first - ALL - 14, y + 12, "mean", SMALL, palette.SECOND, "right"))
        add(Caption(self.first - 16, y + 12, overall, SIZE, palette.SECOND, "right"))
        low, high = min(block.means[1:]), max(block.means[1:])
        for k, (density, mean, deviation) in enumerate(
            zip(block.densities[1:], block.means[1:], block.deviations[1:], strict=True)
        ):
            x, width = self._x(k), self.cell - self.gap
            if self.form == "tint":
                share = (mean - low) / (high - low) if high > low else 0.5
                self._draw_tint(x, y, ROW, share, "")
                continue
            add(draw_density(x, y + 4, width, 28, block.densities[0], palette.LINE))
            add(draw_density(x, y + 4, width, 28, density, palette.HIDDEN_BAR, 0.85))
            text = write_number(mean, spread)
            if self.form == "bar":
                text += f" ± {write_number(deviation, spread)}"
            text = shorten(text, width, self.measure, SMALL)
            add(Caption(x + width / 2, y + 41, text, SMALL, palette.INK, "middle"))

    def _rule(self, y: float, colour: str) -> None:
        points = (MARGIN, y), (self.picture.width - MARGIN, y)
        self.picture.add(Curve(points, 1.0, colour, is_plain=True))
