"""NR: a neighbour of one latent variable is tied to another instead."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.kernels.regions.types import EMPTY, RELOCATIONS, LocalTasks
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.search.tables import mix, pack
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.posteriors import Posteriors
from latentforest.search.trees.completion.scores import compare_families
from latentforest.search.trees.local_fits import LocalFits, mark, split_work
from latentforest.search.trees.model import Model
from latentforest.search.trees.search import Rank
from latentforest.search.trees.tree import LatentTree, Rules, edge_dimension, node_dimension
from latentforest.search.trees.tree_candidate import TreeCandidate


@dataclass(frozen=True)
class NodeRelocation(TreeCandidate):
    """``moved`` and all behind it taken from ``origin`` and tied to ``target``.

    An origin that keeps two neighbours only, and is irregular for that, is ``dissolved``: the two
    are tied to each other, with the table that sums the origin out. That changes no probability
    and saves parameters.
    """

    operator: ClassVar[str] = "NR"
    is_numerous: ClassVar[bool] = True
    moved: str
    origin: str
    target: str
    dissolved: tuple[str, str] | None

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[NodeRelocation]:
        for origin in tree.latents:
            for moved in tree.neighbours[origin]:
                targets = tree.side_of(origin, moved)
                yield from cls.between(tree, rules, moved, origin, targets)

    @classmethod
    def between(
        cls, tree: LatentTree, rules: Rules, moved: str, origin: str, targets: Collection[str]
    ) -> Iterator[Self]:
        """Yield the relocations of one neighbour to some latent variables."""
        if not {moved, origin}.isdisjoint(rules.fixed):
            return
        rest = tuple(z for z in tree.neighbours[origin] if z != moved)
        if not rest:
            return
        dissolved, saved = None, 0
        if not tree.is_regular_with(origin, tree.cards[origin], rest):
            if len(rest) != 2 or not _may_dissolve(tree, rules, origin, rest):
                return
            dissolved, saved = (rest[0], rest[1]), _saved_by_dissolving(tree, origin, rest)
        changes = {
            tree.cards[target]: change_of_relocation(tree, moved, origin, target) - saved
            for target in {tree.cards[z]: z for z in tree.latents}.values()
            if tree.is_regular_after(moved, origin, tree.cards[target])
        }
        for target in tree.latents:
            if target == origin or target not in targets or target in rules.fixed:
                continue
            change = changes.get(tree.cards[target])
            if change is not None:
                yield cls(change, moved, origin, target, dissolved)

    @property
    def root(self) -> str:
        return self.target

    @property
    def region(self) -> tuple[str, ...]:
        return (self.moved,)

    @property
    def subject(self) -> str:
        return self.moved

    def renew(self, tree: LatentTree, rules: Rules) -> Self | None:
        if self.moved not in tree.neighbours.get(self.origin, ()):
            return None
        return next(self.between(tree, rules, self.moved, self.origin, {self.target}), None)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.origin, self.target, self.moved

    def edit(self, network: Network) -> Network:
        network = network.rooted_at(self.target)
        guess, above = network.table_view(self.moved), self.origin
        numbers = network.structure.continuous
        while above != self.target:
            guess = mix(network.table_view(above), guess, self.moved in numbers)
            (above,) = network.structure.parents(above)
        structure = network.structure.rewired({self.moved: (self.target,)})
        tables = {self.moved: guess}
        if self.dissolved is not None:
            (above,) = structure.parents(self.origin)
            below = next(z for z in self.dissolved if z != above)
            tables[below] = mix(
                network.table_view(self.origin), network.table_view(below), below in numbers
            )
            structure = structure.rewired({below: (above,)}).remove([self.origin])
        return pack(structure, network, tables)

    def realise(self, network: Network, tables: FloatArray) -> Network:
        old = network.structure
        if self.dissolved is not None or old.parents(self.moved) != (self.origin,):
            return super().realise(network, tables)
        structure = old.rewired({self.moved: (self.target,)})  # no other table changes
        shape = structure.shape(self.moved)
        given = tables[: math.prod(shape)].reshape(shape)
        return pack(structure, network, {self.moved: given})

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Self], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        groups: dict[str, dict[str, list[NodeRelocation]]] = {}
        for candidate in candidates:
            of_origin = groups.setdefault(candidate.origin, {})
            of_origin.setdefault(candidate.moved, []).append(candidate)
        for of_origin in groups.values():
            for run in split_work(list(of_origin.values()), messages.data.n_rows):
                yield _plan_fits(messages, run, effort)

    @classmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """Expected BIC, less that of the current model; also how promising candidates are.

        P(moved | origin) is replaced by P(moved | target). An origin that is dissolved between two
        neighbours makes no difference: it is summed out, which changes no probability, whereas
        counting the families without it would leave its entropy out of the likelihood.
        """
        gone = [[(c.origin, c.moved, c.origin)] for c in candidates]
        new = [[(c.origin, c.moved, c.target)] for c in candidates]
        return compare_families(completion, candidates, gone, new)

    @classmethod
    def judge_mixed(
        cls, known: Posteriors, model: Model, candidates: Sequence[Self], rank: Rank
    ) -> list[float]:
        """What the target tells more of the moved variable than the origin, less its price."""
        scores, total = [], model.data.total_weight
        for c in candidates:
            gain = known.information(c.moved, c.target) - known.information(c.moved, c.origin)
            scores.append(rank(model, model.log_likelihood + total * gain, c.change))
        return scores


def change_of_relocation(tree: LatentTree, moved: str, origin: str, target: str) -> int:
    """By how much the dimension grows; the origin stays."""
    return (tree.cards[target] - tree.cards[origin]) * (tree.cards[moved] - 1)


def _may_dissolve(tree: LatentTree, rules: Rules, origin: str, rest: tuple[str, ...]) -> bool:
    """Whether the two neighbours that are left may be tied to each other."""
    first, second = rest
    if not {first, second}.isdisjoint(rules.fixed):
        return False
    for one, other in ((first, second), (second, first)):
        if other not in tree.is_latent and one in tree.is_latent:
            beside = [z for z in tree.latent_neighbours(one) if z != origin]
            if len(tree.neighbours[one]) == 2 and not beside:
                return False  # it would keep two observed neighbours
    if first not in tree.is_latent and second not in tree.is_latent:
        return False
    return tree.is_regular_after(first, origin, tree.cards[second]) and tree.is_regular_after(
        second, origin, tree.cards[first]
    )


def _saved_by_dissolving(tree: LatentTree, origin: str, rest: tuple[str, ...]) -> int:
    """Parameters saved when a variable with two neighbours is summed out."""
    card, (a, b) = tree.cards[origin], tree.cards_of(rest)
    two_edges = edge_dimension(card, a) + edge_dimension(card, b) - node_dimension(card, 2)
    return two_edges - edge_dimension(a, b)


def _plan_fits(
    messages: Messages, groups: Sequence[Sequence[NodeRelocation]], effort: LocalEffort
) -> LocalFits:
    """Local fits of some neighbours of a latent variable, each tied to some others."""
    origin, number = groups[0][0].origin, messages.number
    arms = [messages.arm(origin, group[0].moved) for group in groups]
    candidates = [candidate for group in groups for candidate in group]
    targets = [number[candidate.target] for candidate in candidates]
    marks, order = mark(groups, targets, len(messages.hubs))
    ways = np.array([_mark_way(messages, group) for group in groups])
    common = EMPTY._replace(kind=RELOCATIONS, hub=number[origin])
    tasks = LocalTasks(np.array(arms, np.int64), marks, ways, common)
    n_values = messages.widest * (1 + max(messages.card(group[0].moved) for group in groups))
    n_before = [messages.card(candidate.target) for candidate in candidates]
    return LocalFits(messages, effort.nu, candidates, tasks, n_values, n_before, order)


def _mark_way(messages: Messages, group: Sequence[NodeRelocation]) -> LongArray:
    """Mark the targets of a neighbour and all latent variables between them and the origin."""
    origin, moved = group[0].origin, group[0].moved
    if len(group) > 3:  # nearly all are on some way
        return np.ones(len(messages.hubs), np.int64)
    is_latent = messages.number
    came_from = {origin: origin}
    stack = [origin]
    while stack:
        here = stack.pop()
        for z in messages.neighbours(here):
            if z in is_latent and z not in came_from and z != moved:
                came_from[z] = here
                stack.append(z)
    marked = np.zeros(len(messages.hubs), np.int64)
    for candidate in group:
        here = candidate.target
        while here != origin:
            marked[messages.number[here]] = 1
            here = came_from[here]
    return marked
