"""A fitted model of a search, and full EM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.inference.rooting import reroot
from latentforest.model.network import Network
from latentforest.search.trees.tree import LatentTree

LEAST_GAIN = 0.01  # of BIC, for a step to be accepted


@dataclass(frozen=True, eq=False)
class Model:
    """A network with maximum-likelihood parameters, and what follows from it."""

    network: Network
    log_likelihood: float
    data: PatternedData

    @cached_property
    def dimension(self) -> int:
        """Number of free parameters."""
        return self.network.structure.dimension - self.network.n_tied

    @cached_property
    def bic(self) -> float:
        """Log-likelihood less half the dimension times log N."""
        return self.score(self.log_likelihood, 0)

    def score(self, log_likelihood: float, change: int) -> float:
        """BIC of a model with this log-likelihood and ``change`` more parameters."""
        return log_likelihood - (self.dimension + change) * self._penalty

    @cached_property
    def _penalty(self) -> float:
        return 0.5 * math.log(self.data.total_weight)

    def rerooted(self) -> Model:
        """The same model, rooted where propagation is cheapest."""
        return Model(reroot(self.network, self.data), self.log_likelihood, self.data)

    @cached_property
    def tree(self) -> LatentTree:
        """The unrooted view."""
        return LatentTree(self.network.structure)

    @cached_property
    def messages(self) -> Messages:
        """Messages toward every latent variable, computed once and shared."""
        return Messages(self.network, self.data)


def is_better(m1: Model, m: Model) -> bool:
    """Whether the BIC of a model is higher than that of another, by more than the precision of EM.

    Without that, a variable whose place does not matter would be moved to and fro.
    """
    return m1.bic > m.bic + LEAST_GAIN


def fit_fully(
    network: Network,
    data: PatternedData,
    settings: EMSettings,
    deadline: float | None = None,
    root: str | None = None,
) -> Model:
    """Full EM from the parameters of a network; Ctrl-C ends the search, not just this fit.

    ``root`` is where to root the tree, by default where propagation is cheapest.
    """
    is_tree = len(network.structure.roots) == 1
    if root is not None and root in network.structure and is_tree:
        network = network.rooted_at(root)
    else:
        network = reroot(network, data)
    engine = make_engine(network.structure, data)
    result = fit(engine, network.parameters, settings=settings, deadline=deadline)
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    fitted = Network.trusted(network.structure, result.parameters)
    return Model(fitted, result.log_likelihood, data)
