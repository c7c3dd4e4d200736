"""SI, SD, NI, ND and NR of latent trees with pouches: whole limbs move.

The operators are those of the other files of this folder. Guesses come from rows that are divided
among the states of a latent variable: by its posterior, by that of another, or by clustering.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import find_principal_axis, log_determinant
from latentforest.search.naming import name_new_latent
from latentforest.search.pouches.candidate import PouchCandidate, guess_limbs
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import Limb, PouchTree, Tables
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.operators.node_introduction import introduce
from latentforest.search.trees.tree import Rules

RIDGE = 1e-3  # added to correlations of features
N_MERGES = 10  # most pairs of states that are tried to be merged
SORTED = 3  # features by which rows are sorted before any is drawn
N_LLOYD = 4  # rounds of k-means
BLUR = 0.05  # share of the uniform distribution in shares found by clustering


@dataclass(frozen=True)
class LimbStates(PouchCandidate):
    """The hub with another number of states; all tables around it are free."""

    @classmethod
    def with_states(cls, tree: PouchTree, rules: Rules, step: int) -> Iterator[LimbStates]:
        """Yield the candidates in which a latent variable gets so many more states."""
        for hub, limbs in tree.limbs.items():
            card = tree.cards[hub] + step
            if hub in rules.fixed or card < 2 or (step > 0 and not rules.allows(card)):
                continue
            after = tree.with_card(hub, card)
            if after.is_regular_around([hub]):
                yield cls(after.dimension - tree.dimension, after, hub, ((hub,), *limbs))

    def __str__(self) -> str:
        return f"{self.hub} with {self.after.cards[self.hub]} states"

    def _guess_from(self, evidence: Evidence, shares: FloatArray) -> Tables:
        prior = evidence.weights @ shares
        tables = guess_limbs(evidence, self.limbs[1:], shares)
        return {self.hub: soften(prior / prior.sum()), **tables}


@dataclass(frozen=True)
class LimbStateIntroduction(LimbStates):
    """SI."""

    operator: ClassVar[str] = "SI"

    @classmethod
    def propose_in(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbStates]:
        return cls.with_states(tree, rules, 1)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        posterior = evidence.posteriors[self.hub]
        features = collect_features(evidence, self.limbs[1:])
        rng = effort.generator(self.operator, self.hub)
        found = [_split_state(features, posterior, k) for k in range(posterior.shape[1])]
        card = self.after.cards[self.hub]
        found += [_cluster(features, evidence.weights, card, rng) for _ in range(effort.mu)]
        return [self._guess_from(evidence, shares) for shares in found]


@dataclass(frozen=True)
class LimbStateDeletion(LimbStates):
    """SD."""

    operator: ClassVar[str] = "SD"

    @classmethod
    def propose_in(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbStates]:
        return cls.with_states(tree, rules, -1)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        posterior = evidence.posteriors[self.hub]
        means = _average(collect_features(evidence, self.limbs[1:]), posterior)
        pairs = list(itertools.combinations(range(posterior.shape[1]), 2))
        pairs.sort(key=lambda pair: float(((means[pair[0]] - means[pair[1]]) ** 2).sum()))
        merged = []
        for i, j in pairs[:N_MERGES]:
            shares = np.delete(posterior, j, axis=1)
            shares[:, i] += posterior[:, j]
            merged.append(self._guess_from(evidence, shares))
        return merged


@dataclass(frozen=True)
class LimbIntroduction(PouchCandidate):
    """NI: ``name``, a new latent variable, between the hub and two of its limbs."""

    operator: ClassVar[str] = "NI"
    name: str

    @classmethod
    def propose_in(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbIntroduction]:
        name = name_new_latent({*tree.cards, *tree.variables})
        for hub, limbs in tree.limbs.items():
            if hub in rules.fixed or len(limbs) < 3:
                continue
            movable = [limb for limb in limbs if rules.fixed.isdisjoint(limb)]
            for pair in itertools.combinations(movable, 2):
                rest = [limb for limb in limbs if limb not in pair]
                moved = {z: _swap(tree, z, hub, name) for (z, *_) in pair if z in tree.cards}
                shape = tree.with_limbs({hub: [*rest, (name,)], name: [(hub,), *pair], **moved})
                most = tree.cards[hub]
                for card in range(2 if rules.any_mediator else most, most + 1):
                    after = shape.with_card(name, card)
                    if rules.allows(card) and after.is_regular_around([name]):
                        change = after.dimension - tree.dimension
                        yield cls(change, after, hub, ((name,), *pair), name)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        posterior, card = evidence.posteriors[self.hub], self.after.cards[self.name]
        features = collect_features(evidence, self.limbs[1:])
        rest = features - posterior @ _average(features, posterior, evidence.weights)
        rng = effort.generator(self.operator, self.hub, *self.region)
        found = [posterior @ introduce(posterior.shape[1], card)]
        for i in range(max(effort.mu // 2, 2)):
            found.append(_cluster((rest, features)[i % 2], evidence.weights, card, rng))
        return [self._guess_from(evidence, posterior, shares) for shares in found]

    def _guess_from(self, evidence: Evidence, above: FloatArray, shares: FloatArray) -> Tables:
        counts = (above * evidence.weights[:, None]).T @ shares + 1e-3
        table = soften(counts / counts.sum(axis=1, keepdims=True))
        return {self.name: table, **guess_limbs(evidence, self.limbs[1:], shares)}

    def estimate(self, evidence: Evidence) -> float:
        """Information between the two limbs that the hub leaves, as if they were Gaussian."""
        posterior, (left, right) = evidence.posteriors[self.hub], self.limbs[1:]
        parts = []
        for limb in (left, right):
            x = collect_features(evidence, [limb])
            parts.append(x - posterior @ _average(x, posterior, evidence.weights))
        x = np.concatenate(parts, axis=1)
        matrix = (x * evidence.weights[:, None]).T @ x / evidence.weights.sum()
        matrix += RIDGE * np.eye(len(matrix))
        n = parts[0].shape[1]
        logs = [log_determinant(m) for m in (matrix[:n, :n], matrix[n:, n:], matrix)]
        return float(0.5 * evidence.weights.sum() * (logs[0] + logs[1] - logs[2]))

    def __str__(self) -> str:
        left, right = (", ".join(limb) for limb in self.limbs[1:])
        return f"{self.hub} - {self.name} - {left} / {right}"


@dataclass(frozen=True)
class LimbRelocation(PouchCandidate):
    """NR: a limb of ``old`` becomes one of the hub."""

    operator: ClassVar[str] = "NR"
    old: str

    @classmethod
    def propose_in(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbRelocation]:
        for old, limbs in tree.limbs.items():
            for limb in limbs:
                yield from cls.between(tree, rules, limb, old, tree.cards)

    @classmethod
    def between(
        cls, tree: PouchTree, rules: Rules, limb: Limb, old: str, hubs: Iterable[str]
    ) -> Iterator[LimbRelocation]:
        """Yield the candidates that move a limb of one latent variable to some others."""
        limbs = tree.limbs[old]
        if len(limbs) < 3 or old in rules.fixed or not rules.fixed.isdisjoint(limb):
            return
        behind: Collection[str] = tree.side_of(limb[0], old) if tree.is_latent(limb) else ()
        rest = [z for z in limbs if z != limb]
        for hub in hubs:
            if hub == old or hub in behind or hub in rules.fixed:
                continue
            changes = {old: rest, hub: [*tree.limbs[hub], limb]}
            if tree.is_latent(limb):
                changes[limb[0]] = list(_swap(tree, limb[0], old, hub))
            after = tree.with_limbs(changes)
            if after.is_regular_around([old, hub]):
                yield cls(after.dimension - tree.dimension, after, hub, (limb,), old)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        return [guess_limbs(evidence, self.limbs, evidence.posteriors[self.hub])]

    def estimate(self, evidence: Evidence) -> float:
        (limb,) = self.limbs
        new = _complete(evidence, limb, self.hub)
        return new - _complete(evidence, limb, self.old)

    def __str__(self) -> str:
        return f"{', '.join(self.limbs[0])} from {self.old} to {self.hub}"


@dataclass(frozen=True)
class LimbDeletion(PouchCandidate):
    """ND: the limbs of ``node``, which goes, become limbs of the hub, its neighbour."""

    operator: ClassVar[str] = "ND"
    node: str

    @classmethod
    def propose_in(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbDeletion]:
        for node in tree.cards:
            for hub in tree.latents_around(node):
                if node in rules.fixed or hub in rules.fixed:
                    continue
                moved = [limb for limb in tree.limbs[node] if limb != (hub,)]
                kept = [limb for limb in tree.limbs[hub] if limb != (node,)]
                changes = {hub: [*kept, *moved]}
                for limb in moved:
                    if tree.is_latent(limb):
                        changes[limb[0]] = list(_swap(tree, limb[0], node, hub))
                after = tree.with_limbs(changes).without(node)
                if moved and after.is_regular_around([hub]):
                    yield cls(after.dimension - tree.dimension, after, hub, tuple(moved), node)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        return [guess_limbs(evidence, self.limbs, evidence.posteriors[self.hub])]

    def __str__(self) -> str:
        return f"{self.node} into {self.hub}"


def _swap(tree: PouchTree, name: str, old: str, new: str) -> tuple[Limb, ...]:
    """Limbs of a latent variable with one neighbour replaced by another."""
    return tuple((new,) if limb == (old,) else limb for limb in tree.limbs[name])


def collect_features(evidence: Evidence, limbs: Iterable[Limb]) -> FloatArray:
    """Numbers that describe limbs in each row: scaled columns, indicators, posteriors."""
    parts = []
    for limb in limbs:
        if evidence.tree.is_latent(limb):
            parts.append(evidence.posteriors[limb[0]][:, 1:])
        elif evidence.tree.is_pouch(limb):
            parts.append(evidence.scaled[:, [evidence.place[name] for name in limb]])
        else:
            column = evidence.data.dataset.column(limb[0])
            n_states = evidence.tree.variables[limb[0]].n_states
            parts.append((column[:, None] == np.arange(1, n_states)).astype(np.float64))
    return np.concatenate(parts, axis=1)


def _average(
    features: FloatArray, shares: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Means of features given each state."""
    w = shares if weights is None else shares * weights[:, None]
    means: FloatArray = w.T @ features / np.maximum(w.sum(axis=0), 1e-9)[:, None]
    return means


