"""What a benchmark found: one sorted table, and sentences on which differences matter."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.benchmarking.candidates import BASELINE, BenchmarkedLearner
from latentforest.benchmarking.fits import WHOLE, FitRecord
from latentforest.benchmarking.pair_tests import FoldParts, PairTests
from latentforest.benchmarking.words import describe_benchmark
from latentforest.data.results.table import Table
from latentforest.data.results.table_groups import TableGroup
from latentforest.kernels.types import FloatArray
from latentforest.scores.comparison_words import LEVEL
from latentforest.ties import sort_best_first
from latentforest.visible import make_visible

_TITLES = {"folds": "Folds"}


@dataclass(frozen=True)
class BenchmarkResult:
    """What `benchmark` found.

    Attributes
    ----------
    table
        One row for each learner, the best first: mean log-likelihood per held-out row with its
        standard error; the difference to the best learner with its standard error, and the p-value
        of that after Holm's correction for all pairs of learners; BIC, parameters and latent
        variables of the model of all rows; mean seconds of a fit; fits that the time limit ended;
        held-out rows that were impossible; why a learner failed.
    folds
        One row for each learner and fold: observations held out, their mean log-likelihood,
        seconds.
    notes
        Sentences that say which differences matter.
    n_folds
        Complete folds, which the table is of.
    interrupted
        Whether Ctrl-C ended it.
    """

    table: Table
    folds: Table
    notes: tuple[str, ...]
    n_folds: int
    interrupted: bool

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON knows."""
        return {
            "notes": list(self.notes),
            "n_folds": self.n_folds,
            "interrupted": self.interrupted,
            "learners": _list_plain(self.table),
            "folds": _list_plain(self.folds),
        }

    def to(self, target: str | os.PathLike[str]) -> str | None:
        """Write the sentences and tables to a file, or as text in a format, see `Table.to`.

        CSV, TSV and Parquet hold the table of learners only; a workbook has a sheet for the folds.
        """
        tables = {"learners": self.table, "folds": self.folds}
        shown = {name: table for name, table in tables.items() if len(table)}
        return TableGroup(shown, self.notes, _TITLES).to(target)

    def __str__(self) -> str:
        seldom = ("ended_early", "impossible_rows")  # errors are among the notes
        shown = {
            name: values
            for name, values in self.table.items()
            if name != "error" and (name not in seldom or any(values))
        }
        return "\n".join([str(Table(shown)), "", *map(make_visible, self.notes)])


def _list_plain(table: Table) -> list[dict[str, Any]]:
    plain = table.to_dict()
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


@dataclass(frozen=True)
class _Judged:
    """A learner with its records, and the scores of the rows in all complete folds."""

    name: str
    whole: FitRecord | None
    folds: Sequence[FitRecord]
    scores: FloatArray
    error: str | None


def summarize(
    candidates: Sequence[BenchmarkedLearner],
    weights: Sequence[FloatArray],
    records: Mapping[tuple[str, int], FitRecord],
    interrupted: bool,
) -> BenchmarkResult:
    """Make the tables of what was fitted.

    Parameters
    ----------
    candidates
        The learners in their order.
    weights
        Weights of the rows in each fold.
    records
        Of each learner (its identity) and fold.
    interrupted
        Whether some fits were not done.
    """
    failed = {each.identity for each in candidates if _find_error(each, records) is not None}
    alive = [each.identity for each in candidates if each.identity not in failed]
    done = [f for f in range(len(weights)) if alive and all((each, f) in records for each in alive)]
    judged = [_judge(each, records, done) for each in candidates]
    survivors = [each for each in judged if each.error is None and done]
    parts = FoldParts.from_weights(weights, done)
    rows, n_pairs, notes = _rank(survivors, parts)
    blank = dict.fromkeys(_NUMBERS, math.nan)
    rows += [
        {"learner": each.name} | blank | _describe_fits(each)
        for each in judged
        if each not in survivors
    ]
    table = Table.from_rows(rows)
    notes = (*describe_benchmark(table, len(done), len(weights), n_pairs, interrupted), *notes)
    return BenchmarkResult(table, _list_folds(survivors, parts), notes, len(done), interrupted)


