"""Evidence of complete categorical tables in closed form (Cooper and Herskovits 1992)."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.evidence import count_states
from latentforest.kernels.types import AnyArray, FloatArray, LongArray
from latentforest.model.conjugate import Dirichlet
from latentforest.model.structure import Structure


def integrate(structure: Structure, prior: FloatArray, counts: FloatArray) -> float:
    """Log-probability of data with these counts, the parameters integrated out."""
    return sum(
        count_states(
            Dirichlet(structure.table_view(prior, name)), structure.table_view(counts, name)
        )[1]
        for name in structure.names
    )


def is_complete(structure: Structure, table: Dataset) -> bool:
    """Whether every variable of more than one state has a value in every row."""
    is_open = any(structure.shape(name)[-1] > 1 for name in structure.latents)
    return not is_open and not any((table.column(n) < 0).any() for n in structure.observed)


def count_complete(structure: Structure, table: Dataset) -> FloatArray:
    """Count the families of a complete table, in the layout of the parameters."""
    codes = list_codes(structure, table)
    counts = np.zeros(structure.n_values)
    for name in structure.names:
        counts += np.bincount(
            find_cells(structure, name, codes), table.weights, minlength=len(counts)
        )
    return counts


def list_codes(structure: Structure, table: Dataset) -> dict[str, AnyArray]:
    """Codes of all variables: -1 where there is a choice, 0 if there is only one state."""
    codes: dict[str, AnyArray] = {}
    for name in structure.names:
        column = (
            np.full(table.n_rows, -1) if name in structure.latents else table.column(name)
        ).astype(np.int64)
        codes[name] = np.zeros_like(column) if structure.shape(name)[-1] == 1 else column
    return codes


def find_cells(structure: Structure, name: str, codes: dict[str, AnyArray]) -> LongArray:
    """Place of each row's cell of a family in the vector of parameters."""
    place: LongArray = np.zeros(1, np.int64)
    for each, card in zip((*structure.parents(name), name), structure.shape(name), strict=True):
        place = place * card + codes[each]
    return place + structure.offset(name)
