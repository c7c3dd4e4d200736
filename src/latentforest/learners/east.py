"""EAST: expansion, adjustment, simplification until termination (Chen, Zhang and Wang 2008).

The methods follow Figure 3 of the paper. Each arg max is a ``search.step``: candidates are judged
by restricted likelihood or by data completion, and full EM is run on the one that is picked. The
operators are named by the class, so that ``GaussianEAST`` has the same phases with others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from latentforest.estimation.priors import Smoothing
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.progress import Progress
from latentforest.learners.common.tree_search import TreeSearch
from latentforest.model import Network
from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.model import Model, is_better
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.phases import climb, propose
from latentforest.search.trees.search import Search, by_bic, by_improvement_ratio
from latentforest.search.trees.tree import Rules


class EAST(TreeSearch):
    """Latent trees by search: expand, adjust, simplify, until BIC stops rising.

    Continuous columns are Gaussian given the state of their latent variable. Where fewer than three
    columns vary, the result is independent columns, or one latent variable above continuous ones if
    that is better.

    Parameters
    ----------
    mu, nu
        Local EM: random and guessed starts of each candidate, and iterations in all.
    evaluation
        How candidates are judged: "rl" (restricted likelihood) or "dc" (data completion, which
        is faster and less exact).
    cost_effectiveness
        Choose between state and node introductions by the gain of BIC per parameter; otherwise by
        BIC (EAST-RL0).
    n_winners
        So many of the best candidates of a step get full EM, and the best of them is taken. In the
        paper, and in local adjustment, it is one.
    n_reserves
        If the winners of a step are no better than the current model, so many of the next best
        candidates get full EM too, but for deletions and local adjustment; by default half as many
        as columns, 20 at most. In the paper there are none.
    max_candidates
        Most node introductions, and most relocations, that get local EM in a step. If there are
        more, those that data completion (or, with continuous columns, correlation) finds the most
        promising; none: all.
    n_runs
        Searches, each with its own random numbers; the best result is taken.
    any_mediator
        When the search ends, go on with new latent variables that have fewer states than the one
        they are introduced at; in the paper they have as many.
    start
        Initial model; default a latent class model with two classes. A network; or a learner
        ("bin", "bridged-islands", "chow-liu", or an estimator, fitted or not) whose result is made
        a regular latent tree.
    max_states
        Most states of a latent variable.
    fixed
        Variables of the initial model that keep their neighbours and their number of states.
    max_steps
        End after so many steps.
    max_iterations, tolerance
        Of full EM in each step; the last model is fitted more closely.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the last model's
        parameters: a number for each cell, "laplace", or arrays by variable. The search itself is
        by maximum likelihood.
    checkpoint
        File that keeps every step.
    resume
        Go on with the steps in the checkpoint.
    n_jobs
        Threads; results do not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best model so far is returned.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The best model.
    history_
        One row for each step: phase, operator, variables, whether it was accepted, scores,
        candidates, seconds. See `latentforest.search.changes` for the roles of the variables.
    interrupted_, stopped_
        True after Ctrl-C; why the search ended early, if it did.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = EAST(random_state=0).fit(datasets.load("hiv-tests"))
    >>> round(model.bic_, 1), len(model.network_.latents)
    (-656.6, 2)
    """

    _expansion: ClassVar[tuple[type[Candidate], ...]] = (NodeIntroduction, StateIntroduction)
    _adjustment: ClassVar[type[Candidate]] = NodeRelocation
    _simplification: ClassVar[tuple[type[Candidate], ...]] = (StateDeletion, NodeDeletion)
    _n_local_winners: ClassVar[int | None] = 1  # of a step of local adjustment, as in the paper

    cost_effectiveness: bool

    def __init__(
        self,
        mu: int = 8,
        nu: int = 20,
        evaluation: str = "rl",
        cost_effectiveness: bool = True,
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
        """EAST(m, D)."""
        while True:
            m1 = self._expand(search, m)
            m2 = self._adjust(search, m1)
            m3 = self._simplify(search, m2)
            if not is_better(m3, m):
                return m
            m = m3

    def _expand(self, search: Search, m: Model) -> Model:
        """expand(m, D): by improvement ratio; each NI is adjusted locally."""
        rank = by_improvement_ratio if self.cost_effectiveness else by_bic
        while True:
            m1 = search.step("expand", m, propose(m, search.rules, self._expansion), rank)
            if m1 is None or not is_better(m1, m):
                return m
            new = set(m1.network.latents) - set(m.network.latents)
            m = self._adjust_locally(search, m1, m, *new) if new else m1

    def _adjust_locally(self, search: Search, m1: Model, m: Model, new: str) -> Model:
        """localAdjust(m1, m, D): move other neighbours of the old variable to the new one."""
        n_winners = self._n_local_winners
        while True:
            candidates = [*self._propose_locally(m1, m, new, search.rules)]
            m2 = search.step("local adjust", m1, candidates, by_bic, n_winners, has_reserves=False)
            if m2 is None or not is_better(m2, m1):
                return m1
            m1 = m2

    def _adjust(self, search: Search, m: Model) -> Model:
        """adjust(m, D): NR anywhere."""
        return climb(search, "adjust", m, self._adjustment)

    def _simplify(self, search: Search, m: Model) -> Model:
        """simplify(m, D): one operator after the other, each as long as it pays."""
        for operator in self._simplification:
            m = climb(search, "simplify", m, operator, has_reserves=False)
        return m

    def _propose_locally(self, m1: Model, m: Model, new: str, rules: Rules) -> Iterator[Candidate]:
        """Yield the moves of local adjustment after a node introduction led from m to m1."""
        hub = find_hub(m1, m, new)
        if hub is None:
            return
        others = set(m.tree.neighbours[hub]) - set(m1.tree.neighbours[new])
        for z in m1.tree.neighbours[hub]:
            if z in others:
                yield from NodeRelocation.between(m1.tree, rules, z, hub, {new})


def find_hub(m1: Model, m: Model, new: str) -> str | None:
    """Return the variable that a node introduction was applied to; none if it is gone since."""
    around = m1.tree.neighbours[new]
    hubs = (
        z
        for z in m1.tree.latent_neighbours(new)
        if all(other in m.tree.neighbours[z] for other in around if other != z)
    )
    return next(hubs, None)
