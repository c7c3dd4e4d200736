"""Names of new latent variables."""

from __future__ import annotations

from collections.abc import Collection


def name_new_latent(taken: Collection[str]) -> str:
    """Return the first of Y1, Y2, ... that is not taken."""
    number = 1
    while f"Y{number}" in taken:
        number += 1
    return f"Y{number}"
