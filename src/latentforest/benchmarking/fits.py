"""The fits of a benchmark: every learner to the whole table and without each fold."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from latentforest.benchmarking.candidates import BenchmarkedLearner
from latentforest.data.dataset import Dataset
from latentforest.errors import LatentForestError, LatentForestWarning
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.progress import Say
from latentforest.search.trees.journal import Journal, fingerprint

WHOLE = -1  # in place of a fold: the fit to all rows
KIND = "benchmark"


@dataclass(frozen=True)
class FitRecord:
    """What came of one fit.

    Attributes
    ----------
    learner
        Its identity.
    fold
        The fold that was held out; `WHOLE` if none was.
    seconds
        Time of the fit.
    scores
        Log-likelihood of each row that was held out; None for one that is impossible.
    bic, n_parameters, n_latents
        Of the model.
    ended_early
        Whether the time limit ended it.
    error
        Why there is no model.
    """

    learner: str
    fold: int
    seconds: float = 0.0
    scores: Sequence[float | None] = ()
    bic: float | None = None
    n_parameters: int = 0
    n_latents: int = 0
    ended_early: bool = False
    error: str | None = None


@dataclass(frozen=True)
class FitPlan:
    """What is to be fitted.

    Parameters
    ----------
    data
        The table.
    candidates
        The learners, the baseline first.
    folds
        Weights of the rows in each fold.
    seed
        Of the folds, and of learners that had none.
    time_limit
        Seconds of each fit.
    n_jobs
        Threads of each fit.
    """

    data: Dataset
    candidates: Sequence[BenchmarkedLearner]
    folds: Sequence[FloatArray]
    seed: int
    time_limit: float | None
    n_jobs: int | None

    @property
    def header(self) -> dict[str, Any]:
        """What a checkpoint must have in common with this plan: not the learners."""
        split = hashlib.sha256(b"".join(np.ascontiguousarray(w).tobytes() for w in self.folds))
        return {
            "data": fingerprint(self.data),
            "folds": len(self.folds),
            "seed": self.seed,
            "split": split.hexdigest()[:16],
            "time_limit": self.time_limit,
        }


class Fits:
    """All fits of a plan, done one after another; those in the checkpoint are not done again."""

    def __init__(self, plan: FitPlan, journal: Journal, say: Say) -> None:
        self._plan, self._journal, self._say = plan, journal, say
        self.records: dict[tuple[str, int], FitRecord] = {}
        self.was_interrupted = False
        known = [FitRecord(**_drop_step(step)) for step in journal.steps]
        self._known = {(each.learner, each.fold): each for each in known if each.error is None}
        self._n_written = len(known)

    def run(self) -> None:
        """Fit the whole table first, then fold by fold, so that complete folds come early."""
        folds = (WHOLE, *range(len(self._plan.folds)))
        tasks = [(fold, each) for fold in folds for each in self._plan.candidates]
        try:
            for number, (fold, candidate) in enumerate(tasks, 1):
                if not self._has_failed(candidate):
                    self._do(fold, candidate, f"fit {number} of {len(tasks)}")
        except KeyboardInterrupt:
            self.was_interrupted = True

    def _has_failed(self, candidate: BenchmarkedLearner) -> bool:
        return any(
            record.error is not None
            for (learner, _), record in self.records.items()
            if learner == candidate.identity
        )

    def _do(self, fold: int, candidate: BenchmarkedLearner, place: str) -> None:
        key = (candidate.identity, fold)
        if key in self._known:
            self.records[key] = self._known[key]
            return
        held = "all rows" if fold == WHOLE else f"fold {fold + 1}"
        task = f"benchmark: {place}, {candidate.name}, {held}"
        self._say(task)

        def tell(message: str) -> None:
            self._say(f"{task}: {message}")

        record = _fit(self._plan, candidate, fold, tell)
        self.records[key] = record
        self._journal.write({"step": self._n_written, **asdict(record)})
        self._n_written += 1


def _drop_step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in step.items() if key in FitRecord.__dataclass_fields__}


def _fit(plan: FitPlan, candidate: BenchmarkedLearner, fold: int, say: Say) -> FitRecord:
    """Fit a copy of a learner, and judge the rows that were held out."""
    from sklearn.base import clone

    learner = clone(candidate.learner)
    given = {"progress": say, "n_jobs": plan.n_jobs, "time_limit": plan.time_limit}
    known = learner.get_params(deep=False)
    learner.set_params(**{k: v for k, v in given.items() if k in known and v is not None})
    is_first = fold == WHOLE and candidate is plan.candidates[0]
    began = time.monotonic()
    try:
        with _hush(not is_first):
            return _judge(plan, candidate.identity, fold, learner, began)
    except (LatentForestError, ValueError, ArithmeticError, MemoryError) as error:
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, LatentForestError):
            text = str(error)
        return FitRecord(candidate.identity, fold, time.monotonic() - began, error=text)


@contextmanager
def _hush(is_known: bool) -> Iterator[None]:
    """Keep warnings of the table to the first fit, and those of other packages to themselves."""
    with warnings.catch_warnings():
        if is_known:
            warnings.simplefilter("ignore", LatentForestWarning)
        yield


def _judge(plan: FitPlan, identity: str, fold: int, learner: Any, began: float) -> FitRecord:
    data = plan.data
    held = np.zeros(data.n_rows) if fold == WHOLE else plan.folds[fold]
    left = data.weights - held
    train = data if fold == WHOLE else data.with_weights(left).take(left > 0)
    learner.fit(train)
    if getattr(learner, "interrupted_", False):
        raise KeyboardInterrupt
    seconds = time.monotonic() - began
    scores: list[float | None] = []
    if fold != WHOLE:
        test = data.with_weights(held).take(held > 0)
        found = learner.score_samples(test).tolist()
        scores = [None if math.isinf(score) else score for score in found]
    return FitRecord(
        identity,
        fold,
        seconds,
        scores,
        float(learner.bic_),
        int(learner.n_parameters_),
        len(learner.network_.latents),
        _has_ended_early(learner, seconds),
    )


def _has_ended_early(learner: Any, seconds: float) -> bool:
    stopped = getattr(learner, "stopped_", None)
    if stopped is not None:
        return "time limit" in stopped
    return learner.time_limit is not None and seconds >= learner.time_limit
