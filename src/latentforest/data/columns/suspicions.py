"""Columns of an encoded table that may not be what a model is about: weights, free text, ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.column_relations import find_relations
from latentforest.data.columns.date_texts import are_compact_dates
from latentforest.data.columns.findings import Finding
from latentforest.data.variable import Variable

if TYPE_CHECKING:
    from latentforest.data.dataset import Dataset

_WEIGHT = re.compile(
    r"(?:[paifw]?_?(?:weights?|wts?|wgts?|wght)|.*[_.](?:wts?|wgts?|wght)"
    r"|(?:sampl(?:e|ing)|survey|design|post(?:strat)?|final|person|household|case|row|analysis"
    r"|population|probability|frequency|freq)[_. ]?(?:weights?|wts?|wgts?))",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?:id|ids|uid|uuid|guid|index|key|row_?(?:id|names?|num(?:ber)?)|unnamed: ?0"
    r"|(?:case|resp(?:ondent)?|subj(?:ect)?|patient|person|record|sample|participant|customer|user"
    r"|household|student|serial)[_. ]?(?:id|no|nr|num(?:ber)?|key|code)|caseid|seqn|.+[_. ]id)",
    re.IGNORECASE,
)
_EXACT = 2**53  # beyond this, distinct whole numbers may be the same float
_LEAST_ROWS = 50
_LONG_TEXT = 25  # letters on average
_BLANK = 0.8  # share of the rows
_ID_DIGITS = 6


def find_empty(data: Dataset) -> list[Finding]:
    """Columns without a value, and columns of one number, which have no density."""
    found = []
    for variable, column in zip(data.variables, data.columns, strict=True):
        if variable.is_categorical:
            if not (column >= 0).any():
                found.append(Finding("no value", variable.name))
            continue
        least, most = np.fmin.reduce(column), np.fmax.reduce(column)
        if np.isnan(least):
            found.append(Finding("no value", variable.name))
        elif least == most:
            kind = "rounded number" if abs(least) > _EXACT else "constant number"
            found.append(Finding(kind, variable.name, f"{least:.10g}"))
    return found


def find_suspicions(data: Dataset) -> list[Finding]:
    """All that is odd about columns which are modelled."""
    explicit = frozenset(data.names) if data.origin is None else data.origin.explicit
    found = []
    for variable, column in zip(data.variables, data.columns, strict=True):
        found += _find_always(data, variable, column)
        if variable.name not in explicit:
            found += _find_unasked(data, variable, column)
    return [*found, *find_relations(data)]


def _find_always(data: Dataset, variable: Variable, column: NDArray[Any]) -> list[Finding]:
    if variable.states is None:
        return []
    if np.count_nonzero(np.bincount(column[column >= 0])) == 1:
        return [Finding("constant", variable.name)]
    if len(variable.states) > max(_LEAST_ROWS, data.n_rows / 2):
        return [Finding("many states", variable.name, f"{len(variable.states):,} states")]
    return []


def _find_unasked(data: Dataset, variable: Variable, column: NDArray[Any]) -> list[Finding]:
    """What is odd about a column whose kind nobody stated; one oddity is enough."""
    if variable.states is None:
        return _find_odd_numbers(variable.name, column)
    name, n_states = variable.name, len(variable.states)
    if n_states > max(_LEAST_ROWS, data.n_rows / 2):
        return []  # has been named
    if n_states > 20 and _IDENTIFIER.fullmatch(name):
        return [Finding("identifiers", name, f"{n_states:,} states")]
    length = sum(map(len, variable.states)) / n_states
    if n_states > max(20, data.n_rows / 10) and length > _LONG_TEXT:
        return [Finding("free text", name, f"{n_states:,} texts")]
    blank = float(np.count_nonzero(column < 0)) / len(column)
    if blank > _BLANK and n_states > 10 and data.n_rows >= _LEAST_ROWS:
        return [Finding("mostly blank", name, f"{blank:.0%} blank, {n_states:,} texts")]
    return []


def _find_odd_numbers(name: str, column: NDArray[Any]) -> list[Finding]:
    values = column[~np.isnan(column)]
    is_long = len(values) > _LEAST_ROWS
    is_whole = bool(np.all(values == np.floor(values)))
    if _WEIGHT.fullmatch(name) and len(values) and values.min() >= 0:
        return [Finding("weights", name)]
    if not is_long or not is_whole:
        return []
    if values.min() > 1800_00_00 and are_compact_dates(values[:200].tolist()):
        return [Finding("compact dates", name, f"such as {values[0]:.0f}")]
    if _counts_cases(values):
        return [Finding("row numbers", name, f"such as {values[0]:.0f}")]
    if _IDENTIFIER.fullmatch(name):
        return [Finding("identifiers", name, f"such as {values[0]:.0f}")]
    return []


def _counts_cases(values: NDArray[Any]) -> bool:
    """Whether whole numbers are all distinct where measurements would have repeated some.

    They are a number of cases if they rise from row to row, if they leave few gaps, or if all
    have the same number of digits, six or more.
    """
    ordered = np.sort(values)
    steps = np.diff(ordered)
    if (steps == 0).any():
        return False
    changes = np.diff(values)
    if (changes > 0).all() or (changes < 0).all():
        return True
    span = float(ordered[-1] - ordered[0]) + 1.0
    if len(values) ** 2 / (2.0 * span) > 10.0:
        return True
    digits = {len(f"{x:.0f}") for x in (ordered[0], ordered[-1])}
    is_round = float(np.mean(values % 10 == 0)) > 0.3
    return ordered[0] > 0 and len(digits) == 1 and digits.pop() >= _ID_DIGITS and not is_round
