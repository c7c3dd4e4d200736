"""Annealed importance sampling (Neal 2001): the evidence itself, but for the noise of sampling.

The way from the prior to the posterior adds one observation after another. A chain multiplies the
probabilities of each given the completed ones before; after some of them it draws all completions
again. The parameters are integrated out throughout. Chains go side by side, and when few of them
carry the weight, they are drawn again in proportion to it (Del Moral, Doucet and Jasra 2006). What
a run of such chains gives is unbiased for P(D); several runs tell how precise it is.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from latentforest.errors import DataError, ParameterError
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.annealing import Chain, Tables, anneal
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.structure import Structure
from latentforest.scores.evidence.closed_form import integrate
from latentforest.scores.evidence.maximum import Question
from latentforest.scores.evidence.units import Openings, find_openings

POWER = 1.5  # of the ladder of stages: above one, most sweeps are where there are few observations
FEWEST, MOST = 16, 128  # chains of a run, by default
COSTLY = 3e7  # cells that the chains of a run may look at, likewise
SHARE = 0.5  # of the chains that must carry the weight, or they are drawn again


class AnnealingEffort(NamedTuple):
    """Independent runs, chains in each (none: as many as are cheap), their sweeps, threads."""

    n_runs: int = 8
    n_chains: int | None = None
    n_sweeps: int = 50
    n_jobs: int | None = None


class Estimate(NamedTuple):
    """Mean of what the runs give, as a logarithm, and how sure it is."""

    value: float
    standard_error: float
    effective_sample_size: float
    log_weights: FloatArray


def estimate(question: Question, effort: AnnealingEffort) -> Estimate:
    """Run the chains; when time is up or Ctrl-C is pressed, runs that are done count."""
    structure, prior = question.structure, question.prior
    openings, tables = _read_openings(question), lay_out(structure, prior)
    lot, found = count_threads(effort.n_jobs), list[float]()

    def run(number: int) -> float:
        generator = np.random.default_rng([question.seed, number])
        return run_chains(tables, openings, effort, generator)

    try:
        while len(found) < effort.n_runs and not (found and _is_late(question)):
            numbers = range(len(found), min(len(found) + lot, effort.n_runs))
            found += map_threads(run, numbers, lot)
    except KeyboardInterrupt:
        if not found:
            raise
    return summarize(integrate(structure, prior, openings.base) + np.array(found))


def _read_openings(question: Question) -> Openings:
    """List what there is to fill in; refuse what cannot be done."""
    weights = question.table.weights
    if np.any(weights != np.floor(weights)):
        raise DataError("annealing needs whole weights: each row stands for so many observations")
    openings = find_openings(question.structure, question.table)
    if openings is None:
        raise ParameterError(
            "annealing lists all completions of the cells of a row that depend on each other, and "
            "there are too many; the methods 'cs', 'laplace' and 'elbo' take such networks"
        )
    return openings


def run_chains(
    tables: Tables, openings: Openings, effort: AnnealingEffort, generator: np.random.Generator
) -> float:
    """Return the log-weight of one run, beyond what needs no completion."""
    copies = openings.copies.astype(np.int64)
    order = generator.permutation(np.repeat(np.arange(len(copies)), copies))
    n_chains = effort.n_chains or count_chains(openings, effort.n_sweeps)
    chains, weights, total, begin = _begin(tables, openings, n_chains), np.zeros(n_chains), 0.0, 0
    for end in find_sizes(len(order), effort.n_sweeps):
        anneal(tables, openings.units, order[begin:end], begin, generator, chains, weights)
        begin = end
        found = summarize(weights)
        if found.effective_sample_size < SHARE * len(weights):
            total += found.value
            kept = _draw_again(weights, generator)
            for part in chains:
                part[:] = part[kept]
            weights[:] = 0.0
    return total + summarize(weights).value


def count_chains(openings: Openings, n_sweeps: int) -> int:
    """Return how many chains of a run are worth their time: many where a sweep is cheap."""
    units = openings.units
    additions = float(np.sum(openings.copies * units.n_completions * units.width))
    cost = additions + len(units.cells) * n_sweeps / (1 + POWER)
    return int(np.clip(COSTLY / max(cost, 1.0), FEWEST, MOST))


def _begin(tables: Tables, openings: Openings, n_chains: int) -> Chain:
    """Chains without observations."""
    n_taken = int(openings.units.n_completions.sum())
    return Chain(
        np.zeros((n_chains, n_taken), np.int64),
        np.tile(openings.base, (n_chains, 1)),
        np.zeros((n_chains, len(tables.begin) - 1)),
        np.zeros((n_chains, len(tables.alpha))),
    )


def _draw_again(log_weights: FloatArray, generator: np.random.Generator) -> LongArray:
    """Draw chains in proportion to their weights, each as often as expected or once more."""
    n = len(log_weights)
    below = np.cumsum(np.exp(log_weights - logsumexp(log_weights)))
    at = (np.arange(n) + generator.random()) / n
    return np.minimum(np.searchsorted(below, at), n - 1)


def find_sizes(n: int, n_sweeps: int) -> LongArray:
    """How many observations there are after each stage; there is nothing to sweep in the first."""
    return np.rint(np.linspace(0.0, 1.0, n_sweeps + 2)[1:] ** POWER * n).astype(np.int64)


def lay_out(structure: Structure, prior: FloatArray) -> Tables:
    """List the rows of all tables."""
    begin = [0]
    for shape in structure.shapes.values():
        begin += [begin[-1] + shape[-1] * (r + 1) for r in range(math.prod(shape[:-1]))]
    sizes = np.diff(begin)
    return Tables(prior, np.repeat(np.arange(len(sizes)), sizes), np.array(begin, np.int64))


def summarize(log_weights: FloatArray) -> Estimate:
    """Average weights; the error of the logarithm is that of the mean, divided by the mean."""
    n = len(log_weights)
    value = float(logsumexp(log_weights)) - float(np.log(n))
    shares = np.exp(log_weights - logsumexp(log_weights))
    error = float(np.std(shares * n, ddof=1)) / np.sqrt(n) if n > 1 else np.nan
    return Estimate(value, float(error), float(1.0 / np.sum(shares**2)), log_weights)


def _is_late(question: Question) -> bool:
    return question.deadline is not None and time.monotonic() > question.deadline
