"""What a model says of each row as a table in which rows are known again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from latentforest.data.results.table import Table
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Structure


class RowTable(Table):
    """A table with a line for each row of another, and with that one's index.

    Parameters
    ----------
    columns
        Values by name; the first column has the labels or numbers of the rows.
    index
        The index of a pandas frame, or nothing.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], index: Any = None) -> None:
        super().__init__(columns)
        self.index = index

    def to_pandas(self) -> Any:
        """Convert to a pandas data frame, with the index of the frame that it tells of."""
        frame = super().to_pandas()
        if self.index is None:
            return frame
        return frame.drop(columns=frame.columns[0]).set_index(self.index)


def tabulate_rows(
    X: Any, structure: Structure, posteriors: Sequence[FloatArray], notes: AnyArray
) -> RowTable:
    """List the most probable states by name, all probabilities and a note for each row of a table.

    Parameters
    ----------
    X
        The table; a pandas frame gives its index.
    structure
        Has the latent variables.
    posteriors
        Of each latent variable, ``(n_rows, n_states)``.
    notes
        Of each row.
    """
    index = X.index if hasattr(X, "iloc") else None
    columns: dict[str, Any] = {}
    for name, posterior in zip(structure.latents, posteriors, strict=True):
        states = np.array(structure.states(name), dtype=object)
        columns[name] = states[posterior.argmax(axis=1)].tolist()
        columns |= {f"{name}={state}": posterior[:, k].tolist() for k, state in enumerate(states)}
    columns["note"] = notes.tolist()
    label = str(getattr(index, "name", None) or "row")
    while label in columns:
        label += "_"
    labels = list(range(len(notes))) if index is None else index.tolist()
    return RowTable({label: labels, **columns}, index)
