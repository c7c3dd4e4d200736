"""IL and CIL: incremental learning of latent forests (Rodriguez-Sanchez et al. 2020).

``_learn`` is Algorithms 3 and 4, ``_structure`` is Algorithm 1, ``_cardinalities`` Algorithm 2.
"""

from __future__ import annotations

import numbers
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from latentforest.data.columns.findings import Origin
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.bayes.conjugate_priors import Experts, Priors, read_priors
from latentforest.estimation.bayes.strengths import choose_strengths
from latentforest.estimation.em import EMSettings
from latentforest.inference.association.mixed_information import InformationSettings
from latentforest.inference.rows import Rows
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.interruption import conclude
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.model import Network
from latentforest.model.conjugate import Conjugate
from latentforest.model.posterior_network import PosteriorNetwork
from latentforest.search.incremental.context import GrowthContext, GrowthEffort
from latentforest.search.incremental.growth import (
    Associations,
    GrowingForest,
    Move,
    Pair,
)
from latentforest.search.incremental.states import introduce_state, remove_state
from latentforest.search.incremental.tree import GrowingTree, fit_tree
from latentforest.ties import choose_best, is_higher

STEP = ("step", "operator", "variables", "n_states", "p_elbo", "candidates", "seconds")
SAY_EVERY = 50  # candidates
N_ROUNDS = 3  # of growing with other strengths of the priors


class _EveryColumn(frozenset[str]):
    """The names of all columns, whatever they are."""

    def __contains__(self, name: object) -> bool:
        return True


class _TimeIsUp(Exception):
    """The time limit has passed."""


@dataclass
class _GrownForest:
    """A forest with the trace of its steps."""

    forest: GrowingForest
    history: list[dict[str, Any]]


