"""What the states of a latent variable mean: its children's probabilities, means, deviations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentforest.model import elimination

if TYPE_CHECKING:
    from latentforest.model.network import Network

Floats = NDArray[np.float64]

MOMENTS = ("mean", "sd")  # of a continuous variable
N_NODES = 40  # of the quadrature for its mutual information


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
    sizes = compute_sizes(network, latent)
    chosen = network.structure.children(latent) if names is None else names
    profiles = [compute_profile(network, latent, name, sizes) for name in chosen]
    return sorted(profiles, key=lambda profile: -round(profile.information, 12))


def compute_sizes(network: Network, latent: str) -> Floats:
    """Probabilities of the states of a variable, as a plain array."""
    return elimination.compute_joint(network.structure, network.parameters, (latent,), {})


def compute_profile(network: Network, latent: str, name: str, sizes: Floats) -> Profile:
    """Profile of one variable given a latent one, whose states have these sizes."""
    structure = network.structure
    if name in structure.continuous:
        return _profile_numbers(network, latent, name, sizes)
    given = _condition(network, latent, name)
    overall = sizes @ given
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(given > 0, given * np.log(given / overall), 0.0)
    information = float(sizes @ terms.sum(axis=1))
    return Profile(name, structure.states(name), overall, given, information)


def _profile_numbers(network: Network, latent: str, name: str, sizes: Floats) -> Profile:
    """Profile of a continuous variable."""
    structure, parameters = network.structure, network.parameters
    mixtures = [
        elimination.compute_mixture(structure, parameters, name, {latent: k})
        for k in range(len(sizes))
    ]
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
    """P(variable | latent), ``(n_latent_states, n_states)``."""
    structure, parameters = network.structure, network.parameters
    if structure.parents(name) == (latent,):
        return structure.table_view(parameters, name)
    joint = elimination.compute_joint(structure, parameters, (latent, name), {})
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), 1 / joint.shape[1])
