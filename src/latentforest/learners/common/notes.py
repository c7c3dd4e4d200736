"""Hints about a fitted model that change nothing: choices that ended at the edge of their range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latentforest.model import Network

MAX_NAMES = 5  # of latent variables in a hint


def note_full_states(network: Network, max_states: int | None) -> list[str]:
    """Name latent variables that have as many states as were allowed."""
    if max_states is None:
        return []
    structure = network.structure
    full = [name for name in structure.latents if len(structure.states(name)) >= max_states > 1]
    if not full:
        return []
    others = f" and {len(full) - MAX_NAMES} more" if len(full) > MAX_NAMES else ""
    have = "has" if len(full) == 1 else "have"
    return [
        f"{', '.join(full[:MAX_NAMES])}{others} {have} {max_states} states, the most that "
        f"max_states={max_states} allows; a higher number may fit better "
        f"(max_states={2 * max_states}, --max-states {2 * max_states})."
    ]


def note_edge_of_range(
    chosen: int, tried: Sequence[int], asked: Sequence[int], greedy: bool
) -> list[str]:
    """Say so if the number of classes is the highest or lowest of those that were to be tried."""
    if len(asked) < 2 and not greedy:
        return []
    if chosen == asked[-1] == tried[-1]:
        more = 2 * chosen
        wider = (
            f"max_states={more}, --max-states {more}"
            if greedy
            else f"n_states=({asked[0]}, {more}), --states {asked[0]}:{more}"
        )
        return [f"{chosen} classes are the most that were tried; more may fit better ({wider})."]
    if chosen == asked[0] > 1:
        wider = f"n_states=(1, {asked[-1]}), --states 1:{asked[-1]}"
        return [f"{chosen} classes are the fewest that were tried; fewer may fit better ({wider})."]
    return []
