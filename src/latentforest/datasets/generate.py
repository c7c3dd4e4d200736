"""Random networks with a known hidden structure, and tables drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import ParameterError
from latentforest.model.network import Network

RandomState = int | np.random.Generator | None
Floats = NDArray[np.float64]

# Parameter of the Dirichlet distribution of random probabilities; above one, few are near zero.
CONCENTRATION = 2.0


def random_latent_tree(
    n_observed: int | None = None,
    *,
    depth: int = 2,
    width: int = 3,
    n_states: int | Sequence[int] = 2,
    n_latent_states: int | Sequence[int] = 2,
    strength: float = 0.7,
    random_state: RandomState = None,
) -> Network:
    """Make a tree with latent inner variables and observed leaves.

    Parameters
    ----------
    n_observed
        Number of leaves, by default ``width ** depth``. They are dealt out evenly to the
        lowest latent variables, each of which needs at least one.
    depth
        Number of layers of latent variables.
    width
        Number of latent children of each latent variable above the lowest layer.
    n_states, n_latent_states
        Number of states of the observed and of the latent variables: one number, or several
        from which each variable draws its own.
    strength
        How much a variable depends on its parent, from 0 (not at all) to 1 (the parent's
        state decides).
    random_state
        A seed or generator; the same seed gives the same network.

    Returns
    -------
    network
        Latent variables Y1, Y2, … from the root down, then observed variables X1, X2, …

    Examples
    --------
    >>> network = random_latent_tree(depth=2, width=3, random_state=0)
    >>> network.latents, len(network.observed)
    (('Y1', 'Y2', 'Y3', 'Y4'), 9)
    """
    return random_latent_forest(
        1,
        n_observed,
        depth=depth,
        width=width,
        n_states=n_states,
        n_latent_states=n_latent_states,
        strength=strength,
        random_state=random_state,
    )


def random_latent_class(
    n_observed: int,
    n_classes: int,
    *,
    n_states: int | Sequence[int] = 2,
    strength: float = 0.7,
    random_state: RandomState = None,
) -> Network:
    """Make a latent class model: one latent variable Y1 over the observed X1, X2, …

    Parameters
    ----------
    n_observed
        Number of observed variables.
    n_classes
        Number of states of the latent variable.
    n_states, strength, random_state
        As for `random_latent_tree`.

    Examples
    --------
    >>> random_latent_class(5, 3, random_state=0).cpd("X1").shape
    (3, 2)
    """
    return random_latent_tree(
        n_observed,
        depth=1,
        n_states=n_states,
        n_latent_states=n_classes,
        strength=strength,
        random_state=random_state,
    )


def random_latent_forest(
    n_trees: int,
    n_observed: int | None = None,
    *,
    depth: int = 2,
    width: int = 3,
    n_states: int | Sequence[int] = 2,
    n_latent_states: int | Sequence[int] = 2,
    strength: float = 0.7,
    random_state: RandomState = None,
) -> Network:
    """Make several independent trees with latent inner variables and observed leaves.

    Parameters
    ----------
    n_trees
        Number of trees.
    n_observed
        Number of leaves of all trees together, by default ``n_trees * width ** depth``.
    depth, width, n_states, n_latent_states, strength, random_state
        As for `random_latent_tree`.

    Examples
    --------
    >>> random_latent_forest(2, depth=1, random_state=0).structure.roots
    ('Y1', 'Y2')
    """
    for name, value in (("n_trees", n_trees), ("depth", depth), ("width", width)):
        _check_count(name, value)
    _check_fraction("strength", strength)
    rng = np.random.default_rng(random_state)
    parents = _grow_latents(n_trees, depth, width)
    n_lowest = n_trees * width ** (depth - 1)
    lowest = list(parents)[-n_lowest:]
    n_leaves = n_lowest * width if n_observed is None else n_observed
    _check_count("n_observed", n_leaves, at_least=n_lowest)
    cards = _read_cards("n_latent_states", n_latent_states)
    latents = [Variable.hidden(name, int(rng.choice(cards))) for name in parents]
    # Neighbouring leaves share a parent.
    for leaf in range(n_leaves):
        parents[f"X{leaf + 1}"] = lowest[leaf * n_lowest // n_leaves]
    cards = _read_cards("n_states", n_states)
    leaves = [
        Variable(f"X{leaf + 1}", _name_states(int(rng.choice(cards)))) for leaf in range(n_leaves)
    ]
    return _fill_tables([*latents, *leaves], parents, strength, rng)


def generate(
    network: Network,
    n_rows: int,
    missing_rate: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Draw rows from a network and remove some of their values.

    Parameters
    ----------
    network
        Where the rows come from; its latent variables do not become columns.
    n_rows
        Number of rows.
    missing_rate
        Probability that a value is missing.
    random_state
        A seed or generator; the same seed gives the same table.

    Examples
    --------
    >>> generate(random_latent_class(4, 2, random_state=0), 100, random_state=0)
    Dataset(100 rows, 4 columns: 4 categorical)
    """
    _check_fraction("missing_rate", missing_rate)
    rng = np.random.default_rng(random_state)
    dataset = network.sample(n_rows, random_state=rng)
    return with_missing(dataset, missing_rate, random_state=rng) if missing_rate else dataset


