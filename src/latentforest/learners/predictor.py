"""A network, from a file say, that scores and predicts tables as the learner did that found it."""

from __future__ import annotations

from typing import Any, Self

from latentforest.data import Variable
from latentforest.errors import ModelError, ParameterError
from latentforest.learners.base import LatentLearner
from latentforest.model import Network


class Predictor(LatentLearner):
    """A network that is an estimator: ``score_samples``, ``predict``, ``predict_proba`` and so on.

    It is fitted from the beginning, and ``fit`` changes nothing. If the network has a posterior of
    its parameters (`PosteriorNetwork`), these are integrated out, row by row.

    Parameters
    ----------
    network
        A forest. Tables need a column for each of its observed variables; columns without names
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
        """Return the predictor as it is."""
        return self

    def __str__(self) -> str:
        return f"Predictor:\n{self.network_}"
