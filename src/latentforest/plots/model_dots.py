"""Models of the same rows compared: BIC and new rows, each on a common scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from latentforest.model.pictures import palette
from latentforest.model.pictures.numbers import MINUS, write_number
from latentforest.model.pictures.shapes import (
    SIZE,
    Box,
    Caption,
    Curve,
    Measure,
    Picture,
    shorten,
    wrap,
)
from latentforest.plots.canvas import draw_shapes
from latentforest.scores.model_comparison import ModelComparison
from latentforest.scores.model_comparison import compare as compare_models
from latentforest.visible import make_label

WIDTH = 960.0
MARGIN = 14.0
ROW = 34.0
NAME, NUMBER = 210.0, 84.0
NOTE = (
    "Right: log-likelihood per row less the best, with 95% intervals. One that reaches the line "
    "at zero may be no difference."
)
SURE = 1.96  # standard errors to each side


@dataclass(frozen=True)
class ModelRow:
    """A model: its BIC, and how far its log-likelihood per row is from the best."""

    name: str
    n_parameters: int
    bic: float
    gap: float
    error: float


def compare(
    models: Mapping[str, Any] | Sequence[Any] | ModelComparison, data: Any = None, *, ax: Any = None
) -> Any:
    """Show how models of the same columns compare on some rows.

    Left the BIC, on a common scale; right the log-likelihood per row less that of the best model,
    under the parameters for new rows, with an interval of 95%: one that reaches zero may be no
    difference. The best BIC stands first.

    Parameters
    ----------
    models
        Fitted learners, networks or model files, by name or in a list; or what
        `latentforest.compare` gave.
    data
        A table with the columns of the models; not with a comparison that is there already.
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
    >>> models = [lf.Independence().fit(data), lf.ChowLiu().fit(data)]
    >>> ax = lf.plots.compare(models, data)
    """
    found = models if isinstance(models, ModelComparison) else compare_models(models, data)
    return draw_shapes(partial(_draw, _list_rows(found)), ax, WIDTH)


def _list_rows(found: ModelComparison) -> list[ModelRow]:
    """Models with the best BIC first."""
    rows = list(found.models.rows())
    best = max(rows, key=lambda row: row["predictive_per_row"])["model"]
    gaps: dict[str, tuple[float, float]] = {best: (0.0, 0.0)}
    for pair in found.pairs.rows():
        if best in (pair["first"], pair["second"]):
            other = pair["second"] if pair["first"] == best else pair["first"]
            gaps[other] = -abs(pair["difference"]), pair["standard_error"]
    listed = [
        ModelRow(make_label(row["model"]), row["n_parameters"], row["bic"], *gaps[row["model"]])
        for row in rows
    ]
    return sorted(listed, key=lambda row: -round(row.bic, 9) if np.isfinite(row.bic) else np.inf)


def _draw(rows: list[ModelRow], measure: Measure, width: float) -> Picture:
    picture = Picture(max(width, NAME + 4 * NUMBER + 340.0), 0.0, title="Models compared")
    edges = [MARGIN + NAME + NUMBER * k for k in (1, 2, 3)]
    free = (picture.width - MARGIN - edges[-1] - NUMBER) / 2
    scales = (
        (edges[-1] + 24, edges[-1] + free - 8),
        (edges[-1] + free + 30, picture.width - MARGIN - NUMBER - 8),
    )
    picture.add(Caption(MARGIN, 16, "Models compared", 15.0, bold=True))
    y = 38.0
    for line in wrap(NOTE, picture.width - 2 * MARGIN, measure, 2):
        picture.add(Caption(MARGIN, y, line, SIZE, palette.SECOND))
        y += 16
    y += 12
    heads = [
        ("Model", MARGIN, "left"),
        ("parameters", edges[0], "right"),
        ("BIC", edges[1], "right"),
        ("behind by", edges[2], "right"),
    ]
    heads += [("worse", scales[0][0], "left"), ("better", scales[0][1], "right")]
    heads += [
        ("worse", scales[1][0], "left"),
        ("best", scales[1][1], "right"),
        ("per row", picture.width - MARGIN, "right"),
    ]
    picture.add(*(Caption(x, y, text, SIZE, palette.SECOND, align) for text, x, align in heads))
    y += 12
    _rule(picture, y, palette.RULE)
    finite = [row.bic for row in rows if np.isfinite(row.bic)]
    best, worst = max(finite, default=0.0), min(finite, default=0.0)
    lows = [row.gap - SURE * row.error for row in rows if np.isfinite(row.gap)]
    highs = [row.gap + SURE * row.error for row in rows if np.isfinite(row.gap)]
    low, high = min([*lows, -1e-9]), max([*highs, 0.0])
    zero = scales[1][0] + (scales[1][1] - scales[1][0]) * -low / (high - low)
    picture.add(Curve(((zero, y), (zero, y + ROW * len(rows))), 1.0, palette.RULE, is_plain=True))
    for row in rows:
        _draw_row(picture, row, (y, edges, scales), (best, worst, low, high), measure)
        y += ROW
        _rule(picture, y, palette.LINE)
    picture.height = y + MARGIN
    return picture


def _draw_row(
    picture: Picture,
    row: ModelRow,
    place: tuple[float, Sequence[float], tuple[tuple[float, float], tuple[float, float]]],
    limits: tuple[float, float, float, float],
    measure: Measure,
) -> None:
    y, edges, scales = place
    best, worst, low, high = limits
    middle, is_best = y + ROW / 2, row.bic == best
    colour = palette.HIDDEN if is_best else palette.INK
    dot = palette.HIDDEN if is_best else palette.COLUMN_BAR
    step = max((best - worst) / 200, 0.05)
    name = shorten(row.name, NAME - 8, measure, SIZE, True)
    bic = write_number(row.bic, step) if np.isfinite(row.bic) else f"{MINUS}∞"
    behind = "" if is_best else write_number(best - row.bic, step) if np.isfinite(row.bic) else "∞"
    picture.add(
        Caption(MARGIN, middle, name, SIZE, colour, bold=True),
        Caption(edges[0], middle, f"{row.n_parameters:,}", SIZE, align="right"),
        Caption(edges[1], middle, bic, SIZE, align="right"),
        Caption(edges[2], middle, behind, SIZE, palette.SECOND, "right"),
    )
    left, right = scales[0]
    picture.add(Curve(((left, middle), (right, middle)), 1.0, palette.LINE, is_plain=True))
    if np.isfinite(row.bic):
        share = (row.bic - worst) / (best - worst) if best > worst else 1.0
        _dot(picture, left + (right - left) * share, middle, dot)
    left, right = scales[1]
    if not np.isfinite(row.gap):
        picture.add(Caption(right, middle, "some rows are impossible", SIZE, palette.CARE, "right"))
        return

    def find(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    ends = find(row.gap - SURE * row.error), find(row.gap + SURE * row.error)
    picture.add(
        Curve(((ends[0], middle), (ends[1], middle)), 2.0, palette.COLUMN_EDGE, is_plain=True)
    )
    _dot(picture, find(row.gap), middle, palette.HIDDEN if row.gap == 0 else palette.COLUMN_BAR)
    text = "" if row.gap == 0 else write_number(row.gap, max(row.error, 1e-6))
    picture.add(Caption(picture.width - MARGIN, middle, text, SIZE, palette.SECOND, "right"))


def _dot(picture: Picture, x: float, y: float, colour: str) -> None:
    picture.add(Box(x - 4.5, y - 4.5, 9.0, 9.0, colour, radius=4.5))


def _rule(picture: Picture, y: float, colour: str) -> None:
    points = (MARGIN, y), (picture.width - MARGIN, y)
    picture.add(Curve(points, 1.0, colour, is_plain=True))
