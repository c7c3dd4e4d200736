"""The variables of a report: names, shares in the model, counts in the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.data.columns.scales import place_states
from latentforest.inference.association.pair_tables import entropy_of, make_pair_tables
from latentforest.report.sections.certainty import measure_clear
from latentforest.report.sections.mixtures import draw_density, find_range
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values


def describe_variables(subject: Subject) -> list[dict[str, Any]]:
    """Describe all variables, in the order of the network."""
    predictive = subject.network.predictive
    others = None if predictive is subject.network else make_pair_tables(predictive)
    found = []
    for variable in subject.network.variables:
        about: dict[str, Any] = {
            "name": variable.name,
            "label": subject.label(variable.name),
            "suggested": variable.name in subject.suggested,
            "latent": variable.latent,
            "kind": "categorical" if variable.is_categorical else "continuous",
            "missing": _share_missing(subject, variable.name),
        }
        if variable.is_categorical:
            about |= _describe_states(subject, variable.name)
            shares = None if others is None else others.marginal(variable.name)
            about["predictive_shares"] = round_values(shares)
        else:
            about |= _describe_numbers(subject, variable.name)
        found.append(about)
    return found


def _describe_states(subject: Subject, name: str) -> dict[str, Any]:
    states = subject.network.structure.states(name)
    shares = subject.tables.marginal(name)
    is_latent = subject.network.structure.variable(name).latent
    about: dict[str, Any] = {
        "states": list(states),
        "state_labels": [subject.labels.state(name, state) for state in states],
        "shares": round_values(shares),
        "counts": round_values(count_states(subject, name)),
        "entropy": round_values(entropy_of(shares)),
        "is_ordered": False if is_latent else is_ordered(states),
        "r2": None,
        "clear": None,
    }
    if is_latent and subject.data is not None:
        rows = subject.assignments.latents[name]
        about["r2"] = round_values(rows.r2)
        about["clear"] = round_values(measure_clear(rows.top, subject.weights))
    return about


def count_states(subject: Subject, name: str) -> Any:
    """Weight of the rows in each state: expected, of a latent variable; none without a table."""
    if subject.data is None:
        return None
    if name in subject.assignments.latents:
        return subject.assignments.latents[name].counts
    return subject.data.counts(name)


def _describe_numbers(subject: Subject, name: str) -> dict[str, Any]:
    limits, block = find_range(subject, name), subject.blocks.get(name)
    about: dict[str, Any] = {"states": [], "state_labels": [], "range": round_values(limits)}
    if block is None:
        return about | {"mean": None, "sd": None, "density": None}
    mixture = block.mixture(name)
    return about | {
        "mean": round_values(mixture.mean),
        "sd": round_values(mixture.variance**0.5),
        "density": round_values(draw_density(mixture, limits), 4),
    }


def _share_missing(subject: Subject, name: str) -> Any:
    if subject.data is None or name not in subject.data.names:
        return None
    column = subject.data.column(name)
    gaps = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return round_values(subject.weights @ gaps / subject.weights.sum())


def is_ordered(states: tuple[str, ...]) -> bool:
    """Whether states have an order that is more than that of the alphabet.

    Examples
    --------
    >>> is_ordered(("1", "2", "10")), is_ordered(("never", "often")), is_ordered(("a", "b", "c"))
    (True, True, False)
    """
    return len(states) <= 2 or place_states(states) is not None
