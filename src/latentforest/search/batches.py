"""Many candidates of NI or NR in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TypeVar

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.kernels.bases import Task, Tasks
from latentforest.kernels.em import Limits
from latentforest.kernels.regions import run_tasks
from latentforest.kernels.types import FloatArray, LongArray

MOST_AT_ONCE = 32  # candidates

Group = TypeVar("Group", bound=Sized)


def split_work(groups: Sequence[Group]) -> list[list[Group]]:
    """Split groups into runs with about as many candidates as one call should fit.

    Few calls save time, but none should last so long that nothing is heard of it.
    """
    runs: list[list[Group]] = []
    n_members = MOST_AT_ONCE
    for group in groups:
        if n_members >= MOST_AT_ONCE:
            runs.append([])
            n_members = 0
        runs[-1].append(group)
        n_members += len(group)
    return runs


class Batch:
    """Groups of candidates, each of which is a task for the kernel.

    Parameters
    ----------
    groups
        The candidates.
    places
        Where the mark of each candidate is in its task.
    n_places
        How many places a task has.
    marks
        Of each candidate; see `kernels.bases.Task`.
    """

    def __init__(
        self,
        groups: Sequence[Sized],
        places: Sequence[int],
        n_places: int,
        marks: int | Sequence[int] = 1,
    ) -> None:
        rows = np.repeat(np.arange(len(groups)), list(map(len, groups)))
        self.where = rows, np.array(places, np.int64)
        self.marks = np.zeros((len(groups), n_places), np.int64)
        self.marks[self.where] = marks

    def run(
        self,
        messages: Messages,
        common: Task,
        arms: Sequence[int],
        ways: LongArray,
        n_values: int,
        limits: Limits,
    ) -> tuple[list[float], FloatArray]:
        """Fit all candidates; return the log-likelihood and the parameters of each.

        Parameters
        ----------
        messages
            Of the current model.
        common
            What the tasks have in common.
        arms
            One for each task.
        ways
            For each task.
        n_values
            Parameters of a candidate, at most.
        limits
            Of local EM.
        """
        tasks = Tasks(np.array(arms, np.int64), self.marks, ways, common)
        is_marked = self.marks > 0
        order = (np.cumsum(is_marked) - 1).reshape(is_marked.shape)[self.where]
        n_fits = int(np.count_nonzero(is_marked))
        scores, results = np.empty(n_fits), np.empty((n_fits, n_values))
        run_tasks(messages.arms, messages.values, tasks, limits, scores, results)
        return scores[order].tolist(), results[order]
