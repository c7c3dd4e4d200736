"""A network, from a file say, that scores and predicts tables as the learner did that found it."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from latentforest.data import Dataset, Variable
from latentforest.errors import ModelError, ParameterError
from latentforest.inference.completions import complete_rows
from latentforest.learners.common.base import draw_seed
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.model import Network


class Predictor(LatentLearner):
    """A network that is an estimator: ``score_samples``, ``predict``, ``predict_proba`` and so on.

    It is fitted from the beginning, and ``fit`` changes nothing. If the network has a posterior of
    its parameters (`PosteriorNetwork`), these are integrated out, row by row.

    Parameters
    ----------
    network
        Any network. Tables need a column for each of its observed variables; columns without names
        are taken in the order of ``network.observed``.
    n_jobs
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from latentforest import IncrementalForest, datasets, load
    >>> import tempfile, pathlib
    >>> data = datasets.load("hiv-tests")
    >>> model = IncrementalForest(random_state=0).fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "forest.json")
    ...     model.network_.save(path)
    ...     again = Predictor(load(path))
    >>> again.score(data) == model.score(data)
    True
    """

    def __init__(self, network: Network, n_jobs: int | None = None) -> None:
        self.network = network
        self.n_jobs = n_jobs

    @property
    def network_(self) -> Network:  # type: ignore[override]
        """The network, checked."""
        if not isinstance(self.network, Network):
            kind = type(self.network).__name__
            raise ParameterError(f"network must be a Network, got {kind}; see latentforest.load")
        if not self.network.observed:
            raise ModelError("the network has no observed variable, so there is nothing to score")
        return self.network

    @property
    def variables_(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """The observed variables."""
        network = self.network_
        return tuple(map(network.structure.variable, network.observed))

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """The number of columns."""
        return len(self.variables_)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Return the predictor as it is.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> network = LatentClass(2, random_state=0).fit(data).network_
        >>> Predictor(network).fit(data).network_ is network
        True
        """
        return self

    def explain(self, X: Any) -> Dataset:
        """Return the most probable explanation of every row.

        That is the joint state of all latent variables and missing cells with the highest
        probability given the rest of the row; missing numbers get their expectation given it. The
        result has the columns of the network, complete, and then its latent variables.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> network = LatentClass(2, random_state=0).fit(data).network_
        >>> Predictor(network).explain(data.take([0])).names
        ('A', 'B', 'C', 'D', 'class')
        """
        dataset = self._encode(X)
        observed, latent = complete_rows(self.network_, dataset, None, self.n_jobs)
        variables = [self.network_.structure.variable(name) for name in latent]
        return Dataset(
            [*observed.variables, *variables],
            [*observed.columns, *latent.values()],
            dataset.weights,
        )

    def impute(self, X: Any, n: int = 1, random_state: Any = None) -> Dataset | list[Dataset]:
        """Return the table with its missing cells drawn given the rest of their rows.

        All cells of a row are drawn together, with the latent variables, which are then left out.

        Parameters
        ----------
        X
            A table.
        n
            How many completed tables to draw (multiple imputation): one table, or a list of them.
        random_state
            Seed or generator.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.with_missing(datasets.load("hiv-tests"), 0.2, random_state=0)
        >>> network = LatentClass(2, random_state=0).fit(data).network_
        >>> Predictor(network).impute(data, random_state=0).n_missing
        0
        """
        if not isinstance(n, numbers.Integral) or n < 1:
            raise ParameterError(f"n must be a positive whole number, got {n!r}")
        dataset, generator = self._encode(X), np.random.default_rng(draw_seed(random_state))
        tables = [
            complete_rows(self.network_, dataset, generator, self.n_jobs)[0] for _ in range(n)
        ]
        return tables[0] if n == 1 else tables
