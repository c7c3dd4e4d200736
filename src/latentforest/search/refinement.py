"""Refinement of a latent tree: many improvements are judged at once and applied together.

In each round, columns are offered to other latent variables and latent variables other numbers of
states, by restricted likelihood. All that raise BIC and do not stand in each other's way are
applied, then full EM is run; if BIC fell, only the better half of them is applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import Forest
from latentforest.inference.information import indicators, posterior_information
from latentforest.inference.posteriors import compute_all_posteriors
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
HOPELESS = -20.0  # gain of BIC below which a variable is not judged again until it is touched
N_TARGETS = 3  # latent variables that a column is offered to
COLUMNS_AT_ONCE = 512  # columns whose information with all latent variables is computed at once


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
        awake: set[str] | None = None  # all variables
        for number in range(self.max_rounds):
            effort = replace(self.effort, seed=self.effort.seed + number)
            judged = self._judge(model, effort, awake)
            found = [each for gain, each in judged if gain > LEAST_GAIN]
            while found:
                network, applied = apply_all(model.network, found, self.rules)
                better = fit_fully(network, model.data, self.settings, self.deadline)
                if is_better(better, model):
                    break
                found = [each for each in found if each.candidate in applied]
                found = found[: len(found) // 2]
            if not found:
                return
            model = better
            yield model, len(applied)
            awake = {subject_of(each.candidate) for gain, each in judged if gain > HOPELESS}
            touched = {name for each in applied for name in (each.root, *each.region)}
            awake |= touched | {z for name in touched for z in model.tree.neighbours.get(name, ())}

    def _judge(
        self, model: Model, effort: Effort, awake: set[str] | None
    ) -> list[tuple[float, Proposal]]:
        """Return candidates with their gains of BIC, best first."""
        candidates = propose(model, self.rules)
        if awake is not None:
            candidates = [each for each in candidates if subject_of(each) in awake]
        proposals = evaluate_restricted(model, candidates, effort, _say_nothing)
        judged = [
            (model.score(each.log_likelihood, each.candidate.change) - model.bic, each)
            for each in proposals
        ]
        return sorted(judged, key=lambda pair: -pair[0])


def _say_nothing(proposals: Sequence[Proposal]) -> None:
    pass


def subject_of(candidate: Candidate) -> str:
    """Return the variable that a candidate is about."""
    if isinstance(candidate, NodeRelocation):
        return candidate.moved
    return candidate.node if isinstance(candidate, NodeDeletion) else candidate.root


def propose(model: Model, rules: Rules) -> list[Candidate]:
    """Columns to the latent variables closest to them, and other numbers of states."""
    tree = model.tree
    moves = [
        candidate
        for moved, targets in find_targets(model).items()
        for origin in tree.neighbours[moved]
        for candidate in NodeRelocation.between(tree, rules, moved, origin, targets - {origin})
    ]
    return [
        *moves,
        *StateIntroduction.propose(tree, rules),
        *StateDeletion.propose(tree, rules),
        *NodeDeletion.propose(tree, rules),
    ]


def find_targets(model: Model) -> dict[str, set[str]]:
    """Return the latent variables that say most about each column, by pseudo-frequencies."""
    table, latents = model.data.dataset, list(model.network.latents)
    forest = Forest(model.network.structure, model.data)
    posteriors = compute_all_posteriors(forest, model.network)
    right = [posteriors[name] for name in latents]
    result: dict[str, set[str]] = {}
    for start in range(0, table.n_columns, COLUMNS_AT_ONCE):
        names = table.names[start : start + COLUMNS_AT_ONCE]
        left = [indicators(table, name) for name in names]
        information = posterior_information(left, right, table.weights)
        best = np.argsort(-information, axis=1, kind="stable")[:, : N_TARGETS + 1]
        for name, places in zip(names, best, strict=True):
            result[name] = {latents[i] for i in places}
    return result


def apply_all(
    network: Network, proposals: Sequence[Proposal], rules: Rules
) -> tuple[Network, list[Candidate]]:
    """Apply proposals one after another; those that no longer fit are left out."""
    tree = Tree(network.structure)
    cards, applied = tree.cards, list[Candidate]()
    for proposal in proposals:
        candidate = _renew(tree, rules, proposal.candidate, cards)
        if candidate is not None:
            network = replace(proposal, candidate=candidate).realise(network)
            tree = Tree(network.structure)
            applied.append(proposal.candidate)
    return network, applied


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
