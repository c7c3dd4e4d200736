"""Checks of a network's flat parameter vector, and its assembly from tables."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.errors import ModelError
from latentforest.model.covariances import is_definite
from latentforest.model.structure import Structure

# How far the sum of a distribution may be from one.
TOLERANCE = 1e-6


def read_parameters(structure: Structure, values: ArrayLike) -> NDArray[np.float64]:
    """Return a read-only copy of the flat vector, or refuse what are not distributions."""
    parameters = _read_numbers(values, "parameters")
    if parameters.shape != (structure.n_values,):
        raise ModelError(
            f"parameters have shape {parameters.shape}, expected ({structure.n_values},)"
        )
    _check_distributions(structure, parameters)
    parameters.setflags(write=False)
    return parameters


def pack_tables(structure: Structure, tables: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
    """Put one table for each variable into a flat vector."""
    for name in tables:
        if name not in structure:
            raise ModelError(f"a table is given for {name!r}, which is not among the variables")
    parameters = np.empty(structure.n_values)
    for name in structure.names:
        if name not in tables:
            raise ModelError(f"no table is given for variable {name!r}")
        table = _read_numbers(tables[name], f"table of {name!r}")
        shape = structure.shape(name)
        if table.shape != shape:
            axes = ", ".join(
                (*structure.categorical_parents(name), _describe_axis(structure, name))
            )
            raise ModelError(
                f"table of {name!r} has shape {table.shape}, expected {shape} with axes ({axes})"
            )
        structure.table_view(parameters, name)[...] = table
    return parameters


def _read_numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} must be an array of numbers: {error}") from None


def _check_distributions(structure: Structure, parameters: NDArray[np.float64]) -> None:
    """Find the first family with a bad row, if any; the usual case is one pass over the vector."""
    # A NaN makes both comparisons false; an infinity fails the second.
    if not structure.continuous and np.all(parameters >= 0):
        starts = _row_starts(structure)
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(parameters, starts)
        if np.all(np.abs(sums - 1.0) <= TOLERANCE):
            return
    for name in structure.names:
        check = _check_table if structure.variable(name).is_categorical else _check_gaussian
        check(structure, name, structure.table_view(parameters, name))
    for pouch in structure.pouches:
        _check_pouch(structure, pouch, parameters)


def _row_starts(structure: Structure) -> NDArray[np.intp]:
    """Return where each distribution starts in the flat vector."""
    lengths = np.array([structure.shape(name)[-1] for name in structure.names], dtype=np.intp)
    counts = [math.prod(structure.shape(name)[:-1]) for name in structure.names]
    row_lengths = np.repeat(lengths, counts)
    return np.cumsum(row_lengths) - row_lengths


def _check_table(structure: Structure, name: str, table: NDArray[np.float64]) -> None:
    for row in np.ndindex(*table.shape[:-1]):
        values = table[row]
        where = f"table of {name!r}{_describe_row(structure, name, row)}"
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{where}: probabilities must be finite, got {values.tolist()}")
        if np.any(values < 0) or np.any(values > 1 + TOLERANCE):
            raise ModelError(f"{where}: probabilities must be in [0, 1], got {values.tolist()}")
        total = float(values.sum())
        if abs(total - 1.0) > TOLERANCE:
            raise ModelError(
                f"{where}: probabilities must sum to one, got {values.tolist()} with sum {total!r}"
            )


def _check_gaussian(structure: Structure, name: str, table: NDArray[np.float64]) -> None:
    own = structure.pouch(name).index(name) + 1 if len(structure.pouch(name)) > 1 else -1
    if np.all(np.isfinite(table)) and np.all(table[..., own] > 0):
        return
    for row in np.ndindex(*table.shape[:-1]):
        values = table[row]
        where = f"table of {name!r}{_describe_row(structure, name, row)}"
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{where}: numbers must be finite, got {values.tolist()}")
        if not values[own] > 0:
            raise ModelError(f"{where}: a variance must be positive, got {float(values[own])!r}")


def _check_pouch(
    structure: Structure, pouch: tuple[str, ...], parameters: NDArray[np.float64]
) -> None:
    """Refuse covariances that are not symmetric or not positive definite."""
    covariances = join_covariances(structure, pouch, parameters)
    for row in np.ndindex(*covariances.shape[:-2]):
        matrix = covariances[row]
        where = f"covariances of {', '.join(map(repr, pouch))}"
        where += _describe_row(structure, pouch[0], row)
        if not np.array_equal(matrix, matrix.T):
            raise ModelError(f"{where}: must be symmetric, got {matrix.tolist()}")
        if not is_definite(matrix):
            raise ModelError(f"{where}: must be positive definite, got {matrix.tolist()}")


def join_covariances(
    structure: Structure, pouch: tuple[str, ...], parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the covariance matrices of a pouch: parents' axes, then two of its variables."""
    tables = [structure.table_view(parameters, name)[..., 1:] for name in pouch]
    return np.stack(tables, axis=-2)


def _describe_axis(structure: Structure, name: str) -> str:
    """Say what lies along the last axis of a variable's table."""
    if structure.variable(name).is_categorical:
        return name
    if len(structure.pouch(name)) > 1:
        return " ".join(["mean", *(f"cov({each})" for each in structure.pouch(name))])
    slopes = structure.continuous_parents(name)
    if not slopes:
        return "mean variance"
    return " ".join(["intercept", *(f"slope({each})" for each in slopes), "variance"])


def _describe_row(structure: Structure, name: str, row: tuple[int, ...]) -> str:
    """Name the states of the parents that select a row."""
    parents = structure.categorical_parents(name)
    if not parents:
        return ""
    pairs = (f"{p}={structure.states(p)[k]}" for p, k in zip(parents, row, strict=True))
    return f", row {', '.join(pairs)}"
