"""Refinement of a latent tree: many improvements are judged at once and applied together.

In each round, columns are offered to other latent variables and latent variables other numbers of
states, by restricted likelihood. All that raise BIC and do not stand in each other's way are
applied, then full EM is run; if BIC fell, only the better half of them is applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from latentforest.estimation.em import EMSettings
from latentforest.model.network import Network
from latentforest.search.candidate import Candidate, Effort, Proposal
from latentforest.search.model import Model, fit_fully, is_better
from latentforest.search.operators import (
    NodeDeletion,
    NodeRelocation,
    StateDeletion,
    StateIntroduction,
)
from latentforest.search.restricted import evaluate_restricted
from latentforest.search.tree import Rules, Tree

LEAST_GAIN = 0.5  # of BIC, for a candidate to be applied with others


@dataclass(frozen=True)
class Refinement:
    """How a tree is refined: what is left alone, local and full EM, and when to stop."""

    rules: Rules
    effort: Effort
    settings: EMSettings
    max_rounds: int
    deadline: float | None

    def rounds(self, model: Model) -> Iterator[tuple[Model, int]]:
        """Yield better and better models, each with the number of changes made."""
        for number in range(self.max_rounds):
            effort = replace(self.effort, seed=self.effort.seed + number)
            proposals = self._judge(model, effort)
            while proposals:
                network, n_applied = apply_all(model.network, proposals, self.rules)
                better = fit_fully(network, model.data, self.settings, self.deadline)
                if is_better(better, model):
                    break
                proposals = proposals[: n_applied // 2]
            if not proposals:
                return
            model = better
            yield model, n_applied

    def _judge(self, model: Model, effort: Effort) -> list[Proposal]:
        """Return the candidates that raise BIC, best first."""
        proposals = evaluate_restricted(model, propose(model.tree, self.rules), effort, _say_nothing)

        def gain(each: Proposal) -> float:
            return model.score(each.log_likelihood, each.candidate.change) - model.bic

        found = [each for each in proposals if gain(each) > LEAST_GAIN]
        return sorted(found, key=gain, reverse=True)


def _say_nothing(proposals: Sequence[Proposal]) -> None:
    pass


def propose(tree: Tree, rules: Rules) -> list[Candidate]:
    """Relocations of columns, and other numbers of states."""
    moves = [
        candidate
        for origin in tree.latents
        for moved in tree.neighbours[origin]
        if moved not in tree.is_latent
        for candidate in NodeRelocation.between(
            tree, rules, moved, origin, set(tree.latents) - {origin}
        )
    ]
    return [
        *moves,
        *StateIntroduction.propose(tree, rules),
        *StateDeletion.propose(tree, rules),
        *NodeDeletion.propose(tree, rules),
    ]


def apply_all(
    network: Network, proposals: Sequence[Proposal], rules: Rules
) -> tuple[Network, int]:
    """Apply proposals one after another; those that no longer fit are left out."""
    tree = Tree(network.structure)
    cards, n_applied = tree.cards, 0
    for proposal in proposals:
        candidate = _renew(tree, rules, proposal.candidate, cards)
        if candidate is not None:
            network = replace(proposal, candidate=candidate).realise(network)
            tree = Tree(network.structure)
            n_applied += 1
    return network, n_applied


def _renew(
    tree: Tree, rules: Rules, candidate: Candidate, cards: dict[str, int]
) -> Candidate | None:
    """Return a candidate as it is in a tree that was edited since; none if it does not fit."""
    names = {candidate.root, *candidate.region}
    if any(tree.cards.get(name) != cards[name] for name in names):
        return None
    if isinstance(candidate, NodeRelocation):
        moved, origin = candidate.moved, candidate.origin
        if moved not in tree.neighbours.get(origin, ()):
            return None
        return next(NodeRelocation.between(tree, rules, moved, origin, {candidate.target}), None)
    offered = type(candidate).propose(tree, rules)
    return candidate if any(_key(other) == _key(candidate) for other in offered) else None


def _key(candidate: Candidate) -> tuple[Any, ...]:
    """What a candidate does, whatever the order of the neighbours."""
    values = (getattr(candidate, each.name) for each in fields(candidate) if each.name != "change")
    return tuple(frozenset(value) if isinstance(value, tuple) else value for value in values)
