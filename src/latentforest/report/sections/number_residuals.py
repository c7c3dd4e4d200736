"""Pairs with a continuous column: how far correlations, or means in groups, are from the model's.

All values are on the scale of chi-square over degrees of freedom: about one is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import ModelError
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.questions.elimination import compute_joint
from latentforest.report.sections.mixtures import find_components
from latentforest.report.subject import Subject

LEAST_ROWS = 20.0  # of a pair whose correlation can be judged
LEAST_GROUP = 5.0  # of a group whose mean can be judged
CLOSEST = 1.0 - 1e-9  # a correlation counts as no closer to one
MOST_MIXED = 40_000  # pairs of a categorical and a continuous column that are looked at


class NumberPair(NamedTuple):
    """The residual of a pair with a continuous column."""

    first: str
    second: str
    value: float
    is_judged: bool
    sign: int
    observed: float | None = None
    expected: float | None = None

    @property
    def kind(self) -> str:
        """What was compared."""
        return "means" if self.observed is None else "correlation"


def compare_correlations(subject: Subject, names: Sequence[str]) -> list[NumberPair]:
    """Compare the correlations of continuous columns with those in the model."""
    assert subject.data is not None
    observed, n_rows = correlate(subject.data, names)
    expected = expect_correlations(subject, names)
    pairs = []
    for i, j in combinations(range(len(names)), 2):
        seen, said, n = float(observed[i, j]), float(expected[i, j]), float(n_rows[i, j])
        if np.isnan(seen) or np.isnan(said):
            continue
        gap = np.arctanh(np.clip(seen, -CLOSEST, CLOSEST))
        gap -= np.arctanh(np.clip(said, -CLOSEST, CLOSEST))
        value = max(n - 3.0, 0.0) * float(gap) ** 2
        sign = int(np.sign(gap))
        pairs.append(NumberPair(names[i], names[j], value, n >= LEAST_ROWS, sign, seen, said))
    return pairs


def correlate(data: Dataset, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Weighted correlations over the rows in which neither is missing, and their weight."""
    x = np.stack([data.column(name) for name in names], axis=1)
    there = ~np.isnan(x)
    centre = np.nansum(x, axis=0) / np.maximum(there.sum(axis=0), 1)
    x = np.where(there, x - centre, 0.0)
    w = data.weights[:, None]
    n = (there * w).T @ there
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (x * w).T @ there / n  # of the first, where both are there
        square = (x * x * w).T @ there / n - mean**2
        product = (x * w).T @ x / n - mean * mean.T
        found = product / np.sqrt(square * square.T)
    return np.where(np.isfinite(found), found, np.nan), n


def expect_correlations(subject: Subject, names: Sequence[str]) -> FloatArray:
    """Correlations of continuous columns in the model; nan where they are not known."""
    covariances = np.array([[_covary(subject, a, b) for b in names] for a in names])
    spread = np.sqrt(np.diagonal(covariances))
    return covariances / np.outer(spread, spread)


def _covary(subject: Subject, a: str, b: str) -> float:
    one, other = subject.blocks.get(a), subject.blocks.get(b)
    if one is None or other is None:
        return float("nan")
    means, others = one.moments(a)[0], other.moments(b)[0]
    shares, more = one.shares.ravel(), other.shares.ravel()
    left, right = means - shares @ means, others - more @ others
    if one is other:
        i, j = one.names.index(a), one.names.index(b)
        inside = one.joint.covariances[..., i, j].ravel()
        return float(shares @ (inside + left * right))
    if not one.scope or not other.scope:
        return 0.0
    joint = _join_scopes(subject, one.joint.scope, other.joint.scope)
    return float("nan") if joint is None else float(left @ joint @ right)


def _join_scopes(
    subject: Subject, one: tuple[str, ...], other: tuple[str, ...]
) -> FloatArray | None:
    """Probabilities of the joint states of two scopes, ``(n of one, n of the other)``."""
    if len(one) == len(other) == 1:
        return subject.tables.joint(one[0], other[0])
    network = subject.network
    names = tuple(dict.fromkeys((*one, *other)))
    cards = [network.structure.shape(name)[-1] for name in names]
    try:
        joint = compute_joint(network.structure, network.parameters, names, {})
    except ModelError:  # too many states at once
        return None
    codes = dict(zip(names, np.indices(cards).reshape(len(names), -1), strict=True))
    rows, columns = (_number(codes, some) for some in (one, other))
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), joint.ravel())
    return table


def _number(codes: dict[str, AnyArray], names: tuple[str, ...]) -> AnyArray:
    """Number the joint states of some variables, the last one running fastest."""
    cards = [int(codes[name].max()) + 1 for name in names]
    return np.ravel_multi_index([codes[name] for name in names], cards)


def compare_means(
    subject: Subject, categorical: Sequence[str], numbers: Sequence[str]
) -> list[NumberPair]:
    """Compare the means of continuous columns in the groups that categorical ones make."""
    assert subject.data is not None
    if len(categorical) * len(numbers) > MOST_MIXED:
        return []
    pairs = []
    for group in categorical:
        for name in numbers:
            found = _compare_groups(subject, subject.data, group, name)
            pairs += [] if found is None else [found]
    return pairs


def _compare_groups(subject: Subject, data: Dataset, group: str, name: str) -> NumberPair | None:
    components = find_components(subject, group, name)
    if components is None:
        return None
    codes, values = data.column(group).astype(np.intp), data.column(name)
    used = (codes >= 0) & ~np.isnan(values)
    n_groups = len(components.weights)
    weights = data.weights[used]
    n = np.bincount(codes[used], weights, n_groups)
    if not n.any():
        return None
    expected = n.sum() * subject.tables.marginal(group)
    total = np.bincount(codes[used], weights * values[used], n_groups)
    mixtures = [components.mixture(state) for state in range(n_groups)]
    means = np.array([each.mean for each in mixtures])
    variances = np.array([each.variance for each in mixtures])
    is_there = n > 0
    gaps = np.where(is_there, total / np.where(is_there, n, 1.0) - means, 0.0)
    value = float((n * gaps**2 / variances).sum()) / max(int(is_there.sum()) - 1, 1)
    middle = np.arange(n_groups) - (n @ np.arange(n_groups)) / max(n.sum(), 1e-300)
    sign = int(np.sign((n * middle * gaps).sum()))
    is_judged = bool(np.all(expected[(expected > 0) | is_there] >= LEAST_GROUP)) and n_groups > 1
    return NumberPair(group, name, value, is_judged, sign)
