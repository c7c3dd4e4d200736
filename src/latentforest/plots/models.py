"""What pictures are made of: the network of a model, its rows, its latent variables."""

from __future__ import annotations

import os
from typing import Any

from latentforest.data import Dataset
from latentforest.errors import ModelError, ParameterError
from latentforest.formats import load
from latentforest.learners.predictor import Predictor
from latentforest.model import Network


def find_network(model: Any) -> Network:
    """The network of a fitted learner, a network itself, or that of a file."""
    if isinstance(model, str | os.PathLike):
        return load(model)
    network = model if isinstance(model, Network) else getattr(model, "network_", None)
    if not isinstance(network, Network):
        raise ParameterError(
            f"model: got {type(model).__name__}, expected a fitted learner, a network or the path "
            "of a model file"
        )
    return network


def read_rows(network: Network, data: Any) -> tuple[Predictor, Dataset]:
    """A table with the columns and states of a network, and what predicts its rows."""
    predictor = Predictor(network)
    return predictor, predictor._encode(data)


def choose_latent(network: Network, latent: str | None) -> str:
    """The latent variable asked for, or the one that says most: the largest entropy."""
    if latent is not None:
        if latent not in network.latents:
            listed = ", ".join(map(repr, network.latents)) or "none"
            raise ModelError(f"{latent!r} is not a latent variable; expected one of {listed}")
        return latent
    if not network.latents:
        raise ModelError("the network has no latent variable")
    return rank_latents(network)[0]


def rank_latents(network: Network) -> list[str]:
    """Latent variables, the one with the largest entropy first."""
    from latentforest.model.questions.marginals import compute_marginals
    from latentforest.model.showing.profiles import compute_entropy

    found = compute_marginals(network.structure, network.parameters, network.latents)
    return sorted(network.latents, key=lambda name: -round(compute_entropy(found[name]), 9))
