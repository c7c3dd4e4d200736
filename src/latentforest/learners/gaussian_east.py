"""GEAST: EAST for continuous columns, which may share a pouch (Poon, Zhang, Chen and Wang 2010).

A latent variable has pouches below it: sets of columns with a joint Gaussian given its state. The
phases are EAST's, with two more operators: pouching in expansion, unpouching in simplification.
The others move whole limbs: latent variables, categorical columns, pouches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from latentforest.data import Dataset
from latentforest.errors import ParameterError
from latentforest.estimation.em import fit
from latentforest.estimation.priors import Smoothing
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.learners.common.base import NetworkLearner, Work
from latentforest.learners.common.progress import Progress
from latentforest.learners.common.starts import check_columns
from latentforest.learners.common.tree_search import START_STARTS
from latentforest.learners.east import EAST
from latentforest.model import Network, Structure
from latentforest.search.pouches.evaluation import PouchEvaluation
from latentforest.search.pouches.operators.limb_deletion import LimbDeletion
from latentforest.search.pouches.operators.limb_introduction import LimbIntroduction
from latentforest.search.pouches.operators.limb_relocation import LimbRelocation
from latentforest.search.pouches.operators.limb_state_deletion import LimbStateDeletion
from latentforest.search.pouches.operators.limb_state_introduction import LimbStateIntroduction
from latentforest.search.pouches.operators.pouching import Pouching
from latentforest.search.pouches.operators.unpouching import Unpouching
from latentforest.search.pouches.tree import PouchTree
from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.search import Search
from latentforest.search.trees.tree import Rules


class GaussianEAST(EAST):
    """Latent trees over pouches of continuous columns: expand, adjust, simplify, by BIC.

    Categorical columns may stand beside the pouches.

    Parameters
    ----------
    mu, nu
        Local EM: random starts of each new state (half as many of each new latent variable), and
        iterations in all.
    cost_effectiveness
        Choose between introductions and pouchings by the gain of BIC per parameter; otherwise by
        BIC.
    n_winners
        So many of the best candidates of a step get full EM, and the best of them is taken.
    n_reserves
        If no winner is better than the current model, so many of the next best get full EM too.
    max_candidates
        Most candidates of each operator that get local EM in a step: those that look best if
        the latent variables had the values that the current model expects; none: all.
    n_runs
        Searches, each with its own random numbers; the best result is taken.
    any_mediator
        When the search ends, go on with new latent variables that have fewer states than the one
        they are introduced at.
    start
        Initial model, a network or fitted learner; default one latent variable with two states, and
        each column in a pouch of its own.
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
        Fits with pseudo-counts (maximum a posteriori). Pseudo-observations of the last model's
        parameters; those of a pouch have the means and covariances of its columns. The search
        itself is by maximum likelihood.
    checkpoint, resume
        File that keeps every step; go on with its steps.
    n_jobs
        Threads; results do not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best model so far is returned.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The best model; ``network_.structure.pouches`` lists its pouches.
    history_
        One row for each step.
    interrupted_, stopped_
        True after Ctrl-C; why the search ended early, if it did.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> model = GaussianEAST(random_state=0).fit(load_iris().data)
    >>> len(model.network_.latents)
    1
    """

    _enough_with_numbers: ClassVar[int] = 1
    _expansion: ClassVar[tuple[type[Candidate], ...]] = (
        LimbIntroduction,
        LimbStateIntroduction,
        Pouching,
    )
    _adjustment: ClassVar[type[Candidate]] = LimbRelocation
    _simplification: ClassVar[tuple[type[Candidate], ...]] = (
        Unpouching,
        LimbStateDeletion,
        LimbDeletion,
    )
    _n_local_winners: ClassVar[int | None] = None  # as many as in other steps
    evaluation = "rl"  # no parameter: there is one way to judge limbs

    def __init__(
        self,
        mu: int = 8,
        nu: int = 20,
        cost_effectiveness: bool = True,
        n_winners: int = 4,
        n_reserves: int = 8,
        max_candidates: int | None = 16,
        n_runs: int = 1,
        any_mediator: bool = True,
        start: Network | NetworkLearner | None = None,
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

    def _propose_locally(self, m1: Model, m: Model, new: str, rules: Rules) -> Iterator[Candidate]:
        """Yield the moves of limbs of the latent variables around the new one to it."""
        before, tree = (PouchTree.of(each.network.structure) for each in (m, m1))
        for hub in tree.latents_around(new):
            for limb in tree.limbs[hub]:
                if limb in before.limbs[hub]:
                    yield from LimbRelocation.between(tree, rules, limb, hub, [new])

    def _open(self, work: Work) -> Search:
        search = super()._open(work)
        search.evaluate = PouchEvaluation(work.data)
        return search

    def _fit_start(self, work: Work, search: Search, run: int) -> Model:
        if self.start is not None:
            network = work.adopt(_read_start(self.start))
            self._check_fixed(network.structure)
            return fit_fully(network, work.data, search.settings, work.deadline)
        work.say("start: one latent variable with two states")
        structure = self._make_start(work.table)
        assert structure is not None  # for the type checker: without one nothing is searched
        engine = make_engine(structure, work.data)
        starts = random_starts(structure, work.data.dataset, START_STARTS, work.seed + run)
        result = fit(engine, starts, settings=search.settings, deadline=work.deadline)
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        return Model(Network(structure, result.parameters), result.log_likelihood, work.data)

    def _check_initial(self, table: Dataset) -> None:
        if self.start is None:
            super()._check_initial(table)
            return
        network = _read_start(self.start)
        check_columns(network, table)
        _check_pouch_tree(network.structure)


def _read_start(start: Any) -> Network:
    """The network of an initial model, or a refusal."""
    network = getattr(start, "network_", None) if isinstance(start, NetworkLearner) else start
    if not isinstance(network, Network):
        raise ParameterError(
            f"start must be a Network or a fitted learner, got {type(start).__name__}"
        )
    return network


def _check_pouch_tree(structure: Structure) -> None:
    """Refuse initial models that are no latent trees with observed leaves."""
    inner = [name for name in structure.observed if structure.children(name)]
    n_trees = sum(1 for name in structure.roots if name in structure.latents)
    if inner or n_trees != 1:
        raise ParameterError(
            "the initial model must be one tree of latent variables with observed leaves; "
            + (f"{inner[0]!r} has children" if inner else f"it has {n_trees} trees of them")
        )
