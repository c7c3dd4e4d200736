"""Columns that say the same: copies, near-copies, and exact linear functions of others.

All is measured on a sample of the rows, and on so many columns only that it takes no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.findings import Finding

if TYPE_CHECKING:
    from latentforest.data.dataset import Dataset

#: A column is a linear function of others if these leave less than this of its variance.
COLLINEAR = 1e-6
_NEAR_COPY = 1e-3  # the same for near-copies of one other column
#: Share of the rows beside the mode in which a near-copy may differ. Only these count: two columns
#: that are nearly always 0 are no copies.
_DIFFERENT = 0.02
_LEAST_ROWS = 30
_LEAST_VARYING = 20  # rows beside the mode
_SAMPLE = 2_000
_MOST_COLUMNS = 500  # whose pairs are compared
_MOST_STATES = 3_000  # of all these columns together
_GLANCE = 64  # rows on which pairs of numbers are compared first

Floats = NDArray[np.float64]


def find_relations(data: Dataset) -> list[Finding]:
    """Find copies, near-copies and linear functions among the columns of a table."""
    if data.n_rows < _LEAST_ROWS:
        return []
    sample = _take_sample(data)
    numbers = [v.name for v in sample.variables if not v.is_categorical]
    linear = _find_linear(sample, numbers)
    named = {found.column for found in linear}
    copies = _find_exact_copies(sample, numbers)
    near = _find_equal_numbers(sample, numbers[:_MOST_COLUMNS])
    near |= _find_near_numbers(sample, numbers[:_MOST_COLUMNS])
    near |= _find_near_categories(sample)
    return [
        *(
            Finding("copies" if name in copies else "near copies", name, f"of {other!r}")
            for name in data.names
            if name not in named and (other := copies.get(name, near.get(name))) is not None
        ),
        *linear,
    ]


def _take_sample(data: Dataset) -> Dataset:
    if data.n_rows <= _SAMPLE:
        return data
    rows = np.random.default_rng(0).choice(data.n_rows, _SAMPLE, replace=False)
    return data.with_weights(None).take(np.sort(rows))


def _find_exact_copies(sample: Dataset, numbers: Sequence[str]) -> dict[str, str]:
    """Columns that are copies of earlier ones on all rows, whatever the names of states."""
    seen: dict[bytes, str] = {}
    copies: dict[str, str] = {}
    for variable, column in zip(sample.variables, sample.columns, strict=True):
        if variable.is_categorical:
            codes = _number_by_occurrence(column)
            if np.count_nonzero(codes != np.bincount(codes + 1).argmax() - 1) < _LEAST_VARYING:
                continue
            key = b"c" + codes.tobytes()
        else:
            key = b"n" + column.tobytes()
        first = seen.setdefault(key, variable.name)
        if first != variable.name:
            copies[variable.name] = first
    return copies


def _number_by_occurrence(codes: NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """Codes numbered in the order of their first rows; missing stays -1."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(np.where(distinct < 0, -1, first))
    numbers = np.empty(len(distinct), dtype=np.int64)
    numbers[order] = np.arange(len(distinct)) - int(distinct[0] < 0)
    return numbers[inverse]


