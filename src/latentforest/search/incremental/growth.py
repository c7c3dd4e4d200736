"""A forest that grows: the working set, and what is known of its pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.bayes.posterior_vector import unpack
from latentforest.inference.association.information import Check
from latentforest.inference.association.mixed_information import (
    InformationSettings,
    information_about,
    information_matrix,
)
from latentforest.inference.threads import map_threads
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.conjugate import Conjugate
from latentforest.model.structure import Structure
from latentforest.search.incremental.arc_addition import add_arc, is_allowed
from latentforest.search.incremental.candidate import NEW, JoinCandidate, adopt, rename
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.tree import (
    GrowingTree,
    TreeTop,
    compute_root_posterior,
    find_possible_roots,
    make_single_tree,
    reroot,
)
from latentforest.search.naming import name_new_latent
from latentforest.ties import sort_best_first

Pair = tuple[str, str]


@dataclass(frozen=True)
class Move:
    """A candidate, and what rooting its trees where it needs them adds to its gain."""

    candidate: JoinCandidate
    turned: float = 0.0

    @property
    def gain(self) -> float:
        """What it adds to the penalized bound."""
        return self.candidate.gain + self.turned


class GrowingForest:
    """The trees, and the variables at which they may be joined.

    Parameters
    ----------
    context
        The table and the priors.
    turns
        Whether trees may be rooted anew. If not, the roots are the working set, as in the paper.
    """

    def __init__(self, context: GrowthContext, turns: bool) -> None:
        self.context, self.turns = context, turns
        self.trees = {name: make_single_tree(context, name) for name in context.table.names}
        self.home = {name: name for name in self.trees}  # root of each variable's tree
        self.possible_roots = {name: {name: 0.0} for name in self.trees}
        self._tops = {name: tree.top for name, tree in self.trees.items()}
        self._known: dict[tuple[str, str, str], JoinCandidate] = {}
        self.n_candidates = 0

    @property
    def score(self) -> float:
        """The penalized bound of the forest."""
        return sum(tree.score for tree in self.trees.values())

    @property
    def latents(self) -> list[str]:
        """All latent variables, in the order in which they came."""
        names = [name for tree in self.trees.values() for name in tree.structure.latents]
        return sorted(names, key=lambda name: (len(name), name))

    @property
    def working_set(self) -> list[str]:
        """Variables that may be joined: possible roots, and those that may get children."""
        return [name for name in self.home if self._is_open(name)]

    def _is_open(self, name: str) -> bool:
        home = self.home[name]
        return name in self.possible_roots[home] or (self.turns and name in self.context.complete)

    def all_pairs(self) -> list[Pair]:
        """List the pairs of the working set that may be joined."""
        names = self.working_set
        rows, columns = self.find_pairs(names)
        return [(names[i], names[j]) for i, j in zip(rows, columns, strict=True)]

    def find_pairs(self, names: Sequence[str]) -> tuple[LongArray, LongArray]:
        """Find the pairs, among some names of the working set, with anything to be done.

        They are in different trees, and two possible roots, or one and a possible parent.
        """
        homes = np.unique([self.home[name] for name in names], return_inverse=True)[1]
        can_be_root = np.array([name in self.possible_roots[self.home[name]] for name in names])
        is_continuous = np.array([not self._tops[name].variable.is_categorical for name in names])
        rows, columns = np.triu_indices(len(names), 1)
        a, b = can_be_root[rows], can_be_root[columns]
        over = np.where(a, is_continuous[columns], is_continuous[rows])  # of the possible parent
        below = np.where(a, is_continuous[rows], is_continuous[columns])
        good = (a & b) | ((a | b) & (~over | below))
        good &= homes[rows] != homes[columns]
        return rows[good], columns[good]

    def judge(self, pairs: Sequence[Pair]) -> Iterator[Move]:
        """Give the moves at some pairs. What is known of tops that did not change is kept."""
        wanted = [(operator, *pair) for pair in pairs for operator in self._operators(*pair)]
        new = [key for key in wanted if key not in self._known]
        self.n_candidates += len(new)
        for key, candidate in zip(
            new, map_threads(self._try, new, self.context.data.n_jobs), strict=True
        ):
            self._known[key] = candidate
            yield self._move(*key)
        fresh = set(new)
        for key in wanted:
            if key not in fresh:
                yield self._move(*key)

    def _operators(self, a: str, b: str) -> Iterator[str]:
        """What may be done with a pair: a node above it, an arc forward or backward."""
        can_be_root = [name in self.possible_roots[self.home[name]] for name in (a, b)]
        if all(can_be_root):
            yield "NA"
        if can_be_root[1] and is_allowed(self.context, self._tops[a], self._tops[b]):
            yield "AA"
        if can_be_root[0] and is_allowed(self.context, self._tops[b], self._tops[a]):
            yield "AA back"

    def _try(self, key: tuple[str, str, str]) -> JoinCandidate:
        operator, a, b = self._tops_of(key)
        if operator == "NA":
            return add_node(self.context, (a, b))
        return add_arc(self.context, b, a) if operator == "AA back" else add_arc(self.context, a, b)

    def _tops_of(self, key: tuple[str, str, str]) -> tuple[str, TreeTop, TreeTop]:
        return key[0], self._tops[key[1]], self._tops[key[2]]

    def _move(self, operator: str, a: str, b: str) -> Move:
        turned = {name: self.possible_roots[self.home[name]].get(name, 0.0) for name in (a, b)}
        if operator == "AA":
            turned[a] = 0.0
        elif operator == "AA back":
            turned[b] = 0.0
        return Move(self._known[operator, a, b], turned[a] + turned[b])

    def take(self, candidate: JoinCandidate, deadline: float | None = None) -> GrowingTree:
        """Join two trees."""
        if NEW in candidate.structure:
            candidate = rename(
                candidate, name_new_latent({*self.context.table.names, *self.latents})
            )
        is_node = len(candidate.structure.roots) == 1 and candidate.structure.roots[0] not in (
            candidate.parts[0].root,
            candidate.parts[1].root,
        )
        first, second = (self.trees[self.home[top.root]] for top in candidate.parts)
        gone = (first.root, second.root)
        second = reroot(self.context, second, candidate.parts[1].root)
        if is_node:
            first = reroot(self.context, first, candidate.parts[0].root)
        tree = adopt(self.context, candidate, (first, second), deadline)
        self._put(tree, gone)
        return tree

    def _put(self, tree: GrowingTree, gone: Sequence[str]) -> None:
        """Put a tree in the place of others, at once: Ctrl-C in between must not lose one."""
        stay = {root: each for root, each in self.trees.items() if root not in gone}
        self.trees = {**stay, tree.root: tree}
        for root in gone:
            self.possible_roots.pop(root, None)
        self.home.update(dict.fromkeys(tree.names, tree.root))
        possible_roots = find_possible_roots(self.context, tree) if self.turns else {tree.root: 0.0}
        self.possible_roots[tree.root] = possible_roots
        changed = {name for name in tree.names if name not in self.context.complete}
        self._known = {
            key: known for key, known in self._known.items() if changed.isdisjoint(key[1:])
        }
        for name in changed:
            self._tops.pop(name, None)
        self._tops[tree.root] = tree.top

    def refine(self, change: Callable[[GrowingTree], GrowingTree]) -> None:
        """Put other trees in the place of these."""
        for root in list(self.trees):
            self._put(change(self.trees[root]), (root,))

    def structure(self) -> Structure:
        """The whole forest: latent variables, then the columns."""
        hidden = {v.name: v for tree in self.trees.values() for v in tree.structure.variables}
        parents = {
            name: () if (parent := tree.parent(name)) is None else (parent,)
            for tree in self.trees.values()
            for name in tree.names
        }
        return Structure(
            [*(hidden[name] for name in self.latents), *self.context.table.variables], parents
        )

    def posteriors(self) -> dict[str, Conjugate]:
        """The posterior of every family."""
        found: dict[str, Conjugate] = {}
        for tree in self.trees.values():
            found.update(unpack(tree.structure, tree.posterior))
            for name, parent in tree.lines.items():
                found[name] = self.context.given(name, parent)[0]
        return {name: found[name] for name in self.structure().names}


class Associations:
    """The mutual information of all pairs of variables so far.

    Parameters
    ----------
    table
        All rows.
    settings
        The estimators.
    check
        Called before each pair; what it raises ends the work.
    """

    def __init__(
        self, table: Dataset, settings: InformationSettings, check: Check | None = None
    ) -> None:
        self.table, self.settings, self.check = table, settings, check
        self.names = list(table.names)
        self.values = information_matrix(table, settings=settings, check=check)
        self._shares: dict[str, FloatArray] = {}

    def highest(self, forest: GrowingForest, n_pairs: int) -> list[Pair]:
        """List so many pairs of the working set, those with the most information first."""
        place = {name: i for i, name in enumerate(self.names)}
        names = forest.working_set
        index = np.array([place[name] for name in names])
        rows, columns = forest.find_pairs(names)
        order = sort_best_first(self.values[index[rows], index[columns]])[:n_pairs]
        return [(names[rows[i]], names[columns[i]]) for i in order]

    def update(self, context: GrowthContext, tree: GrowingTree) -> None:
        """Estimate that of a latent root, new or changed."""
        if not tree.top.variable.latent:
            return
        self._forget(tree.root)
        posterior = compute_root_posterior(context, tree)
        row = information_about(posterior, self.table, self._shares, self.settings, self.check)
        size = len(self.names)
        self.values = np.pad(self.values, (0, 1))
        self.values[size, :size] = self.values[:size, size] = row
        self.names.append(tree.root)
        self._shares[tree.root] = posterior

    def copy(self) -> Associations:
        """Return the same, to be updated by itself."""
        other = copy(self)
        other.names, other._shares = list(self.names), dict(self._shares)
        return other

    def _forget(self, name: str) -> None:
        if name in self._shares:
            i = self.names.index(name)
            self.values = np.delete(np.delete(self.values, i, axis=0), i, axis=1)
            del self.names[i], self._shares[name]
