"""Local fits: some tables free, everything else frozen and reduced to messages.

The network is rooted at the top of the region, so that every frozen part is a subtree below it.
A subtree is replaced by its messages for each of its patterns, computed once; EM then runs on
what is left, which does not grow with the network.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from latentforest.errors import ModelError
from latentforest.estimation.em import EMSettings, FitResult, fit
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure


@dataclass(frozen=True)
class Region:
    """A network, rooted at the top of the region, with the forest of its free part.

    ``constant`` is what the frozen part adds to the log-likelihood of ``forest``.
    """

    network: Network
    forest: Forest
    constant: float


def make_region(network: Network, data: PatternedData, free: Collection[str]) -> Region:
    """Cut a region out of a network.

    Parameters
    ----------
    network
        A forest with the parameters that stay frozen outside the region.
    data
        The table.
    free
        Variables whose tables are to be estimated; all in one tree.
    """
    network = network.rooted_at(find_top(network.structure, free))
    structure = network.structure
    whole = Forest(structure, data)
    dense = _find_boundary(structure, free)
    messages = whole.messages(network.parameters, dense)
    forest = Forest(structure, data, free=free, dense=messages)
    theta = _without_zeros(network, free)
    constant = whole.log_likelihood(theta)[0] - forest.log_likelihood(theta)[0]
    return Region(network, forest, constant)


def _without_zeros(network: Network, free: Collection[str]) -> FloatArray:
    """Parameters whose free tables make no row impossible: the constant is the same for all."""
    theta = np.array(network.parameters)
    for name in set(free) - set(network.structure.continuous):
        table = network.structure.table_view(theta, name)
        table[...] = 0.5 * table + 0.5 / table.shape[-1]
    return theta


def fit_region(
    region: Region,
    starts: FloatArray,
    prior: FloatArray | None = None,
    settings: EMSettings | None = None,
) -> FitResult:
    """Fit the free tables of a region: local EM (restricted likelihood).

    ``starts`` are parameter vectors of ``region.network``; only their free tables matter. The
    log-likelihood returned is that of the whole network.
    """
    starts = np.atleast_2d(starts)
    full = np.tile(region.network.parameters, (len(starts), 1))
    for name in region.forest.free:
        for target, source in zip(full, starts, strict=True):
            region.network.structure.table_view(target, name)[...] = (
                region.network.structure.table_view(source, name)
            )
    result = fit(region.forest, full, prior, settings)
    return replace(
        result,
        objective=result.objective + region.constant,
        log_likelihood=result.log_likelihood + region.constant,
    )


def find_top(structure: Structure, free: Collection[str]) -> str:
    """Return the lowest variable above all free tables (itself, for a free root)."""
    if not free:
        raise ModelError("a region needs at least one free table")
    above = None
    for name in free:
        path = _path_to_root(structure, (structure.parents(name) or (name,))[0])
        if above is not None:
            path = [variable for variable in above if variable in set(path)]
            if not path:
                raise ModelError(f"the free tables {sorted(free)} are not all in one tree")
        above = path
    assert above is not None  # for the type checker: `free` is not empty
    return above[0]


def _path_to_root(structure: Structure, name: str) -> list[str]:
    path = [name]
    while parents := structure.parents(path[-1]):
        path.append(parents[0])
    return path


def _find_boundary(structure: Structure, free: Collection[str]) -> list[str]:
    """List the topmost variables whose subtree, own table included, is frozen.

    Frozen Gaussian leaves are none of them: their densities stay in the region.
    """
    has_free: dict[str, bool] = {}
    for name in reversed(structure.order):
        children = structure.children(name)
        has_free[name] = name in free or any(has_free[child] for child in children)
    return [
        name
        for name in structure.order
        if not has_free[name]
        and name not in structure.continuous
        and structure.parents(name)
        and (
            has_free[structure.parents(name)[0]]
            or not structure.parents(structure.parents(name)[0])
        )
    ]
