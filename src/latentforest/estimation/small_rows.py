"""Models of one or two latent variables over a few columns, some of them continuous.

The same face as ``small``, but fitted row by row: continuous columns have no table of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.small import (
    Counts,
    SmallEffort,
    SmallFits,
    SmallModel,
    count_parameters,
)
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import BoolArray, FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

AS_STATES = 3  # a Gaussian has as many parameters as a distribution over so many states
ANY_NUMBER = 1 << 16  # of states that a continuous column can tell apart


@dataclass(frozen=True, eq=False)
class SmallRows:
    """Some columns of a table, at least one of them continuous.

    ``cards`` are numbers of states; a continuous column counts like one with as many parameters.
    """

    data: PatternedData
    names: tuple[str, ...]
    cards: LongArray
    limits: LongArray  # states that each column can tell apart

    @property
    def highest(self) -> float:
        """No bound of the log-likelihood is known."""
        return float("inf")


def read_rows(data: PatternedData, columns: Sequence[int]) -> SmallRows:
    """Take some columns, given by their positions."""
    variables = [data.dataset.variables[j] for j in columns]
    cards = [v.n_states if v.is_categorical else AS_STATES for v in variables]
    limits = [v.n_states if v.is_categorical else ANY_NUMBER for v in variables]
    names = tuple(variable.name for variable in variables)
    return SmallRows(data, names, np.array(cards, np.int64), np.array(limits, np.int64))


@dataclass(frozen=True)
class RowModel:
    """A fitted model of one or two latent variables (``n_far`` is 1 if there is one only)."""

    n_near: int
    n_far: int
    log_likelihood: float
    dimension: int
    names: tuple[str, ...]
    network: Network

    def bic(self, total_weight: float) -> float:
        """Log-likelihood less half the dimension times log N."""
        return self.log_likelihood - 0.5 * self.dimension * float(np.log(total_weight))

    @property
    def sizes(self) -> FloatArray:
        """P(y) of the root."""
        return self.network.table_view(self.network.latents[0])

    def posteriors(self, rows: Counts | SmallRows) -> FloatArray:
        """P(root | row) for a model with one latent variable, ``(n_merged_rows, n_near)``."""
        assert isinstance(rows, SmallRows)  # for the type checker: it was fitted to such
        found, _ = Rows(self.network, rows.data).filled_posteriors(self.network.latents[:1])
        return rows.data.gather(found[0])

    def table(self, i: int) -> FloatArray:
        """P(column i | its latent variable)."""
        return self.network.table_view(self.names[i])


class AnyFits:
    """Fits small models to counts, or to rows where there are continuous columns."""

    def __init__(self, seed: int, effort: SmallEffort | None = None) -> None:
        self.effort, self.seed = effort or SmallEffort(), seed
        self.small = SmallFits(seed, effort)

    def fit(
        self,
        table: Counts | SmallRows,
        n_near: int,
        n_far: int = 1,
        is_far: BoolArray | None = None,
    ) -> SmallModel | RowModel:
        """Fit a model with so many states of the root and of the second latent variable."""
        if isinstance(table, Counts):
            return self.small.fit(table, n_near, n_far, is_far)
        if is_far is None or n_far == 1:
            is_far = np.zeros(len(table.names), np.bool_)
        structure = _make_structure(table, n_near, n_far, is_far)
        dataset, effort = table.data.dataset, self.effort
        starts = random_starts(structure, dataset, effort.n_starts, self.seed + n_near + 97 * n_far)
        tolerance = effort.tolerance / max(table.data.total_weight, 1.0)
        settings = EMSettings(effort.max_iterations, tolerance)
        result = fit(make_engine(structure, table.data), starts, settings=settings)
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        network = Network.trusted(structure, result.parameters)
        dimension = count_parameters(table.cards, n_near, n_far, is_far)
        return RowModel(n_near, n_far, result.log_likelihood, dimension, table.names, network)


def _make_structure(rows: SmallRows, n_near: int, n_far: int, is_far: BoolArray) -> Structure:
    near, far = (f"{name} above {'|'.join(rows.names)}" for name in ("near", "far"))
    latents, parents = [Variable.hidden(near, n_near)], dict[str, str]()
    if n_far > 1:
        latents.append(Variable.hidden(far, n_far))
        parents[far] = near
    for name, beyond in zip(rows.names, is_far, strict=True):
        parents[name] = far if beyond else near
    return Structure([*latents, *map(rows.data.dataset.variable, rows.names)], parents)
