"""How close a network comes to rows, to the distribution of another network, and to its shape."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.data.lookup import list_briefly
from latentforest.errors import DataError, ModelError
from latentforest.inference.forest import PatternedData
from latentforest.inference.patterns import Mask
from latentforest.inference.rows import Rows
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

Split = frozenset[Mask]  # the two sides of an edge: masks of the observed variables there


def log_score(network: Network, data: Any) -> float:
    """Logarithmic score: the log-probability of all rows, in nats.

    Latent variables are summed out, and so are missing values. On rows that the network was not
    fitted to, the score tells how well it predicts: higher is better.

    Parameters
    ----------
    network
        A forest. If it has a posterior of its parameters, these are integrated out row by row; if
        it has predictive parameters, these count (``with_predictive(None)`` leaves them out).
    data
        ``Dataset``, frame, dict of columns or array. It has a column, with the same states, for
        each observed variable; other columns are ignored.
        The log-probability of a row counts as often as its weight says.

    Returns
    -------
    float
        Minus infinity if a row of positive weight is impossible.

    Examples
    --------
    >>> from latentforest import Variable
    >>> fever = Variable("fever", ("no", "yes"))
    >>> network = Network.from_tables([fever], {}, {"fever": [0.75, 0.25]})
    >>> round(log_score(network, Dataset([fever], [[0, 1]], weights=[3, 1])), 4)
    -2.2493
    """
    return Rows(network.predictive, _prepare(network, data)).log_likelihood()


def empirical_kl(true: Network, model: Network, data: Dataset) -> float:
    """Estimate the Kullback-Leibler divergence from a reference network to another one.

    This is the weighted mean over rows of ``log P_true(row) - log P_model(row)``, in nats. If the
    rows were drawn from the reference, it tends to the divergence of the distributions of the
    observed variables as there are more rows; with few rows it may be negative.

    Parameters
    ----------
    true
        The reference, a forest.
    model
        A forest with the same observed variables; its latent variables may be others.
    data
        Has a column, with the same states, for each observed variable; other columns are ignored.
        Of a row with missing values, the probability of those present is taken.

    Returns
    -------
    float
        Infinity if the model makes a row of positive weight impossible.

    Examples
    --------
    >>> from latentforest import Variable
    >>> fever = Variable("fever", ("no", "yes"))
    >>> true = Network.from_tables([fever], {}, {"fever": [0.75, 0.25]})
    >>> model = true.with_parameters([0.5, 0.5])
    >>> round(empirical_kl(true, model, Dataset([fever], [[0, 1]], weights=[3, 1])), 4)
    0.1308
    """
    _check_same_variables(true.structure, model.structure)
    patterned = _prepare(true, data)
    log_true, log_model = (_score_rows(network, patterned) for network in (true, model))
    used = data.weights > 0
    _check_possible(log_true, used)
    return float(np.average(log_true[used] - log_model[used], weights=data.weights[used]))


def tree_distance(
    first: Network | Structure, second: Network | Structure, normalized: bool = False
) -> float:
    """Count the splits by which the shapes of two forests differ (Robinson-Foulds distance).

    An edge splits the observed variables of its tree in two sides; an observed variable at an end
    of the edge lies on the side of that end. Two splits are equal if they have the same two
    sides. The distance is the number of splits that one of the forests has and the other lacks.

    Neither roots nor the names of latent variables matter. An edge without observed variables on
    one side is no split, and equal splits count once: so latent leaves and latent variables with
    two neighbours do not matter either. What remains of a forest without them is determined by
    its splits, which makes this a metric: it is symmetric, obeys the triangle inequality, and is
    zero if and only if the shapes are the same.

    A split of one variable from the rest of its tree is trivial. Two trees whose observed
    variables are all leaves share the trivial splits, so that only the others count. Trivial
    splits count where a variable is a leaf in one forest and an inner node in the other, and
    where the trees of the forests have different variables: a split names all variables of its
    tree, so a tree that gains or loses a variable has no split in common with what it was.

    Parameters
    ----------
    first, second
        Forests with the same observed variables, whatever their states.
    normalized
        Divide by the number of splits of both forests, without the trivial ones that they share.
        Different shapes then have at most distance one, which means that they share nothing but
        trivial splits. The triangle inequality does not hold for these values.

    Examples
    --------
    >>> from latentforest.datasets import random_latent_tree
    >>> network = random_latent_tree(4, width=2, random_state=0)
    >>> print(network)
    Y1 (latent, 2 states: 0.41 0.59)
    ├── Y2 (latent, 2 states: 0.35 0.65)
    │   └── X1 (2), X2 (2)
    └── Y3 (latent, 2 states: 0.36 0.64)
        └── X3 (2), X4 (2)
    >>> tree_distance(network, network.rooted_at("X1"))
    0.0
    >>> crossed = network.renamed({"X2": "X3", "X3": "X2"})
    >>> tree_distance(network, crossed), tree_distance(network, crossed, normalized=True)
    (2.0, 1.0)
    """
    structures = [_read_forest(forest) for forest in (first, second)]
    _check_same_names(*structures)
    bits = {name: 1 << i for i, name in enumerate(structures[0].observed)}
    ours, theirs = (_find_splits(structure, bits) for structure in structures)
    distance = len(ours ^ theirs)
    if not (normalized and distance):
        return float(distance)
    shared_trivial = sum(map(_is_trivial, ours & theirs))
    return distance / (len(ours) + len(theirs) - 2 * shared_trivial)


def count_different_splits(first: Structure, second: Structure, columns: Collection[str]) -> float:
    """Count the splits of some columns by which two forests differ; others do not matter."""
    bits = {name: 1 << i for i, name in enumerate(columns)}
    return float(len(_find_splits(first, bits) ^ _find_splits(second, bits)))


def _prepare(network: Network, data: Any) -> PatternedData:
    """Take the columns that a network needs."""
    if not network.observed:
        raise ModelError("the network has no observed variable, so there is nothing to score")
    if not isinstance(data, Dataset):
        data = encode_like(data, [network.structure.variable(name) for name in network.observed])
    return PatternedData(data.select(network.observed))


def _score_rows(network: Network, data: PatternedData) -> FloatArray:
    return Rows(network, data).log_likelihoods()


def _find_splits(structure: Structure, bits: dict[str, Mask]) -> set[Split]:
    """Collect the splits of all edges that have observed variables on both sides."""
    below: dict[str, Mask] = {}
    for name in reversed(structure.order):
        below[name] = bits.get(name, 0)
        for child in structure.children(name):
            below[name] |= below[child]
    tree: dict[str, Mask] = {}
    for name in structure.order:
        parents = structure.parents(name)
        tree[name] = tree[parents[0]] if parents else below[name]
    sides = [(below[name], tree[name] ^ below[name]) for name in structure.order]
    return {frozenset(pair) for pair in sides if all(pair)}


def _is_trivial(split: Split) -> bool:
    return any(side.bit_count() == 1 for side in split)


def _read_forest(forest: Network | Structure) -> Structure:
    structure = forest.structure if isinstance(forest, Network) else forest
    if not structure.is_forest:
        child = next(name for name in structure.names if len(structure.parents(name)) > 1)
        raise ModelError(
            f"a forest is needed, but variable {child!r} has parents {structure.parents(child)}"
        )
    return structure


def _check_same_names(first: Structure, second: Structure) -> None:
    """Refuse structures that do not have the same observed variables."""
    for which, one, other in (("first", first, second), ("second", second, first)):
        extra = sorted(set(one.observed) - set(other.observed))
        if extra:
            raise ModelError(
                "both networks must have the same observed variables; "
                f"only the {which} has {list_briefly(extra)}"
            )


def _check_same_variables(first: Structure, second: Structure) -> None:
    """Refuse structures whose observed variables do not have the same names and states."""
    _check_same_names(first, second)
    for name in first.observed:
        if first.states(name) != second.states(name):
            raise ModelError(
                f"variable {name!r} has states {first.states(name)} in the first network, "
                f"but {second.states(name)} in the second"
            )


def _check_possible(log_true: FloatArray, used: BoolArray) -> None:
    impossible = np.isneginf(log_true) & used
    if impossible.any():
        raise DataError(
            f"row {int(impossible.argmax())} (counted from 0) has probability zero under the "
            "reference network; expected rows that it can produce"
        )
