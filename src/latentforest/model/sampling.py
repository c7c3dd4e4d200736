"""Drawing rows from a network, parents before children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.model.covariances import factorize
from latentforest.model.structure import Structure

Column = NDArray[np.signedinteger | np.float64]
Floats = NDArray[np.float64]


def draw_rows(
    structure: Structure,
    parameters: Floats,
    n_rows: int,
    random_state: int | np.random.Generator | None,
    latents: bool,
) -> Dataset:
    """Draw a dataset; see `Network.sample`."""
    if not isinstance(n_rows, (int, np.integer)) or isinstance(n_rows, bool) or n_rows < 1:
        raise ParameterError(f"n_rows must be a whole number of at least 1, got {n_rows!r}")
    rng = np.random.default_rng(random_state)
    drawn: dict[str, Column] = {}
    for name in structure.order:
        if name in drawn:  # with its pouch
            continue
        rows = _select_rows(structure, name, drawn, int(n_rows))
        if structure.variable(name).is_categorical:
            drawn[name] = _draw_states(structure.table_view(parameters, name), rows, rng)
        elif len(structure.pouch(name)) > 1:
            drawn |= _draw_pouch(structure, parameters, name, rows, rng)
        else:
            drawn[name] = _draw_numbers(structure, parameters, name, drawn, rows, rng)
    for column in drawn.values():
        # A dataset copies only arrays that could still change.
        column.setflags(write=False)
    # A column of data is observed by definition, also when it holds a latent variable's states.
    kept = [replace(v, latent=False) for v in structure.variables if latents or not v.latent]
    return Dataset(kept, [drawn[variable.name] for variable in kept])


def _select_rows(
    structure: Structure, name: str, drawn: Mapping[str, Column], n_rows: int
) -> NDArray[np.intp]:
    """Number the row of a variable's table that its categorical parents select."""
    rows: NDArray[np.intp] = np.zeros(n_rows, dtype=np.intp)
    parents = structure.categorical_parents(name)
    for parent, card in zip(parents, structure.shape(name), strict=False):
        rows = rows * card + drawn[parent].astype(np.intp)
    return rows


def _draw_states(table: Floats, rows: NDArray[np.intp], rng: np.random.Generator) -> Column:
    """Invert the cumulative distribution that each row's parents select."""
    cumulative = table.reshape(-1, table.shape[-1]).cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    uniform = rng.random(len(rows))
    column = np.zeros(len(rows), dtype=np.min_scalar_type(-table.shape[-1]))
    for state in range(table.shape[-1] - 1):
        column += uniform >= cumulative[rows, state]
    return column


def _draw_numbers(
    structure: Structure,
    parameters: Floats,
    name: str,
    drawn: Mapping[str, Column],
    rows: NDArray[np.intp],
    rng: np.random.Generator,
) -> Column:
    """Draw around the mean, or the line, that each row's parents select."""
    table = structure.table_view(parameters, name).reshape(-1, structure.shape(name)[-1])[rows]
    column = table[:, 0] + np.sqrt(table[:, -1]) * rng.standard_normal(len(rows))
    for i, parent in enumerate(structure.continuous_parents(name)):
        column += table[:, 1 + i] * drawn[parent]
    return column


def _draw_pouch(
    structure: Structure,
    parameters: Floats,
    name: str,
    rows: NDArray[np.intp],
    rng: np.random.Generator,
) -> dict[str, Column]:
    """Draw all variables of a pouch at once."""
    pouch = structure.pouch(name)
    size = len(pouch)
    tables = np.stack([structure.table_view(parameters, each) for each in pouch], axis=-2)
    tables = tables.reshape(-1, size, 1 + size)
    spread, roots = factorize(tables[..., 1:])
    noise = np.einsum("rij,rj->ri", roots[rows], rng.standard_normal((len(rows), size)))
    values = tables[rows, :, 0] + spread[rows] * noise
    return {each: np.ascontiguousarray(values[:, j]) for j, each in enumerate(pouch)}
