"""Stepwise EM: parameters move after each chunk of rows, not after all of them.

Expected counts are a running mean: after chunk t, with step (t + 2)^-α, the old ones fade and those
of the chunk come in (Sato and Ishii 2000; Cappé and Moulines 2009). On large tables one pass over
the rows does the work of many iterations of EM. The sums of a Gaussian are taken around its current
mean, so the running ones are carried over to the new mean and variance after every step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from latentforest.errors import ModelError, ParameterError
from latentforest.estimation.block_families import list_blocks, list_tied
from latentforest.estimation.em import (
    LOG_IMPOSSIBLE,
    FitResult,
    Monitor,
    Report,
)
from latentforest.estimation.families import extend_prior, find_bounded, free_families
from latentforest.inference.forest import Forest
from latentforest.inference.plan import place_sums
from latentforest.kernels.forest.em import log_prior, update
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.layout import Families
from latentforest.kernels.types import FloatArray, LongArray


@dataclass(frozen=True)
class StepwiseSettings:
    """How parameters move.

    Parameters
    ----------
    n_passes
        Passes over all chunks, after a first one that only counts.
    power
        α above: between a half and one; the larger, the sooner new chunks count little.
    """

    n_passes: int = 5
    power: float = 0.75

    def __post_init__(self) -> None:
        if not self.n_passes >= 1:
            raise ParameterError(f"n_passes must be at least 1, got {self.n_passes!r}")
        if not 0.5 < self.power <= 1:
            raise ParameterError(f"power must be above 0.5 and at most 1, got {self.power!r}")


def fit_stepwise(
    forest: Forest,
    start: FloatArray,
    prior: FloatArray | None = None,
    settings: StepwiseSettings | None = None,
    report: Report | None = None,
    deadline: float | None = None,
) -> FitResult:
    """Fit the free tables of a forest from one start, chunk after chunk.

    The best parameters at the end of a pass are returned, so the result is at least as good as
    an iteration of EM. Chunks are those of ``forest.data``, whose rows should be in random order.

    Parameters
    ----------
    forest
        The structure over the data, without pouches, lines or tied variances.
    start
        Parameter vector.
    prior
        Pseudo-counts; default none.
    settings
        How parameters move.
    report
        Called after each pass with the monitor so far.
    deadline
        Value of ``time.monotonic()`` at which to stop and return the best so far.
    """
    settings, n_chunks = settings or StepwiseSettings(), len(forest.plans)
    prior = extend_prior(forest, np.zeros(forest.n_values) if prior is None else prior)
    families, gaussians = free_families(forest), _Gaussians(forest)
    theta, counts = np.array(start, dtype=np.float64), np.empty(forest.n_counts)
    value, lost = forest.expected_counts(theta, counts)
    trajectory = [_judge(value, lost, log_prior(families, prior, theta))]
    best, step, monitor = (trajectory[0], theta.copy()), 0, Monitor()
    gaussians.update(families, counts, prior, theta)
    try:
        for _ in range(settings.n_passes):
            for b in range(n_chunks):
                here, share = np.empty(forest.n_counts), forest.share(b)
                forest.expected_counts_of(b, theta, here)
                rate = (step + 2.0) ** -settings.power
                counts += rate * (here / share - counts)
                gaussians.update(families, counts, prior, theta)
                step += 1
            value, lost = forest.log_likelihood(theta)
            trajectory.append(_judge(value, lost, log_prior(families, prior, theta)))
            if trajectory[-1] > best[0]:
                best = trajectory[-1], theta.copy()
            monitor.trajectory = np.maximum.accumulate(trajectory)
            if report is not None:
                report(monitor)
            if deadline is not None and time.monotonic() > deadline:
                break
    except KeyboardInterrupt:
        monitor.was_interrupted = True
    objective, theta = best
    value, lost = forest.log_likelihood(theta)
    monitor.trajectory = np.maximum.accumulate(trajectory)
    monitor.reason = "it was interrupted" if monitor.was_interrupted else "all passes were made"
    monitor.converged = not monitor.was_interrupted
    monitor.impossible_weight = lost
    log_likelihood = -np.inf if lost > 0 else value
    return FitResult(theta, objective, log_likelihood, monitor, find_bounded(forest, theta))


class _Gaussians:
    """Updates parameters and keeps the sums of Gaussians around the current means."""

    def __init__(self, forest: Forest) -> None:
        if list_blocks(forest) or list_tied(forest):
            raise ModelError("stepwise EM knows Gaussians with variances of their own only")
        structure, (sums, _) = forest.structure, place_sums(forest.structure)
        means, places = list[int](), list[int]()
        for name in structure.continuous:
            n_states = structure.table_view(np.zeros(forest.n_values), name).size // 2
            means += [structure.offset(name) + 2 * k for k in range(n_states)]
            places += [sums[name] + N_ROWS * k for k in range(n_states)]
        self.means: LongArray = np.array(means, np.int64)
        self.sums: LongArray = np.array(places, np.int64)

    def update(
        self, families: Families, counts: FloatArray, prior: FloatArray, theta: FloatArray
    ) -> None:
        """Make new parameters of counts and carry the sums over to them.

        A value y in units of the old deviation is ratio · y + step in units of the new one.
        """
        mean, variance = theta[self.means], theta[self.means + 1]
        update(families, prior, counts, theta)
        ratio = np.sqrt(variance / theta[self.means + 1])
        step = (mean - theta[self.means]) / np.sqrt(2.0 * theta[self.means + 1])
        weight, first, second = (counts[self.sums + i] for i in range(N_ROWS))
        counts[self.sums + 1] = ratio * first + step * weight
        counts[self.sums + 2] = ratio**2 * second + 2.0 * ratio * step * first + step**2 * weight


def _judge(log_likelihood: float, lost: float, of_prior: float) -> float:
    return float(log_likelihood + lost * LOG_IMPOSSIBLE + of_prior)
