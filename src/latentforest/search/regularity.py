"""Regular models: no latent variable has more states than its neighbours can tell apart.

Zhang (2004): with neighbours Z1, ..., Zk, a latent Y needs |Y| <= Π|Zi| / max|Zi|, and with only
two neighbours one of them must be latent and the inequality strict. An irregular model has an
equivalent one with fewer parameters. Mixtures of Gaussians have no such equivalents: a continuous
neighbour can tell any number of states apart, and two neighbours are enough if one is continuous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from latentforest.model.structure import Structure


def most_states(neighbours: Sequence[int]) -> int:
    """Largest regular number of states between neighbours with these numbers of states."""
    if len(neighbours) < 2:
        return 0
    bound = math.prod(neighbours) // max(neighbours)
    return bound - 1 if len(neighbours) == 2 else bound


def is_regular(structure: Structure, name: str) -> bool:
    """Whether a latent variable of a forest is regular."""
    neighbours = structure.neighbours(name)
    if not set(structure.continuous).isdisjoint(neighbours):
        return len(neighbours) > 1
    if len(neighbours) == 2 and not any(z in structure.latents for z in neighbours):
        return False
    cards = [structure.shape(z)[-1] for z in neighbours]
    return structure.shape(name)[-1] <= most_states(cards)


def find_irregular(structure: Structure) -> list[str]:
    """List the latent variables that are not regular."""
    return [name for name in structure.latents if not is_regular(structure, name)]