def _standardize(sample: Dataset, names: Sequence[str]) -> Floats:
    """Columns of mean 0 and length 1; missing values get the mean, constant columns are 0."""
    values = np.stack([sample.column(name) for name in names], axis=1)
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0.0).sum(axis=0) / counts
    centred = np.where(known, values - means, 0.0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    scale = np.abs(means) * np.sqrt(counts) * 1e-12  # spreads of rounding errors only
    return np.asarray(np.where(lengths > scale, centred / np.where(lengths > 0, lengths, 1.0), 0.0))


def _find_near_numbers(sample: Dataset, names: Sequence[str]) -> dict[str, str]:
    """Columns that an earlier one tells but for a small share of their variance."""
    if len(names) < 2:
        return {}
    units = _standardize(sample, names)
    squares = np.triu((units.T @ units) ** 2, 1)
    near = squares > 1.0 - _NEAR_COPY
    pairs: list[list[int]] = np.argwhere(near).tolist()
    for i, j in pairs:
        rest = units[:, j] - (units[:, i] @ units[:, j]) * units[:, i]
        near[i, j] = _holds_at_centre(rest, units[:, j], _NEAR_COPY)
    return _name_pairs(near, names)


def _find_equal_numbers(sample: Dataset, names: Sequence[str]) -> dict[str, str]:
    """Columns that have the same numbers as an earlier one in all but a few rows."""
    if len(names) < 2:
        return {}
    values = np.stack([sample.column(name) for name in names])
    values = np.where(np.isnan(values), np.inf, values)  # missing is equal to missing
    some = values[:, np.linspace(0, sample.n_rows - 1, min(_GLANCE, sample.n_rows)).astype(int)]
    alike = np.stack([(some == row).mean(axis=1) for row in some])
    near = np.triu(alike > 1.0 - 4.0 * _DIFFERENT, 1)
    pairs: list[list[int]] = np.argwhere(near).tolist()
    varying = {j: _count_varying(values[j]) for j in {j for pair in pairs for j in pair}}
    for i, j in pairs:
        n_different, n_varying = int((values[i] != values[j]).sum()), min(varying[i], varying[j])
        near[i, j] = _are_few(n_different, n_varying)
    return _name_pairs(near, names)


def _count_varying(column: Floats) -> int:
    """Rows beside the mode."""
    return len(column) - int(np.unique(column, return_counts=True)[1].max())


def _are_few(n_different: Any, n_varying: Any) -> Any:
    """Whether so many different rows make a near-copy, by the rows beside the mode."""
    return (n_different <= _DIFFERENT * n_varying) & (n_varying >= _LEAST_VARYING)


def _holds_at_centre(rest: Floats, column: Floats, share: float) -> bool:
    """Whether little is left in ordinary rows, too, and not only for the sake of outliers."""
    away = np.abs(column - np.median(column))
    centre = away <= 5.0 * np.median(away)
    if not np.median(away) > 0.0:
        return True
    return float(np.var(rest[centre])) < 10.0 * share * float(np.var(column[centre]))


def _name_pairs(near: NDArray[np.bool_], names: Sequence[str]) -> dict[str, str]:
    """Name of an earlier column by each column that is near to it."""
    later: list[int] = np.flatnonzero(near.any(axis=0)).tolist()
    return {names[j]: names[int(near[:, j].argmax())] for j in later}


def _find_near_categories(sample: Dataset) -> dict[str, str]:
    """Columns that an earlier one tells but for a few rows, and the other way round."""
    names: list[str] = []
    total = 0
    for variable in sample.variables:
        if variable.states is not None and len(variable.states) <= 50:
            total += len(variable.states)
            if total > _MOST_STATES or len(names) == _MOST_COLUMNS:
                break
            names.append(variable.name)
    if len(names) < 2:
        return {}
    untold, varying = _count_untold(sample, names)
    near = _are_few(untold, varying)
    return _name_pairs(np.triu(near & near.T, 1), names)


def _count_untold(sample: Dataset, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Rows of column j that column i does not tell, at ``[i, j]``; rows beside column j's mode.

    The share of the one in the other is 1 - Goodman and Kruskal's lambda. Missing counts as a
    state.
    """
    blocks = []
    for name in names:
        n_states = sample.variable(name).n_states
        blocks.append((sample.column(name)[:, None] == np.arange(-1, n_states)).astype(np.float32))
    starts = np.cumsum([0, *(block.shape[1] for block in blocks[:-1])])
    table = np.concatenate(blocks, axis=1)
    joint = (table.T @ table).astype(np.float64)
    told = np.add.reduceat(np.maximum.reduceat(joint, starts, axis=1), starts, axis=0)
    mode = np.maximum.reduceat(np.diagonal(joint), starts)
    return sample.n_rows - told, sample.n_rows - mode


def _find_linear(sample: Dataset, names: Sequence[str]) -> list[Finding]:
    """Name the columns that those before them determine, by rows without a missing value."""
    if not 2 <= len(names) <= _MOST_COLUMNS:
        return []
    values = np.stack([sample.column(name) for name in names], axis=1)
    complete = sample.take(~np.isnan(values).any(axis=1)) if np.isnan(values).any() else sample
    if complete.n_rows < max(_LEAST_ROWS, 2 * len(names)):
        return []
    units = _standardize(complete, names)
    basis = np.empty((complete.n_rows, len(names)))  # orthonormal, of the columns not determined
    members: list[int] = []
    found = []
    varying: list[int] = np.flatnonzero(units.any(axis=0)).tolist()
    for j in varying:
        known = basis[:, : len(members)]
        rest = units[:, j] - known @ (known.T @ units[:, j])
        rest -= known @ (known.T @ rest)  # again, for the sake of rounding errors
        left = float(rest @ rest)
        if left < COLLINEAR and _holds_at_centre(rest, units[:, j], COLLINEAR):
            found.append(Finding("linear", names[j], _describe_sources(units, members, j, names)))
        elif left > 0.0:
            basis[:, len(members)] = rest / np.sqrt(left)
            members.append(j)
    return found


def _describe_sources(units: Floats, members: Sequence[int], j: int, names: Sequence[str]) -> str:
    shares = np.linalg.lstsq(units[:, members], units[:, j], rcond=None)[0]
    large: list[int] = np.flatnonzero(np.abs(shares) > 1e-3).tolist()
    others = [names[members[i]] for i in large]
    return f"of {_list_names(others)}"


def _list_names(names: Sequence[str]) -> str:
    listed = ", ".join(repr(name) for name in names[:4])
    return listed + (f" and {len(names) - 4} more" if len(names) > 4 else "")
