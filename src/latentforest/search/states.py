"""Another number of states for a latent variable: what SI and SD share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from latentforest.data.variable import Variable
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.candidate import Effort, Proposal, TreeCandidate
from latentforest.search.random_tables import draw_gaussians, draw_side_by_side
from latentforest.search.star import choose_pivot, fit_around
from latentforest.search.tables import SideBySide, pack, soften
from latentforest.search.tree import Tree, edge_dimension, node_dimension

HALF = 0.5  # deviation that the means of a split Gaussian move


@dataclass(frozen=True)
class Around:
    """The tables around a latent variable: P(hub) and P(neighbour | hub).

    Those of the categorical neighbours lie side by side in ``joined``; ``numbers`` are those of the
    continuous ones. Several guesses or starts lie along a first axis. ``steps`` are how far the
    means of the continuous neighbours should move when a state is split, for each state.
    """

    prior: FloatArray
    names: tuple[str, ...]  # of the categorical neighbours
    beside: SideBySide
    joined: FloatArray
    numbers: dict[str, FloatArray]
    steps: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def gather(
        cls, prior: FloatArray, tables: Mapping[str, FloatArray], continuous: Collection[str]
    ) -> Around:
        """Put the tables of categorical neighbours side by side."""
        names = tuple(z for z in tables if z not in continuous)
        beside = SideBySide([tables[z].shape[1] for z in names])
        joined = np.concatenate([np.empty((len(prior), 0)), *(tables[z] for z in names)], axis=1)
        return cls(prior, names, beside, joined, {z: tables[z] for z in tables if z in continuous})

    def __getitem__(self, i: int) -> Around:
        """One of several guesses."""
        numbers = {z: table[i] for z, table in self.numbers.items()}
        return replace(self, prior=self.prior[i], joined=self.joined[i], numbers=numbers)

    @property
    def tables(self) -> dict[str, FloatArray]:
        """The table of each neighbour."""
        return self.numbers | dict(zip(self.names, self.beside.parts(self.joined), strict=True))


Guess = Callable[[Around], Around]


def change_of_card(tree: Tree, hub: str, card: int) -> int:
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
    tables = {z: np.array(network.cpd(z)) for z in old.children(hub)}
    guessed = guess(Around.gather(np.array(network.cpd(hub)), tables, old.continuous))
    return pack(structure, network, {hub: guessed.prior, **guessed.tables})


@dataclass(frozen=True)
class CardCandidate(TreeCandidate):
    """``hub`` with ``card`` states."""

    hub: str
    card: int
    neighbours: tuple[str, ...]

    @property
    def root(self) -> str:
        return self.hub

    @property
    def region(self) -> tuple[str, ...]:
        return self.hub, *self.neighbours

    def __str__(self) -> str:
        return f"{self.hub} with {self.card} states"

    def realise(self, network: Network, tables: FloatArray) -> Network:
        network = network.rooted_at(self.hub)
        structure = network.structure.with_variable(Variable.hidden(self.hub, self.card))
        given, taken = {}, 0
        for name in self.region:
            shape = structure.shape(name)
            given[name] = tables[taken : taken + math.prod(shape)].reshape(shape)
            taken += math.prod(shape)
        return pack(structure, network, given)


class FitOfStates:
    """Local fit of all tables around a hub with another number of states.

    Starts are good guesses, then random ones.
    """

    def __init__(
        self, messages: Messages, candidate: CardCandidate, effort: Effort, guesses: Guess
    ) -> None:
        self.messages, self.candidate, self.effort = messages, candidate, effort
        self.hub, self.card, self.guesses = candidate.hub, candidate.card, guesses

    def __call__(self) -> list[Proposal]:
        messages, hub, card = self.messages, self.hub, self.card
        names = messages.neighbours(hub)
        pivot = choose_pivot(messages, hub)
        starts = self._make_starts(names)
        prior, tables = starts.prior, starts.tables
        if pivot is None:
            blocks = [prior]
        else:
            marginal, conditional = turn(prior, tables[pivot])
            blocks = [marginal, conditional]
        blocks += [tables[z] for z in names if z != pivot]
        rows = np.concatenate([block.reshape(len(prior), -1) for block in blocks], axis=1)
        value, result = fit_around(messages, hub, pivot, card, rows, self.effort.limits)
        return [Proposal(self.candidate, value, self._read(result, pivot, names))]

    def _make_starts(self, names: Sequence[str]) -> Around:
        """Stack the guesses and random starts."""
        messages, hub, card, effort = self.messages, self.hub, self.card, self.effort
        continuous, mu = messages.network.structure.continuous, effort.mu
        tables = {z: messages.table(hub, z) for z in names}
        current = Around.gather(messages.table(hub), tables, continuous)
        if current.numbers:
            current = replace(current, steps=find_steps(messages, hub, sorted(current.numbers)))
        guesses = self.guesses(current)
        stream, beside = effort.stream(hub, self.candidate.operator), current.beside
        gaussians = draw_gaussians(messages, hub, names, stream, mu, card)
        drawn = draw_side_by_side(messages, hub, current.names, beside, stream, mu, card)
        prior = stream.draw_around(np.full(card, 1.0 / card), mu, 1)[:, 0]
        return replace(
            current,
            prior=np.concatenate([soften(guesses.prior), prior]),
            joined=np.concatenate([beside.softened(guesses.joined), drawn]),
            numbers={z: np.concatenate([guesses.numbers[z], gaussians[z]]) for z in gaussians},
        )

    def _read(self, result: FloatArray, pivot: str | None, names: Sequence[str]) -> FloatArray:
        """Bring the tables in the order of the region: P(hub), P(neighbour | hub)."""
        if pivot is None:
            return result
        structure, card = self.messages.network.structure, self.card
        n_pivot = structure.shape(pivot)[-1]
        marginal = result[:n_pivot]
        conditional = result[n_pivot : n_pivot * (1 + card)].reshape(n_pivot, card)
        prior, turned = turn(marginal[None], conditional[None])
        tables, taken = {pivot: turned[0]}, n_pivot * (1 + card)
        for z in names:
            if z != pivot:
                size = card * structure.shape(z)[-1]
                tables[z] = result[taken : taken + size]
                taken += size
        return np.concatenate([prior[0], *(tables[z].ravel() for z in names)])


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
        squares, axes = np.linalg.eigh(spread)
        step = HALF * np.sqrt(max(squares[-1], 0.0)) * axes[:, -1] * units
        steps[k] = np.clip(step, -HALF * np.sqrt(variances), HALF * np.sqrt(variances))
    return {z: steps[:, i] for i, z in enumerate(names)}


def turn(prior: FloatArray, tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From P(a) and P(b | a) to P(b) and P(a | b), for each start."""
    joint = prior[:, :, None] * tables
    marginal = joint.sum(axis=1)
    turned = np.swapaxes(joint, 1, 2)
    totals = marginal[:, :, None]
    rows = np.full(turned.shape, 1.0 / turned.shape[2])
    np.divide(turned, totals, out=rows, where=totals > 0)
    return marginal, rows
