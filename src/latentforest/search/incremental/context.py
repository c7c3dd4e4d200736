"""What the growing of forests works with: the table, the priors, families in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.estimation.em import EMSettings
from latentforest.estimation.evidence import (
    count_states,
    fit_line,
    measure_values,
    summarize_values,
)
from latentforest.inference.association.information import indicators, joint_counts
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import AnyArray
from latentforest.model.conjugate import Conjugate

Known = tuple[Conjugate, float]  # a posterior and the log evidence


@dataclass(frozen=True)
class GrowthEffort:
    """How hard VBEM tries.

    Parameters
    ----------
    n_starts
        Random starts of a new latent variable.
    local
        Of the fit of a candidate.
    step
        Of the fit of the whole tree after a step.
    """

    n_starts: int = 4
    local: EMSettings = field(default_factory=lambda: EMSettings(100, 1e-5))
    step: EMSettings = field(default_factory=lambda: EMSettings(20, 1e-5))


class GrowthContext:
    """The table and the priors.

    Attributes
    ----------
    complete
        Columns without gaps.
    """

    def __init__(
        self, data: PatternedData, priors: Priors, effort: GrowthEffort, seed: int
    ) -> None:
        self.data, self.priors, self.effort, self.seed = data, priors, effort, seed
        self.table = data.dataset
        names = [name for name in self.table.names if not _has_gaps(self.table.column(name))]
        self.complete = frozenset(names)
        self._alone: dict[str, Known] = {}
        self._given: dict[tuple[str, str], Known] = {}

    def is_categorical(self, name: str) -> bool:
        """Whether a column is."""
        return self.table.variable(name).is_categorical

    def alone(self, name: str) -> Known:
        """Posterior and evidence of a column without a parent; gaps are left out."""
        if name not in self._alone:
            self._alone[name] = self._measure(name)
        return self._alone[name]

    def given(self, name: str, parent: str) -> Known:
        """Posterior and evidence of a column given another, which has no gaps."""
        key = name, parent
        if key not in self._given:
            self._given[key] = self._relate(name, parent)
        return self._given[key]

    def _measure(self, name: str) -> Known:
        if self.is_categorical(name):
            counts = np.asarray(self.table.counts(name), dtype=np.float64)
            return count_states(self.priors.of_table(name, False), counts)
        summary = summarize_values(self.table.column(name), self.table.weights)
        return measure_values(self.priors.of_gaussian(name, False), *summary)

    def _relate(self, name: str, parent: str) -> Known:
        table, weights = self.table, self.table.weights
        if not self.is_categorical(parent):
            prior = self.priors.of_line(name, parent)
            return fit_line(prior, table.column(parent), table.column(name), weights)
        shares = indicators(table, parent)
        if self.is_categorical(name):
            counts = joint_counts(shares, indicators(table, name), weights)
            return count_states(self.priors.of_table(name), counts)
        summary = summarize_values(table.column(name), weights, shares)
        return measure_values(self.priors.of_gaussian(name), *summary)


def _has_gaps(column: AnyArray) -> bool:
    return bool(np.isnan(column).any() if column.dtype.kind == "f" else (column < 0).any())
