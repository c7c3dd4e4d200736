"""Networks fitted to incomplete rows, and what a step of structural EM counts: completed tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.counts import count_tables, normalize_tables
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.posterior_completions import CompletedTable, complete_table
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

ROUGHLY_NEGLIGIBLE = 0.05  # for tables that are searched first
# Completions that are less probable by this factor are not counted: the first of these with which
# there are not too many.
NEGLIGIBLE = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, ROUGHLY_NEGLIGIBLE)
MOST_COMPLETIONS = 1 << 20
SAMPLE_ROWS = 100  # by which their number is foreseen
START_COUNT = 0.1  # pseudo-count with which EM starts, so that no cell is ruled out

Parents = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class ScoredNetwork:
    """A network with its log-likelihood and score on the observed cells.

    ``run`` numbers the start that it comes from, ``place`` its row in the trace.
    """

    network: Network
    log_likelihood: float
    score: float
    run: int = 0
    place: int = -1

    @property
    def structure(self) -> Structure:
        """The structure."""
        return self.network.structure


class NetworkFits:
    """EM on one table, and tables completed by what it found.

    Parameters
    ----------
    data
        Categorical columns.
    criterion
        "aic" and "likelihood" are scores of observed cells, too; with others, that is BIC.
    settings
        Of EM.
    deadline
        When EM is to stop.

    Attributes
    ----------
    n_fits
        How many times EM ran, random starts not counted for themselves.
    left_out
        Largest share of the rows' weight whose completions were left out.
    """

    def __init__(
        self, data: PatternedData, criterion: str, settings: EMSettings, deadline: float | None
    ) -> None:
        self.data, self.settings, self.deadline = data, settings, deadline
        self.bic_price = 0.5 * math.log(data.total_weight)
        self.price = {"aic": 1.0, "likelihood": 0.0}.get(criterion, self.bic_price)
        self.n_fits, self.left_out = 0, 0.0

    @property
    def table(self) -> Dataset:
        """The rows, equal ones merged."""
        return self.data.dataset

    def is_complete(self, structure: Structure) -> bool:
        """Whether nothing is open, so that counts are exact."""
        return not (structure.latents or self.table.has_missing)

    def fit(self, structure: Structure, starts: FloatArray | None = None) -> ScoredNetwork:
        """Fit by EM from some parameters, by default from counts; by counts alone, if possible."""
        if self.is_complete(structure):
            return self.count(structure)
        if starts is None:
            starts = self.guess(structure)
        self.n_fits += 1
        engine = make_engine(structure, self.data)
        result = fit(
            engine, starts, settings=self.settings, deadline=self.deadline, names_bounded=False
        )
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        network = Network.trusted(structure, result.parameters)
        return self.score(network, result.log_likelihood)

    def count(self, structure: Structure) -> ScoredNetwork:
        """Fit a network to complete rows."""
        counts = count_tables(structure, self.table)
        parameters = normalize_tables(structure, counts)
        some = counts > 0
        value = float(counts[some] @ np.log(parameters[some]))
        return self.score(Network.trusted(structure, parameters), value)

    def score(self, network: Network, log_likelihood: float) -> ScoredNetwork:
        """Put a network and its log-likelihood together."""
        return ScoredNetwork(
            network, log_likelihood, log_likelihood - self.price * network.dimension
        )

    def compute_bic(self, model: ScoredNetwork) -> float:
        """Return the BIC of a network."""
        return model.log_likelihood - self.bic_price * model.network.dimension

    def guess(self, structure: Structure) -> FloatArray:
        """Return frequencies of families in the rows that have them, no cell without any."""
        return normalize_tables(structure, count_tables(structure, self.table) + START_COUNT)

    def complete(self, network: Network) -> CompletedTable:
        """Complete the rows by the posterior of what they leave open."""
        limit = self._choose_limit(network)
        completed = complete_table(
            network, self.table, self.data.n_jobs, negligible=limit, warns=False
        )
        self.left_out = max(self.left_out, completed.left_out)
        return completed

    def _choose_limit(self, network: Network) -> float:
        """Choose which completions are negligible, by the number of those of some rows."""
        step = -(-self.table.n_rows // SAMPLE_ROWS)
        sample = self.table.take(np.arange(0, self.table.n_rows, step))
        most = MOST_COMPLETIONS * sample.n_rows / self.table.n_rows
        for limit in NEGLIGIBLE[:-1]:
            found = complete_table(network, sample, negligible=limit, warns=False)
            if found.n_completions <= most:
                return limit
        return NEGLIGIBLE[-1]

    def complete_roughly(self, network: Network) -> CompletedTable:
        """Complete the rows by what is most probable, in many fewer rows."""
        return complete_table(
            network, self.table, self.data.n_jobs, negligible=ROUGHLY_NEGLIGIBLE, warns=False
        )

    def build(self, variables: tuple[Variable, ...], parents: Parents) -> Structure:
        """Make a structure; parents are in the order of the variables."""
        names = [variable.name for variable in variables]
        ordered = {
            name: tuple(each for each in names if each in parents.get(name, ())) for name in names
        }
        return Structure(variables, ordered)


def count_completed(structure: Structure, completed: CompletedTable) -> FloatArray:
    """Return the parameters that fit a completed table best."""
    return normalize_tables(structure, count_tables(structure, completed.data))
