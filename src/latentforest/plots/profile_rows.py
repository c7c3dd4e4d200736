"""What a profile shows: columns by what they tell, values, shares or densities in each state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.errors import ParameterError
from latentforest.kernels.types import FloatArray
from latentforest.model import Network
from latentforest.model.gaussian import Mixture
from latentforest.model.pictures.names import name_states, name_variables
from latentforest.model.pictures.sketch import find_range, trace_density
from latentforest.model.questions.elimination import compute_mixture
from latentforest.model.showing.profiles import Profile, compute_profiles

NEAREST = 150  # columns that are looked at, by distance from the latent variable
WEAK = 0.12  # share of the best column's bits: below it only one value is shown
MAX_VALUES = 12


@dataclass(frozen=True)
class ValueRow:
    """A value of a column: its share in all rows and in each state."""

    text: str
    overall: float
    given: tuple[float, ...]


@dataclass(frozen=True)
class ProfileBlock:
    """A column of a profile: values, or densities with means and deviations."""

    name: str
    text: str
    bits: float
    through: str = ""
    values: tuple[ValueRow, ...] = ()
    n_hidden: int = 0
    densities: tuple[tuple[float, ...], ...] = ()  # of all rows, then of each state
    means: tuple[float, ...] = ()  # likewise
    deviations: tuple[float, ...] = ()


def list_blocks(
    network: Network, latent: str, columns: Sequence[str] | None, most: int
) -> tuple[list[ProfileBlock], int, float]:
    """The most telling columns; how many are left out, and what the best of these tells."""
    names = _choose_columns(network, latent, columns)
    profiles = compute_profiles(network, latent, names)
    shown, others = profiles[:most], profiles[most:]
    top = max((profile.information for profile in shown), default=0.0)
    about = name_variables(network), find_hops(network, latent)
    blocks = [
        _make_block(network, latent, each, each.information < WEAK * top, about) for each in shown
    ]
    left = max((profile.information for profile in others), default=0.0) / math.log(2)
    n_left = len(others) + (len(network.observed) - len(names) if columns is None else 0)
    return blocks, n_left, left


def _choose_columns(network: Network, latent: str, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        near = [name for name in find_hops(network, latent) if name in set(network.observed)]
        return near[:NEAREST]
    if isinstance(columns, str):
        raise ParameterError(f"columns: got {columns!r}, expected a list of names")
    for name in columns:
        network.structure.variable(name)
    if not columns or latent in columns:
        raise ParameterError(f"columns: got {list(columns)!r}, expected others than {latent!r}")
    return list(columns)


def find_hops(network: Network, start: str) -> dict[str, str]:
    """The neighbour through which each variable is reached, the nearest variables first."""
    structure = network.structure
    first = {name: name for name in structure.neighbours(start)}
    waiting = list(first)
    for name in waiting:
        for other in structure.neighbours(name):
            if other != start and other not in first:
                first[other] = first[name]
                waiting.append(other)
    first |= {name: "" for name in network.observed if name not in first and name != start}
    return first


def _make_block(
    network: Network,
    latent: str,
    profile: Profile,
    is_weak: bool,
    about: tuple[dict[str, str], dict[str, str]],
) -> ProfileBlock:
    """Describe a column, given the texts of variables and the ways to them."""
    name, (texts, hops) = profile.name, about
    hop = hops.get(name, "")
    through = texts[hop] if hop and hop != name and network.structure.is_forest else ""
    bits = max(profile.information, 0.0) / math.log(2)
    if profile.is_continuous:
        return _make_density_block(network, latent, profile, (texts[name], bits, through))
    rows = [
        ValueRow(text, overall, tuple(given.tolist()))
        for text, overall, given in zip(
            name_states(network, name), profile.overall.tolist(), profile.given.T, strict=True
        )
    ]
    shown = rows
    if is_weak or len(rows) > MAX_VALUES:
        most = 1 if is_weak else MAX_VALUES
        ranked = sorted(rows, key=lambda row: -round(_spread(row), 9))[:most]
        shown = [row for row in rows if row in ranked]
    return ProfileBlock(name, texts[name], bits, through, tuple(shown), len(rows) - len(shown))


def _spread(row: ValueRow) -> float:
    return max(row.given) - min(row.given)


def _make_density_block(
    network: Network, latent: str, profile: Profile, head: tuple[str, float, str]
) -> ProfileBlock:
    text, bits, through = head
    mixtures = find_mixtures(network, latent, profile.name)
    between = find_range(mixtures[:1])
    return ProfileBlock(
        profile.name,
        text,
        bits,
        through,
        densities=tuple(trace_density(mixture, between) for mixture in mixtures),
        means=tuple(mixture.mean for mixture in mixtures),
        deviations=tuple(math.sqrt(mixture.variance) for mixture in mixtures),
    )


def find_mixtures(network: Network, latent: str, name: str) -> list[Mixture]:
    """The distribution of a continuous variable in all rows, then in each state."""
    sizes: FloatArray = np.asarray(network.query(latent).values)
    given = [{}, *({latent: k} if size > 0 else {} for k, size in enumerate(sizes))]
    return [
        compute_mixture(network.structure, network.parameters, name, evidence) for evidence in given
    ]