def with_missing(dataset: Dataset, rate: float, random_state: RandomState = None) -> Dataset:
    """Remove values of a table at random, each with the same probability.

    Parameters
    ----------
    dataset
        Categorical and continuous columns; values that are missing already stay so.
    rate
        Probability that a value is removed.
    random_state
        A seed or generator; the same seed removes the same values.

    Examples
    --------
    >>> complete = generate(random_latent_class(4, 2, random_state=0), 100, random_state=0)
    >>> with_missing(complete, 1.0).n_missing
    400
    """
    _check_fraction("rate", rate)
    rng = np.random.default_rng(random_state)
    columns = []
    for variable, values in zip(dataset.variables, dataset.columns, strict=True):
        column = values.copy()
        column[rng.random(len(column)) < rate] = -1 if variable.is_categorical else np.nan
        column.setflags(write=False)
        columns.append(column)
    return Dataset(dataset.variables, columns, dataset.weights)


def _grow_latents(n_trees: int, depth: int, width: int) -> dict[str, str | None]:
    """Name the latent variables layer by layer, and map each to its parent."""
    layer = [f"Y{tree + 1}" for tree in range(n_trees)]
    parents: dict[str, str | None] = dict.fromkeys(layer)
    for _ in range(depth - 1):
        above = [name for name in layer for _ in range(width)]
        layer = [f"Y{len(parents) + position + 1}" for position in range(len(above))]
        parents.update(zip(layer, above, strict=True))
    return parents


def _name_states(n_states: int) -> tuple[str, ...]:
    return tuple(str(code) for code in range(n_states))


def _read_cards(name: str, value: int | Sequence[int]) -> list[int]:
    """Return the numbers of states to draw from."""
    try:
        cards = [value] if isinstance(value, (int, np.integer)) else list(value)
    except TypeError:
        raise ParameterError(f"{name} must be a number or a sequence, got {value!r}") from None
    if not cards:
        raise ParameterError(f"{name} must hold at least one number, got {value!r}")
    for card in cards:
        _check_count(name, card)
    return cards


def _fill_tables(
    variables: Sequence[Variable],
    parents: dict[str, str | None],
    strength: float,
    rng: np.random.Generator,
) -> Network:
    cards = {variable.name: variable.n_states for variable in variables}
    tables = {}
    for name, parent in parents.items():
        base = rng.dirichlet(np.full(cards[name], CONCENTRATION))
        tables[name] = base if parent is None else _mix(base, cards[parent], strength, rng)
    arcs = {name: parent for name, parent in parents.items() if parent is not None}
    return Network.from_tables(variables, arcs, tables)


def _mix(base: Floats, n_rows: int, strength: float, rng: np.random.Generator) -> Floats:
    """Mix a random map of states to states with a distribution that is the same for all rows."""
    rows, states = rng.permutation(n_rows), rng.permutation(len(base))
    exact = np.zeros((n_rows, len(base)))
    exact[rows, states[np.arange(n_rows) % len(base)]] = 1.0
    return np.asarray(strength * exact + (1.0 - strength) * base)


def _check_count(name: str, value: int, at_least: int = 1) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < at_least:
        raise ParameterError(f"{name} must be a whole number of at least {at_least}, got {value!r}")


def _check_fraction(name: str, value: float) -> None:
    if not isinstance(value, Real) or not 0.0 <= value <= 1.0:
        raise ParameterError(f"{name} must be a number from 0 to 1, got {value!r}")
