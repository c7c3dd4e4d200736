"""Tables of edited networks: what is shared is copied, the rest is given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentforest.kernels.regions.types import SOFT
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure


def pack(structure: Structure, network: Network, tables: Mapping[str, FloatArray]) -> Network:
    """Make a network: the tables given, and those of ``network`` for all other variables."""
    flat = np.empty(structure.n_values)
    structure.copy_tables(flat, network.structure, network.parameters, but=tables)
    for name, table in tables.items():
        structure.table_view(flat, name)[...] = table
    return Network.trusted(structure, flat)


def mix(shares: FloatArray, table: FloatArray, is_continuous: bool) -> FloatArray:
    """Return the rows of a table mixed in these shares; Gaussians by their moments."""
    mixed: FloatArray = shares @ table
    if is_continuous:
        away = table[:, 0] - mixed[:, :1]
        mixed[:, 1] += (shares * away**2).sum(axis=1)
    return mixed


def soften_unless(is_continuous: bool, table: FloatArray) -> FloatArray:
    """Soften the table of a categorical variable."""
    return table if is_continuous else soften(table)


def soften(table: FloatArray) -> FloatArray:
    """Mix with the uniform distribution: EM never leaves a probability of zero."""
    softened: FloatArray = (1 - SOFT) * table + SOFT / table.shape[-1]
    return softened
