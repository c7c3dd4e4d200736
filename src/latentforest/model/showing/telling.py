"""Which columns tell most about a latent variable."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

from latentforest.model.questions.forest_tables import Floats, ForestTables
from latentforest.model.showing.profiles import Profile, compute_profile, compute_profiles

if TYPE_CHECKING:
    from latentforest.model.network import Network


def rank_columns(
    network: Network, latent: str, tables: ForestTables | None = None
) -> Iterator[Profile]:
    """Yield the profiles of columns, the most telling first.

    In a forest a variable tells at most as much as any other on the way to it, so only what lies
    near is looked at before the first profiles come. Columns of other trees tell nothing and are
    left out.

    Parameters
    ----------
    network
        Any network.
    latent
        One of its latent variables.
    tables
        Of the network, if it is a forest and they are at hand.
    """
    if not network.structure.is_forest:
        yield from compute_profiles(network, latent, network.observed)
        return
    known = tables or ForestTables(network.structure, network.parameters)
    yield from _walk(network, latent, known)


def _walk(network: Network, latent: str, tables: ForestTables) -> Iterator[Profile]:
    """Go from neighbour to neighbour, always on from the variable that tells most."""
    structure, sizes = network.structure, tables.marginals[latent]
    found: dict[str, Floats] = {}
    waiting: list[tuple[float, str, str, Profile]] = []

    def reach(name: str, origin: str) -> None:
        profile = compute_profile(network, latent, name, sizes, found)
        heapq.heappush(waiting, (-round(profile.information, 12), name, origin, profile))

    def look_around(name: str, origin: str) -> None:
        for other in (*structure.parents(name), *structure.children(name)):
            if other != origin:
                if other not in structure.continuous and name not in structure.continuous:
                    found[other] = tables.pass_on(found[name], name, other)
                reach(other, name)

    found[latent] = tables.begin(latent)
    look_around(latent, "")
    while waiting:
        _, name, origin, profile = heapq.heappop(waiting)
        if not structure.variable(name).latent:
            yield profile
        look_around(name, origin)
