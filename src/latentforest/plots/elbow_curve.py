"""How many classes: a criterion by the number of classes of a single hidden variable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from latentforest.errors import ParameterError
from latentforest.model.pictures import palette
from latentforest.model.pictures.numbers import write_number
from latentforest.plots.canvas import PLAIN, new_axes
from latentforest.plots.frame import TEXT, style_axes, whole_numbers
from latentforest.plots.models import find_network
from latentforest.ties import find_best

SIZE = (620.0, 360.0)
LOWER_IS_BETTER = ("mdl",)


def elbow(model: Any, *, criterion: str = "bic", reference: Any = None, ax: Any = None) -> Any:
    """Show a criterion by the number of classes.

    Parameters
    ----------
    model
        A `LatentClass` that was fitted with several numbers of classes; the path of a model file
        that such a learner wrote, or its network; or a table with a column ``n_states``.
    criterion
        A column of ``history_`` or of that table, such as ``"bic"``, ``"aic"`` or ``"icl"``.
    reference
        Another model of the same rows, with ``bic_``, that is drawn as a line: would one hidden
        variable do? Only for the criterion BIC.
    ax
        Axes of matplotlib to draw into; by default those of a new figure.

    Returns
    -------
    ax
        The axes.

    Examples
    --------
    >>> import latentforest as lf
    >>> model = lf.LatentClass((1, 4), random_state=0).fit(lf.datasets.load("hiv-tests"))
    >>> ax = lf.plots.elbow(model)
    >>> ax.lines[0].get_xdata().tolist()
    [1, 2, 3, 4]
    """
    numbers, values = _read_curve(model, criterion)
    other = _read_reference(reference, criterion)
    ax = new_axes(ax, *SIZE)
    sign = -1.0 if criterion in LOWER_IS_BETTER else 1.0
    best = find_best([sign * value for value in values])
    ax.plot(numbers, values, color=palette.COLUMN_BAR, marker="o", markersize=4.5, linewidth=1.5)
    ax.plot(numbers[best], values[best], "o", color=palette.INK, markersize=8)
    title = f"{criterion.upper()} by the number of classes"
    style_axes(ax, title, "classes of a single hidden variable")
    whole_numbers(ax)
    spread = max(values) - min(values)
    plural = "es" * (numbers[best] != 1)
    text = f"{numbers[best]} class{plural}: {write_number(values[best], max(spread / 50, 0.05))}"
    if len(numbers) > 1 and numbers[best] == numbers[-1]:
        text += "\nthe most that were tried"
    part = best / max(len(numbers) - 1, 1)
    ax.annotate(
        text,
        (numbers[best], values[best]),
        xytext=(0, 9 * sign),
        textcoords="offset points",
        ha="left" if part < 0.3 else "right" if part > 0.7 else "center",
        va="bottom" if sign > 0 else "top",
        fontsize=TEXT,
        color=palette.INK,
        **PLAIN,
    )
    if other is not None:
        ax.axhline(other, color=palette.HIDDEN, linewidth=1.8)
        label = f"{type(reference).__name__}: {write_number(other, max(spread / 50, 0.05))}"
        ax.annotate(
            label,
            (0.01 if part > 0.5 else 0.99, other),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="left" if part > 0.5 else "right",
            va="bottom",
            fontsize=TEXT,
            fontweight="bold",
            color=palette.HIDDEN,
            **PLAIN,
        )
    ax.margins(x=0.06, y=0.22)
    return ax


def _read_curve(model: Any, criterion: str) -> tuple[list[int], list[float]]:
    """Numbers of classes that were fitted, and the criterion of each."""
    table = _find_table(model)
    rows = [row for row in table if row.get("n_states") is not None]
    if len({row["n_states"] for row in rows}) < 2:
        raise ParameterError(
            "model: expected one that was fitted with several numbers of classes, such as "
            f"LatentClass(n_states=(1, 6)); got {type(model).__name__} with "
            f"{len({row['n_states'] for row in rows})} of them"
        )
    if rows[0].get(criterion) is None:
        known = ", ".join(key for key, value in rows[0].items() if isinstance(value, float))
        raise ParameterError(f"criterion: got {criterion!r}, expected one of {known}")
    pairs = sorted({row["n_states"]: float(row[criterion]) for row in rows}.items())
    return [number for number, _ in pairs], [value for _, value in pairs]


def _find_table(model: Any) -> list[Mapping[str, Any]]:
    """Rows of a learner's history, of a table, or of the record in a network."""
    table = getattr(model, "history_", model)
    if isinstance(table, Mapping):
        names = list(table)
        return [dict(zip(names, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if isinstance(model, str | os.PathLike) or hasattr(model, "record"):
        record = find_network(model).record
        if record is None:
            return []
        return [*record.history, *(record.comparisons or ())]
    raise ParameterError(
        f"model: got {type(model).__name__}, expected a fitted LatentClass, its network or file, "
        "or a table with n_states"
    )


def _read_reference(reference: Any, criterion: str) -> float | None:
    if reference is None:
        return None
    value = getattr(reference, "bic_", None)
    if value is None or criterion != "bic":
        raise ParameterError(
            f"reference: got {type(reference).__name__} with criterion={criterion!r}, expected a "
            "fitted learner and criterion='bic'"
        )
    return float(value)