def _split_state(features: FloatArray, posterior: FloatArray, k: int) -> FloatArray:
    """Divide a state along the direction in which its rows differ most."""
    share = posterior[:, k]
    d = features - _average(features, posterior)[k]
    _, axis = find_principal_axis((d * share[:, None]).T @ d)
    side = d @ axis > 0
    upper = share * np.where(side, 1.0 - BLUR, BLUR)
    return np.column_stack([posterior[:, :k], share - upper, posterior[:, k + 1 :], upper])


def _cluster(
    features: FloatArray, weights: FloatArray, card: int, rng: np.random.Generator
) -> FloatArray:
    """Divide rows by k-means from seeds that lie apart, whatever the order of the rows."""
    order = np.lexsort(features.T[::-1][-SORTED:])
    chance = weights
    centers = np.empty((card, features.shape[1]))
    distance = np.full(len(features), np.inf)
    for k in range(card):
        below = np.cumsum(chance[order])
        row = int(np.searchsorted(below, rng.random() * below[-1], "right"))
        centers[k] = features[order[min(row, len(features) - 1)]]
        distance = np.minimum(distance, ((features - centers[k]) ** 2).sum(axis=1))
        chance = distance * weights if distance.any() else weights
    for _ in range(N_LLOYD):
        shares = np.eye(card)[_distances(features, centers).argmin(axis=1)]
        has_rows = (weights @ shares) > 0
        centers[has_rows] = _average(features, shares, weights)[has_rows]
    nearest = _distances(features, centers).argmin(axis=1)
    blurred: FloatArray = (1.0 - BLUR) * np.eye(card) + BLUR / card
    result: FloatArray = blurred[nearest]
    return result


def _distances(features: FloatArray, centers: FloatArray) -> FloatArray:
    """Squared distances of rows from centers, less the squares of the rows."""
    distances: FloatArray = (centers**2).sum(axis=1) - 2.0 * features @ centers.T
    return distances


def _complete(evidence: Evidence, limb: Limb, hub: str) -> float:
    """Log-likelihood of a limb below a latent variable, in completed rows."""
    if evidence.tree.is_pouch(limb):
        weights, _, covariances = evidence.state_moments[hub]
        places = [evidence.place[name] for name in limb]
        logs = log_determinant(covariances[:, places][:, :, places])
        return -0.5 * float(weights @ logs)
    shares = evidence.posteriors[hub] * evidence.weights[:, None]
    if evidence.tree.is_latent(limb):
        counts = shares.T @ evidence.posteriors[limb[0]]
    else:
        column = evidence.data.dataset.column(limb[0])
        n_states = evidence.tree.variables[limb[0]].n_states
        counts = shares.T @ (column[:, None] == np.arange(n_states))
    counts = counts + 1e-9
    return float((counts * np.log(counts / counts.sum(axis=1, keepdims=True))).sum())
