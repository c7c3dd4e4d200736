"""How the states of one latent variable are spread over those of another, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from latentforest.data import Dataset
from latentforest.errors import ModelError, ParameterError
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Network
from latentforest.model.pictures import palette
from latentforest.model.pictures.layering import keep_apart
from latentforest.model.pictures.names import name_fully, name_states
from latentforest.model.pictures.numbers import write_count
from latentforest.model.pictures.shapes import (
    SIZE,
    Box,
    Caption,
    Curve,
    Measure,
    Picture,
    Ribbon,
    shorten,
    wrap,
)
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.models import find_network, read_rows
from latentforest.scores.contingency import mutual_information

WIDTH = 900.0
MARGIN = 14.0
MOST_STATES = 8  # above it a table of counts takes the place of ribbons
PREFERRED = 6  # states of each of the two that are chosen
HEIGHT = 300.0
BAR = 13.0
GAP = 8.0
LABELS = (80.0, 260.0)


@dataclass(frozen=True)
class Crossing:
    """Two latent variables, their states, and the weights of rows in each pair of these."""

    titles: tuple[str, str]
    states: tuple[list[str], list[str]]
    colours: tuple[list[str], list[str]]
    counts: FloatArray


def alluvial(
    model: Any,
    data: Any,
    other: Any = None,
    *,
    latents: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Show where the rows in each state of one latent variable are in another.

    Rows count by their weights, in their likeliest states. With a second model, such as one with
    a class more, its states stand in the order in which few ribbons cross. A variable with more
    than 8 states gives a table of counts in place of ribbons.

    Parameters
    ----------
    model
        A fitted learner, a network or the path of a model file.
    data
        A table with the columns of the model.
    other
        A second model of the same rows; by default the first one.
    latents
        Two names: a latent variable of ``model`` and one of ``other``. By default the most related
        pair, with up to 6 states each if there is one.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> data = lf.datasets.load("hiv-tests")
    >>> two, three = (lf.LatentClass(k, random_state=0).fit(data) for k in (2, 3))
    >>> ax = lf.plots.alluvial(two, data, three)
    """
    network = find_network(model)
    first = _Assigned(network, *_assign(network, data))
    second = first
    if other is not None:
        network = find_network(other)
        second = _Assigned(network, *_assign(network, data))
    pair = _choose_pair(first, second, latents)
    crossing = _cross(first, second, *pair)
    is_small = max(crossing.counts.shape) <= MOST_STATES
    return draw_shapes(partial(_draw_ribbons if is_small else _draw_counts, crossing), ax, WIDTH)


@dataclass(frozen=True)
class _Assigned:
    """A network and the likeliest states of rows in each of its latent variables."""

    network: Network
    states: dict[str, AnyArray]
    weights: FloatArray

    def count(self, name: str, other: _Assigned, other_name: str) -> FloatArray:
        sizes = [
            each.network.structure.variable(latent).n_states
            for each, latent in ((self, name), (other, other_name))
        ]
        cells = self.states[name] * sizes[1] + other.states[other_name]
        counts = np.bincount(cells, weights=self.weights, minlength=sizes[0] * sizes[1])
        return counts.astype(np.float64).reshape(sizes)


def _assign(network: Network, data: Any) -> tuple[dict[str, AnyArray], FloatArray]:
    if not network.latents:
        raise ModelError("the network has no latent variable, so rows have no states")
    predictor, rows = read_rows(network, data)
    assert isinstance(rows, Dataset)
    found = predictor.posteriors(rows)
    return {name: np.argmax(each, axis=1) for name, each in found.items()}, rows.weights


