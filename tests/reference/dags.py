"""Networks over columns the slow way: all of them, scored by counting row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np

from latentforest.data import Dataset, Variable


def random_table(seed, cards, n_rows, weights="ones"):
    """A table whose columns depend on up to two earlier ones."""
    rng = np.random.default_rng(seed)
    columns = []
    for j, card in enumerate(cards):
        parents = rng.choice(j, min(j, rng.integers(0, 3)), replace=False) if j else []
        place = np.zeros(n_rows, int)
        for parent in parents:
            place = place * cards[parent] + columns[parent]
        sums = rng.dirichlet(np.full(card, 0.6), place.max() + 1).cumsum(axis=1)
        columns.append((rng.random(n_rows)[:, None] > sums[place][:, :-1]).sum(axis=1))
    variables = [Variable(f"x{j}", tuple(map(str, range(card)))) for j, card in enumerate(cards)]
    made = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(0, 4, n_rows).astype(float),
        "broken": rng.random(n_rows),
    }
    return Dataset(variables, columns, made[weights])


def list_rows(data):
    """Rows as tuples, with their weights."""
    rows = zip(*(column.tolist() for column in data.columns), strict=True)
    return list(zip(rows, data.weights.tolist(), strict=True))


def count_family(data, child, parents):
    """Counts of the child's states by configuration of the parents."""
    counts = defaultdict(Counter)
    for row, weight in list_rows(data):
        counts[tuple(row[p] for p in parents)][row[child]] += weight
    return counts


def dirichlet_score(data, child, parents, prior):
    """Log marginal likelihood of a family; ``prior`` gives the prior count of each cell."""
    value = 0.0
    card = data.variables[child].n_states
    for configuration, states in count_family(data, child, parents).items():
        priors = [prior(configuration, state) for state in range(card)]
        value += math.lgamma(sum(priors)) - math.lgamma(sum(priors) + sum(states.values()))
        for state, n in states.items():
            value += math.lgamma(priors[state] + n) - math.lgamma(priors[state])
    return value


def family_score(data, child, parents, criterion="bic"):
    """Maximized log-likelihood of a family less its penalty, all configurations counted.

    Bayesian criteria have their usual priors: a count of one for "k2" and "ch", an equivalent
    sample size of one for "bdeu".
    """
    value = 0.0
    if criterion in ("k2", "ch"):
        return dirichlet_score(data, child, parents, lambda *_: 1.0)
    if criterion == "bdeu":
        n_cells = math.prod(data.variables[j].n_states for j in (child, *parents))
        return dirichlet_score(data, child, parents, lambda *_: 1.0 / n_cells)
    for states in count_family(data, child, parents).values():
        total = sum(states.values())
        value += sum(n * math.log(n / total) for n in states.values() if n > 0)
    cards = [variable.n_states for variable in data.variables]
    n_parameters = (cards[child] - 1) * math.prod(cards[p] for p in parents)
    half_log = 0.5 * math.log(data.weights.sum())
    price = {"likelihood": 0.0, "aic": 1.0, "bic": half_log, "mdl": half_log}
    return value - price[criterion] * n_parameters


def subsets(items):
    """All subsets, as tuples."""
    items = list(items)
    return [s for size in range(len(items) + 1) for s in combinations(items, size)]


def is_acyclic(parents):
    """Whether columns can be taken away one by one, each without parents left."""
    left = set(range(len(parents)))
    while left:
        free = {j for j in left if left.isdisjoint(parents[j])}
        if not free:
            return False
        left -= free
    return True


def all_dags(n):
    """All networks over n columns: the parents of each."""
    choices = [subsets(j for j in range(n) if j != child) for child in range(n)]
    return [dag for dag in product(*choices) if is_acyclic(dag)]


def score_all(data, dags, criterion="bic"):
    """Scores of networks; families are counted once."""
    known = {}

    def score(child, parents):
        if (child, parents) not in known:
            known[child, parents] = family_score(data, child, parents, criterion)
        return known[child, parents]

    return [sum(score(j, parents) for j, parents in enumerate(dag)) for dag in dags]


def equivalence_class(dag):
    """Neighbours in the graph and unshielded colliders: equal for equivalent networks."""
    edges = {frozenset((j, p)) for j, parents in enumerate(dag) for p in parents}
    colliders = {
        (frozenset(pair), j)
        for j, parents in enumerate(dag)
        for pair in combinations(parents, 2)
        if frozenset(pair) not in edges
    }
    return frozenset(edges), frozenset(colliders)


def as_dag(network, names):
    """The parents of each column of a network, by their places in ``names``."""
    return tuple(
        tuple(sorted(names.index(p) for p in network.structure.parents(name))) for name in names
    )


def permute_columns(data, order):
    """The same table with its columns in another order."""
    return data.select([data.names[j] for j in order])


def log_marginal_likelihood(data, dag, size=1.0):
    """Logarithm of the evidence of a network with BDeu's Dirichlet priors."""
    return sum(bdeu_score(data, child, parents, size) for child, parents in enumerate(dag))


def bdeu_score(data, child, parents, size=1.0):
    """A family's part of it."""
    cards = [variable.n_states for variable in data.variables]
    row = size / math.prod(cards[p] for p in parents)
    cell, value = row / cards[child], 0.0
    for states in count_family(data, child, parents).values():
        value += math.lgamma(row) - math.lgamma(row + sum(states.values()))
        value += sum(math.lgamma(cell + n) - math.lgamma(cell) for n in states.values())
    return value
