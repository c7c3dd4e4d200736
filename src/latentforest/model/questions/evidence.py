"""What a query mentions: targets and evidence, checked and translated to codes and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import SupportsFloat, SupportsIndex

from latentforest.data.columns.state_names import is_bool, to_number
from latentforest.data.values import Code, StateFinder
from latentforest.errors import ModelError
from latentforest.model.structure import Structure

Evidence = Mapping[str, str | SupportsIndex | SupportsFloat | Code]
# Codes of categorical variables, values of continuous ones.
Findings = Mapping[str, int | float]


def read_evidence(structure: Structure, evidence: Evidence | None) -> dict[str, int | float]:
    """Translate values to codes, by the rule of `StateFinder`."""
    found: dict[str, int | float] = {}
    for name, value in ({} if evidence is None else evidence).items():
        read = _read_state if structure.variable(name).is_categorical else _read_number
        found[name] = read(structure, name, value)
    return found


def name_findings(structure: Structure, found: Findings) -> dict[str, str | float]:
    """Translate codes back to the names of states, for messages."""
    is_categorical = {name: structure.variable(name).is_categorical for name in found}
    return {
        name: structure.states(name)[int(value)] if is_categorical[name] else value
        for name, value in found.items()
    }


def _read_number(structure: Structure, name: str, value: object) -> float:
    number = None if is_bool(value) else to_number(value)
    if number is None or not math.isfinite(number):
        raise ModelError(
            f"evidence on {name!r}: expected a finite number, for it is continuous, got {value!r}"
        )
    return number


def _read_state(structure: Structure, name: str, value: object) -> int:
    finder = StateFinder(structure.states(name))
    code = finder.find(value)
    if code is None:
        raise ModelError(f"evidence on {name!r}: {finder.explain(value)}")
    return code


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
