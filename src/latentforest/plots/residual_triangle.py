"""Pairs of columns that a model does not fully explain: a triangle, and the largest in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from latentforest.errors import ModelError
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.model import Network
from latentforest.model.pictures import palette
from latentforest.model.pictures.numbers import write_number
from latentforest.model.pictures.placing import find_centre
from latentforest.model.pictures.shapes import (
    SIZE,
    SMALL,
    Box,
    Caption,
    Measure,
    Picture,
    shorten,
    wrap,
)
from latentforest.model.pictures.sketch import GraphSketch, sketch_network
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.models import find_network, read_rows
from latentforest.scores.residuals import compare_pairs

WIDTH = 1000.0
MARGIN = 14.0
HEAD = 68.0
MOST = 60  # columns
CELLS = (13.0, 28.0)  # sizes of a cell
LABEL = 210.0
PANEL = 330.0
NARROWEST = 460.0
CHANCE = 1.0
LEAST, MOST_SMALL = 1.0, 0.2  # expected counts of a pair that can be judged: Cochran's rule
N_LARGEST = 8
FAR = 4.0  # a residual that is not chance


@dataclass(frozen=True)
class _Triangle:
    """Residuals of all pairs of the columns shown, as square arrays; NaN where there is none."""

    texts: list[str]
    values: FloatArray
    judged: BoolArray
    notes: list[str]


def residuals(model: Any, data: Any, *, ax: Any = None) -> Any:
    """Show how far the two-way table of each pair of columns is from what a model expects.

    The residual is Pearson's statistic over its degrees of freedom: about 1 is chance. Columns are
    in the order of the tree. A pair above 4 whose expected counts are too small to judge it is a
    dot. Rows that lack one of the two values are left out for that pair; weights count.

    Parameters
    ----------
    model
        A fitted learner, a network or the path of a model file.
    data
        A table with the columns of the model.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> data = lf.datasets.load("coleman-panel")
    >>> ax = lf.plots.residuals(lf.Independence().fit(data), data)
    """
    network = find_network(model)
    triangle = _collect(network, data)
    return draw_shapes(partial(_draw, triangle), ax, WIDTH)


def _collect(network: Network, data: Any) -> _Triangle:
    found = compare_pairs(network, read_rows(network, data)[1])
    if len(found.names) < 2:
        raise ModelError(
            "residuals compare two-way tables, which takes two categorical columns; "
            f"the model has {len(found.names)}"
        )
    n = len(found.names)
    values, judged = np.full((n, n), np.nan), np.zeros((n, n), bool)
    is_judged = (found.smallest >= LEAST) & (found.small_shares <= MOST_SMALL)
    for one, other in ((found.first, found.second), (found.second, found.first)):
        values[one, other] = found.residuals
        judged[one, other] = is_judged
    sketch = sketch_network(network)
    place = {name: k for k, name in enumerate(found.names)}
    order = [place[name] for name in order_columns(sketch) if name in place]
    notes = []
    if n > MOST:
        top = np.nanmax(np.where(judged, values, 0.0), axis=1)
        kept = set(np.argsort(-top.round(9), kind="stable")[:MOST].tolist())
        order = [k for k in order if k in kept]
        notes.append(f"The {MOST} columns with the largest residuals, of {n:,}.")
    n_numbers = len(network.structure.continuous)
    if n_numbers:
        notes.append(f"{n_numbers:,} columns of numbers are left out: they have no two-way table.")
    texts = [sketch.nodes[found.names[k]].text for k in order]
    return _Triangle(texts, values[np.ix_(order, order)], judged[np.ix_(order, order)], notes)


def order_columns(sketch: GraphSketch) -> list[str]:
    """Columns as they hang together: those of a variable, then its branches, strongest first."""
    order: dict[str, None] = {}
    for names in sketch.components():
        waiting = [find_centre(sketch, names)]
        while waiting:
            name = waiting.pop()
            if name in order:
                continue
            order[name] = None
            others = [each for each, _ in sketch.neighbours[name] if each not in order]
            leaves = [each for each in others if len(sketch.neighbours[each]) == 1]
            waiting += [each for each in reversed(others) if each not in leaves]
            order.update(dict.fromkeys(leaves))
    return [name for name in order if not sketch.nodes[name].is_latent]


def _draw(triangle: _Triangle, measure: Measure, width: float) -> Picture:
    n = len(triangle.texts)
    cell = float(np.clip(0.56 * width / n, *CELLS))
    size = min(SIZE, 0.85 * cell)
    picture = Picture(width, 0.0, title="Residuals of pairs of columns")
    ends = []
    for i, text in enumerate(triangle.texts):
        y, x = HEAD + i * cell, MARGIN + i * cell
        label = shorten(text, LABEL, measure, size)
        picture.add(Caption(x + 4, y + cell / 2, label, size))
        ends.append(x + 4 + measure(label, size, False))
        for j in range(i):
            _draw_cell(picture, (MARGIN + j * cell, y, cell), triangle, (i, j))
    largest = _list_largest(triangle)
    tall = 24 + 18 * 6 + 20 * (len(largest) + 2)
    beside = [end for i, end in enumerate(ends) if i * cell < tall]
    left = max(max(beside) + 40, min(width - PANEL - MARGIN, max(ends) + 40))
    picture.width = max(left + PANEL, max(ends), NARROWEST) + MARGIN
    _draw_head(picture, measure)
    bottom = _draw_panel(picture, triangle, largest, left, measure)
    y = max(bottom, HEAD + n * cell + 8)
    for note in triangle.notes:
        picture.add(Caption(MARGIN, y + 10, note, SIZE, palette.CARE))
        y += 20
    picture.height = y + MARGIN
    return picture


def _draw_head(picture: Picture, measure: Measure) -> None:
    title = "Pairs of columns that the model does not fully explain"
    room = picture.width - 2 * MARGIN
    size = 15.0 if measure(title, 15.0, True) <= room else SIZE
    picture.add(Caption(MARGIN, 16, title, size, bold=True))
    line = "A square: the column at the end of its row, and that at the top. About 1 is chance."
    for k, text in enumerate(wrap(line, room, measure, 2)):
        picture.add(Caption(MARGIN, 36 + 15 * k, text, SIZE, palette.SECOND))


def _draw_cell(
    picture: Picture, place: tuple[float, float, float], triangle: _Triangle, pair: tuple[int, int]
) -> None:
    x, y, cell = place
    value, judged = triangle.values[pair], triangle.judged[pair]
    if judged:
        picture.add(Box(x, y, cell - 0.8, cell - 0.8, find_colour(float(value))))
    elif value > FAR:
        middle, half = cell / 2, 1.4
        picture.add(
            Box(
                x + middle - half,
                y + middle - half,
                2 * half,
                2 * half,
                palette.RESIDUALS[1][1],
                radius=half,
            )
        )


def find_colour(value: float) -> str:
    """Colour of a residual that can be judged."""
    return next((colour for least, colour in palette.RESIDUALS if value > least), palette.PANEL)


def _list_largest(triangle: _Triangle) -> list[tuple[int, int]]:
    far = triangle.judged & (triangle.values > CHANCE)
    lower = [(i, j) for i in range(len(triangle.texts)) for j in range(i) if far[i, j]]
    lower.sort(key=lambda pair: -round(float(triangle.values[pair]), 9))
    return lower[:N_LARGEST]


def _draw_panel(
    picture: Picture,
    triangle: _Triangle,
    largest: list[tuple[int, int]],
    x: float,
    measure: Measure,
) -> float:
    """The key with counts of pairs, and the largest residuals; returns where it ends."""
    y = HEAD + 4
    lower = np.tril_indices(len(triangle.texts), -1)
    values, judged = triangle.values[lower], triangle.judged[lower]
    edges = [np.inf, *(least for least, _ in palette.RESIDUALS), -np.inf]
    names = ["above 10", "4 to 10", "2 to 4", "below 2"]
    colours = [*(colour for _, colour in palette.RESIDUALS), palette.PANEL]
    for k, (name, colour) in enumerate(zip(names, colours, strict=True)):
        count = int(np.sum(judged & (values > edges[k + 1]) & (values <= edges[k])))
        picture.add(Box(x, y - 5, 11, 11, colour))
        y = _draw_count(picture, x, y, name, count)
    few = [
        ("above 4, few rows", int(np.sum(~judged & (values > FAR)))),
        ("4 or less, few rows", int(np.sum(~judged & (values <= FAR)))),
    ]
    if sum(count for _, count in few):
        picture.add(Box(x + 4, y - 1.4, 2.8, 2.8, palette.RESIDUALS[1][1], radius=1.4))
        for name, count in few:
            y = _draw_count(picture, x, y, name, count)
    y += 16
    picture.add(Caption(x, y, "Most left over", SIZE, bold=True))
    picture.add(Caption(x + PANEL, y, "residual", SIZE, palette.SECOND, "right"))
    if not largest:
        picture.add(Caption(x, y + 20, "No pair is above chance.", SIZE, palette.SECOND))
        return y + 36
    half = (PANEL - 60) / 2
    for i, j in largest:
        y += 20
        for place, text in ((x, triangle.texts[j]), (x + half + 8, triangle.texts[i])):
            picture.add(Caption(place, y, shorten(text, half - 6, measure), SIZE))
        value = float(triangle.values[i, j])
        text = write_number(value, 1.0) if np.isfinite(value) else "∞"
        picture.add(Caption(x + PANEL, y, text, SIZE, align="right"))
    return y + 16


def _draw_count(picture: Picture, x: float, y: float, name: str, count: int) -> float:
    picture.add(Caption(x + 20, y, name, SMALL))
    pairs = f"{count:,} pair{'s' * (count != 1)}"
    picture.add(Caption(x + PANEL, y, pairs, SMALL, palette.SECOND, "right"))
    return y + 18