def _choose_pair(
    first: _Assigned, second: _Assigned, latents: Sequence[str] | None
) -> tuple[str, str]:
    """The two latent variables asked for, or the most related ones."""
    if latents is not None:
        if isinstance(latents, str) or len(latents) != 2:
            raise ParameterError(f"latents: got {latents!r}, expected two names")
        for name, each in zip(latents, (first, second), strict=True):
            if name not in each.states:
                listed = ", ".join(map(repr, each.states))
                raise ParameterError(f"latents: got {name!r}, expected one of {listed}")
        return latents[0], latents[1]
    if first is second and len(first.states) < 2:
        raise ModelError(
            "the model has one latent variable only; expected another model of the same rows "
            "(other=), or one with several latent variables"
        )
    pairs = (
        list(combinations(first.states, 2))
        if first is second
        else [(one, other) for one in first.states for other in second.states]
    )
    ranked = []
    for one, other in pairs:
        counts = first.count(one, second, other)
        ranked.append((max(counts.shape) > PREFERRED, -round(mutual_information(counts), 9)))
    return pairs[min(range(len(pairs)), key=ranked.__getitem__)]


def _cross(first: _Assigned, second: _Assigned, one: str, other: str) -> Crossing:
    counts = first.count(one, second, other)
    titles = [name_fully(each.network)[name] for each, name in ((first, one), (second, other))]
    states = [_name_states(each.network, name) for each, name in ((first, one), (second, other))]
    colours = [palette.ramp(palette.STATES, len(each)) for each in states]
    if first is not second:
        order = _find_order(counts)
        counts = counts[:, order]
        states[1], colours[1] = ([each[1][k] for k in order] for each in (states, colours))
        titles = [
            f"{title}, {len(each)} states" for title, each in zip(titles, states, strict=True)
        ]
    return Crossing(
        (titles[0], titles[1]), (states[0], states[1]), (colours[0], colours[1]), counts
    )


def _name_states(network: Network, name: str) -> list[str]:
    """Texts of states; mere numbers get a word before them."""
    return [f"State {text}" if text.isdecimal() else text for text in name_states(network, name)]


def _find_order(counts: FloatArray) -> list[int]:
    """Order the second variable's states by where their rows are in the first."""
    total = np.maximum(counts.sum(axis=0), 1e-300)
    means = np.arange(len(counts)) @ counts / total
    means[counts.sum(axis=0) <= 0] = len(counts)
    order: list[int] = np.argsort(means.round(9), kind="stable").tolist()
    return order


def _draw_ribbons(crossing: Crossing, measure: Measure, width: float) -> Picture:
    picture = Picture(max(width, 420.0), 0.0, title=" by ".join(crossing.titles))
    sums = crossing.counts.sum(axis=1), crossing.counts.sum(axis=0)
    label = _find_room(crossing, sums, measure, picture.width)
    left, right = MARGIN + label, picture.width - MARGIN - label
    top = _draw_titles(picture, crossing, (left, right), measure)
    unit = (HEIGHT - GAP * (max(map(len, sums)) - 1)) / float(crossing.counts.sum())
    stacks = [_stack(each, unit, top) for each in sums]
    starts = [list(stack) for stack in stacks]
    for (i, j), count in np.ndenumerate(crossing.counts):
        if count > 0:
            tops, tall = (starts[0][i], starts[1][j]), unit * count
            bottoms = tops[0] + tall, tops[1] + tall
            starts[0][i], starts[1][j] = bottoms
            ends = left + BAR, right - BAR
            picture.add(Ribbon(ends, tops, bottoms, crossing.colours[0][i], 0.5))
    lows = []
    for side, x in enumerate((left, right - BAR)):
        middles = _spread_labels(stacks[side], sums[side], unit)
        for k, (y, count) in enumerate(zip(stacks[side], sums[side].tolist(), strict=True)):
            picture.add(Box(x, y, BAR, max(unit * count, 0.6), crossing.colours[side][k]))
            number = write_count(count)
            wide = measure(number, SIZE, False)
            text = shorten(crossing.states[side][k], label - wide - 26, measure)
            edge, step, align = (x - 8, -1, "right") if side == 0 else (x + BAR + 8, 1, "left")
            picture.add(Caption(edge, middles[k], number, SIZE, palette.SECOND, align))
            picture.add(Caption(edge + step * (wide + 10), middles[k], text, SIZE, align=align))
        lows.append(max(middles[-1] + 9, stacks[side][-1] + unit * float(sums[side][-1])))
    picture.height = max(lows) + MARGIN
    return picture


