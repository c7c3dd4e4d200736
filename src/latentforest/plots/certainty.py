"""How clear the states of rows are: rows by the probability of their likeliest state."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from latentforest.errors import ModelError
from latentforest.model import Network
from latentforest.model.pictures import palette
from latentforest.model.pictures.names import name_fully
from latentforest.model.pictures.numbers import write_share
from latentforest.model.pictures.shapes import (
    SIZE,
    SMALL,
    Box,
    Caption,
    Curve,
    Measure,
    Picture,
    shorten,
    wrap,
)
from latentforest.plots.canvas import draw_shapes
from latentforest.plots.models import read_rows

WIDTH = 640.0
MARGIN = 14.0
N_BINS = 20
CLEAR = 0.9
MOST = 30  # latent variables
SURE = 0.995  # share of clear rows from which on a variable needs no line of its own
FEW = 3  # of these that have one all the same
ROW = 28.0
NAME, NUMBER = 190.0, 54.0
MARKS = (0.25, 0.5, 0.75, 0.9)

Row = tuple[str, list[float], float]  # text, weights by probability, share of clear rows


def draw_certainty(network: Network, data: Any, ax: Any) -> Any:
    """Draw a line of bars for each latent variable, the least clear first."""
    if not network.latents:
        raise ModelError("the network has no latent variable, so rows have no states")
    predictor, rows = read_rows(network, data)
    texts = name_fully(network)
    found: list[Row] = []
    for name, posteriors in predictor.posteriors(rows).items():
        top = posteriors.max(axis=1)
        bins = np.minimum((np.ceil(top * N_BINS - 1e-9) - 1).astype(int), N_BINS - 1)
        weights = np.bincount(bins, weights=rows.weights, minlength=N_BINS)
        clear = float(rows.weights[top >= CLEAR].sum() / rows.total_weight)
        found.append((texts[name], weights.tolist(), clear))
    found.sort(key=lambda row: round(row[2], 9))
    return draw_shapes(partial(_draw, found), ax, WIDTH)


def _draw(rows: list[Row], measure: Measure, width: float) -> Picture:
    picture = Picture(max(width, 420.0), 0.0, title="How clear the states of the rows are")
    room = picture.width - 2 * MARGIN
    picture.add(Caption(MARGIN, 16, picture.title, 15.0, bold=True))
    note = "Rows by the probability of their likeliest state. The strong colour is 90% or more."
    y = 38.0
    for line in wrap(note, room, measure, 2):
        picture.add(Caption(MARGIN, y, line, SIZE, palette.SECOND))
        y += 16
    left, right = MARGIN + NAME, picture.width - MARGIN - NUMBER
    y += 8
    n_shown = _count_shown(rows)
    end = y + 14 + ROW * n_shown
    for mark in MARKS if right - left > 300 else MARKS[1::2]:
        x = left + (right - left) * mark
        picture.add(Curve(((x, y + 10), (x, end)), 0.8, palette.LINE, is_plain=True))
        picture.add(Caption(x, y, write_share(mark), SMALL, palette.SECOND, "middle"))
    picture.add(Caption(picture.width - MARGIN, y, "clear", SMALL, palette.SECOND, "right"))
    y += 14
    for text, weights, clear in rows[:n_shown]:
        _draw_row(picture, (text, weights, clear), (left, right, y), measure)
        y += ROW
    if len(rows) > n_shown:
        least = rows[n_shown][2]
        text = f"The other {len(rows) - n_shown:,}: "
        text += (
            "practically every row is clear."
            if least >= SURE
            else f"{write_share(least)} or more of the rows are clear."
        )
        picture.add(Caption(MARGIN, y + 12, text, SIZE, palette.SECOND))
        y += 24
    picture.height = y + MARGIN
    return picture


def _count_shown(rows: list[Row]) -> int:
    """Variables with a line of their own: those that are not clear, if there are others."""
    n_vague = sum(clear < SURE for _, _, clear in rows)
    n_lines = n_vague if n_vague and len(rows) - n_vague > FEW else len(rows)
    return min(n_lines, MOST)


def _draw_row(
    picture: Picture, row: Row, place: tuple[float, float, float], measure: Measure
) -> None:
    (text, weights, clear), (left, right, y) = row, place
    label = shorten(text, NAME - 12, measure)
    picture.add(Caption(MARGIN, y + ROW / 2, label, SIZE))
    step, most = (right - left) / N_BINS, max(weights)
    bottom = y + ROW - 4
    picture.add(Curve(((left, bottom), (right, bottom)), 0.8, palette.RULE, is_plain=True))
    for k, weight in enumerate(weights):
        height = (ROW - 8) * weight / most if weight > 0 else 0.0
        if weight > 0:
            height = max(height, 0.8)
            is_clear = k >= CLEAR * N_BINS
            colour = palette.HIDDEN if is_clear else palette.HIDDEN_BAR
            picture.add(Box(left + k * step, bottom - height, step - 1, height, colour))
    share = write_share(clear)
    picture.add(Caption(picture.width - MARGIN, y + ROW / 2, share, SIZE, align="right"))
