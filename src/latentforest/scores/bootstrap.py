"""Parametric bootstrap: tables drawn from a network, with the gaps of the data, fitted again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.network import Network

PULL = 0.05  # share of the uniform distribution in the start at the estimate: zeros may rise again
ROUNDING = 1e-6  # relative difference of statistics that EM leaves
SETTINGS = EMSettings(max_iterations=2000, tolerance=1e-10)

Measure = Callable[[Network, Dataset], FloatArray]


def bootstrap(
    network: Network,
    table: Dataset,
    measure: Measure,
    n_tables: int,
    seed: int,
    n_starts: int,
    n_jobs: int | None,
) -> FloatArray:
    """Measure statistics on tables drawn from a network, ``(n_tables, n_statistics)``.

    The network is fitted to each table from its own parameters and some random starts.
    """
    gaps, counts = _count_gaps(table)

    def draw(number: int) -> FloatArray:
        generator = np.random.default_rng([seed, number])
        drawn = _draw_table(network, gaps, counts, generator)
        starts = int(generator.integers(2**31 - 1))
        return measure(_refit(network, drawn, n_starts, starts), drawn)

    return np.array(list(map_threads(draw, range(n_tables), count_threads(n_jobs))))


def compute_bootstrap_p(found: FloatArray, drawn: FloatArray) -> FloatArray:
    """Share of tables, the data among them, whose statistics are at least those of the data."""
    least = found - ROUNDING * np.maximum(1.0, np.abs(found))
    return np.asarray((1 + np.count_nonzero(drawn >= least, axis=0)) / (1 + len(drawn)))


def _count_gaps(table: Dataset) -> tuple[AnyArray, AnyArray]:
    """Which values are missing together, ``(n_kinds, n_columns)``, and in how many rows.

    Weights are rounded to whole rows.
    """
    gaps = np.stack(table.columns, axis=1) < 0
    kinds, which = np.unique(gaps, axis=0, return_inverse=True)
    counts = np.rint(np.bincount(which.ravel(), weights=table.weights)).astype(np.intp)
    if not counts.any():
        counts[np.argmax(np.bincount(which.ravel(), weights=table.weights))] = 1
    return kinds, counts


def _draw_table(
    network: Network, gaps: AnyArray, counts: AnyArray, generator: np.random.Generator
) -> Dataset:
    """Draw rows from a network and remove what is missing in the data."""
    drawn = network.sample(int(counts.sum()), generator)
    if not gaps.any():
        return drawn.merged()[0]
    is_gap = np.repeat(gaps, counts, axis=0)
    columns = [np.where(gap, -1, c) for gap, c in zip(is_gap.T, drawn.columns, strict=True)]
    return Dataset(drawn.variables, columns).merged()[0]


def _refit(network: Network, table: Dataset, n_starts: int, seed: int) -> Network:
    """Fit a network to a table by maximum likelihood."""
    structure, data = network.structure, PatternedData(table)
    pulled = network.parameters.copy()
    for name in structure.names:
        view = structure.table_view(pulled, name)
        view[...] = (1 - PULL) * view + PULL / view.shape[-1]
    starts = np.concatenate([pulled[None], random_starts(structure, table, n_starts, seed)])
    return Network.trusted(
        structure, fit(make_engine(structure, data), starts, settings=SETTINGS).parameters
    )
