"""The order of latent states: along the column that tells most about them, or by size.

Numbers that decide are rounded, so that the same model found from another seed, or with its rows
in another order, has its states in the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.scales import place_states
from latentforest.model.questions.forest_tables import ForestTables
from latentforest.model.showing.profiles import Profile, compute_sizes
from latentforest.model.showing.telling import rank_columns

if TYPE_CHECKING:
    from latentforest.model.network import Network

Floats = NDArray[np.float64]

ALIKE = 1e-3  # columns tell the same if what they tell differs by less, relative to the most
DIGITS = 4  # decimals of shares, and of means in standard deviations, that decide
N_COLUMNS = 8  # columns that are looked at for the best one, and for what tells equal states apart


def order_states(network: Network, declared: Collection[str] = ()) -> Network:
    """Put the states of latent variables in an order that says something.

    If the values of the column that tells most about a variable have an order, the states are
    sorted by their mean in that column, from low to high. Otherwise by size, the largest first.

    Parameters
    ----------
    network
        Any network.
    declared
        Columns whose states are known to be in a meant order. Otherwise numbers, known scales,
        bands, and states in another order than the usual one have one, see `place_states`.

    Examples
    --------
    >>> from latentforest import Network, Variable
    >>> variables = [Variable.hidden("class", 2), Variable("age")]
    >>> tables = {"class": [0.7, 0.3], "age": [[60.0, 9.0], [20.0, 9.0]]}
    >>> order_states(Network.from_tables(variables, {"age": "class"}, tables)).cpd("class").tolist()
    [0.3, 0.7]
    """
    structure = network.structure
    tables = ForestTables(structure, network.parameters) if structure.is_forest else None
    orders = {}
    for latent in network.latents:
        order = find_order(network, latent, declared, tables)
        if order != list(range(len(order))):
            orders[latent] = order
    return network.reordered(orders) if orders else network


def find_order(
    network: Network,
    latent: str,
    declared: Collection[str] = (),
    tables: ForestTables | None = None,
) -> list[int]:
    """Return the codes of a latent variable's states in the order that they should have."""
    sizes = tables.marginals[latent] if tables else compute_sizes(network, latent)
    if len(sizes) == 1:
        return [0]
    telling = list(itertools.islice(rank_columns(network, latent, tables), N_COLUMNS))
    best = telling[0].information if telling else 0.0
    telling.sort(key=lambda each: (each.information < (1 - ALIKE) * best, each.name))
    keys: list[list[float]] = [[] for _ in sizes]
    if telling:
        _append(keys, _find_means(telling[0], telling[0].name in declared))
    _append(keys, -sizes)
    for profile in telling:
        for values in -profile.given.T:
            _append(keys, values)
    return sorted(range(len(sizes)), key=lambda k: keys[k])


def _append(keys: Sequence[list[float]], values: Floats | None) -> None:
    if values is not None:
        for key, value in zip(keys, values.tolist(), strict=True):
            key.append(round(value, DIGITS) + 0.0)


def _find_means(profile: Profile, is_declared: bool) -> Floats | None:
    """Mean of a column in each state, in standard deviations; none if its values have no order."""
    if profile.is_continuous:
        center, scale = profile.overall
        means: Floats = (profile.given[:, 0] - center) / scale
        return means
    found = place_states(profile.states, is_declared)
    if found is None:
        return None
    places = np.array(found)
    known = ~np.isnan(places)
    overall, given = profile.overall[known], profile.given[:, known]
    if overall.sum() <= 0:
        return None
    center = overall @ places[known] / overall.sum()
    offsets = places[known] - center
    scale = np.sqrt(overall @ offsets**2 / overall.sum())
    sums = given.sum(axis=1)
    shifts = np.divide(given @ offsets, sums, out=np.zeros_like(sums), where=sums > 0)
    return shifts / scale if scale > 0 else None
