"""Another number of states for a latent variable: what SI and SD share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from latentforest.data.variable import Variable
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import find_principal_axis
from latentforest.model.network import Network
from latentforest.search.states import APART, Around
from latentforest.search.tables import pack
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.random_tables import draw_gaussians
from latentforest.search.trees.star import bundle_around
from latentforest.search.trees.tree import LatentTree, Rules, edge_dimension, node_dimension
from latentforest.search.trees.tree_candidate import TreeCandidate

Guess = Callable[[Around], Around]


def change_of_card(tree: LatentTree, hub: str, card: int) -> int:
    """By how much the dimension grows if a variable gets so many states."""
    old, around = tree.cards[hub], tree.neighbours[hub]
    edges = sum(
        edge_dimension(card, tree.cards[z]) - edge_dimension(old, tree.cards[z]) for z in around
    )
    return edges - node_dimension(card, len(around)) + node_dimension(old, len(around))


def with_states(network: Network, hub: str, card: int, guess: Guess) -> Network:
    """Give a variable another number of states; the tables around it are guessed."""
    network = network.rooted_at(hub)
    old = network.structure
    structure = old.with_variable(Variable.hidden(hub, card))
    tables = {z: np.array(network.table_view(z)) for z in old.children(hub)}
    guessed = guess(Around(np.array(network.table_view(hub)), tables, old.continuous))
    return pack(structure, network, {hub: guessed.prior, **guessed.tables})


@dataclass(frozen=True)
class CardCandidate(TreeCandidate):
    """``hub`` with ``card`` states, ``step`` more than it has; all tables around it are free."""

    step: ClassVar[int]
    hub: str
    card: int
    neighbours: tuple[str, ...]

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[Self]:
        for hub in tree.latents:
            card = tree.cards[hub] + cls.step
            if hub not in rules.fixed and cls.is_allowed(tree, rules, hub, card):
                yield cls(change_of_card(tree, hub, card), hub, card, tree.neighbours[hub])

    @classmethod
    @abstractmethod
    def is_allowed(cls, tree: LatentTree, rules: Rules, hub: str, card: int) -> bool:
        """Whether a latent variable may have so many states."""

    @classmethod
    @abstractmethod
    def guess(cls, around: Around) -> list[Around]:
        """Guess the tables, in one or more ways."""

    @property
    def root(self) -> str:
        return self.hub

    @property
    def region(self) -> tuple[str, ...]:
        return self.hub, *self.neighbours

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.hub,)

    @property
    def n_states(self) -> int:
        return self.card

    def edit(self, network: Network) -> Network:
        return with_states(network, self.hub, self.card, lambda around: self.guess(around)[0])

    def realise(self, network: Network, tables: FloatArray) -> Network:
        network = network.rooted_at(self.hub)
        structure = network.structure.with_variable(Variable.hidden(self.hub, self.card))
        given, taken = {}, 0
        for name in self.region:
            shape = structure.shape(name)
            given[name] = tables[taken : taken + math.prod(shape)].reshape(shape)
            taken += math.prod(shape)
        return pack(structure, network, given)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Self], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        return (_plan_fit(messages, candidate, effort) for candidate in candidates)


def _plan_fit(messages: Messages, candidate: CardCandidate, effort: LocalEffort) -> LocalFits:
    """Local fit of all tables around a hub with another number of states.

    Starts are good guesses, then random ones. The kernel makes those of the categorical neighbours.
    """
    hub, card = candidate.hub, candidate.card
    noise = _draw(messages, candidate, effort)
    tasks = bundle_around(messages, hub, card, noise, effort.mu)
    n_values = card * (1 + sum(map(messages.card, messages.neighbours(hub))))
    return LocalFits(messages, effort.nu, [candidate], tasks, n_values, [0])


def _draw(messages: Messages, candidate: CardCandidate, effort: LocalEffort) -> FloatArray:
    """Draw what the starts are made of; see `star_starts.start_star`."""
    hub, card, mu = candidate.hub, candidate.card, effort.mu
    names, continuous = messages.neighbours(hub), messages.network.structure.continuous
    rng = effort.generator(hub, candidate.operator)
    numbers = [z for z in names if z in continuous] if continuous else []
    if not numbers:
        n_columns = sum(map(messages.card, names))
        return rng.standard_exponential(mu * card * (n_columns + 1))
    tables = {z: messages.table(hub, z) for z in numbers}
    steps = find_steps(messages, hub, sorted(numbers))
    guessed = candidate.guess(Around(messages.table(hub), tables, numbers, steps))
    drawn = draw_gaussians(messages, hub, names, rng, mu, card)
    n_columns = sum(messages.card(z) for z in names if z not in tables)
    noise = rng.standard_exponential(mu * card * (n_columns + 1))
    parts = [np.concatenate([[g.tables[z] for g in guessed], drawn[z]]) for z in numbers]
    rows = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
    return np.concatenate([noise, rows.ravel()])


def find_steps(messages: Messages, hub: str, names: Sequence[str]) -> dict[str, FloatArray]:
    """Half a deviation along the first principal axis of each state's rows, for each column."""
    if not names:
        return {}
    about = [messages.data.summary(name) for name in names]
    units = np.sqrt([each.variance for each in about])
    values = np.stack([messages.data.dataset.column(name) for name in names], axis=1)
    shares = messages.posterior(hub) * messages.values.weights[:, None]
    steps = np.empty((shares.shape[1], len(names)))
    for k, tables in enumerate(zip(*(messages.table(hub, z) for z in names), strict=True)):
        means, variances = np.array(tables).T
        away = np.where(np.isnan(values), 0.0, (values - means) / units)
        total = max(float(shares[:, k].sum()), np.finfo(float).tiny)
        spread = (away * shares[:, k, None]).T @ away / total
        square, axis = find_principal_axis(spread)
        step = APART * np.sqrt(max(square, 0.0)) * axis * units
        steps[k] = np.clip(step, -APART * np.sqrt(variances), APART * np.sqrt(variances))
    return {z: steps[:, i] for i, z in enumerate(names)}
