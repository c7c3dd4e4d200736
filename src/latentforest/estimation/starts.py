"""Where EM starts: random parameters, one independent stream of random numbers for each start."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.blocks import correlate
from latentforest.inference.columns import ColumnSummary, summarize
from latentforest.inference.engine import Engine
from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import invert
from latentforest.model.gaussian import find_components
from latentforest.model.structure import Structure

FEWEST, MOST = 16, 128  # starts by default
COSTLY = 50_000_000  # numbers that all first iterations together may touch
SHARE = 0.5  # share of the random part in a row of a start; the rest is the marginal distribution
NARROW = 0.25  # variance of a Gaussian in a start, as a share of the column's
SORTED = 3  # columns by which rows are sorted before any is drawn
POOL = 500  # rows among which the means of a start are chosen


def count_starts(engine: Engine) -> int:
    """Return how many starts are worth their time: many where an iteration is cheap.

    Where nothing is hidden, all lead to the same place at once.
    """
    dataset = engine.data.dataset
    if not engine.structure.latents and not dataset.select(engine.structure.names).has_missing:
        return 1
    return int(np.clip(COSTLY // engine.cost, FEWEST, MOST))


def random_starts(
    structure: Structure,
    dataset: Dataset,
    n_starts: int,
    seed: int,
    summary: Callable[[str], ColumnSummary] | None = None,
) -> FloatArray:
    """Make random parameter vectors, ``(n_starts, n_values)``.

    Rows of tables are halfway between the column's frequencies (uniform for latent variables) and
    a point drawn uniformly from the simplex. All probabilities are positive. The means of the
    Gaussians below a variable, or below several, are rows of the data that lie apart, one for each
    of its states, or of the joint states that the largest table has.
    What is known of continuous columns already (``PatternedData.summary``) saves time.
    """
    tables = [name for name in structure.names if name not in structure.continuous]
    bases = {name: base_distribution(structure, dataset, name) for name in tables}
    hubs = _find_hubs(structure) if structure.continuous else {}
    seeders = [Seeder(structure, dataset, hub, names, summary) for hub, names in hubs.items()]
    starts = np.empty((n_starts, structure.n_values))
    draws: list[list[Draw]] = [[] for _ in seeders]
    for s in range(n_starts):
        generator = np.random.default_rng([seed, s])
        for seeder, drawn in zip(seeders, draws, strict=True):
            drawn.append(seeder.draw(generator))
        for name in tables:
            shape = structure.shape(name)
            table = structure.table_view(starts[s], name)
            noise = generator.standard_exponential(shape)
            noise /= noise.sum(axis=-1, keepdims=True)
            table[...] = (1 - SHARE) * bases[name] + SHARE * noise
    for seeder, drawn in zip(seeders, draws, strict=True):
        seeder.fill(starts, drawn)
    return starts


def _find_hubs(structure: Structure) -> dict[tuple[str, ...], list[str]]:
    """List the continuous variables below each set of categorical ones.

    Between these and a variable listed with them are only continuous ones.
    """
    hubs: dict[tuple[str, ...], list[str]] = {}
    above = {}
    for names in find_components(structure, structure.continuous):
        hub = dict.fromkeys(p for name in names for p in structure.categorical_parents(name))
        above.update(dict.fromkeys(names, tuple(hub)))
    for name in structure.continuous:
        hubs.setdefault(above[name], []).append(name)
    return hubs


class Draw(NamedTuple):
    """Random numbers of one start: rows, and which of them become means."""

    pool: FloatArray
    numbers: FloatArray


class Seeder:
    """Draws means for the continuous variables below one variable, or below several.

    The first mean is a random row, the next ones are drawn in proportion to the squared distance
    from those before (k-means++, Arthur and Vassilvitskii 2007). Rows are drawn in proportion to
    their weights, and in a way that does not depend on their order.
    """

    def __init__(
        self,
        structure: Structure,
        dataset: Dataset,
        hub: tuple[str, ...],
        names: list[str],
        summary: Callable[[str], ColumnSummary] | None = None,
    ) -> None:
        self._names = names
        self._structure = structure
        self._n_states = math.prod(len(structure.states(parent)) for parent in hub)
        if len(hub) > 1:  # no table has more rows than this
            self._n_states = max(math.prod(structure.shape(name)[:-1]) for name in names)
        if summary is None:
            about = [summarize(n, dataset.column(n), dataset.weights) for n in names]
        else:
            about = [summary(n) for n in names]
        self._means = np.array([each.mean for each in about])
        self._variances = np.array([each.variance for each in about])
        self._least = np.array([each.least_variance for each in about])
        values = np.stack([dataset.column(name) for name in self._names], axis=1)
        order = np.lexsort(values.T[::-1][-SORTED:])
        self._rows = ((values - self._means) / np.sqrt(self._variances))[order]
        self._below = np.cumsum(dataset.weights[order])
        self._correlations = np.eye(len(names))
        if any(len(structure.pouch(n)) > 1 or structure.continuous_parents(n) for n in names):
            self._correlations = correlate(list(values.T), about, dataset.weights)

    def draw(self, generator: np.random.Generator) -> Draw:
        """Draw what the means of one start are chosen from."""
        if self._n_states == 1:
            return Draw(np.zeros((1, len(self._names))), np.empty(0))
        picks = np.searchsorted(self._below, generator.random(POOL) * self._below[-1], "right")
        pool = self._rows[np.minimum(picks, len(self._rows) - 1)]
        gaps = np.isnan(pool)
        pool[gaps] = generator.standard_normal(int(gaps.sum()))
        return Draw(pool, generator.random(self._n_states - 1))

    def fill(self, starts: FloatArray, draws: Sequence[Draw]) -> None:
        """Put means, variances, covariances and slopes of all states into parameter vectors."""
        if not draws:
            return
        seeds = _spread(draws)
        share = NARROW if self._n_states > 1 else 1.0
        spread = np.sqrt(self._variances)
        place = {name: j for j, name in enumerate(self._names)}
        covariances = share * self._correlations * np.outer(spread, spread)
        for j, name in enumerate(self._names):
            shape = self._structure.shape(name)
            tables = np.empty((len(starts), math.prod(shape[:-1]), shape[-1]))
            n_rows = tables.shape[1]
            tables[..., 0] = self._means[j] + spread[j] * seeds[:, :n_rows, j]
            pouch = [place[other] for other in self._structure.pouch(name)]
            above = [place[other] for other in self._structure.continuous_parents(name)]
            if len(pouch) > 1:
                tables[..., 1:] = covariances[j, pouch]
            elif above:
                slopes = invert(covariances[np.ix_(above, above)]) @ covariances[above, j]
                for table, chosen in zip(tables, seeds, strict=True):
                    means = self._means[above] + spread[above] * chosen[:n_rows, above]
                    table[:, 0] -= means @ slopes
                tables[..., 1:-1] = slopes
                tables[..., -1] = covariances[j, j] - slopes @ covariances[above, j]
            else:
                tables[..., 1] = max(share * self._variances[j], self._least[j])
            begin = self._structure.offset(name)
            starts[:, begin : begin + tables[0].size] = tables.reshape(len(starts), -1)


def _spread(draws: Sequence[Draw]) -> FloatArray:
    """Choose rows that lie apart, ``(n_starts, n_states, n_columns)``, in deviations."""
    pools, numbers = (np.stack(parts) for parts in zip(*draws, strict=True))
    each, last = np.arange(len(pools)), pools.shape[1] - 1
    seeds = [pools[:, 0]]
    distance = ((pools - seeds[0][:, None]) ** 2).sum(axis=2)
    for u in numbers.T:
        below = np.cumsum(distance, axis=1)
        above = below <= (u * below[:, -1])[:, None]
        seeds.append(pools[each, np.minimum(above.sum(axis=1), last)])
        distance = np.minimum(distance, ((pools - seeds[-1][:, None]) ** 2).sum(axis=2))
    return np.stack(seeds, axis=1)


def base_distribution(structure: Structure, dataset: Dataset, name: str) -> FloatArray:
    """Frequencies of an observed variable, uniform for a latent or never observed one."""
    n_states = structure.shape(name)[-1]
    if name in structure.latents:
        return np.full(n_states, 1.0 / n_states)
    counts = np.asarray(dataset.counts(name), dtype=np.float64)
    total = counts.sum()
    return counts / total if total > 0 else np.full(n_states, 1.0 / n_states)
