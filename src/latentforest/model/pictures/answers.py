"""What follows from values that are known: bars of all variables, the most moved first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from latentforest.model.gaussian import Mixture
from latentforest.model.pictures import palette
from latentforest.model.pictures.names import name_fully, name_states
from latentforest.model.pictures.numbers import write_bits, write_number, write_share
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
from latentforest.model.pictures.sketch import find_range, trace_density

if TYPE_CHECKING:
    from latentforest.model.network import Network

Floats = NDArray[np.float64]

WIDTH = 1000.0
MARGIN = 14.0
BLOCK = 250.0  # least width of a block
GAP = 28.0
ROW = 21.0
DENSITY = 62.0
MOST = 6  # hidden variables, and columns, that are shown
MAX_VALUES = 10
N_POINTS = 2001  # of the integral over a density


@dataclass(frozen=True)
class Answer:
    """A variable before and after: shares of its states, or points of its density."""

    text: str
    is_latent: bool
    moved: float
    states: tuple[str, ...] = ()
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    numbers: tuple[str, str, str] = ("", "", "")  # low, mean ± sd, high


def draw_answers(
    network: Network, evidence: Mapping[str, Any], measure: Measure, width: float = WIDTH
) -> Picture:
    """Draw blocks of bars: hidden variables, then columns, given the values of others."""
    texts = name_fully(network)
    answers = [
        _answer(network, (name, texts[name]), evidence)
        for name in network.names
        if name not in evidence
    ]
    answers.sort(key=lambda answer: -round(answer.moved, 9))
    known = [
        f"{texts[name]} = {network.labels.state(name, str(value))}"
        for name, value in evidence.items()
    ]
    return _draw(answers, known, measure, width)


def _answer(network: Network, who: tuple[str, str], evidence: Mapping[str, Any]) -> Answer:
    name, text = who
    is_latent = network.structure.variable(name).latent
    if name in network.structure.continuous:
        before, after = network.mixture(name), network.mixture(name, evidence)
        between = find_range([before, after])
        low, high = (write_number(each, math.sqrt(before.variance)) for each in between)
        spread = math.sqrt(before.variance)
        deviation = write_number(math.sqrt(after.variance), spread)
        middle = f"{write_number(after.mean, spread)} ± {deviation}"
        points = [trace_density(mixture, between) for mixture in (before, after)]
        moved = _compare_densities(before, after, between)
        return Answer(text, is_latent, moved, (), points[0], points[1], (low, middle, high))
    shares = [np.asarray(network.query(name, given).values) for given in ({}, evidence)]
    first, then = (tuple(each.tolist()) for each in shares)
    return Answer(
        text, is_latent, _diverge(*shares), tuple(name_states(network, name)), first, then
    )


def _diverge(before: Floats, after: Floats) -> float:
    """How far a distribution has moved, in bits."""
    seen = after > 0
    return max(float(np.sum(after[seen] * np.log2(after[seen] / before[seen]))), 0.0)


def _compare_densities(before: Mixture, after: Mixture, between: tuple[float, float]) -> float:
    points = np.linspace(*between, N_POINTS)
    first, then = (mixture.density(points) for mixture in (before, after))
    seen = (then > 1e-300) & (first > 1e-300)
    terms = then[seen] * np.log2(then[seen] / first[seen])
    return max(float(terms.sum() * (points[1] - points[0])), 0.0)


def _draw(answers: list[Answer], known: list[str], measure: Measure, width: float) -> Picture:
    picture = Picture(max(width, BLOCK + 2 * MARGIN), 0.0, title="What follows")
    title = "What follows from " if known else "All rows"
    y = 18.0
    if known:
        for line in wrap(
            title + ", ".join(known), picture.width - 2 * MARGIN, measure, 3, 15.0, True
        ):
            picture.add(Caption(MARGIN, y, line, 15.0, palette.CARE, bold=True))
            y += 20
        note = "The upright mark is where a bar was before. The most moved first."
        picture.add(
            Caption(
                MARGIN,
                y + 2,
                shorten(note, picture.width - 2 * MARGIN, measure),
                SIZE,
                palette.SECOND,
            )
        )
    else:
        picture.add(Caption(MARGIN, y, title, 15.0, bold=True))
    y += 26
    for is_latent, noun in ((True, "hidden variables"), (False, "columns")):
        group = [answer for answer in answers if answer.is_latent == is_latent]
        y = _draw_group(picture, group[:MOST], y, measure)
        if len(group) > MOST:
            least = write_bits(max(answer.moved for answer in group[MOST:]))
            moved = f", moved by at most {least} bits" if known else ""
            text = f"{len(group) - MOST:,} more {noun}{moved}."
            picture.add(Caption(MARGIN, y, text, SIZE, palette.SECOND))
            y += 28
    picture.height = y
    return picture


def _draw_group(picture: Picture, group: list[Answer], y: float, measure: Measure) -> float:
    n_across = max(int((picture.width - 2 * MARGIN + GAP) // (BLOCK + GAP)), 1)
    wide = (picture.width - 2 * MARGIN + GAP) / n_across - GAP
    for start in range(0, len(group), n_across):
        bottoms = [
            _draw_block(picture, answer, (MARGIN + k * (wide + GAP), y, wide), measure)
            for k, answer in enumerate(group[start : start + n_across])
        ]
        y = max(bottoms) + 18
    return y


def _draw_block(
    picture: Picture, answer: Answer, place: tuple[float, float, float], measure: Measure
) -> float:
    x, y, wide = place
    note = f"{write_bits(answer.moved)} bits moved" if answer.moved > 1e-9 else ""
    room = wide - measure(note, SMALL, False) - 12
    colour = palette.HIDDEN if answer.is_latent else palette.INK
    picture.add(
        Caption(x, y, shorten(answer.text, room, measure, SIZE, True), SIZE, colour, bold=True)
    )
    picture.add(Caption(x + wide, y, note, SMALL, palette.SECOND, "right"))
    picture.add(Curve(((x, y + 12), (x + wide, y + 12)), 1.0, palette.LINE, is_plain=True))
    y += 18
    if not answer.states:
        return _draw_numbers(picture, answer, (x, y, wide))
    names = [shorten(text, 0.36 * wide, measure) for text in answer.states[:MAX_VALUES]]
    indent = max(measure(name, SIZE, False) for name in names) + 10
    bar = wide - indent - 46
    fill = palette.HIDDEN_BAR if answer.is_latent else palette.COLUMN_BAR
    for name, before, after in zip(names, answer.before, answer.after, strict=False):
        middle, mark = y + ROW / 2, x + indent + bar * before
        picture.add(
            Caption(x, middle, name, SIZE),
            Box(x + indent, y + 5, bar, 11, palette.PANEL),
            Box(x + indent, y + 5, bar * after, 11, fill),
            Curve(((mark, y + 3), (mark, y + 18)), 2.0, palette.INK, is_plain=True),
            Caption(x + wide, middle, write_share(after), SIZE, align="right"),
        )
        y += ROW
    if len(answer.states) > MAX_VALUES:
        text = f"+ {len(answer.states) - MAX_VALUES} more values"
        picture.add(Caption(x, y + 8, text, SMALL, palette.SECOND))
        y += 18
    return y


def _draw_numbers(picture: Picture, answer: Answer, place: tuple[float, float, float]) -> float:
    x, y, wide = place
    height = DENSITY - 20
    picture.add(draw_density(x, y, wide, height, answer.before, palette.LINE))
    picture.add(draw_density(x, y, wide, height, answer.after, palette.COLUMN_BAR, 0.9))
    low, middle, high = answer.numbers
    picture.add(
        Caption(x, y + height + 10, low, SMALL, palette.SECOND),
        Caption(x + wide / 2, y + height + 10, middle, SMALL, palette.INK, "middle"),
        Caption(x + wide, y + height + 10, high, SMALL, palette.SECOND, "right"),
    )
    return y + DENSITY
