"""Where EM starts: random parameters, one independent stream of random numbers for each start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.columns import summarize
from latentforest.inference.forest import Forest
from latentforest.kernels.plan import count_numbers
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

FEWEST, MOST = 16, 128  # starts by default
COSTLY = 50_000_000  # numbers that all first iterations together may touch
SHARE = 0.5  # share of the random part in a row of a start; the rest is the marginal distribution
NARROW = 0.25  # variance of a Gaussian in a start, as a share of the column's
SORTED = 3  # columns by which rows are sorted before any is drawn
POOL = 500  # rows among which the means of a start are chosen


def count_starts(forest: Forest) -> int:
    """Return how many starts are worth their time: many where an iteration is cheap."""
    size = sum(map(count_numbers, forest.plans))
    return int(np.clip(COSTLY // size, FEWEST, MOST))


def random_starts(structure: Structure, dataset: Dataset, n_starts: int, seed: int) -> FloatArray:
    """Make random parameter vectors, ``(n_starts, n_values)``.

    Rows of tables are halfway between the column's frequencies (uniform for latent variables) and
    a point drawn uniformly from the simplex. All probabilities are positive. The means of the
    Gaussians below a variable are rows of the data that lie apart, one for each of its states.
    """
    tables = [name for name in structure.names if name not in structure.continuous]
    bases = {name: base_distribution(structure, dataset, name) for name in tables}
    hubs = _find_hubs(structure)
    seeders = [Seeder(names, dataset) for names in hubs.values()]
    starts = np.empty((n_starts, structure.n_values))
    for s in range(n_starts):
        generator = np.random.default_rng([seed, s])
        for (parent, names), seeder in zip(hubs.items(), seeders, strict=True):
            drawn = seeder.draw(structure.shape(parent)[-1] if parent else 1, generator)
            for name, rows in zip(names, drawn, strict=True):
                table = structure.table_view(starts[s], name)
                table[...] = rows.reshape(table.shape)
        for name in tables:
            shape = structure.shape(name)
            table = structure.table_view(starts[s], name)
            noise = generator.standard_exponential(shape)
            noise /= noise.sum(axis=-1, keepdims=True)
            table[...] = (1 - SHARE) * bases[name] + SHARE * noise
    return starts


def split_starts(network: Network, name: str, structure: Structure) -> FloatArray:
    """Make starts with one more state of a root: each state split in two that differ a little.

    Means of Gaussians move half a deviation up and down.

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
                is_gaussian = variable in structure.continuous
                new[[s, n_states]] = (_move_mean if is_gaussian else _push_apart)(table[s])
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


def _move_mean(row: FloatArray) -> FloatArray:
    """Two Gaussians around one."""
    mean, variance = row
    step = 0.5 * np.sqrt(variance)
    return np.array([[mean + step, 0.75 * variance], [mean - step, 0.75 * variance]])


def _find_hubs(structure: Structure) -> dict[str | None, list[str]]:
    """Continuous children of each variable; ``None`` stands for no parent at all."""
    hubs = {(structure.parents(name) or (None,))[0]: None for name in structure.continuous}
    below = {hub: structure.children(hub) if hub else structure.roots for hub in hubs}
    return {
        hub: [name for name in names if name in structure.continuous]
        for hub, names in below.items()
    }


class Seeder:
    """Draws Gaussians for some continuous columns given the states of one variable.

    The first mean is a random row, the next ones are drawn in proportion to the squared distance
    from those before (k-means++, Arthur and Vassilvitskii 2007). Rows are drawn in proportion to
    their weights, and in a way that does not depend on their order.
    """

    def __init__(self, names: Sequence[str], dataset: Dataset) -> None:
        self._names = names
        about = [summarize(n, dataset.column(n), dataset.weights) for n in self._names]
        self._means = np.array([each.mean for each in about])
        self._variances = np.array([each.variance for each in about])
        self._least = np.array([each.least_variance for each in about])
        values = np.stack([dataset.column(name) for name in self._names], axis=1)
        order = np.lexsort(values.T[::-1][-SORTED:])
        self._rows = ((values - self._means) / np.sqrt(self._variances))[order]
        self._below = np.cumsum(dataset.weights[order])

    def draw(self, n_states: int, generator: np.random.Generator) -> FloatArray:
        """Draw means and variances, ``(n_columns, n_states, 2)``."""
        seeds = self._draw(n_states, generator)
        tables = np.empty((len(self._names), n_states, 2))
        tables[:, :, 0] = (self._means + np.sqrt(self._variances) * seeds).T
        share = NARROW if n_states > 1 else 1.0
        tables[:, :, 1] = np.maximum(share * self._variances, self._least)[:, None]
        return tables

    def _draw(self, n_states: int, generator: np.random.Generator) -> FloatArray:
        """Draw rows that lie apart, in deviations from the columns' means."""
        if n_states == 1:
            return np.zeros((1, len(self._names)))
        picks = np.searchsorted(self._below, generator.random(POOL) * self._below[-1], "right")
        pool = self._rows[np.minimum(picks, len(self._rows) - 1)]
        gaps = np.isnan(pool)
        pool[gaps] = generator.standard_normal(int(gaps.sum()))
        seeds = [pool[0]]
        distance = ((pool - pool[0]) ** 2).sum(axis=1)
        for u in generator.random(n_states - 1):
            below = np.cumsum(distance)
            chosen = int(np.searchsorted(below, u * below[-1], "right"))
            seeds.append(pool[min(chosen, POOL - 1)])
            distance = np.minimum(distance, ((pool - seeds[-1]) ** 2).sum(axis=1))
        return np.array(seeds)


def base_distribution(structure: Structure, dataset: Dataset, name: str) -> FloatArray:
    """Frequencies of an observed variable, uniform for a latent or never observed one."""
    n_states = structure.shape(name)[-1]
    if name in structure.latents:
        return np.full(n_states, 1.0 / n_states)
    counts = np.asarray(dataset.counts(name), dtype=np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.full(n_states, 1.0 / n_states)