_NUMBERS = ("per_row", "standard_error", "difference", "difference_error", "p")


def _rank(
    judged: Sequence[_Judged], parts: FoldParts
) -> tuple[list[dict[str, Any]], int, tuple[str, ...]]:
    """Rows of learners, the best first; the number of pairs; what is said of the baseline."""
    if not judged:
        return [], 0, ()
    tests = PairTests([each.scores for each in judged], parts)
    order = sort_best_first(tests.means)
    rows = []
    for place in order:
        found = tests.test(place, order[0])
        numbers = {
            "per_row": tests.means[place],
            "standard_error": tests.errors[place],
            "difference": found.mean if place != order[0] else 0.0,
            "difference_error": found.standard_error if place != order[0] else math.nan,
            "p": found.p if place != order[0] else math.nan,
        }
        rows.append({"learner": judged[place].name} | numbers | _describe_fits(judged[place]))
    return rows, tests.n_pairs, _describe_baseline([each.name for each in judged], tests)


def _describe_baseline(names: Sequence[str], tests: PairTests) -> tuple[str, ...]:
    """Name the learners that are not better than the columns one by one."""
    base = next((i for i, name in enumerate(names) if name.lower() == BASELINE), None)
    if base is None:
        return ()
    useless = [
        repr(name)
        for place, name in enumerate(names)
        if place != base
        and not (tests.means[place] > tests.means[base] and tests.test(place, base).p < LEVEL)
    ]
    if not useless:
        return ()
    return (f"Not shown to be better than the columns one by one: {', '.join(useless)}.",)


def _find_error(
    candidate: BenchmarkedLearner, records: Mapping[tuple[str, int], FitRecord]
) -> FitRecord | None:
    return next(
        (
            record
            for (learner, _), record in records.items()
            if learner == candidate.identity and record.error is not None
        ),
        None,
    )


def _judge(
    candidate: BenchmarkedLearner, records: Mapping[tuple[str, int], FitRecord], done: Sequence[int]
) -> _Judged:
    identity, failure = candidate.identity, _find_error(candidate, records)
    error = None
    if failure is not None:
        where = "" if failure.fold == WHOLE else f"without fold {failure.fold + 1}: "
        error = f"{where}{failure.error}"
    folds = [records[identity, fold] for fold in done if (identity, fold) in records]
    scores = [-math.inf if score is None else score for each in folds for score in each.scores]
    return _Judged(candidate.name, records.get((identity, WHOLE)), folds, np.array(scores), error)


def _describe_fits(judged: _Judged) -> dict[str, Any]:
    whole = judged.whole
    has_model = whole is not None and whole.error is None
    fits = [*judged.folds, *([whole] if whole is not None and has_model else [])]
    return {
        "bic": whole.bic if whole is not None and has_model else math.nan,
        "n_parameters": whole.n_parameters if whole is not None and has_model else None,
        "n_latents": whole.n_latents if whole is not None and has_model else None,
        "seconds": float(np.mean([fit.seconds for fit in fits])) if fits else math.nan,
        "ended_early": sum(fit.ended_early for fit in fits),
        "impossible_rows": int(np.count_nonzero(np.isneginf(judged.scores))),
        "error": judged.error,
    }


def _list_folds(judged: Sequence[_Judged], parts: FoldParts) -> Table:
    return Table.from_rows(
        [
            {
                "learner": each.name,
                "fold": record.fold + 1,
                "observations": size,
                "per_row": mean,
                "seconds": record.seconds,
            }
            for each in judged
            for record, size, mean in zip(
                each.folds, parts.sizes.tolist(), parts.average(each.scores).tolist(), strict=True
            )
        ]
    )
