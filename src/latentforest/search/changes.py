"""What a step of a search changes: an operator and the variables that it is applied to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Change(NamedTuple):
    """An operator and where it is applied, as three columns of a history.

    Parameters
    ----------
    operator
        Its name; empty for a start.
    variables
        Names, each in the role that its place says. ``NI``, "node introduction": old neighbour,
        new latent variable, those that move to it (without an old neighbour in "node for links"
        and the like). ``ND``: the one that is deleted, its heir. ``NR``: from, to, those that
        move. ``SI``, ``SD`` and the like: the latent variable. ``PO``, ``UP``: the latent
        variable, the columns that are joined or taken out. Links and arcs: parent, child.
    n_states
        How many states the latent variable has after ``SI`` or ``SD``, or a new one of
        structural EM.
    """

    operator: str = ""
    variables: Sequence[str] = ()
    n_states: int | None = None

    def to_columns(self) -> dict[str, Any]:
        """Return the part of a history's row that is about the change."""
        return {
            "operator": self.operator,
            "variables": list(self.variables),
            "n_states": self.n_states,
        }

    def __str__(self) -> str:
        names = list(self.variables)
        write = _TEXTS.get(self.operator)
        text = ", ".join(names) if write is None or len(names) < 2 else write(names)
        return text if self.n_states is None else f"{text} with {self.n_states} states"


def read_change(row: Any) -> Change:
    """Make a change of the row of a history.

    Examples
    --------
    >>> row = {"operator": "NR", "variables": ["Y1", "Y2", "A"], "n_states": None}
    >>> str(read_change(row))
    'A from Y1 to Y2'
    """
    return Change(row["operator"], row["variables"], row.get("n_states"))


def _write_arrow(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} -> {names[-1]}"


def _write_group(names: list[str]) -> str:
    return f"{names[0]} -> {', '.join(names[1:])}"


def _write_pouch(names: list[str]) -> str:
    return f"{names[0]}: {', '.join(names[1:])}"


def _write_introduction(names: list[str]) -> str:
    return f"{names[0]} - {names[1]} - {', '.join(names[2:])}"


_TEXTS = {
    "NI": _write_introduction,
    "node introduction": _write_introduction,
    "node introduction, no link": _write_introduction,
    "ND": lambda names: f"{names[0]}, its neighbours to {names[1]}",
    "node deletion": lambda names: f"{names[0]} to {names[1]}",
    "NR": lambda names: f"{', '.join(names[2:])} from {names[0]} to {names[1]}",
    "PO": _write_pouch,
    "UP": _write_pouch,
    "root introduction": _write_group,
    "node for links": _write_group,
    "latent for links": _write_group,
    "node beside": lambda names: f"{names[0]} beside {names[1]}",
    **dict.fromkeys(("add", "delete", "reverse"), _write_arrow),
    **dict.fromkeys(("link addition", "link removal", "link reversal"), _write_arrow),
    **dict.fromkeys(("parent replacement", "state for link"), _write_arrow),
}
