"""What a query mentions: targets and evidence, checked and translated to codes and numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import SupportsFloat, SupportsIndex

from latentforest.errors import ModelError
from latentforest.model.structure import Structure

Evidence = Mapping[str, str | SupportsIndex | SupportsFloat]
# Codes of categorical variables, values of continuous ones.
Findings = Mapping[str, int | float]


def read_evidence(structure: Structure, evidence: Evidence | None) -> dict[str, int | float]:
    """Translate state names to codes."""
    found: dict[str, int | float] = {}
    for name, value in ({} if evidence is None else evidence).items():
        read = _read_state if structure.variable(name).is_categorical else _read_number
        found[name] = read(structure, name, value)
    return found


def _read_number(structure: Structure, name: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(
            f"evidence on {name!r}: expected a finite number, for it is continuous, got {value!r}"
        )
    return number


def _read_state(structure: Structure, name: str, state: object) -> int:
    states = structure.states(name)
    if isinstance(state, str):
        if state in states:
            return states.index(state)
    elif not isinstance(state, bool):
        try:
            code = operator.index(state)  # type: ignore[arg-type]
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
    structure: Structure, targets: str | Sequence[str], evidence: Findings
) -> tuple[str, ...]:
    """Return the targets as a tuple of distinct categorical names that are not in the evidence."""
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise ModelError("a query needs at least one target, got none")
    for name in names:
        if not structure.variable(name).is_categorical:
            raise ModelError(
                f"variable {name!r} is continuous and has no probabilities of states; "
                "mixture() gives its distribution"
            )
        if name in evidence:
            raise ModelError(f"variable {name!r} is both a target and evidence")
    if len(set(names)) < len(names):
        raise ModelError(f"targets must be distinct, got {names!r}")
    return names
