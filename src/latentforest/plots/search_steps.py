"""How a search went: its score after each step, refused steps, phases, the largest gains."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from latentforest.errors import ParameterError
from latentforest.model.pictures import palette
from latentforest.model.pictures.names import name_variables
from latentforest.model.pictures.numbers import write_number
from latentforest.model.pictures.shapes import shorten
from latentforest.plots.canvas import PLAIN, find_size, measure_text, new_axes
from latentforest.plots.frame import TEXT, style_axes, whole_numbers
from latentforest.plots.models import find_network
from latentforest.search.changes import read_change
from latentforest.visible import make_label

SIZE = (900.0, 400.0)
SCORES = ("bic", "score")
STEPS = ("step", "run")
N_NAMED = 3
OPERATORS = {
    "SI": "one more state",
    "ND": "a hidden variable less",
    "SD": "one state less",
    "NR": "moved",
    "PO": "columns joined",
    "UP": "columns taken apart",
}
PHASES = {"expand": palette.VALUES[0], "adjust": palette.COLUMN_BAR, "simplify": palette.VALUES[1]}

Row = Mapping[str, Any]


def history(model: Any, *, ax: Any = None) -> Any:
    """Show the score of a search after each of its steps.

    The line is the model so far, rings are steps that were tried and refused. The largest gains
    are named, and a strip below shows the phases, where a search has them.

    Parameters
    ----------
    model
        A fitted learner whose ``history_`` has steps with a score, such as `EAST`, `HillClimbing`
        or `BayesianNetworkSearch`; its network, or the path of its model file.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> model = lf.EAST(random_state=0).fit(lf.datasets.load("hiv-tests"))
    >>> ax = lf.plots.history(model)
    """
    rows = _read_rows(model)
    texts = name_variables(find_network(model))
    score = _find_key(rows, SCORES)
    key = next((each for each in STEPS if each in rows[0]), None)
    steps = [row[key] if key else k for k, row in enumerate(rows)]
    values = [float(row[score]) for row in rows]
    taken, best = _follow(rows, values)
    ax = new_axes(ax, *SIZE)
    ax.step(steps, best, where="post", color=palette.HIDDEN, linewidth=1.6)
    refused = [k for k, is_taken in enumerate(taken) if not is_taken]
    _limit(ax, steps, best, values)
    _draw_refused(ax, [(steps[k], values[k]) for k in refused])
    style_axes(
        ax,
        f"{score.upper() if score == 'bic' else 'Score'} after each {key or 'step'}",
        key or "step",
    )
    whole_numbers(ax)
    _name_gains(ax, [_describe(row, texts) for row in rows], steps, best, taken)
    _note_end(ax, steps[-1], best)
    _draw_phases(ax, rows, steps)
    return ax


def _read_rows(model: Any) -> list[Row]:
    """Rows of a learner's history, or of the record of a network."""
    table = getattr(model, "history_", None)
    if table is not None:
        rows: list[Row] = list(table.rows())
    elif isinstance(model, str | os.PathLike) or hasattr(model, "record"):
        record = find_network(model).record
        rows = [] if record is None else list(record.history)
    else:
        raise ParameterError(
            f"model: got {type(model).__name__}, expected a fitted learner, a network or the path "
            "of a model file"
        )
    if not rows:
        raise ParameterError("model: it has no history of a search")
    return rows


def _find_key(rows: Sequence[Row], names: Sequence[str]) -> str:
    for name in names:
        if isinstance(rows[0].get(name), int | float):
            return name
    raise ParameterError(
        f"model: its history has no score of steps ({' or '.join(names)}), but {', '.join(rows[0])}"
    )


def _follow(rows: Sequence[Row], values: Sequence[float]) -> tuple[list[bool], list[float]]:
    """Which steps were taken, and the score of the model after each."""
    if "accepted" in rows[0]:
        taken = [bool(row["accepted"]) for row in rows]
    else:
        tops = np.maximum.accumulate(values)
        taken = [bool(k == 0 or tops[k] > tops[k - 1]) for k in range(len(rows))]
    best, now = [], values[0]
    for value, is_taken in zip(values, taken, strict=True):
        now = value if is_taken else now
        best.append(now)
    return taken, best


def _limit(ax: Any, steps: Sequence[float], best: Sequence[float], values: Sequence[float]) -> None:
    """Leave room; steps far below the line would flatten it."""
    low, high = min(best), max(best)
    span = (high - low) or max(abs(high), 1.0) * 1e-3
    low = max(min(values), low - span)
    ax.set_ylim(low - 0.12 * span, high + 0.12 * span)
    ax.set_xlim(steps[0] - 0.5, steps[-1] + max(0.02 * len(steps), 0.5))


