"""What a benchmark comes to, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from latentforest.benchmarking.pair_tests import CAUTION
from latentforest.data.results.table import Table
from latentforest.scores.comparison_words import LEVEL, describe_number, describe_p

_SAME = 1e-6  # difference per row below which learners say the same


def describe_benchmark(
    table: Table, n_done: int, n_folds: int, n_pairs: int, interrupted: bool
) -> tuple[str, ...]:
    """Say which differences matter.

    Parameters
    ----------
    table
        The learners, the best first.
    n_done, n_folds
        Folds that are complete, and all.
    n_pairs
        Pairs of learners that were tested.
    interrupted
        Whether some fits were not done.
    """
    rows = list(table.rows())
    alive = [row for row in rows if row["error"] is None and not math.isnan(row["per_row"])]
    sentences = []
    if interrupted:
        sentences.append(f"Interrupted: {n_done} of {n_folds} folds are complete.")
    if alive:
        sentences += [*_describe_best(alive, n_done), *_describe_tests(n_done, n_pairs)]
    sentences += _describe_troubles(rows, n_done)
    return tuple(sentences)


def _describe_best(rows: Sequence[dict[str, Any]], n_done: int) -> Iterable[str]:
    best, *others = rows
    if not math.isfinite(best["per_row"]):
        yield "Every learner makes some of the held-out rows impossible, so none is the best."
        return
    yield (
        f"{best['learner']!r} predicts held-out rows best: {best['per_row']:,.4f} per row (mean "
        f"log-likelihood over {n_done} fold{'s' * (n_done != 1)})."
    )
    same = [row for row in others if max(-row["difference"], row["difference_error"]) < _SAME]
    worse = [row for row in others if row["p"] < LEVEL and row not in same]
    told = [row for row in others if row not in worse and row not in same]
    unclear = [row for row in told if math.isfinite(row["difference"])]
    if worse:
        yield f"It is better by more than chance than {_list(worse)}."
    if unclear:
        yield f"The rows do not tell it apart from {_list(unclear)}."
    if same:
        names = ", ".join(repr(row["learner"]) for row in same)
        yield f"The same but for rounding: {names}."


def _list(rows: Sequence[dict[str, Any]]) -> str:
    return "; ".join(
        f"{row['learner']!r} ({describe_number(-row['difference'])} per row, standard error "
        f"{describe_number(row['difference_error'])}, {describe_p(row['p'])})"
        for row in rows
    )


def _describe_tests(n_done: int, n_pairs: int) -> Iterable[str]:
    if n_pairs and n_done:
        yield (
            "Standard errors of differences are of paired rows, enlarged because the training rows "
            f"of the folds overlap (Nadeau and Bengio's correction, {CAUTION:g} times); p is after "
            f"Holm's correction for all {n_pairs} pair{'s' * (n_pairs != 1)} of learners."
        )


def _describe_troubles(rows: Sequence[dict[str, Any]], n_done: int) -> Iterable[str]:
    for row in rows:
        name = repr(row["learner"])
        if row["error"] is not None:
            yield f"{name} failed: {row['error']}"
        if row["impossible_rows"]:
            yield f"Under {name}, {row['impossible_rows']:,} of the held-out rows cannot occur."
        if row["ended_early"]:
            yield (
                f"{name} was ended by the time limit in {row['ended_early']} of {n_done + 1} fits: "
                "with more time it may be better."
            )
