"""Counts of all pairs of states of any two columns, where neither is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.kernels.types import FloatArray, LongArray

CHUNK_CELLS = 1 << 23  # of indicators that are held at once
EXACT = 1 << 24  # whole numbers below this are exact in single precision


class StateCounts:
    """Two-way tables of all pairs of categorical columns.

    The most frequent state of a column needs no indicator of its own: it is what is left of the
    rows in which the column is not missing.

    Parameters
    ----------
    dataset
        Categorical columns.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> counts = StateCounts(load("hiv-tests").select(["A", "B"]))
    >>> counts.count(0, 2)[:2, 2:]
    array([[185.,   6.],
           [104., 133.]])
    """

    def __init__(self, dataset: Dataset) -> None:
        self._data = dataset.merged()[0]
        sizes = [variable.n_states for variable in dataset.variables]
        self.edges: LongArray = np.cumsum([0, *sizes])
        self._kept, self._gaps = self._choose()
        self._products = self._multiply()
        self._states = self._expand()

    def _choose(self) -> tuple[list[list[int]], list[int]]:
        """States with an indicator, by column; and the columns with missing values."""
        kept, gaps = [], []
        for place, name in enumerate(self._data.names):
            counts = self._data.counts(name)
            kept.append([k for k in range(len(counts)) if k != int(counts.argmax())])
            if (self._data.columns[place] < 0).any():
                gaps.append(place)
        return kept, gaps

    def _multiply(self) -> FloatArray:
        """Weights of the rows in which two indicators are one: all rows, presences, states."""
        n_rows, n_features = self._data.n_rows, 1 + len(self._gaps) + sum(map(len, self._kept))
        weights = self._data.weights
        is_exact = weights.sum() < EXACT and bool(np.all(weights == np.rint(weights)))
        dtype = np.float32 if is_exact else np.float64
        found = np.zeros((n_features, n_features))
        step = max(1, CHUNK_CELLS // n_features)
        for low in range(0, n_rows, step):
            rows = slice(low, low + step)
            indicators = self._indicate(rows, n_features, dtype)
            found += indicators.T @ (indicators * weights[rows, None].astype(dtype))
        return found

    def _indicate(self, rows: slice, n_features: int, dtype: Any) -> Any:
        columns = [column[rows] for column in self._data.columns]
        indicators = np.zeros((len(columns[0]), n_features), dtype, order="F")
        indicators[:, 0] = 1.0
        for place, number in enumerate(self._gaps, start=1):
            indicators[:, place] = columns[number] >= 0
        place = 1 + len(self._gaps)
        for column, kept in zip(columns, self._kept, strict=True):
            for state in kept:
                indicators[:, place] = column == state
                place += 1
        return indicators

    def _expand(self) -> Any:
        """What each state is made of, as rows of a sparse matrix over the indicators."""
        from scipy.sparse import csr_matrix

        rows, columns, values = [], [], []
        place = 1 + len(self._gaps)
        for number, kept in enumerate(self._kept):
            start, n_states = int(self.edges[number]), len(kept) + 1
            (rest,) = set(range(n_states)) - set(kept)
            here = range(place, place + len(kept))
            rows += [start + state for state in kept] + [start + rest] * n_states
            columns += [*here, self._presence(number), *here]
            values += [1.0] * n_states + [-1.0] * len(kept)
            place += len(kept)
        shape = (int(self.edges[-1]), len(self._products))
        return csr_matrix((values, (rows, columns)), shape)

    def _presence(self, number: int) -> int:
        return 1 + self._gaps.index(number) if number in self._gaps else 0

    def count(self, low: int, high: int) -> FloatArray:
        """Count the states of some columns, one below the other, with those of all columns."""
        some = self._states[self.edges[low] : self.edges[high]]
        found = np.asarray((self._states @ (some @ self._products).T).T)
        return np.asarray(np.maximum(found, 0.0))

    def count_rows(self, low: int, high: int) -> FloatArray:
        """Weight of the rows in which some columns, and any other one, have values."""
        places = np.array([self._presence(number) for number in range(len(self._kept))])
        return np.asarray(self._products[np.ix_(places[low:high], places)])