def _draw_refused(ax: Any, points: Sequence[tuple[float, float]]) -> None:
    """Rings; a small triangle at the lower edge is a step that would lie below it."""
    bottom, top = ax.get_ylim()
    style = {
        "markerfacecolor": palette.PAGE,
        "markeredgecolor": palette.COLUMN_BAR,
        "linestyle": "none",
        "zorder": 3,
    }
    inside = [point for point in points if point[1] >= bottom]
    below = [(x, bottom + 0.045 * (top - bottom)) for x, y in points if y < bottom]
    for found, marker in ((inside, "o"), (below, "v")):
        if found:
            ax.plot(*zip(*found, strict=True), marker=marker, markersize=4, **style)


def _name_gains(
    ax: Any,
    words: Sequence[str],
    steps: Sequence[float],
    best: Sequence[float],
    taken: Sequence[bool],
) -> None:
    """Write what the three largest gains were, below and right of the step."""
    gains = [(best[k] - best[k - 1], k) for k in range(1, len(words)) if taken[k] and words[k]]
    gains = sorted((each for each in gains if each[0] > 0), key=lambda each: (-each[0], each[1]))
    width = find_size(ax)[0] * 72
    low, high = ax.get_xlim()
    free: list[float] = []  # heights in points that are taken by texts
    tall = find_size(ax)[1] * 72
    bottom, top = ax.get_ylim()
    for gain, k in gains[:N_NAMED]:
        room = width * (1 - (steps[k] - low) / (high - low)) - 20
        text = f"{words[k]}: +{write_number(gain, max(gain / 10, 0.01))}"
        text = shorten(text, room, measure_text, TEXT)
        height = (best[k - 1] * 0.35 + best[k] * 0.65 - bottom) / (top - bottom) * tall
        if room < 90 or any(abs(height - other) < 1.5 * TEXT for other in free):
            continue
        free.append(height)
        ax.annotate(
            text,
            (steps[k], best[k - 1] * 0.35 + best[k] * 0.65),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=TEXT,
            color=palette.INK,
            zorder=1.5,
            bbox={"facecolor": palette.PAGE, "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
            **PLAIN,
        )


def _describe(row: Row, texts: Mapping[str, str]) -> str:
    """Say what a step changed, with texts of variables that are still there."""
    if "operator" not in row or "variables" not in row:
        return ""
    change = read_change(row)
    names = [texts.get(name, make_label(name)) for name in change.variables]
    if change.operator == "NI" and len(names) > 2:
        return f"a hidden variable for {', '.join(names[2:])}"
    operator = OPERATORS.get(change.operator, change.operator)
    where = str(change._replace(variables=names))
    return f"{operator}, {where}" if where else operator


def _note_end(ax: Any, step: float, best: Sequence[float]) -> None:
    spread = max(best) - min(best)
    ax.annotate(
        write_number(best[-1], max(spread / 100, 0.05)),
        (step, best[-1]),
        xytext=(0, 6),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=TEXT,
        fontweight="bold",
        color=palette.HIDDEN,
        **PLAIN,
    )


def _draw_phases(ax: Any, rows: Sequence[Row], steps: Sequence[float]) -> None:
    """A strip along the lower edge; of each phase the first stretch with room for it is named."""
    if "phase" not in rows[0]:
        return
    phases = [_find_phase(str(row["phase"])) for row in rows]
    width, named = find_size(ax)[0] * 72, set[str]()
    low, high = ax.get_xlim()
    start = 0
    for k in range(1, len(phases) + 1):
        if k < len(phases) and phases[k] == phases[start]:
            continue
        end = steps[k] if k < len(steps) else steps[-1] + 0.5
        phase = phases[start]
        transform = ax.get_xaxis_transform()
        colour = PHASES.get(phase, palette.LINE)
        ax.fill_between(
            [steps[start] - 0.5, end - 0.5], 0, 0.018, color=colour, lw=0, transform=transform
        )
        room = (end - steps[start]) / (high - low) * width
        if phase in PHASES and phase not in named and room > measure_text(phase, TEXT) + 4:
            named.add(phase)
            middle = (steps[start] + end - 1) / 2
            ax.text(
                middle,
                0.03,
                phase,
                transform=transform,
                ha="center",
                va="bottom",
                fontsize=TEXT,
                color=palette.SECOND,
                **PLAIN,
            )
        start = k


def _find_phase(text: str) -> str:
    """The phase of a search that a step belongs to; local adjustment is part of expansion."""
    if "local" in text:
        return "expand"
    return next((phase for phase in PHASES if phase in text), text)
