"""What the states of a latent variable mean: its children's probabilities, means, deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.results.table import Table
from latentforest.errors import ModelError
from latentforest.model.gaussian import Mixture, information_of_mixtures
from latentforest.model.questions import elimination
from latentforest.model.questions.forest_tables import ForestTables

if TYPE_CHECKING:
    from latentforest.model.network import Network

Floats = NDArray[np.float64]
Tables = Mapping[str, Floats]

_NONE: Tables = {}
MOMENTS = ("mean", "sd")  # of a continuous variable


@dataclass(frozen=True)
class Profile:
    """The distribution of one variable overall, and given each state of a latent variable.

    Of a continuous variable these are mean and standard deviation, in place of probabilities.
    ``information`` is their mutual information in nats: how much the variable tells about the
    state.
    """

    name: str
    states: tuple[str, ...]
    overall: Floats
    given: Floats
    information: float
    is_continuous: bool = False


def compute_profiles(
    network: Network, latent: str, names: Sequence[str] | None = None
) -> list[Profile]:
    """Profiles of a latent variable's children, or of any variables; the most telling first."""
    structure, sizes = network.structure, compute_sizes(network, latent)
    chosen = structure.children(latent) if names is None else names
    tables: Tables = {}
    if structure.is_forest and any(structure.parents(name) != (latent,) for name in chosen):
        tables = ForestTables(structure, network.parameters).spread(latent)
    profiles = [compute_profile(network, latent, name, sizes, tables) for name in chosen]
    return sorted(profiles, key=lambda profile: -round(profile.information, 12))


def compute_sizes(network: Network, latent: str) -> Floats:
    """Probabilities of the states of a variable, as a plain array."""
    return elimination.compute_joint(network.structure, network.parameters, (latent,), {})


def compute_profile(
    network: Network, latent: str, name: str, sizes: Floats, tables: Tables = _NONE
) -> Profile:
    """Profile of one variable given a latent one, whose states have these sizes.

    ``tables`` are distributions of categorical variables given the latent one that are known.
    """
    structure = network.structure
    if name in structure.continuous:
        return _profile_numbers(network, latent, name, sizes, tables)
    given = tables[name] if name in tables else _condition(network, latent, name)
    overall = sizes @ given
    with np.errstate(divide="ignore", invalid="ignore"):
        # The rows of a state of size zero mean nothing, and may have what no other row has.
        counts = (given > 0) & (sizes[:, None] > 0)
        terms = np.where(counts, given * np.log(given / overall), 0.0)
    information = float(sizes @ terms.sum(axis=1))
    return Profile(name, structure.states(name), overall, given, information)


def _profile_numbers(
    network: Network, latent: str, name: str, sizes: Floats, tables: Tables
) -> Profile:
    """Profile of a continuous variable."""
    weights, means, variances = _find_components(network, latent, name, sizes, tables)
    given = weights @ means
    spread = np.array([Mixture(each, means, variances).variance for each in weights])
    overall = sizes @ given
    variance = sizes @ (spread + (given - overall) ** 2)
    information = information_of_mixtures(sizes, weights, means, variances)
    moments = np.array([overall, np.sqrt(variance)])
    both = np.stack([given, np.sqrt(spread)], axis=1)
    return Profile(name, MOMENTS, moments, both, information, is_continuous=True)


def _find_components(
    network: Network, latent: str, name: str, sizes: Floats, tables: Tables
) -> tuple[Floats, Floats, Floats]:
    """The Gaussians of a continuous variable, and how much of each is in each latent state."""
    structure, parameters = network.structure, network.parameters
    parents = structure.parents(name)
    if parents == (latent,) or (len(parents) == 1 and parents[0] in tables):
        weights = np.eye(len(sizes)) if parents == (latent,) else tables[parents[0]]
        table, pouch = structure.table_view(parameters, name), structure.pouch(name)
        return weights, table[:, 0], table[:, 1 + pouch.index(name)]
    mixtures = [
        elimination.compute_mixture(structure, parameters, name, {latent: k} if size else {})
        for k, size in enumerate(sizes.tolist())
    ]
    edges = np.cumsum([0, *(len(mixture.weights) for mixture in mixtures)])
    weights = np.zeros((len(sizes), edges[-1]))
    for row, low, high, mixture in zip(weights, edges, edges[1:], mixtures, strict=False):
        row[low:high] = mixture.weights
    means = np.concatenate([mixture.means for mixture in mixtures])
    return weights, means, np.concatenate([mixture.variances for mixture in mixtures])


