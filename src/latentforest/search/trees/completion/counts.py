"""Data completion: expected counts by which candidates are judged without EM.

Every row is completed by the posterior of its latent variables and missing values under the current
model (section 4 of Chen, Zhang and Wang 2008). The completed table is never written out: all scores
come from the joint counts of two or three variables. Where one of them is continuous, from sums of
its values: see ``gaussians`` for what takes the place of counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.special import xlogy

from latentforest.inference.completion import HubCompletion
from latentforest.inference.messages import Messages
from latentforest.inference.threads import map_threads
from latentforest.kernels.types import FloatArray
from latentforest.search.trees.completion.gaussians import (
    Measures,
    MixedCompletion,
    Pair,
    fit_gaussians,
)

# A hub, a neighbour of it, and a latent variable on the hub's side of the edge between the two.
Place = tuple[str, str, str]
Item = TypeVar("Item")
Result = TypeVar("Result")


class Completion:
    """Expected counts of completed data, for the variables that are asked for.

    Parameters
    ----------
    messages
        Of the current model.
    check
        Called now and then; may raise an exception to end the work.
    """

    def __init__(self, messages: Messages, check: Callable[[], None] = lambda: None) -> None:
        self.messages, self._check = messages, check
        self._hubs = HubCompletion(messages)
        self._completed: set[str] = set()
        self._dependence: dict[str, Measures] = {}
        self.continuous = frozenset(messages.network.structure.continuous)
        self.mixed = MixedCompletion(messages, self._hubs.masses)

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return self.messages.data.total_weight

    def count_pairs(self, wanted: Iterable[Place]) -> dict[Place, FloatArray]:
        """Count pairs of variables.

        Parameters
        ----------
        wanted
            For each pair: a hub, its neighbour, and a latent variable that is the hub itself or on
            its side of the edge. The neighbour, which is not continuous, and the latter are
            counted.

        Returns
        -------
        counts
            For each pair, ``(n_states of the neighbour, n_states of the latent variable)``.
        """
        shape, counts = self.messages.network.structure.shape, {}
        for places, tables in self._count(wanted):
            for place, table in zip(places, tables, strict=True):
                counts[place] = table[:, : shape(place[2])[-1]]
        return counts

    def fit_pairs(self, wanted: Iterable[Place]) -> dict[Place, float]:
        """Fit P(neighbour | latent variable) to completed data: the maximum log-likelihoods.

        Pairs are given as for ``count_pairs``; neighbours may be continuous.
        """
        fits: dict[Place, float] = {}
        counted, summed = self.split(wanted)
        for places, tables in self._count(counted):
            fits.update(zip(places, fit_conditional(tables).tolist(), strict=True))
        for place, sums in self.sum_pairs(summed).items():
            fits[place] = float(fit_gaussians(sums, self.mixed.column(place[1])).sum())
        return fits

    def sum_pairs(self, wanted: Iterable[Place]) -> dict[Place, FloatArray]:
        """Sum the powers 0, 1 and 2 of continuous neighbours given states of latent variables.

        Pairs are given as for ``count_pairs``. Values are in the units of ``gaussians``.

        Returns
        -------
        sums
            For each pair, ``(n_states of the latent variable, 3)``.
        """
        groups = _group(wanted)
        self._complete({hub for hub, _ in groups}.union(*groups.values()))
        found: dict[Place, FloatArray] = {}
        for part in self._run(self._sum_group, list(groups.items())):
            found.update(part)
        return found

    def measure_dependence(self, hubs: Iterable[str]) -> dict[str, Measures]:
        """Measure what hubs leave unexplained between their neighbours.

        Returns
        -------
        measures
            For each hub and pair of its neighbours, in their order: the G² statistic of their
            independence given the hub, and the Kullback-Leibler divergence from the model's joint
            distribution of the two to that of the completed data.
        """
        missing = [hub for hub in dict.fromkeys(hubs) if hub not in self._dependence]
        self._complete(missing)
        tasks = [(hub, task) for hub in missing for task in self._plan_measures(hub)]
        found: dict[str, Measures] = {hub: {} for hub in missing}
        results = self._run(lambda task: task(), [task for _, task in tasks])
        for (hub, _), measures in zip(tasks, results, strict=True):
            found[hub].update(measures)
        for hub, measures in found.items():
            pairs = itertools.combinations(self.messages.neighbours(hub), 2)
            self._dependence[hub] = {
                (z, x): measures.get((z, x)) or measures[x, z] for z, x in pairs
            }
        return self._dependence

    def _plan_measures(self, hub: str) -> Iterator[Callable[[], Measures]]:
        """List what has to be done to measure all pairs of a hub's neighbours."""
        around = self.messages.neighbours(hub)
        numbers = [z for z in around if z in self.continuous]
        others = [z for z in around if z not in self.continuous]
        yield from (partial(self._measure, hub, z) for z in others[:-1])
        if numbers:
            for name in numbers:
                self.mixed.column(name)  # once, not in every thread
            yield from (partial(self.mixed.measure_mixed, hub, z, numbers) for z in others)
            yield partial(self.mixed.measure_numbers, hub, numbers)

    def measure_pair(self, hub: str, left: str, right: str) -> tuple[float, float]:
        """Return what was measured of two neighbours of a hub."""
        between = self._dependence[hub]
        return between.get((left, right)) or between[right, left]

    def count_triples(self, hub: str, left: str) -> FloatArray:
        """Count a hub with one of its neighbours and each of those after it."""
        self._complete([hub])
        return self._hubs.count_triples(hub, left)

    def _run(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        for result in map_threads(function, items, self.messages.data.n_jobs):
            self._check()
            yield result

    def _complete(self, hubs: Iterable[str]) -> None:
        """Compute the posteriors that are not there yet."""
        missing = sorted(set(hubs) - self._completed)
        for _ in self._run(self._hubs.complete, missing):
            pass
        self._completed.update(missing)

    def split(self, wanted: Iterable[Place]) -> tuple[list[Place], list[Place]]:
        """Places of neighbours with states, and of continuous ones."""
        places = list(wanted)
        is_number = [place[1] in self.continuous for place in places]
        return (
            [place for place, number in zip(places, is_number, strict=True) if not number],
            [*itertools.compress(places, is_number)],
        )

    def _count(self, wanted: Iterable[Place]) -> Iterator[tuple[list[Place], FloatArray]]:
        """Count the pairs of one neighbour of a hub after another."""
        groups = _group(wanted)
        needed: set[str] = set()
        for (hub, neighbour), targets in groups.items():
            needed |= {neighbour} if neighbour in self.messages.number else {hub, *targets}
        self._complete(needed)
        return self._run(self._count_group, list(groups.items()))

    def _count_group(self, group: tuple[Pair, set[str]]) -> tuple[list[Place], FloatArray]:
        """Count one neighbour of a hub with some latent variables, padded to as many states."""
        (hub, neighbour), targets = group
        wanted, counts = self._hubs.count_walk(hub, neighbour, targets)
        return [(hub, neighbour, name) for name in wanted], counts

    def _sum_group(self, group: tuple[Pair, set[str]]) -> dict[Place, FloatArray]:
        """Sum the powers of a continuous neighbour of a hub given some latent variables."""
        (hub, name), targets = group
        column = self.mixed.column(name)
        sums = {(hub, name, z): self._hubs.masses(z).T @ column.powers for z in targets}
        if column.is_missing.any():
            masses = np.where(column.is_missing[:, None], self._hubs.masses(hub), 0.0)
            if hub in targets:
                sums[hub, name, hub] += masses.sum(axis=0)[:, None] * column.expected
            others, card = targets - {hub}, self.messages.card
            found = self._hubs.count_walk(hub, name, others, masses) if others else ([], ())
            for z, counts in zip(*found, strict=True):
                sums[hub, name, z] += counts[:, : card(z)].T @ column.expected
        return sums

    def _measure(self, hub: str, left: str) -> Measures:
        """Measure the dependence of a neighbour of a hub and each of those after it with states."""
        counts = self.count_triples(hub, left)
        after = itertools.dropwhile(lambda z: z != left, self.messages.neighbours(hub))
        rights = list(after)[1:]
        if not self.continuous.isdisjoint(rights):
            counts = counts[[right not in self.continuous for right in rights]]
            rights = [right for right in rights if right not in self.continuous]
        model = np.zeros(counts.shape[:3])
        weighted = self.messages.table(hub)[:, None] * self.messages.table(hub, left)
        for joint, right in zip(model, rights, strict=True):
            table = self.messages.table(hub, right)
            joint[:, : table.shape[1]] = weighted.T @ table
        g2, divergence = compute_g2(counts), compute_divergence(counts.sum(axis=3), model)
        measures = zip(rights, g2, divergence, strict=True)
        return {(left, right): (float(g), float(d)) for right, g, d in measures}


def _group(wanted: Iterable[Place]) -> dict[Pair, set[str]]:
    """Put the latent variables together that one neighbour of a hub is wanted with."""
    groups: dict[Pair, set[str]] = {}
    for hub, neighbour, target in wanted:
        groups.setdefault((hub, neighbour), set()).add(target)
    return groups


def compute_g2(counts: FloatArray) -> FloatArray:
    """Likelihood ratio statistic of the independence of two variables given a third.

    Parameters
    ----------
    counts
        ``(..., n_left, n_right, n_given)``.
    """
    both = xlogy(counts, counts).sum(axis=(-3, -2, -1))
    sides = sum(sum_of_logs(counts.sum(axis=axis), 2) for axis in (-3, -2))
    given = sum_of_logs(counts.sum(axis=(-3, -2)), 1)
    g2: FloatArray = 2.0 * (both - sides + given)
    return g2


def compute_divergence(counts: FloatArray, model: FloatArray) -> FloatArray:
    """Kullback-Leibler divergence of joint distributions of two variables.

    Parameters
    ----------
    counts
        ``(..., n_left, n_right)``; their shares are the first distribution.
    model
        The second distribution, of the same shape.
    """
    shares = counts / counts.sum(axis=(-2, -1), keepdims=True)
    ratio = np.divide(shares, model, out=np.ones_like(shares), where=shares > 0)
    divergence: FloatArray = xlogy(shares, ratio).sum(axis=(-2, -1))
    return divergence


def sum_of_logs(counts: FloatArray, n_axes: int) -> FloatArray:
    """Σ n log n over the last axes."""
    sums: FloatArray = xlogy(counts, counts).sum(axis=tuple(range(-n_axes, 0)))
    return sums


def fit_conditional(counts: FloatArray) -> FloatArray:
    """Maximum log-likelihood of P(row | column): Σ n log (n / column total), for each table."""
    return sum_of_logs(counts, 2) - sum_of_logs(counts.sum(axis=-2), 1)
