"""Hill climbing in two phases (Zhang and Kočka 2004), the search that EAST grew out of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from latentforest.learners.common.tree_search import TreeSearch
from latentforest.search.trees.model import Model, is_better
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.phases import climb
from latentforest.search.trees.search import Search, by_improvement_ratio
from latentforest.search.trees.tree import LatentTree, Rules


class HillClimbing(TreeSearch):
    """Latent trees by single hill climbing: expand, simplify, until BIC stops rising.

    In the first phase node introductions, state introductions and node relocations compete by the
    gain of BIC per additional parameter; what raises BIC without any comes first. A node moves only
    to a latent variable next to the one it leaves. In the second phase state and node deletions
    compete by BIC. ``EAST`` differs in that relocation has a phase of its own and reaches anywhere.

    Parameters
    ----------
    mu, nu, evaluation, n_winners, n_reserves, max_candidates, n_runs, any_mediator, start
        As for ``EAST``.
    max_states, fixed, max_steps, max_iterations, tolerance, smoothing, prior, checkpoint, resume
        As for ``EAST``.
    n_jobs, random_state, time_limit, progress
        As for all learners.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_, history_, interrupted_, stopped_
        As for ``EAST``.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = HillClimbing(random_state=0).fit(datasets.load("hiv-tests"))
    >>> round(model.bic_, 1), len(model.network_.latents)
    (-656.6, 2)
    """

    def _search(self, search: Search, m: Model) -> Model:
        while True:
            m1 = self._expand(search, m)
            m2 = self._simplify(search, m1)
            if not is_better(m2, m):
                return m
            m = m2

    def _expand(self, search: Search, m: Model) -> Model:
        """NI, SI and NR to a neighbour, by improvement ratio."""
        operators = NodeIntroduction, StateIntroduction, NearRelocation
        return climb(search, "expand", m, *operators, rank=by_improvement_ratio)

    def _simplify(self, search: Search, m: Model) -> Model:
        """SD and ND, by BIC."""
        return climb(search, "simplify", m, StateDeletion, NodeDeletion)


@dataclass(frozen=True)
class NearRelocation(NodeRelocation):
    """NR to a latent variable next to the origin."""

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[NodeRelocation]:
        for origin in tree.latents:
            beside = set(tree.latent_neighbours(origin))
            for moved in tree.neighbours[origin]:
                yield from cls.between(tree, rules, moved, origin, beside - {moved})