def _find_room(
    crossing: Crossing, sums: tuple[FloatArray, FloatArray], measure: Measure, width: float
) -> float:
    """Width of the labels."""
    wanted = [
        measure(text, SIZE, False) + measure(write_count(count), SIZE, False) + 30
        for texts, found in zip(crossing.states, sums, strict=True)
        for text, count in zip(texts, found.tolist(), strict=True)
    ]
    return float(np.clip(max(wanted), LABELS[0], min(LABELS[1], 0.3 * width)))


def _draw_titles(
    picture: Picture, crossing: Crossing, x: tuple[float, float], measure: Measure
) -> float:
    room = (x[1] - x[0]) / 2 + x[0] - MARGIN - 10
    for title, place, align in zip(
        crossing.titles, (MARGIN, picture.width - MARGIN), ("left", "right"), strict=True
    ):
        text = shorten(title, room, measure, SIZE, bold=True)
        picture.add(Caption(place, 16, text, SIZE, palette.HIDDEN, align, True))
    note = "Rows in their likeliest states."
    picture.add(Caption(MARGIN, 34, note, SIZE, palette.SECOND))
    return 54.0


def _stack(sums: FloatArray, unit: float, top: float) -> list[float]:
    """Upper ends of bars below each other."""
    places, y = [], top
    for each in sums.tolist():
        places.append(y)
        y += unit * each + GAP
    return places


def _spread_labels(places: Sequence[float], sums: FloatArray, unit: float) -> list[float]:
    """Middles of the labels: beside their bars, but never nearer than a line to each other."""
    middles = [y + unit * each / 2 for y, each in zip(places, sums.tolist(), strict=True)]
    return keep_apart(middles, [15.0] * (len(middles) - 1))


def _draw_counts(crossing: Crossing, measure: Measure, width: float) -> Picture:
    """A table of counts on tints: shares of each row."""
    n_columns = crossing.counts.shape[1]
    label = 150.0
    picture = Picture(
        max(width, label + 2 * MARGIN + 46.0 * n_columns), 0.0, title=" by ".join(crossing.titles)
    )
    cell = min((picture.width - 2 * MARGIN - label) / n_columns, 70.0)
    picture.width = label + 2 * MARGIN + cell * n_columns
    title = f"{crossing.titles[0]} (rows) by {crossing.titles[1]} (columns)"
    y = 16.0
    for line in wrap(title, picture.width - 2 * MARGIN, measure, 2, SIZE, bold=True):
        picture.add(Caption(MARGIN, y, line, SIZE, palette.HIDDEN, bold=True))
        y += 16
    y += 10
    for j, state in enumerate(crossing.states[1]):
        x = MARGIN + label + (j + 0.5) * cell
        picture.add(
            Caption(x, y, shorten(state, cell - 4, measure), SIZE, bold=True, align="middle")
        )
    y += 12
    sums = np.maximum(crossing.counts.sum(axis=1, keepdims=True), 1e-300)
    for i, row in enumerate(crossing.counts / sums):
        text = shorten(crossing.states[0][i], label - 16, measure)
        picture.add(Caption(MARGIN, y + 11, text, SIZE, bold=True))
        for j, share in enumerate(row.tolist()):
            ground = palette.blend(palette.HEAT, share)
            x = MARGIN + label + j * cell
            count = crossing.counts[i, j]
            colour = palette.ZERO if count <= 0 else palette.text_on(ground)
            number = shorten(write_count(count), cell - 4, measure)
            picture.add(Box(x, y, cell - 1.5, 21, ground))
            picture.add(Caption(x + cell / 2 - 0.75, y + 11, number, SIZE, colour, "middle"))
        y += 22.5
    note = "Rows in their likeliest states; darker is a larger share of its line."
    picture.add(Curve(((MARGIN, y + 4), (picture.width - MARGIN, y + 4)), 1.0, palette.LINE, True))
    picture.add(
        Caption(
            MARGIN, y + 18, shorten(note, picture.width - 2 * MARGIN, measure), SIZE, palette.SECOND
        )
    )
    picture.height = y + 34
    return picture
