"""The states of the rows: what the model says of each, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from latentforest.data.dataset import Dataset
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray
from latentforest.model.network import Network

MOST_NUMBERS = 1 << 23  # posteriors that are held at once


@dataclass
class Assignment:
    """What the rows say of one latent variable.

    Attributes
    ----------
    states
        Code of the likeliest state of each row.
    top
        Its probability.
    counts
        Sums of the posteriors, weighted.
    left
        Sum of the entropies of the posteriors in nats, weighted.
    """

    states: AnyArray
    top: FloatArray
    counts: FloatArray
    left: float = 0.0

    @property
    def r2(self) -> float:
        """Entropy R²: one if every row is certain, zero if no more is known than sizes."""
        total = float(self.counts.sum())
        sizes = self.counts / total
        prior = -float(xlogy(sizes, sizes).sum())
        return 1.0 if prior == 0.0 else 1.0 - self.left / total / prior


@dataclass
class Assignments:
    """What the model says of the rows of a table.

    Posteriors are those under the reported parameters; of rows that are impossible there, those
    under the predictive ones.

    Attributes
    ----------
    latents
        By name.
    log_likelihoods
        Of each row, under the reported parameters.
    impossible
        Rows of probability zero under these.
    """

    latents: dict[str, Assignment]
    log_likelihoods: FloatArray
    impossible: BoolArray


def assign_rows(network: Network, data: Dataset) -> Assignments:
    """Find the states of all rows; equal rows are looked at once."""
    merged, inverse = data.merged()
    n = merged.n_rows
    latents = {
        name: Assignment(np.zeros(n, np.int16), np.zeros(n), np.zeros(len(states)))
        for name in network.latents
        for states in [network.structure.states(name)]
    }
    logs = np.zeros(n)
    for rows in _cut(network, n):
        part = merged.take(np.arange(rows.start, rows.stop))
        logs[rows] = _assign_part(network, part, latents, rows)
    for each in latents.values():
        each.states, each.top = each.states[inverse], each.top[inverse]
    return Assignments(latents, logs[inverse], np.isneginf(logs)[inverse])


def _cut(network: Network, n_rows: int) -> Iterator[slice]:
    """Cut the rows so that their posteriors do not take too much memory."""
    width = sum(len(network.structure.states(name)) for name in network.latents) or 1
    step = max(1, MOST_NUMBERS // width)
    for low in range(0, n_rows, step):
        yield slice(low, min(low + step, n_rows))


def _assign_part(
    network: Network, part: Dataset, latents: dict[str, Assignment], rows: slice
) -> FloatArray:
    """Fill in what is said of some rows; return their log-likelihoods."""
    patterned = PatternedData(part)
    judge = plain = Rows(network, patterned)
    if network.posterior is not None:  # BIC takes the expected parameters as they are
        plain = Rows(Network(network.structure, network.parameters), patterned)
    logs = plain.log_likelihoods()
    posteriors = judge.posteriors(network.latents)
    impossible = np.isneginf(logs)
    if impossible.any():
        odd = PatternedData(part.with_weights(None).take(impossible))
        others = Rows(network.predictive, odd).filled_posteriors(network.latents)[0]
        for posterior, other in zip(posteriors, others, strict=True):
            posterior[impossible] = other
    for each, posterior in zip(latents.values(), posteriors, strict=True):
        each.states[rows], each.top[rows] = posterior.argmax(axis=1), posterior.max(axis=1)
        each.counts += part.weights @ posterior
        each.left -= float(part.weights @ xlogy(posterior, posterior).sum(axis=1))
    return logs
