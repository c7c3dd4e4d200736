"""Double hill climbing (Zhang 2004): over structures, and over cardinalities for each of them."""

from __future__ import annotations

import numbers
from typing import Any

from latentforest.data import Dataset
from latentforest.errors import ParameterError
from latentforest.estimation.priors import Smoothing
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.progress import Progress
from latentforest.learners.common.tree_search import TreeSearch
from latentforest.model import Network
from latentforest.search.trees.model import Model, is_better
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.phases import climb, propose
from latentforest.search.trees.search import Search, by_bic
from latentforest.ties import choose_best


class DoubleHillClimbing(TreeSearch):
    """Latent trees by hill climbing over structures; each gets its best numbers of states.

    Candidate structures come from node introduction, deletion and relocation. An inner hill
    climbing introduces and deletes states, beginning with those of the current model, before a
    structure is compared with others by BIC. That is thorough and slow: meant for some ten columns.

    Parameters
    ----------
    n_structures
        So many of the best candidate structures, judged with the current numbers of states, get
        full EM and the inner hill climbing. None: all of them, as in the paper.
    mu, nu, evaluation, n_winners, n_reserves, max_candidates, n_runs, any_mediator, start
        As for ``EAST``; ``n_winners`` is that of the inner hill climbing.
    max_states, fixed, max_steps, max_iterations, tolerance, smoothing, prior, checkpoint, resume
        As for ``EAST``; the steps of the inner hill climbing count too.
    n_jobs, random_state, time_limit, progress
        As for all learners.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_, interrupted_, stopped_
        As for ``EAST``.
    history_
        One row for each model that got full EM. The structures of one step have the same number;
        accepted are the steps that led to the best model.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = DoubleHillClimbing(random_state=0).fit(datasets.load("hiv-tests"))
    >>> round(model.bic_, 1), len(model.network_.latents)
    (-656.6, 2)
    """

    n_structures: int | None

    def __init__(
        self,
        n_structures: int | None = 4,
        mu: int = 8,
        nu: int = 20,
        evaluation: str = "rl",
        n_winners: int = 4,
        n_reserves: int | None = None,
        max_candidates: int | None = 2000,
        n_runs: int = 1,
        any_mediator: bool = True,
        start: Network | NetworkLearner | str | None = None,
        max_states: int | None = None,
        fixed: Any = (),
        max_steps: int | None = None,
        max_iterations: int = 500,
        tolerance: float = 1e-6,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        checkpoint: Any = None,
        resume: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _search(self, search: Search, m: Model) -> Model:
        """The outer hill climbing."""
        m = choose_states(search, m)
        while True:
            found = [choose_states(search, each) for each in self._change_structure(search, m)]
            m1 = choose_best(found or [m], lambda each: each.bic)
            if not is_better(m1, m):
                return m
            m = m1

    def _change_structure(self, search: Search, m: Model) -> list[Model]:
        """Return the best structures next to that of a model."""
        operators = NodeIntroduction, NodeDeletion, NodeRelocation
        candidates = propose(m, search.rules, operators)
        n_structures = len(candidates) if self.n_structures is None else self.n_structures
        return search.step_several("structure", m, candidates, by_bic, n_structures)

    def _check_parameters(self, table: Dataset) -> None:
        super()._check_parameters(table)
        n = self.n_structures
        if n is not None and not (isinstance(n, numbers.Integral) and n >= 1):
            raise ParameterError(f"n_structures must be a whole number from 1 or None, got {n!r}")


def choose_states(search: Search, m: Model) -> Model:
    """The inner hill climbing: SI and SD as long as BIC rises."""
    return climb(search, "states", m, StateIntroduction, StateDeletion)
