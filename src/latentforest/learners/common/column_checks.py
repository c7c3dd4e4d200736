"""What fitting says of columns: those without a density are left out, odd ones are named."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from latentforest.data.columns.findings import explain_left_out, warn_of
from latentforest.data.columns.suspicions import find_empty, find_suspicions
from latentforest.errors import DataError, DataWarning

if TYPE_CHECKING:
    from latentforest.data import Dataset


def check_columns(given: Dataset) -> tuple[Dataset, Dataset, dict[str, str]]:
    """Leave out what has no density, and warn of odd columns.

    Returns the table, the same without rows of weight zero, and why columns were left out, also
    those that were left out when the table was read.
    """
    has_weight = given.weights > 0
    counted = given if has_weight.all() else given.take(has_weight)
    empty = find_empty(counted)
    reasons = explain_left_out(empty)
    kept = [name for name in given.names if name not in reasons]
    if not kept:
        listed = ", ".join(f"{name!r} ({reason})" for name, reason in list(reasons.items())[:5])
        rows = "1 sample" if counted.n_rows == 1 else f"{counted.n_rows:,} samples"
        raise DataError(f"no column of the table has anything to model in {rows}: {listed}")
    if reasons:
        given, counted = given.select(kept), counted.select(kept)
    suspicions = find_suspicions(counted)
    if all(found.oddity == "constant" for found in suspicions) and len(suspicions) == len(kept):
        suspicions = []
    warn_of([*empty, *suspicions])
    _warn_of_small_weights(counted)
    return given, counted, {**given.left_out, **reasons}


def _warn_of_small_weights(dataset: Dataset) -> None:
    """Warn if BIC hardly counts parameters because the weights were divided by their sum, say."""
    if dataset.n_rows > 1 and dataset.total_weight < 2:
        warnings.warn(
            f"the weights of {dataset.n_rows:,} rows sum to {dataset.total_weight:g}, which counts "
            "as the number of observations N; the penalty of BIC, log(N) / 2 for each parameter, "
            "is next to nothing or less: give weights that sum to the number of observations",
            DataWarning,
            stacklevel=4,
        )


def list_features(given: Dataset, kept: Dataset) -> tuple[tuple[str, ...], list[int]]:
    """Names of all columns of the table that was passed, and the places of those modelled."""
    names = given.names
    if given.origin is not None and set(given.names) <= set(given.origin.names):
        selected = {*given.names, *given.origin.left_out}
        names = tuple(name for name in given.origin.names if name in selected)
    place = {name: i for i, name in enumerate(names)}
    return names, [place[name] for name in kept.names]


def take_features(X: Any, places: list[int] | None) -> Any:
    """Columns of an array that are modelled."""
    return X if places is None or len(places) == X.shape[1] else X[:, places]
