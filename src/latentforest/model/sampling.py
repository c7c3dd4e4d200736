"""Drawing rows from a network, parents before children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.model.structure import Structure

Codes = NDArray[np.signedinteger]
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
    codes: dict[str, Codes] = {}
    for name in structure.order:
        codes[name] = _draw_column(structure, parameters, name, codes, int(n_rows), rng)
    # A column of data is observed by definition, also when it holds a latent variable's states.
    kept = [replace(v, latent=False) for v in structure.variables if latents or not v.latent]
    return Dataset(kept, [codes[variable.name] for variable in kept])


def _draw_column(
    structure: Structure,
    parameters: Floats,
    name: str,
    codes: Mapping[str, Codes],
    n_rows: int,
    rng: np.random.Generator,
) -> Codes:
    """Invert the cumulative distribution that each row's parents select."""
    table = structure.table_view(parameters, name)
    rows = np.zeros(n_rows, dtype=np.intp)
    for parent, card in zip(structure.parents(name), table.shape, strict=False):
        rows = rows * card + codes[parent]
    cumulative = table.reshape(-1, table.shape[-1]).cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    uniform = rng.random(n_rows)
    column = np.zeros(n_rows, dtype=np.min_scalar_type(-table.shape[-1]))
    for state in range(table.shape[-1] - 1):
        column += uniform >= cumulative[rows, state]
    # A dataset copies only arrays that could still change.
    column.setflags(write=False)
    return column
