"""NI: a new latent variable mediates between a latent variable and two of its neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.local_fits import start_mediators
from latentforest.inference.messages import Messages
from latentforest.kernels.regions.types import EMPTY, MEDIATORS, UPPER_MEDIATORS, LocalTasks
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.search.naming import name_new_latent
from latentforest.search.regularity import most_states
from latentforest.search.tables import pack, soften
from latentforest.search.trees.candidate import Candidate, LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.posteriors import Posteriors
from latentforest.search.trees.local_fits import LocalFits, mark, split_work
from latentforest.search.trees.model import Model
from latentforest.search.trees.random_tables import draw_gaussians
from latentforest.search.trees.search import Rank
from latentforest.search.trees.tree import LatentTree, Rules
from latentforest.search.trees.tree_candidate import TreeCandidate

PIECE_ROWS = 1_000_000  # rows times candidates of one task


@dataclass(frozen=True)
class NodeIntroduction(TreeCandidate):
    """``name``, a new latent variable with ``card`` states, between ``hub`` and two neighbours.

    It gets as many states as the hub, or as many as are regular; if the rules allow any mediator,
    fewer too. Free are P(new | hub) and the tables of the two neighbours. If the first neighbour is
    the parent of the hub (``is_upper``), free are P(new | parent), P(hub | new) and the table of
    the other: the paper's parameters in a network that is rooted where this one is.
    """

    operator: ClassVar[str] = "NI"
    heeds_any_mediator: ClassVar[bool] = True
    is_numerous: ClassVar[bool] = True
    hub: str
    left: str
    right: str
    card: int
    name: str
    is_upper: bool

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[NodeIntroduction]:
        name = name_new_latent(tree.neighbours)
        for hub in tree.latents:
            around, hub_card = tree.neighbours[hub], tree.cards[hub]
            if hub in rules.fixed or len(around) < 4:  # with three, the hub would keep two
                continue
            product = math.prod(tree.cards_of(around))
            n_numbers = sum(z in tree.is_continuous for z in around)
            widest = sorted(around, key=lambda z: -tree.cards[z])[:3]
            movable = [z for z in around if z not in rules.fixed]
            spoiled = {
                (z, card)
                for z in tree.latent_neighbours(hub)
                for card in range(2, hub_card + 1)
                if not tree.is_regular_after(z, hub, card)
            }
            for pair in itertools.combinations(movable, 2):
                a, b = tree.cards_of(pair)
                rest = next(tree.cards[z] for z in widest if z not in pair)
                n_moved = sum(z in tree.is_continuous for z in pair)
                most = hub_card if n_moved else min(hub_card, most_states([hub_card, a, b]))
                keeps_numbers = n_numbers > n_moved  # these bound no number of states
                for card in range(2 if rules.any_mediator else most, most + 1):
                    is_regular = (
                        keeps_numbers or hub_card <= product // (a * b) * card // max(rest, card)
                    ) and spoiled.isdisjoint(((pair[0], card), (pair[1], card)))
                    if is_regular and rules.allows(card):
                        yield cls._make(tree, hub, pair, card, name)

    @classmethod
    def _make(
        cls, tree: LatentTree, hub: str, pair: tuple[str, str], card: int, name: str
    ) -> NodeIntroduction:
        (left, right), hub_card, (a, b) = pair, tree.cards[hub], tree.cards_of(pair)
        change = hub_card * (card - 1) + (card - hub_card) * (a + b - 2)
        parent = tree.parent.get(hub)
        if right == parent:
            left, right = right, left
        return cls(change, hub, left, right, card, name, left == parent)

    @property
    def root(self) -> str:
        return self.left if self.is_upper else self.hub

    @property
    def region(self) -> tuple[str, ...]:
        below = (self.hub, self.right) if self.is_upper else (self.left, self.right)
        return self.name, *below

    @property
    def variables(self) -> tuple[str, ...]:
        return self.hub, self.name, self.left, self.right

    def edit(self, network: Network) -> Network:
        network = network.rooted_at(self.root)
        _, first, second = self.region
        structure = network.structure.with_latent(
            Variable.hidden(self.name, self.card),
            {self.name: (self.root,), first: (self.name,), second: (self.name,)},
        )
        hub_card = network.structure.shape(self.hub)[-1]
        copy = introduce(hub_card, self.card)
        tables = {
            self.name: soften(network.table_view(self.hub) @ copy)
            if self.is_upper
            else soften(copy),
            first: soften(copy.T) if self.is_upper else network.table_view(first)[: self.card],
            second: network.table_view(second)[: self.card],
        }
        if self.is_upper:
            tables[first] = tables[first] / tables[first].sum(axis=1, keepdims=True)
        return pack(structure, network, tables)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Self], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        by_hub: dict[str, list[Self]] = {}
        for candidate in candidates:
            by_hub.setdefault(candidate.hub, []).append(candidate)
        n_rows = messages.data.n_rows
        step = max(1, PIECE_ROWS // n_rows)
        for hub, group in by_hub.items():
            starts = _Starts(messages, hub, max(c.card for c in group), effort)
            by_left: dict[tuple[str, int], list[Self]] = {}
            for candidate in group:
                by_left.setdefault((candidate.left, candidate.card), []).append(candidate)
            pieces = [
                part[i : i + step] for part in by_left.values() for i in range(0, len(part), step)
            ]
            for is_upper in (False, True):
                here = [piece for piece in pieces if piece[0].is_upper == is_upper]
                for run in split_work(here, n_rows):
                    yield _plan_fits(messages, run, starts, effort)

    @classmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """G² of the two neighbours given the hub.

        It does not depend on the number of states: all mediators but the largest are ruled out.
        """
        largest: dict[tuple[str, str, str], int] = {}
        for c in candidates:
            pair = c.hub, c.left, c.right
            largest[pair] = max(largest.get(pair, 0), c.card)
        measured = cls._measure(completion, candidates)
        return [
            g2 if c.card == largest[c.hub, c.left, c.right] else -math.inf
            for c, g2 in zip(candidates, measured, strict=True)
        ]

    @classmethod
    def judge(
        cls, completion: Completion, model: Model, candidates: Sequence[Self], rank: Rank
    ) -> list[float]:
        """Rank of a model that gains half of G²: all that the pair leaves unexplained."""
        gains = (0.5 * g2 for g2 in cls._measure(completion, candidates))
        return _rank_gains(model, candidates, gains, rank)

    @classmethod
    def judge_mixed(
        cls, known: Posteriors, model: Model, candidates: Sequence[Self], rank: Rank
    ) -> list[float]:
        """Rank of a model that explains the pair's dependence given the hub."""
        gains = (known.unexplained(c.hub, c.left, c.right) for c in candidates)
        return _rank_gains(model, candidates, gains, rank)

    @classmethod
    def _measure(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """G² of the two neighbours of each candidate given its hub."""
        completion.measure_dependence(c.hub for c in candidates)
        return [completion.measure_pair(c.hub, c.left, c.right)[0] for c in candidates]


def _rank_gains(
    model: Model, candidates: Sequence[Candidate], gains: Iterable[float], rank: Rank
) -> list[float]:
    """Rank candidates that gain so much log-likelihood."""
    pairs = zip(candidates, gains, strict=True)
    return [rank(model, model.log_likelihood + gain, c.change) for c, gain in pairs]


def introduce(hub_card: int, card: int) -> FloatArray:
    """P(new | hub) of a copy of the hub; surplus states of the hub share those of the copy."""
    table = np.zeros((hub_card, card))
    for y in range(hub_card):
        table[y, y % card] = 1.0
    return table


class _Starts:
    """Starts of all mediators around a hub; see `mediator_starts.start_mediators`."""

    def __init__(self, messages: Messages, hub: str, card: int, effort: LocalEffort) -> None:
        structure, n_random = messages.network.structure, effort.mu - 1
        names, hub_card, self.card = messages.neighbours(hub), messages.card(hub), card
        rng = effort.generator(hub, "NI")
        n_columns = sum(messages.card(z) for z in names if z not in structure.continuous)
        n_upper = sum(messages.card(parent) + hub_card for parent in structure.parents(hub))
        n_lower, n_others = n_random * card * hub_card, n_random * card * (n_columns + n_upper)
        if n_columns == sum(map(messages.card, names)):
            noise, numbers = rng.standard_exponential(n_lower + n_others), np.empty(0)
        else:
            first = rng.standard_exponential(n_lower)
            drawn = draw_gaussians(messages, hub, names, rng, n_random, card)
            numbers = np.concatenate([drawn[z].ravel() for z in names if z in drawn])
            noise = np.concatenate([first, rng.standard_exponential(n_others)])
        self.drafts, self._places = start_mediators(messages, hub, card, n_random, noise, numbers)

    def find_places(self, is_upper: bool) -> LongArray:
        """Say where the tables of a mediator begin, and those of all neighbours."""
        return self._places[1:] if is_upper else np.delete(self._places, (1, 2))


def _plan_fits(
    messages: Messages,
    groups: Sequence[Sequence[NodeIntroduction]],
    starts: _Starts,
    effort: LocalEffort,
) -> LocalFits:
    """Local fits of mediators of a hub; each group has one neighbour and number of states."""
    hub, is_upper = groups[0][0].hub, groups[0][0].is_upper
    around, number = messages.neighbours(hub), messages.number[hub]
    lefts = [messages.arm(hub, group[0].left) for group in groups]
    candidates = [candidate for group in groups for candidate in group]
    first = int(messages.arms.first[number])
    rights = [messages.arm(hub, candidate.right) - first for candidate in candidates]
    cards = [candidate.card for candidate in candidates]
    marks, order = mark(groups, rights, len(around), cards)
    common = EMPTY._replace(
        kind=UPPER_MEDIATORS if is_upper else MEDIATORS,
        hub=number,
        most=starts.card,
        drafts=starts.drafts,
        places=starts.find_places(is_upper),
        n_starts=effort.mu,
    )
    ways = np.empty((len(groups), 0), np.int64)
    tasks = LocalTasks(np.array(lefts, np.int64), marks, ways, common)
    root_card = messages.card(groups[0][0].root)
    widest = max(map(messages.card, (hub, *around)))
    n_values = root_card + starts.card * (root_card + 2 * widest)
    n_before = [root_card] * len(candidates)
    return LocalFits(messages, effort.nu, candidates, tasks, n_values, n_before, order)
