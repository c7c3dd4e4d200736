"""Exact answers to queries by variable elimination, in any directed acyclic network.

Tables are kept as logarithms: products over thousands of factors then neither underflow nor
lose a state that only later evidence makes likely. Continuous variables are never summed over:
those with a value become a factor of the categorical variables above them, their density, and the
others integrate to one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentforest.errors import ModelError
from latentforest.model.gaussian import (
    Cluster,
    Joint,
    Mixture,
    find_clusters,
    join_cluster,
    list_configurations,
)
from latentforest.model.questions.evidence import Findings, name_findings
from latentforest.model.questions.ordering import InteractionGraph, check_size
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """The logarithm of a non-negative function: one axis for each variable of its scope."""

    scope: tuple[str, ...]
    log_table: Floats


@dataclass(frozen=True, slots=True)
class Choice:
    """The best state of a variable for every combination of states of its scope."""

    name: str
    scope: tuple[str, ...]
    best: NDArray[np.intp]


def compute_joint(
    structure: Structure,
    parameters: Floats,
    targets: tuple[str, ...],
    evidence: Findings,
) -> Floats:
    """Compute P(targets | evidence), one axis for each target."""
    elimination = _Elimination(structure, parameters, targets, evidence)
    elimination.sum_out(elimination.free - set(targets))
    scope = tuple(name for name in targets if name in elimination.free)
    log_joint = elimination.multiply_rest(scope)
    log_top = float(log_joint.max())
    _check_possible(structure, log_top, evidence)
    joint = np.exp(log_joint - log_top)
    shape = [structure.shape(name)[-1] for name in targets]
    return np.asarray(joint / joint.sum()).reshape(shape)


def find_most_probable(
    structure: Structure,
    parameters: Floats,
    targets: tuple[str, ...],
    evidence: Findings,
) -> dict[str, int]:
    """Find the codes of the most probable joint states of the targets given the evidence."""
    elimination = _Elimination(structure, parameters, targets, evidence)
    maximised = elimination.free & set(targets)
    elimination.sum_out(elimination.free - maximised)
    choices = elimination.max_out(maximised)
    _check_possible(structure, float(elimination.multiply_rest(())), evidence)
    codes = dict(elimination.fixed)
    for choice in reversed(choices):
        codes[choice.name] = int(choice.best[tuple(codes[name] for name in choice.scope)])
    return {name: codes[name] for name in targets}


def compute_log_probability(structure: Structure, parameters: Floats, evidence: Findings) -> float:
    """Compute log P(evidence)."""
    elimination = _Elimination(structure, parameters, (), evidence)
    elimination.sum_out(elimination.free)
    return float(elimination.multiply_rest(()))


def compute_mixture(
    structure: Structure, parameters: Floats, name: str, evidence: Findings
) -> Mixture:
    """Compute the density of a continuous variable given the evidence."""
    if structure.variable(name).is_categorical:
        raise ModelError(f"variable {name!r} is categorical; query() gives its probabilities")
    if name in evidence:
        raise ModelError(f"variable {name!r} is both a target and evidence")
    known = {each: evidence[each] for each in _numbers(structure, evidence)}
    missing = set(structure.continuous) - known.keys()
    clusters = find_clusters(structure, [name, *known], missing)
    cluster = next(each for each in clusters if name in each.names)
    joint = _join(structure, parameters, cluster, known, evidence)
    weights = compute_joint(structure, parameters, joint.scope, evidence)
    inside = {each: known[each] for each in cluster.names if each in known}
    mean, variance = joint.condition(name, inside)
    return Mixture(weights.ravel(), mean.ravel(), np.broadcast_to(variance, mean.shape).ravel())


def _numbers(structure: Structure, evidence: Findings) -> list[str]:
    return [name for name in structure.continuous if name in evidence]


def _check_possible(structure: Structure, log_probability: float, evidence: Findings) -> None:
    if log_probability == -math.inf:
        raise ModelError(f"the evidence has probability zero: {name_findings(structure, evidence)}")


def multiply_out(
    factors: Sequence[Factor], cards: Mapping[str, int], scope: tuple[str, ...]
) -> Floats:
    """Multiply factors and sum over all variables but those of a scope, in logarithms."""
    rest = _Factors(factors, cards)
    rest.sum_out(cards.keys() - set(scope))
    return rest.multiply_rest(scope)


class _Factors:
    """A product of factors, from which variables are removed one by one."""

    def __init__(self, factors: Iterable[Factor], cards: Mapping[str, int]) -> None:
        self._factors: dict[int, Factor] = {}
        self._touching: dict[str, set[int]] = {name: set() for name in cards}
        self._n_added, self._cards = 0, cards
        for factor in factors:
            self._add(factor)
        scopes = [factor.scope for factor in self._factors.values()]
        self._graph = InteractionGraph(cards, scopes)

    def sum_out(self, names: Iterable[str]) -> None:
        """Remove variables by summing over their states."""
        for name in self._graph.removals(names):
            product = self._take(name)
            self._add(Factor(product.scope[1:], _log_sum(product.log_table)))

    def max_out(self, names: Iterable[str]) -> list[Choice]:
        """Remove variables by keeping only their best states; return the choices in order."""
        choices = []
        for name in self._graph.removals(names):
            product = self._take(name)
            scope, log_table = product.scope[1:], product.log_table
            self._add(Factor(scope, np.asarray(log_table.max(axis=0))))
            choices.append(Choice(name, scope, np.asarray(log_table.argmax(axis=0))))
        return choices

    def multiply_rest(self, scope: tuple[str, ...]) -> Floats:
        """Multiply the factors that are left; axes in the order of the scope."""
        check_size(sum(math.log(self._cards[name]) for name in scope), *scope)
        everywhere = Factor(scope, np.zeros([self._cards[name] for name in scope]))
        return _multiply([everywhere, *self._factors.values()], scope).log_table

    def _add(self, factor: Factor) -> None:
        self._factors[self._n_added] = factor
        for name in factor.scope:
            self._touching[name].add(self._n_added)
        self._n_added += 1

    def _take(self, name: str) -> Factor:
        """Remove the factors that mention a variable; return their product, its axis first."""
        keys = sorted(self._touching.pop(name))
        taken = [self._factors.pop(key) for key in keys]
        others = dict.fromkeys(each for factor in taken for each in factor.scope if each != name)
        for other in others:
            self._touching[other].difference_update(keys)
        return _multiply(taken, (name, *others))


class _Elimination(_Factors):
    """The factors that matter to a query.

    ``free`` holds the names of the variables that have an axis, ``fixed`` the codes of the
    others: evidence, and variables of a single state.
    """

    def __init__(
        self,
        structure: Structure,
        parameters: Floats,
        targets: Collection[str],
        evidence: Findings,
    ) -> None:
        relevant = _ancestors(structure, (*targets, *evidence)) - set(structure.continuous)
        numbers = {name: evidence[name] for name in _numbers(structure, evidence)}
        codes = {name: int(code) for name, code in evidence.items() if name not in numbers}
        cards = {name: structure.shape(name)[-1] for name in structure.names if name in relevant}
        self.fixed = {name: 0 for name, card in cards.items() if card == 1} | codes
        self.free = cards.keys() - self.fixed.keys()
        factors = [_read_factor(structure, parameters, name, self.fixed) for name in cards]
        factors += _weigh_numbers(structure, parameters, numbers, self.fixed)
        super().__init__(factors, {name: cards[name] for name in cards if name in self.free})


def _ancestors(structure: Structure, names: Iterable[str]) -> set[str]:
    """Return the names and all their ancestors; other variables sum to one and drop out."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(structure.parents(name))
    return found


