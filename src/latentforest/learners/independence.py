"""IND: all columns independent. The baseline below every latent structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.data.results.table import Table
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.engine import make_engine
from latentforest.learners.common.base import Learned, NetworkLearner, Work
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure


class Independence(NetworkLearner):
    """Independent columns, each with its own distribution; continuous ones are Gaussian.

    Parameters
    ----------
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts: a number for each cell,
        "none", "laplace", or arrays by column. Those of a Gaussian have the mean and variance of
        the column, which changes nothing here.
    n_jobs
        Threads for scoring.
    random_state, time_limit, progress
        Taken for the sake of a common interface; fitting is exact and immediate.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = Independence().fit(datasets.load("role-conflict"))
    >>> round(model.bic_, 2)
    -554.4
    """

    def __init__(
        self,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        dataset = work.data.dataset
        structure = Structure(dataset.variables, {})
        prior = pseudo_counts(structure, self.prior)
        tables = {}
        for name in structure.names:
            if name in structure.continuous:
                about = work.data.summary(name)
                tables[name] = np.array([about.mean, about.variance])
                continue
            counts = dataset.counts(name) + structure.table_view(prior, name)
            total = counts.sum()
            tables[name] = counts / total if total > 0 else np.full_like(counts, 1 / len(counts))
        network = Network.from_tables(structure.variables, {}, tables)
        log_likelihood, _ = make_engine(structure, work.data).log_likelihood(network.parameters)
        return Learned(network, log_likelihood, Table({"log_likelihood": [log_likelihood]}))
