"""Local fits of candidates: what one compiled call does, and what comes of it.

Many calls are prepared first, then made, then read: code that runs between two long calls finds its
memory gone from the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from functools import cached_property
from typing import TypeVar

import numpy as np

from latentforest.estimation.local_fits import fit_locally
from latentforest.inference.messages import Messages
from latentforest.kernels.regions.types import LocalTasks
from latentforest.kernels.types import LongArray
from latentforest.search.trees.candidate import Candidate, Proposal

MOST_AT_ONCE = 32  # candidates
MOST_ROWS = 200_000  # or so many rows times candidates
BATCH_BYTES = 1 << 26  # of calls that are prepared before they are made

Group = TypeVar("Group", bound=Sized)


class LocalFits:
    """Candidates that one call fits; once that is done, the proposals.

    Parameters
    ----------
    messages
        Of the current model.
    n_iterations
        Of local EM.
    candidates
        What is fitted.
    tasks
        The same for the kernel.
    n_values
        Parameters of a candidate's region, at most.
    n_before
        Parameters that come before the free tables of each candidate.
    order
        Number of each candidate among the marks of the tasks, by default their order.
    """

    def __init__(
        self,
        messages: Messages,
        n_iterations: int,
        candidates: Sequence[Candidate],
        tasks: LocalTasks,
        n_values: int,
        n_before: Sequence[int],
        order: LongArray | None = None,
    ) -> None:
        self.messages, self.n_iterations, self.tasks = messages, n_iterations, tasks
        self.candidates, self.n_before, self.order = candidates, n_before, order
        self.rest: Callable[[str], float] | None = None
        n_fits = len(candidates) if order is None else int(order.max()) + 1
        self.scores, self.results = np.empty(n_fits), np.empty((n_fits, n_values))

    def run(self) -> None:
        """Make the call."""
        fit_locally(self.messages, self.tasks, self.n_iterations, self.scores, self.results)

    @property
    def size(self) -> int:
        """Bytes that the call needs, about."""
        common = self.tasks.common
        return common.region.codes.nbytes + common.starts.nbytes + self.results.nbytes

    @cached_property
    def proposals(self) -> list[Proposal]:
        """What was found. ``rest`` says what other trees than that of a variable add."""
        scores, results = self.scores.tolist(), self.results
        if self.order is not None:
            scores, results = self.scores[self.order].tolist(), results[self.order]
        if self.rest is not None:
            roots = [candidate.root for candidate in self.candidates]
            scores = [score + self.rest(root) for score, root in zip(scores, roots, strict=True)]
        found = zip(self.candidates, scores, results, self.n_before, strict=True)
        return [Proposal(c, score, result[before:]) for c, score, result, before in found]

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.proposals)


def batch(fits: Iterable[LocalFits]) -> Iterator[list[LocalFits]]:
    """Yield fits in batches of about so many bytes as may be needed at a time."""
    here, size = list[LocalFits](), 0
    for fit in fits:
        here.append(fit)
        size += fit.size
        if size >= BATCH_BYTES:
            yield here
            here, size = [], 0
    if here:
        yield here


def split_work(groups: Sequence[Group], n_rows: int) -> list[list[Group]]:
    """Split groups into runs with about as many candidates as one call should fit.

    Few calls save time, but nothing is heard of a call until it ends. Groups stay whole.
    """
    runs: list[list[Group]] = []
    n_members = most = min(MOST_AT_ONCE, MOST_ROWS // n_rows + 1)
    for group in groups:
        if n_members >= most:
            runs.append([])
            n_members = 0
        runs[-1].append(group)
        n_members += len(group)
    return runs


def mark(
    groups: Sequence[Sized], places: Sequence[int], n_places: int, values: int | Sequence[int] = 1
) -> tuple[LongArray, LongArray]:
    """Mark candidates for the kernel; each group is a task.

    Parameters
    ----------
    groups
        The candidates.
    places
        Where the mark of each candidate is in its task.
    n_places
        How many places a task has.
    values
        The marks; see `kernels.bases.Task`.

    Returns
    -------
    tuple of ndarray
        The marks of the tasks, and the number of each candidate among them.
    """
    rows = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    marks = np.zeros((len(groups), n_places), np.int64)
    marks[rows, places] = values
    numbers = np.cumsum(marks > 0).reshape(marks.shape) - 1
    return marks, numbers[rows, places]
