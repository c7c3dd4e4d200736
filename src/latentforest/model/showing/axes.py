"""Names for the axes of a network's tables and answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latentforest.data.results.labelled import Axis, LabelledArray
from latentforest.model.questions.evidence import Findings
from latentforest.model.structure import Structure

MAX_GIVEN = 5  # values of the evidence that a title lists


def label_family(structure: Structure, name: str, table: NDArray[np.float64]) -> LabelledArray:
    """Label the table of a variable given its parents."""
    parents = structure.parents(name)
    given = [parent for parent in parents if parent not in structure.continuous]
    axes = [Axis(each, structure.states(each)) for each in given]
    condition = f" | {', '.join(parents)}" if parents else ""
    if name not in structure.continuous:
        axes.append(Axis(name, structure.states(name)))
        return LabelledArray(table, axes, f"P({name}{condition})")
    axes.append(Axis(name, _name_moments(structure, name)))
    return LabelledArray(table, axes, f"p({name}{condition})", "value")


def _name_moments(structure: Structure, name: str) -> tuple[str, ...]:
    """What lies along the last axis of a continuous variable's table, see `Structure`."""
    pouch = structure.pouch(name)
    if len(pouch) > 1:
        others = ("variance" if each == name else f"covariance with {each}" for each in pouch)
        return ("mean", *others)
    slopes = [each for each in structure.parents(name) if each in structure.continuous]
    if not slopes:
        return ("mean", "variance")
    return ("intercept", *(f"slope of {each}" for each in slopes), "variance")


def label_joint(
    structure: Structure, names: Sequence[str], evidence: Findings, joint: NDArray[np.float64]
) -> LabelledArray:
    """Label the joint distribution of some variables given the values of others."""
    axes = [Axis(name, structure.states(name)) for name in names]
    values = [_write_value(structure, name, value) for name, value in evidence.items()]
    if len(values) > MAX_GIVEN:
        values[MAX_GIVEN:] = [f"{len(values) - MAX_GIVEN} more"]
    condition = f" | {', '.join(values)}" if values else ""
    return LabelledArray(joint, axes, f"P({', '.join(names)}{condition})")


def _write_value(structure: Structure, name: str, value: int | float) -> str:
    if name in structure.continuous:
        return f"{name} = {value:g}"
    return f"{name} = {structure.states(name)[int(value)]}"
