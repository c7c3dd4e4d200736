"""Pseudo-counts for MAP estimates, in the layout of the parameters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latentforest.errors import ParameterError
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure

Smoothing = float | str | Mapping[str, ArrayLike] | None


def pseudo_counts(structure: Structure, smoothing: Smoothing, setting: str = "prior") -> FloatArray:
    """Return the pseudo-count of every table entry.

    Parameters
    ----------
    structure
        Gives the tables.
    smoothing
        ``None``, 0 or "none": maximum likelihood. A number: that many pseudo-observations in each
        cell of every table, and in each Gaussian, where they have the mean and variance of the
        column. "laplace": one. A mapping: for each variable named, an array that broadcasts to its
        table; none for the others. Of a Gaussian, the first number counts for the mean, the second
        for the variance. Of a pouch or a variable with continuous parents, the first number counts
        for all: its pseudo-observations have the means and covariances of the columns.
    setting
        What the user calls it.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> structure = Structure([Variable("a", ("0", "1"))], {})
    >>> pseudo_counts(structure, {"a": [1, 3]})
    array([1., 3.])
    """
    if isinstance(smoothing, str):
        if smoothing not in ("none", "laplace"):
            raise ParameterError(
                f"{setting} must be a number, 'none', 'laplace' or a mapping, got {smoothing!r}"
            )
        smoothing = 1.0 if smoothing == "laplace" else 0.0
    if isinstance(smoothing, Mapping):
        return _from_mapping(structure, smoothing)
    if smoothing is not None and not isinstance(smoothing, numbers.Real):
        raise ParameterError(f"{setting} must be a number or a mapping, got {smoothing!r}")
    value = 0.0 if smoothing is None else float(smoothing)
    if not 0 <= value < np.inf:
        raise ParameterError(f"{setting} must be finite and not negative, got {smoothing!r}")
    return np.full(structure.n_values, value)


def is_none(smoothing: Smoothing) -> bool:
    """Whether there are to be no pseudo-counts at all."""
    return smoothing is None or (
        isinstance(smoothing, str | float | int) and smoothing in (0, "none")
    )


def _from_mapping(structure: Structure, smoothing: Mapping[str, ArrayLike]) -> FloatArray:
    prior = np.zeros(structure.n_values)
    for name, values in smoothing.items():
        shape = structure.shape(name)
        try:
            table = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
        except ValueError:
            raise ParameterError(
                f"pseudo-counts of {name!r} have shape {np.shape(values)}, expected {shape}"
            ) from None
        if not np.all((table >= 0) & (table < np.inf)):
            raise ParameterError(f"pseudo-counts of {name!r} must be finite and not negative")
        structure.table_view(prior, name)[...] = table
    return prior


def share_out(structure: Structure, size: float) -> FloatArray:
    """Return pseudo-counts that sum to ``size`` in each table, the same in all its cells (BDeu).

    A Gaussian has one share of its table.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> variables = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    >>> share_out(Structure(variables, {"b": "a"}), 1.0).tolist()
    [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    """
    counts = np.empty(structure.n_values)
    for name in structure.names:
        table = structure.table_view(counts, name)
        is_table = structure.variable(name).is_categorical
        table[...] = size / (table.size if is_table else math.prod(table.shape[:-1]))
    return counts


def check_sample_size(size: Any) -> float:
    """Refuse an equivalent sample size that is not positive."""
    if not (isinstance(size, numbers.Real) and 0 < float(size) < math.inf):
        raise ParameterError(f"equivalent_sample_size must be positive, got {size!r}")
    return float(size)
