"""Tables of edited networks: what is shared is copied, the rest is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from latentforest.kernels.star_starts import SOFT
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


class SideBySide:
    """Tables that lie beside each other along the last axis, to be handled in one go."""

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = np.array(widths, np.int64)
        self.edges = list(accumulate(widths, initial=0))
        self._first = np.array(self.edges[:-1], np.int64)

    def normalised(self, joined: FloatArray) -> FloatArray:
        """Divide the rows of each table by their sums."""
        if not joined.size:
            return joined
        sums = np.add.reduceat(joined, self._first, axis=-1)
        rows: FloatArray = joined / np.repeat(sums, self.widths, axis=-1)
        return rows

    def parts(self, joined: FloatArray) -> list[FloatArray]:
        """The tables, as views."""
        return [joined[..., low:high] for low, high in pairwise(self.edges)]


def soften_unless(is_continuous: bool, table: FloatArray) -> FloatArray:
    """Soften the table of a categorical variable."""
    return table if is_continuous else soften(table)


def soften(table: FloatArray) -> FloatArray:
    """Mix with the uniform distribution: EM never leaves a probability of zero."""
    softened: FloatArray = (1 - SOFT) * table + SOFT / table.shape[-1]
    return softened
