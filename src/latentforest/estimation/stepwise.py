"""Stepwise EM: parameters move after each block of rows, not after all of them.

Expected counts are a running mean: after block t, with step (t + 2)^-α, the old ones fade and those
of the block come in (Sato and Ishii 2000; Cappé and Moulines 2009). On large tables one pass over
the rows does the work of many iterations of EM.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.em import LOG_IMPOSSIBLE, FitResult, Monitor, Report, free_families
from latentforest.inference.forest import Forest
from latentforest.kernels.em import log_prior, update
from latentforest.kernels.types import FloatArray


@dataclass(frozen=True)
class StepwiseSettings:
    """How parameters move.

    Parameters
    ----------
    n_passes
        Passes over all blocks, after a first one that only counts.
    power
        α above: between a half and one; the larger, the sooner new blocks count little.
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
    """Fit the free tables of a forest from one start, block after block.

    The best parameters at the end of a pass are returned, so the result is at least as good as
    an iteration of EM. Blocks are those of ``forest.data``, whose rows should be in random order.

    Parameters
    ----------
    forest
        The structure over the data.
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
    settings, n_blocks = settings or StepwiseSettings(), len(forest.plans)
    prior = np.zeros(forest.n_values) if prior is None else prior
    families = free_families(forest)
    theta, counts = np.array(start, dtype=np.float64), np.empty(forest.n_values)
    value, lost = forest.expected_counts(theta, counts)
    trajectory = [_judge(value, lost, log_prior(families, prior, theta))]
    best, step, monitor = (trajectory[0], theta.copy()), 0, Monitor()
    update(families, counts, prior, theta)
    try:
        for _ in range(settings.n_passes):
            for b in range(n_blocks):
                here, share = np.empty(forest.n_values), forest.share(b)
                forest.expected_counts_of(b, theta, here)
                rate = (step + 2.0) ** -settings.power
                counts += rate * (here / share - counts)
                update(families, counts, prior, theta)
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
    return FitResult(theta, objective, -np.inf if lost > 0 else value, monitor)


def _judge(log_likelihood: float, lost: float, of_prior: float) -> float:
    return float(log_likelihood + lost * LOG_IMPOSSIBLE + of_prior)
