"""What a query mentions: targets and evidence, checked and translated to codes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import SupportsIndex

from latentforest.errors import ModelError
from latentforest.model.structure import Structure

Evidence = Mapping[str, str | SupportsIndex]


def read_evidence(structure: Structure, evidence: Evidence | None) -> dict[str, int]:
    """Translate state names to codes."""
    given = {} if evidence is None else evidence
    return {name: _read_state(structure, name, state) for name, state in given.items()}


def _read_state(structure: Structure, name: str, state: str | SupportsIndex) -> int:
    states = structure.states(name)
    if isinstance(state, str):
        if state in states:
            return states.index(state)
    elif not isinstance(state, bool):
        try:
            code = operator.index(state)
        except TypeError:
            code = -1
        if 0 <= code < len(states):
            return code
    raise ModelError(
        f"evidence on {name!r}: no state {state!r}, expected one of {_list_states(states)} "
        f"or a code from 0 to {len(states) - 1}"
    )


def _list_states(states: Sequence[str], limit: int = 10) -> str:
    shown = ", ".join(map(repr, states[:limit]))
    return shown if len(states) <= limit else f"{shown}, …"


def read_targets(
    structure: Structure, targets: str | Sequence[str], evidence: Mapping[str, int]
) -> tuple[str, ...]:
    """Return the targets as a tuple of distinct names that are not in the evidence."""
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise ModelError("a query needs at least one target, got none")
    for name in names:
        structure.variable(name)
        if name in evidence:
            raise ModelError(f"variable {name!r} is both a target and evidence")
    if len(set(names)) < len(names):
        raise ModelError(f"targets must be distinct, got {names!r}")
    return names