def _condition(network: Network, latent: str, name: str) -> Floats:
    """P(variable | latent), ``(n_latent_states, n_states)``."""
    structure, parameters = network.structure, network.parameters
    if structure.parents(name) == (latent,):
        return structure.table_view(parameters, name)
    joint = elimination.compute_joint(structure, parameters, (latent, name), {})
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), 1 / joint.shape[1])


def tabulate_profiles(network: Network, latent: str | None, columns: Sequence[str] | None) -> Table:
    """Make a table of the profiles of one latent variable, or of all, below each other."""
    structure = network.structure
    latents = [name for name in structure.latents if structure.children(name)]
    if latent is not None:
        if latent not in structure.latents:
            raise ModelError(
                f"{latent!r} is not a latent variable of the network; "
                f"expected one of {', '.join(map(repr, structure.latents)) or 'none'}"
            )
        latents = [latent]
    for name in columns or ():
        structure.variable(name)
    rows: list[dict[str, Any]] = []
    for name in latents:
        others = None if columns is None else [each for each in columns if each != name]
        head = {"latent": name} if len(latents) > 1 else {}
        states = structure.states(name)
        found = (
            _add_states(row, states, given) for row, given in _list_rows(network, name, others)
        )
        rows += [head | row for row in found]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table({name: [row.get(name) for row in rows] for name in names})


def _list_rows(
    network: Network, latent: str, names: Sequence[str] | None
) -> Iterator[tuple[dict[str, Any], Floats]]:
    """The rows of a latent variable, each with the numbers of its states."""
    yield (
        {"column": latent, "value": "size", "bits": None, "all": 1.0},
        compute_sizes(network, latent),
    )
    for profile in compute_profiles(network, latent, names):
        bits = profile.information / math.log(2)
        for value, overall, given in zip(
            profile.states, profile.overall.tolist(), profile.given.T, strict=True
        ):
            yield {"column": profile.name, "value": value, "bits": bits, "all": overall}, given


def _add_states(row: dict[str, Any], states: Sequence[str], given: Floats) -> dict[str, Any]:
    """Add the numbers of all states under their names, which must differ from what is there."""
    taken = {"latent", *row}
    named = [state + "_" * (state in taken) for state in states]
    return row | dict(zip(named, given.tolist(), strict=True))


def tabulate_edges(network: Network) -> Table:
    """Make a table of the mutual information of the ends of each arc."""
    structure = network.structure
    sizes = {
        name: compute_sizes(network, name)
        for name in structure.names
        if structure.children(name) and name not in structure.continuous
    }
    rows: list[dict[str, Any]] = []
    for child in structure.names:
        for parent in structure.parents(child):
            bits = share = None
            if parent in sizes:
                profile = compute_profile(network, parent, child, sizes[parent])
                bits = max(profile.information, 0.0) / math.log(2)
                entropy = 0.0 if profile.is_continuous else compute_entropy(profile.overall)
                share = bits / entropy if entropy > 0 else None
            rows.append({"parent": parent, "child": child, "bits": bits, "share": share})
    rows.sort(key=lambda row: -round(row["bits"] or 0.0, 12))
    return Table(
        {name: [row[name] for row in rows] for name in ("parent", "child", "bits", "share")}
    )


def compute_entropy(probabilities: Floats) -> float:
    """Entropy in bits."""
    seen = probabilities[probabilities > 0]
    return float(-(seen * np.log2(seen)).sum())