class IncrementalForest(LatentLearner):
    """A forest of observed and latent variables, grown step by step by variational Bayes.

    Columns become connected by arcs, or by latent variables above them, as long as the lower bound
    of the evidence rises.

    Parameters
    ----------
    candidate_pairs
        None: every pair of the working set is tried in each step (IL). A number: so many pairs
        with the highest mutual information (CIL).
    reroot
        True: a tree may be rooted anew where that changes only arcs between observed columns, and
        columns inside a tree may get further children. False: trees are joined at their roots
        only, as in the paper.
    max_states
        Most states of a latent variable.
    prior
        What experts know: ``Dirichlet`` or ``NormalGamma`` objects by the names of columns, or a
        TOML file of such (see ``read_priors``). Other columns get priors from the data.
    prior_strength
        How many observations a column's prior from the data is worth; or "evidence": as many as
        give the highest p-ELBO, for each column by itself. Forests are then grown again with these.
        Latent variables always have priors worth one observation.
    keep_priors
        Whether a column keeps its prior when it gets a parent, as the paper says. False: as the
        authors' program does, for comparisons.
    completion
        How latent variables enter mutual information: "expected" counts, or "map".
    n_starts
        Random starts of a new latent variable.
    max_iterations, tolerance
        Of VBEM on the whole forest, at the end.
    n_jobs
        Threads; the result does not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the forest stays as it is.

    Attributes
    ----------
    network_
        A `PosteriorNetwork`: expected parameters (a variance is one over its expected precision)
        and their posterior. ``network_.save`` writes both.
    posterior_
        The posterior of each variable's parameters, by name.
    elbo_, p_elbo_
        The lower bound of the log evidence, and the same less log K! for each latent variable of
        K states.
    log_likelihood_, n_parameters_, bic_
        As for every learner: those of the expected parameters.
    predictive_log_likelihood_
        The same with the parameters integrated out row by row, as in ``score``.
    prior_strengths_
        How many observations the prior of each column was worth.
    history_
        One row for each step. ``variables`` are parent and child of a new arc (``AA``), or a new
        latent variable and its two children (``NA``).
    interrupted_
        True after Ctrl-C.
    stopped_
        Why the search ended early, or None.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = IncrementalForest(random_state=0).fit(datasets.load("hiv-tests"))
    >>> model.history_["operator"]
    ['AA', 'AA', 'AA']
    """

    posterior_: dict[str, Conjugate]
    elbo_: float
    p_elbo_: float
    predictive_log_likelihood_: float
    interrupted_: bool
    stopped_: str | None

    candidate_pairs: int | None
    reroot: bool
    max_states: int
    prior: Experts | str | os.PathLike[str] | None
    prior_strength: float | Literal["evidence"]
    keep_priors: bool
    completion: Literal["expected", "map"]
    n_starts: int

    def __init__(
        self,
        candidate_pairs: int | None = None,
        reroot: bool = True,
        max_states: int = 10,
        prior: Experts | str | os.PathLike[str] | None = None,
        prior_strength: float | Literal["evidence"] = 1.0,
        keep_priors: bool = True,
        completion: Literal["expected", "map"] = "expected",
        n_starts: int = 4,
        max_iterations: int = 500,
        tolerance: float = 1e-7,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        priors = self._read_priors(work)
        end: dict[str, Any] = {"interrupted": False, "stopped": None}
        associations = None
        with _ending(end):
            associations = self._estimate_information(work)
        best = self._grow(work, priors, associations, end)
        for _ in range(N_ROUNDS if self.prior_strength == "evidence" else 0):
            if end["interrupted"] or end["stopped"]:
                break
            strengths = choose_strengths(priors, best.forest.structure(), best.forest.posteriors())
            priors = priors.with_strengths(strengths)
            work.say(f"priors of other strengths, after p-ELBO {best.forest.score:,.2f}")
            found = self._grow(work, priors, associations, end)
            is_better = is_higher(found.forest.score, best.forest.score)
            best = found if is_better else best
            if not is_better:
                break
        found = best
        return conclude(work, lambda work: self._finish(work, found, end))

    def _grow(
        self,
        work: Work,
        priors: Priors,
        associations: Associations | None,
        end: dict[str, Any],
    ) -> _GrownForest:
        """Algorithm 3; with associations Algorithm 4."""
        context = GrowthContext(work.data, priors, GrowthEffort(n_starts=self.n_starts), work.seed)
        m = GrowingForest(context, self.reroot)
        grown = _GrownForest(m, [])
        if end["interrupted"] or end["stopped"]:
            return grown
        with _ending(end):
            mi = None if associations is None else associations.copy()
            while len(m.trees) != 1:
                began, n_before = time.monotonic(), m.n_candidates
                pairs = self._choose_pairs(m, mi)
                if not pairs:
                    break
                m_s = self._structure(work, m, pairs)
                m_c = self._cardinalities(work, context, m_s)
                if m_c.gain <= 0:
                    break
                tree = m.take(m_c.candidate, work.deadline)
                step = len(grown.history) + 1
                row = _describe(step, m_s, tree, m) | {"candidates": m.n_candidates - n_before}
                grown.history.append(row | {"seconds": time.monotonic() - began})
                if mi is not None:
                    mi.update(context, tree)
                    grown.history[-1]["seconds"] = time.monotonic() - began
                work.say(f"step {step}: p-ELBO {m.score:,.2f}, {len(m.trees)} trees")
            self._refine(work, context, m)
        return grown

    def _choose_pairs(self, m: GrowingForest, associations: Associations | None) -> list[Pair]:
        """All pairs of the working set (IL), or those with the highest information (CIL)."""
        if associations is None:
            return m.all_pairs()
        assert self.candidate_pairs is not None  # for the type checker
        return associations.highest(m, self.candidate_pairs)

    def _structure(self, work: Work, m: GrowingForest, pairs: list[Pair]) -> Move:
        """Algorithm 1: the best of NA and AA over the pairs."""
        best: Move | None = None
        score = m.score
        for n, move in enumerate(m.judge(pairs)):
            _check_time(work)
            if best is None or is_higher(score + move.gain, score + best.gain):
                best = move
            if n % SAY_EVERY == 0:
                work.say(
                    f"structure: {len(m.trees)} trees, candidate {n + 1} at {len(pairs)} pairs"
                )
        assert best is not None  # for the type checker: there is a pair
        return best

    def _cardinalities(self, work: Work, context: GrowthContext, m: Move) -> Move:
        """Algorithm 2: SI and SR at the latent variables involved, as long as that pays."""
        while not work.is_late():
            best = m
            for name in m.candidate.involved:
                n_states = m.candidate.structure.shape(name)[-1]
                if n_states < self.max_states:
                    wider = introduce_state(context, m.candidate, name)
                    best = choose_best([best, Move(wider, m.turned)], lambda move: move.gain)
                if n_states > 2:
                    narrower = remove_state(context, m.candidate, name)
                    best = choose_best([best, Move(narrower, m.turned)], lambda move: move.gain)
            if best is m:
                break
            m = best
        return m

    def _refine(self, work: Work, context: GrowthContext, m: GrowingForest) -> None:
        """VBEM on every tree."""
        work.say("VBEM on the whole forest")
        settings = EMSettings(self.max_iterations, self.tolerance)

        def refine(tree: GrowingTree) -> GrowingTree:
            return fit_tree(
                context, tree.structure, tree.posterior, tree.lines, settings, work.deadline
            )

        m.refine(refine)

    def _read_priors(self, work: Work) -> Priors:
        self._check()
        experts = self.prior
        if isinstance(experts, str | os.PathLike):
            experts = read_priors(experts, work.table)
        strength = 1.0 if self.prior_strength == "evidence" else self.prior_strength
        return Priors(work.table, experts, strength, bool(self.keep_priors))

    def _estimate_information(self, work: Work) -> Associations | None:
        if self.candidate_pairs is None:
            return None
        work.say(f"mutual information of {work.table.n_columns} columns")
        settings = InformationSettings(
            completion=self.completion, seed=work.seed, n_jobs=self.n_jobs
        )
        return Associations(work.table, settings, lambda: _check_time(work))

    def _arrange(self, learned: Learned, origin: Origin | None) -> Learned:
        """Put the states in order, those of ``posterior_`` too."""
        arranged = super()._arrange(learned, origin)
        posterior = {"posterior": dict(arranged.network.posterior or {})}
        return replace(arranged, attributes=arranged.attributes | posterior)

    def _finish(self, work: Work, grown: _GrownForest, end: dict[str, Any]) -> Learned:
        m, history = grown.forest, grown.history
        network = PosteriorNetwork(m.structure(), m.posteriors())
        attributes = {
            "elbo": sum(tree.bound for tree in m.trees.values()),
            "p_elbo": m.score,
            "predictive_log_likelihood": Rows(network, work.data).log_likelihood(),
            "prior_strengths": dict(m.context.priors.strengths),
            "interrupted": end["interrupted"],
            "stopped": end["stopped"],
        }
        table = Table({name: [row[name] for row in history] for name in STEP})
        expected = Rows(Network(network.structure, network.parameters), work.data)
        return Learned(network, expected.log_likelihood(), table, attributes)

    def _complete(self, work: Work, learned: Learned) -> Network:
        """Keep the posterior, which is what meets new rows."""
        return learned.network

    def _stated_columns(self) -> Collection[str]:
        """All columns: the prior has a share for every state that was declared."""
        return _EveryColumn()

    def _check(self) -> None:
        for name, least in (("candidate_pairs", 1), ("max_states", 2), ("n_starts", 1)):
            value = getattr(self, name)
            if value is None and name == "candidate_pairs":
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        EMSettings(self.max_iterations, self.tolerance)
        InformationSettings(completion=self.completion)


def _check_time(work: Work) -> None:
    if work.is_late():
        raise _TimeIsUp


def _describe(step: int, move: Move, tree: GrowingTree, m: GrowingForest) -> dict[str, Any]:
    """Make a row of the history."""
    a, b = (top.root for top in move.candidate.parts)
    is_node = move.candidate.operator == "NA"
    return {
        "step": step,
        "operator": move.candidate.operator,
        "variables": [tree.root, a, b] if is_node else [a, b],
        "n_states": tree.structure.shape(tree.root)[-1] if tree.top.variable.latent else 0,
        "p_elbo": m.score,
    }


@contextmanager
def _ending(end: dict[str, Any]) -> Iterator[None]:
    """Let a search end early, and keep in mind why."""
    try:
        yield
    except KeyboardInterrupt:
        end["interrupted"] = True
    except _TimeIsUp:
        end["stopped"] = "the time limit was reached"
