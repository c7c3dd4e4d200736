"""What the states of a latent variable mean: its children's probabilities, means, deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentforest.cli.output import make_table
from latentforest.data.values import Code

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from latentforest.model import Network

Floats = NDArray[np.float64]

MAX_ROWS = 30  # of a short table
MAX_VALUES = 5  # of one variable in a short table
CLEAR = 0.15  # a probability that differs this much from the overall one stands out
CLEAR_MEAN = 0.5  # and a mean, in overall standard deviations
MOMENTS = ("mean", "sd")  # shown of a continuous variable
N_NODES = 40  # of the quadrature for its mutual information
NAME_WIDTH, VALUE_WIDTH, GAP = 24, 16, 2  # characters; longer names are folded
MAX_PLACES = 6  # decimal places of a mean; smaller numbers are written with an exponent
MIN_COLUMNS = 3  # states that are shown however narrow the terminal


@dataclass(frozen=True)
class Profile:
    """The distribution of one variable overall, and given each state of a latent variable.

    Of a continuous variable these are mean and standard deviation, in place of probabilities.
    ``information`` is their mutual information: how much the variable tells about the state.
    """

    name: str
    states: tuple[str, ...]
    overall: Floats
    given: Floats
    information: float
    is_continuous: bool = False


# A profile and the codes of the values to show of it.
Shown = tuple[Profile, Sequence[int]]


def compute_profiles(network: Network, latent: str) -> list[Profile]:
    """Profiles of a latent variable's children, the most telling first."""
    sizes = network.marginal(latent)
    structure = network.structure
    profiles = []
    for name in structure.children(latent):
        if name in structure.continuous:
            profiles.append(_profile_numbers(network, latent, name, sizes))
            continue
        given = _condition(network, latent, name)
        overall = sizes @ given
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(given > 0, given * np.log(given / overall), 0.0)
        information = float(sizes @ terms.sum(axis=1))
        profiles.append(Profile(name, structure.states(name), overall, given, information))
    return sorted(profiles, key=lambda profile: -round(profile.information, 12))


def _profile_numbers(network: Network, latent: str, name: str, sizes: Floats) -> Profile:
    """Profile of a continuous variable."""
    mixtures = [network.mixture(name, {latent: Code(k)}) for k in range(len(sizes))]
    means = np.array([mixture.mean for mixture in mixtures])
    variances = np.array([mixture.variance for mixture in mixtures])
    overall = sizes @ means
    variance = sizes @ (variances + (means - overall) ** 2)
    given = np.stack([means, np.sqrt(variances)], axis=1)
    information = _measure_information(sizes, means, np.sqrt(variances))
    moments = np.array([overall, np.sqrt(variance)])
    return Profile(name, MOMENTS, moments, given, information, is_continuous=True)


def _measure_information(sizes: Floats, means: Floats, deviations: Floats) -> float:
    """Mutual information of a mixture of Gaussians and its component, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    x = means[:, None] + deviations[:, None] * nodes
    z = (x[:, :, None] - means) / deviations
    logs = -0.5 * z**2 - np.log(deviations)
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp.reduce(logs + np.log(sizes), axis=2)
    own = -0.5 * nodes**2 - np.log(deviations)[:, None]
    return float(sizes @ ((own - mixed) @ weights) / weights.sum())


def _condition(network: Network, latent: str, name: str) -> Floats:
    """P(child | latent), ``(n_latent_states, n_states)``."""
    if network.structure.parents(name) == (latent,):
        return network.cpd(name)
    joint = network.query([latent, name])
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), 1 / joint.shape[1])


def print_profiles(console: Console, network: Network, latent: str, brief: bool) -> None:
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
        note = f"Shown: {'; '.join(left_out)}. 'latentforest show --tables' prints all."
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
    used = max(6, min(names, NAME_WIDTH)) + max(5, min(values, VALUE_WIDTH)) + 2 + digits + 3 * GAP
    cells = [len(_write(p, c, v, digits)) for p, cs in shown for c in cs for v in p.given[:, c]]
    each = max(2 + digits, *cells, *map(len, network.structure.states(latent))) + GAP
    return max(MIN_COLUMNS, (width - used) // each)


def _draw(
    network: Network, latent: str, shown: Sequence[Shown], states: Sequence[int], digits: int
) -> RichTable:
    names, sizes = network.structure.states(latent), network.marginal(latent)
    headers = [f"{names[k]}\n{sizes[k]:.0%}" for k in states]
    table = make_table("\ncolumn", "\nvalue", "\nall", *headers)
    for column, width in zip(table.columns, (NAME_WIDTH, VALUE_WIDTH), strict=False):
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