def _read_factor(
    structure: Structure, parameters: Floats, name: str, fixed: Mapping[str, int]
) -> Factor:
    """Return a family's table, sliced at the fixed variables."""
    family = (*structure.parents(name), name)
    index = tuple(fixed.get(each, slice(None)) for each in family)
    table = structure.table_view(parameters, name)[index]
    with np.errstate(divide="ignore"):
        log_table = np.log(table)
    return Factor(tuple(each for each in family if each not in fixed), np.asarray(log_table))


def _weigh_numbers(
    structure: Structure, parameters: Floats, numbers: Findings, fixed: Mapping[str, int]
) -> list[Factor]:
    """Return the densities of continuous evidence as functions of the categorical variables."""
    factors = []
    missing = set(structure.continuous) - numbers.keys()
    for cluster in find_clusters(structure, numbers, missing):
        joint = _join(structure, parameters, cluster, numbers, fixed)
        inside = {name: numbers[name] for name in cluster.names if name in numbers}
        factors.append(Factor(joint.scope, joint.log_density(inside)))
    return factors


def _join(
    structure: Structure,
    parameters: Floats,
    cluster: Cluster,
    numbers: Findings,
    fixed: Findings,
) -> Joint:
    """Multiply a cluster out, given numbers outside and some of the states above it."""
    scope = tuple(each for each in cluster.scope if each not in fixed)
    cards = [structure.shape(each)[-1] for each in scope]
    codes = list_configurations(scope, cards)
    n = math.prod(cards)
    codes |= {each: np.full(n, int(fixed[each])) for each in cluster.scope if each in fixed}
    joint, size = join_cluster(structure, parameters, cluster, codes), len(cluster.names)
    means = joint.means(np.array([numbers[each] for each in cluster.outside]))
    covariances = joint.covariances.reshape(*cards, size, size)
    return Joint(cluster.names, scope, means.reshape(*cards, size), covariances)


def _multiply(factors: Sequence[Factor], scope: tuple[str, ...]) -> Factor:
    """Multiply factors; axes in the order of the scope, which holds all of theirs."""
    position = {name: axis for axis, name in enumerate(scope)}
    product = np.zeros((1,) * len(scope))
    for factor in factors:
        axes = sorted(range(len(factor.scope)), key=lambda axis: position[factor.scope[axis]])
        shape = [1] * len(scope)
        for axis in axes:
            shape[position[factor.scope[axis]]] = factor.log_table.shape[axis]
        product = product + factor.log_table.transpose(axes).reshape(shape)
    return Factor(scope, product)


def _log_sum(log_table: Floats) -> Floats:
    """Sum over the first axis a function that is given by its logarithm."""
    top = log_table.max(axis=0)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        log_sum = np.log(np.exp(log_table - shift).sum(axis=0))
    return np.asarray(log_sum + shift)
