"""What the states of latent variables mean, printed: the profiles of their children."""

from __future__ import annotations

import io
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from latentforest.model.showing.profiles import Profile, compute_profiles
from latentforest.visible import make_visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from latentforest.model.network import Network

WIDTH = 88  # characters, where there is no terminal
MAX_LATENTS = 3  # whose profiles are printed unless all are asked for
MAX_ROWS = 30  # of a short table
MAX_VALUES = 5  # of one variable in a short table
CLEAR = 0.15  # a probability that differs this much from the overall one stands out
CLEAR_MEAN = 0.5  # and a mean, in overall standard deviations
NAME_WIDTH, VALUE_WIDTH, GAP = 24, 16, 2  # characters; longer names are folded
MAX_NAME_WIDTH = 48  # characters of names where the states leave room
MAX_PLACES = 6  # decimal places of a mean; smaller numbers are written with an exponent
MIN_COLUMNS = 3  # states that are shown however narrow the terminal


# A profile and the codes of the values to show of it.
Shown = tuple[Profile, Sequence[int]]


def write_profiles(network: Network) -> str:
    """Write what the first latent variables of a network mean, as plain text."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if _is_terminal() else WIDTH
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        print_latents(console, network, brief=True, hint="profiles() has all.")
    text = make_visible(captured.get())
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def print_latents(console: Console, network: Network, brief: bool, hint: str) -> None:
    """Print the profiles of the first latent variables, or everything of all of them.

    Parameters
    ----------
    console
        Of rich.
    network
        Any network.
    brief
        Whether to leave out what does not fit on the screen, with a note.
    hint
        The end of the note: how to see the rest.
    """
    latents = [name for name in network.latents if network.structure.children(name)]
    shown = latents[:MAX_LATENTS] if brief else latents
    for name in shown:
        console.print()
        print_profiles(console, network, name, brief, hint)
    if len(shown) < len(latents):
        note = f"Shown: {len(shown)} of {len(latents)} latent variables. {hint}"
        console.print(note, style="dim", soft_wrap=True)


def print_profiles(console: Console, network: Network, latent: str, brief: bool, hint: str) -> None:
    """Print the profiles of a latent variable: the most telling part of them, or everything.

    What does not fit on the screen is left out with a note, or follows in further tables.
    """
    profiles = compute_profiles(network, latent)
    shown = _choose_profiles(profiles) if brief else [(p, range(len(p.states))) for p in profiles]
    n_states = len(network.structure.states(latent))
    digits = 2 if brief else 4
    per_table = _count_columns(console.width, network, latent, shown, digits)
    console.print(_title(latent, profiles), style="bold", soft_wrap=True)
    for start in [0] if brief else range(0, n_states, per_table):
        states = range(start, min(start + per_table, n_states))
        console.print(_draw(network, latent, shown, states, digits))
    left_out = []
    if len(shown) < len(profiles):
        left_out.append(f"{len(shown)} of {len(profiles)} columns, the most telling first")
    if any(len(values) < len(p.states) > 2 for p, values in shown):
        left_out.append("the values that differ most")
    if brief and n_states > per_table:
        left_out.append(f"{per_table} of {n_states} states")
    if left_out:
        note = f"Shown: {'; '.join(left_out)}. {hint}"
        console.print(note, style="dim", soft_wrap=True)


def _title(latent: str, profiles: Sequence[Profile]) -> str:
    what = []
    if not all(profile.is_continuous for profile in profiles):
        what.append("probability of each value")
    if any(profile.is_continuous for profile in profiles):
        what.append("mean and standard deviation of continuous columns")
    text = ", ".join(what)
    return f"{text[0].upper()}{text[1:]} in each state of {latent}"


def _choose_profiles(profiles: Sequence[Profile]) -> list[Shown]:
    """The most telling variables, each with its most telling values, on about one screen."""
    chosen: list[Shown] = []
    n_rows = 0
    for profile in profiles:
        values = _choose_values(profile)
        n_rows += len(values)
        if chosen and n_rows > MAX_ROWS:
            break
        chosen.append((profile, values))
    return chosen


def _choose_values(profile: Profile) -> Sequence[int]:
    """Of two values the second is enough; of many, those that differ most between the states."""
    n_values = len(profile.states)
    if n_values == 2 and not profile.is_continuous:
        return [1]
    if n_values <= MAX_VALUES:
        return range(n_values)
    spread = np.abs(profile.given - profile.overall).max(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:MAX_VALUES].tolist())


def _count_columns(
    width: int, network: Network, latent: str, shown: Sequence[Shown], digits: int
) -> int:
    """How many states of the latent variable fit side by side."""
    names = max((len(profile.name) for profile, _ in shown), default=0)
    values = max((len(profile.states[k]) for profile, codes in shown for k in codes), default=0)
    overall = [len(_write(p, c, p.overall[c], digits)) for p, cs in shown for c in cs]
    used = max(6, min(names, NAME_WIDTH)) + max(5, min(values, VALUE_WIDTH))
    used += max(2 + digits, *overall) + 3 * GAP
    cells = [len(_write(p, c, v, digits)) for p, cs in shown for c in cs for v in p.given[:, c]]
    each = max(2 + digits, *cells, *map(len, network.structure.states(latent))) + GAP
    return max(MIN_COLUMNS, (width - used) // each)


def _draw(
    network: Network, latent: str, shown: Sequence[Shown], states: Sequence[int], digits: int
) -> RichTable:
    names, sizes = network.structure.states(latent), network.marginal(latent)
    headers = [f"{names[k]}\n{sizes[k]:.0%}" for k in states]
    table = make_table("\ncolumn", "\nvalue", "\nall", *headers)
    for column, width in zip(table.columns, (MAX_NAME_WIDTH, VALUE_WIDTH), strict=False):
        column.max_width, column.no_wrap, column.justify = width, False, "left"
        column.overflow = "fold"
    for profile, values in shown:
        for row in _rows(profile, values, states, digits):
            table.add_row(*row)
    return table


def _rows(
    profile: Profile, values: Sequence[int], states: Sequence[int], digits: int
) -> Iterator[list[str | Text]]:
    for position, code in enumerate(values):
        yield [
            profile.name if position == 0 else "",
            profile.states[code],
            _write(profile, code, float(profile.overall[code]), digits),
            *(_style(profile, code, k, digits) for k in states),
        ]


def _write(profile: Profile, code: int, value: float, digits: int) -> str:
    """A probability with fixed digits; of a mean, as many as its deviation makes meaningful."""
    if not profile.is_continuous:
        return f"{value:.{digits}f}"
    smallest = min(float(profile.given[:, 1].min()), float(profile.overall[1]))
    places = digits - 1 - math.floor(math.log10(smallest))
    return f"{value:,.{max(places, 0)}f}" if places <= MAX_PLACES else f"{value:.{digits + 1}g}"


def _style(profile: Profile, code: int, k: int, digits: int) -> Text:
    from rich.text import Text

    value = float(profile.given[k, code])
    gap, clear = value - profile.overall[code], CLEAR
    if profile.is_continuous:
        clear = CLEAR_MEAN * profile.overall[1] if code == 0 else math.inf
    style = "bold green" if gap >= clear else "dim" if gap <= -clear else ""
    return Text(_write(profile, code, value, digits), style=style)


def make_table(*headers: str) -> RichTable:
    """Table with a line under the headers; all columns but the first are aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for position, header in enumerate(headers):
        table.add_column(header, justify="right" if position else "left", no_wrap=position > 0)
    return table
