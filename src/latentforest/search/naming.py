"""Names of new latent variables."""

from __future__ import annotations

from collections.abc import Collection


def name_new_latent(taken: Collection[str]) -> str:
    """Return the first of Y1, Y2, ... that is not taken."""
    number = 1
    while f"Y{number}" in taken:
        number += 1
    return f"Y{number}"


def name_latents(number: int, taken: Collection[str]) -> list[str]:
    """Return so many names Y1, Y2, ...; all get underscores as long as one of them is taken."""
    names, known = [f"Y{i + 1}" for i in range(number)], set(taken)
    while not known.isdisjoint(names):
        names = [name + "_" for name in names]
    return names
