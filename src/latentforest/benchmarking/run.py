"""`benchmark`: several learners on one table, by cross-validation."""

from __future__ import annotations

import numbers
import os
from typing import Any

from numpy.typing import ArrayLike

from latentforest.benchmarking.candidates import DEFAULT, read_candidates
from latentforest.benchmarking.fits import KIND, FitPlan, Fits
from latentforest.benchmarking.result import BenchmarkResult, summarize
from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.learners.common.progress import Progress, open_progress
from latentforest.scores.validation import split_weights
from latentforest.search.trees.journal import Journal


def benchmark(
    data: Any,
    learners: Any = DEFAULT,
    *,
    folds: int | ArrayLike = 10,
    random_state: int = 0,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> BenchmarkResult:
    """Compare learners on a table, by rows that they were not fitted to.

    Every learner is fitted to the whole table and once without each fold, of which the rows are
    then predicted. A learner that fails is a row with its error. On Ctrl-C the complete folds are
    returned.

    Parameters
    ----------
    data
        Dataset or anything that makes one.
    learners
        Names as on the command line, with settings: ``"east:mu=4, latent-class:n_states=2"``; a
        list of these and of learners; or learners by name. `Independence` is always there.
    folds
        A number, observations being dealt out at random; or the label of each row's fold.
    random_state
        Seed of the dealing, and of learners that have none.
    time_limit
        Seconds of each fit; then the best model so far counts.
    n_jobs
        Threads of each fit.
    progress
        As for learners.
    checkpoint
        File that keeps every fit.
    resume
        Take the fits that are in the checkpoint from there; those that failed are tried again, and
        there may be other learners than before.

    Examples
    --------
    >>> from latentforest import datasets
    >>> data = datasets.load("role-conflict")
    >>> result = benchmark(data, "latent-class:n_states=2, chow-liu", folds=5)
    >>> result.table["learner"]
    ['latent-class:n_states=2', 'chow-liu', 'independence']
    >>> round(result.table["per_row"][0], 2)
    -2.39
    """
    dataset = data if isinstance(data, Dataset) else Dataset.from_table(data)
    if not isinstance(random_state, numbers.Integral) or random_state < 0:
        raise ParameterError(f"random_state: got {random_state!r}, expected a number from 0")
    if time_limit is not None and not (isinstance(time_limit, numbers.Real) and time_limit > 0):
        raise ParameterError(f"time_limit must be positive seconds, got {time_limit!r}")
    candidates = read_candidates(learners, int(random_state))
    _, weights = split_weights(dataset, folds, int(random_state))
    plan = FitPlan(dataset, candidates, weights, int(random_state), time_limit, n_jobs)
    with (
        Journal(checkpoint, plan.header, resume, KIND) as journal,
        open_progress(progress) as say,
    ):
        fits = Fits(plan, journal, say)
        fits.run()
    if not fits.records and fits.was_interrupted:
        raise KeyboardInterrupt
    return summarize(candidates, weights, fits.records, fits.was_interrupted)
