"""Axes with scales in the style of all pictures: light lines, thousands, a real minus sign."""

from __future__ import annotations

from typing import Any

from latentforest.model.pictures import palette
from latentforest.model.pictures.numbers import MINUS
from latentforest.plots.canvas import PLAIN, load_matplotlib

TEXT = 9.0  # points


def style_axes(ax: Any, title: str, x_label: str) -> None:
    """Take frames away, leave light lines for the eye, and write numbers as texts do."""
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(palette.RULE)
    ax.grid(visible=True, axis="y", color=palette.LINE, linewidth=0.8)
    ax.grid(visible=False, axis="x")
    ax.set_axisbelow(True)
    ax.tick_params(axis="both", colors=palette.SECOND, labelsize=TEXT, length=0)
    ticker = load_matplotlib("matplotlib.ticker")
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: write_tick(value)))
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold", color=palette.INK, **PLAIN)
    ax.set_xlabel(x_label, fontsize=TEXT, color=palette.SECOND, loc="right", **PLAIN)


def write_tick(value: float) -> str:
    """A number at an axis.

    Examples
    --------
    >>> write_tick(-51440.0), write_tick(0.25)
    ('−51,440', '0.25')
    """
    return f"{value:,.10g}".replace("-", MINUS)


def whole_numbers(ax: Any) -> None:
    """Marks at whole numbers only."""
    ticker = load_matplotlib("matplotlib.ticker")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, nbins=12))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: write_tick(value)))
