"""Where EM starts: random parameters, one independent stream of random numbers for each start."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.forest import Forest
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

FEWEST, MOST = 16, 128  # starts by default
COSTLY = 50_000_000  # numbers that all first iterations together may touch
SHARE = 0.5  # share of the random part in a row of a start; the rest is the marginal distribution


def count_starts(forest: Forest) -> int:
    """Return how many starts are worth their time: many where an iteration is cheap."""
    size = sum(int(plan.sizes[0]) + 8 * len(plan.weights) for plan in forest.plans)
    return int(np.clip(COSTLY // size, FEWEST, MOST))


def random_starts(structure: Structure, dataset: Dataset, n_starts: int, seed: int) -> FloatArray:
    """Make random parameter vectors, ``(n_starts, n_values)``.

    Rows of tables are halfway between the column's frequencies (uniform for latent variables) and
    a point drawn uniformly from the simplex. All probabilities are positive.
    """
    bases = {name: base_distribution(structure, dataset, name) for name in structure.names}
    starts = np.empty((n_starts, structure.n_values))
    for s in range(n_starts):
        generator = np.random.default_rng([seed, s])
        for name in structure.names:
            shape = structure.shape(name)
            table = structure.table_view(starts[s], name)
            noise = generator.standard_exponential(shape)
            noise /= noise.sum(axis=-1, keepdims=True)
            table[...] = (1 - SHARE) * bases[name] + SHARE * noise
    return starts


def split_starts(network: Network, name: str, structure: Structure) -> FloatArray:
    """Make starts with one more state of a root: each state split in two that differ a little.

    Parameters
    ----------
    network
        Fitted with one state less.
    name
        The latent root whose state is split.
    structure
        The structure with one more state.
    """
    n_states = network.structure.shape(name)[-1]
    starts = np.empty((n_states, structure.n_values))
    for s in range(n_states):
        source = [*range(n_states), s]
        for variable in structure.names:
            table = network.cpd(variable)
            if variable == name:
                new = table[source]
                new[[s, n_states]] *= 0.5
            elif name in structure.parents(variable):
                new = table[source]
                new[[s, n_states]] = _push_apart(table[s])
            else:
                new = table
            structure.table_view(starts[s], variable)[...] = new
    return starts


def _push_apart(row: FloatArray) -> FloatArray:
    """Two distributions around one: mass moved alternately up and down."""
    signs = np.where(np.arange(len(row)) % 2 == 0, 1.0, -1.0)
    pair = np.stack([row * (1 + 0.5 * signs), row * (1 - 0.5 * signs)])
    pair /= pair.sum(axis=1, keepdims=True)
    return pair


def base_distribution(structure: Structure, dataset: Dataset, name: str) -> FloatArray:
    """Frequencies of an observed variable, uniform for a latent or never observed one."""
    n_states = structure.shape(name)[-1]
    if name in structure.latents:
        return np.full(n_states, 1.0 / n_states)
    counts = np.asarray(dataset.counts(name), dtype=np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.full(n_states, 1.0 / n_states)
