"""Fits of small regions around latent variables, all candidates of some tasks in one compiled call.

What the tasks say is told in ``kernels.regions.types``.
"""

from __future__ import annotations

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.kernels.loop import Limits
from latentforest.kernels.regions import mediator_starts
from latentforest.kernels.regions.tasks import find_local_steps, run_tasks
from latentforest.kernels.regions.types import LocalTasks
from latentforest.kernels.types import FloatArray, LongArray


def fit_locally(
    messages: Messages,
    tasks: LocalTasks,
    n_iterations: int,
    scores: FloatArray,
    results: FloatArray,
) -> None:
    """Fit all candidates of some tasks by plain EM; fill log-likelihoods and parameters.

    A log-likelihood is minus infinity where the fast arithmetic does not do.
    """
    limits = Limits(int(n_iterations), -np.inf, False, int(n_iterations))
    steps = find_local_steps(tasks.common.kind)
    run_tasks(messages.arms, messages.values, tasks, steps, limits, scores, results)


def start_mediators(
    messages: Messages, hub: str, card: int, n_random: int, noise: FloatArray, numbers: FloatArray
) -> tuple[FloatArray, LongArray]:
    """Make the starts of new latent variables beside a hub: see ``kernels.regions``."""
    number = messages.number[hub]
    return mediator_starts.start_mediators(
        messages.arms, messages.values, number, card, n_random, noise, numbers
    )
