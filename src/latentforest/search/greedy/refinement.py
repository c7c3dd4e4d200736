"""Refinement of a latent tree: many improvements are judged at once and applied together.

In each round, columns are offered to other latent variables and latent variables other numbers of
states, by restricted likelihood. All that raise BIC and do not stand in each other's way are
applied, then full EM is run; if BIC fell, only the better half of them is applied.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.em import EMSettings
from latentforest.inference.association.information import (
    indicators,
    joint_counts,
    posterior_information,
)
from latentforest.inference.association.mixed_information import expected_moments, gaussian_gain
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.ended import SearchEnded
from latentforest.search.tables import pack
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.model import Model, fit_fully, is_better
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.tree import LatentTree, Rules
from latentforest.ties import find_best, sort_best_first

LEAST_GAIN = 0.5  # of BIC, for a candidate to be applied with others
HOPELESS = -20.0  # gain of BIC below which a variable is not judged again until it is touched
N_TARGETS = 3  # latent variables that a column is offered to
MOST_COLUMNS = 500  # that are judged by restricted likelihood
VALUES_AT_ONCE = 1 << 21  # rows times states of columns that are compared with all latents at once


@dataclass(frozen=True)
class Refinement:
    """How a tree is refined: what is left alone, local and full EM, and when to stop."""

    rules: Rules
    effort: LocalEffort
    settings: EMSettings
    max_rounds: int
    deadline: float | None

    def rounds(self, model: Model) -> Iterator[tuple[Model, int]]:
        """Yield better and better models, each with the number of changes made."""
        is_wide = model.data.dataset.n_columns > MOST_COLUMNS
        with suppress(SearchEnded):
            yield from self._rounds_at_once(model) if is_wide else self._rounds(model)

    def _rounds_at_once(self, model: Model) -> Iterator[tuple[Model, int]]:
        for _ in range(self.max_rounds):
            self._check_clock()
            better, n_moves = relocate(model, self.settings, self.deadline)
            if not n_moves or not is_better(better, model):
                return
            model = better
            yield model, n_moves

    def _rounds(self, model: Model) -> Iterator[tuple[Model, int]]:
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
            awake = {each.candidate.subject for gain, each in judged if gain > HOPELESS}
            touched = {name for each in applied for name in (each.root, *each.region)}
            awake |= touched | {z for name in touched for z in model.tree.neighbours.get(name, ())}

    def _judge(
        self, model: Model, effort: LocalEffort, awake: set[str] | None
    ) -> list[tuple[float, Proposal]]:
        """Return candidates with their gains of BIC, best first."""
        self._check_clock()
        candidates = propose(model, self.rules)
        if awake is not None:
            candidates = [each for each in candidates if each.subject in awake]
        proposals = evaluate_restricted(model, candidates, effort, self._check_clock)
        scores = [model.score(each.log_likelihood, each.candidate.change) for each in proposals]
        return [(scores[i] - model.bic, proposals[i]) for i in sort_best_first(scores)]

    def _check_clock(self, _: object = None) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise SearchEnded("the time limit was reached")


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
    """Return the latent variables that say most about each column."""
    latents = model.network.latents
    information, _ = inform(model)
    best = np.argsort(-information, axis=1, kind="stable")[:, : N_TARGETS + 1]
    names = model.data.dataset.names
    return {name: {latents[i] for i in row} for name, row in zip(names, best, strict=True)}


def inform(model: Model) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the information of columns with latent variables, and the posteriors of the latter.

    Pseudo-frequencies given the whole rows: they favour the latent variable that a column has.
    """
    table = model.data.dataset
    rows = Rows(model.network, model.data)
    right = [model.data.gather(found) for found in rows.posteriors(model.network.latents)]
    parts = []
    widest = max(len(variable.states or (0,)) for variable in table.variables)
    n_at_once = max(1, VALUES_AT_ONCE // (table.n_rows * widest))
    for start in range(0, table.n_columns, n_at_once):
        names = table.names[start : start + n_at_once]
        left = [_rows_of(table, name) for name in names]
        parts.append(posterior_information(left, right, table.weights))
    information = np.concatenate(parts)
    for j, name in enumerate(table.names):
        if not table.variable(name).is_categorical:
            information[j] = _inform_number(model, name, right)
    return information, dict(zip(model.network.latents, right, strict=True))


def _rows_of(table: Dataset, name: str) -> FloatArray:
    """Indicators of a column; a continuous one is judged by itself."""
    if table.variable(name).is_categorical:
        return indicators(table, name)
    return np.ones((table.n_rows, 1))


def _inform_number(model: Model, name: str, posteriors: Sequence[FloatArray]) -> list[float]:
    """What a row gains on average if a continuous column depends on each latent variable."""
    values, weights = model.data.dataset.column(name), model.data.dataset.weights
    used, least = ~np.isnan(values) & (weights > 0), model.data.summary(name).least_variance
    if not used.any():
        return [0.0] * len(posteriors)
    x, w = values[used], weights[used]
    return [gaussian_gain(x, each[used], w, least) for each in posteriors]


def apply_all(
    network: Network, proposals: Sequence[Proposal], rules: Rules
) -> tuple[Network, list[Candidate]]:
    """Apply proposals one after another; those that no longer fit are left out."""
    tree = LatentTree(network.structure)
    cards, applied = tree.cards, list[Candidate]()
    for proposal in proposals:
        old = proposal.candidate
        names = {old.root, *old.region}
        if any(tree.cards.get(name) != cards[name] for name in names):
            continue
        candidate = old.renew(tree, rules)
        if candidate is not None:
            network = proposal._replace(candidate=candidate).realise(network)
            tree = LatentTree(network.structure)
            applied.append(proposal.candidate)
    return network, applied


def _guess_table(model: Model, name: str, posterior: FloatArray) -> FloatArray:
    """The table of a column given a latent variable, by its posterior."""
    table = model.data.dataset
    if table.variable(name).is_categorical:
        counts = joint_counts(posterior, indicators(table, name), table.weights) + 1e-3
        shares: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return shares
    values = table.column(name)
    used, least = ~np.isnan(values) & (table.weights > 0), model.data.summary(name).least_variance
    x, w = values[used], table.weights[used]
    _, means, variances = expected_moments(x, posterior[used], w, least)
    return np.stack([means, variances], axis=1)


def relocate(model: Model, settings: EMSettings, deadline: float | None) -> tuple[Model, int]:
    """Move all columns at once to the latent variables that say most about them.

    For tables of so many columns that restricted likelihoods would take too long. A latent
    variable keeps at least two columns.
    """
    network, n_moves = _move_columns(model)
    return (fit_fully(network, model.data, settings, deadline) if n_moves else model), n_moves


def _move_columns(model: Model) -> tuple[Network, int]:
    table, structure, latents = model.data.dataset, model.network.structure, model.network.latents
    information, posteriors = inform(model)
    place = {name: i for i, name in enumerate(latents)}
    cards = np.array([structure.shape(name)[-1] for name in latents])
    own = np.array([model.tree.cards[name] for name in table.names])
    penalty = 0.5 * np.log(table.total_weight) * np.outer(own - 1, cards - 1)
    score = table.total_weight * information - penalty
    homes = [structure.parents(name) for name in table.names]
    home = np.array([place[parents[0]] if parents else -1 for parents in homes])
    n_columns = np.bincount(home[home >= 0], minlength=len(latents))
    best = np.array([find_best(row) for row in score], np.intp)
    gain = np.where(home >= 0, score.max(axis=1) - score[np.arange(len(home)), home], 0.0)
    parents, tables = dict[str, tuple[str, ...]](), dict[str, FloatArray]()
    for j in sort_best_first(gain):
        if gain[j] <= LEAST_GAIN:
            break
        if n_columns[home[j]] > 2:
            n_columns[home[j]] -= 1
            n_columns[best[j]] += 1
            name, target = table.names[j], latents[best[j]]
            parents[name] = (target,)
            tables[name] = _guess_table(model, name, posteriors[target])
    return pack(structure.rewired(parents), model.network, tables), len(parents)
