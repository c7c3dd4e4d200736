"""Pairs of columns that the model does not fully explain: the triangle of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.errors import ModelError
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray
from latentforest.report.sections.graph import measure_arc
from latentforest.report.sections.number_residuals import (
    NumberPair,
    compare_correlations,
    compare_means,
)
from latentforest.report.subject import Subject
from latentforest.report.wording import count, round_values, write_number
from latentforest.scores.residuals import compare_pairs

HIGH = 4.0  # a residual that is far from chance
MOST_COLUMNS, SHOWN_COLUMNS = 100, 60  # above so many columns, so many are shown
MOST_LARGEST = 40
MOST_NUMBERS = 400  # continuous columns whose correlations are compared


@dataclass(frozen=True)
class Residuals:
    """Residuals of pairs, an array each; ``first`` and ``second`` are places in ``names``.

    ``numbers`` has more about the pairs with a continuous column.
    """

    names: Sequence[str]
    first: AnyArray
    second: AnyArray
    values: FloatArray
    judged: BoolArray
    signs: AnyArray
    numbers: Mapping[tuple[str, str], NumberPair]
    kind: str

    def largest(self) -> list[int]:
        """The pairs that can be judged, the largest residuals first."""
        chosen = np.flatnonzero(self.judged)
        order = np.argsort(-self.values[chosen].round(9), kind="stable")[:MOST_LARGEST]
        return [int(i) for i in chosen[order]]


def describe_residuals(subject: Subject) -> dict[str, Any] | None:
    """Describe the residuals of all pairs; nothing without a table or without pairs."""
    if subject.data is None or len(subject.network.observed) < 2:
        return None
    try:
        found = find_residuals(subject)
    except ModelError as error:
        return _explain_absence(str(error))
    if not len(found.values):
        return None
    order = order_columns(subject)
    shown = _choose_columns(order, found)
    place = {name: i for i, name in enumerate(each for each in order if each in shown)}
    return {
        "kind": found.kind,
        "order": [subject.places[name] for name in place],
        "n_columns_left_out": len(order) - len(place),
        "pairs": _write_pairs(place, found),
        "largest": [_write_largest(subject, found, i) for i in found.largest()],
        "n_judged": int(found.judged.sum()),
        "n_pairs": len(found.values),
        "n_high": int(np.count_nonzero(found.judged & (found.values > HIGH))),
        "note": _note(order, place),
    }


def _explain_absence(reason: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"order": [], "n_columns_left_out": 0, "pairs": [], "largest": []}
    counts = {"n_judged": 0, "n_pairs": 0, "n_high": 0}
    return {"kind": "chi2", **nothing, **counts, "note": f"The residuals are not known: {reason}"}


def _note(order: Sequence[str], shown: dict[str, int]) -> str | None:
    if len(shown) == len(order):
        return None
    return (
        f"The {count(len(shown), 'column')} with the largest residuals are shown, of "
        f"{write_number(len(order))}."
    )


def find_residuals(subject: Subject) -> Residuals:
    """Compute the residuals of all pairs."""
    assert subject.data is not None
    numbers = list(subject.network.structure.continuous)[:MOST_NUMBERS]
    found = compare_pairs(subject.network, subject.data)
    pairs: list[NumberPair] = []
    if numbers:
        pairs += compare_correlations(subject, numbers)
        pairs += compare_means(subject, found.names, numbers)
    names = [*found.names, *numbers]
    place = {name: i for i, name in enumerate(names)}

    def extend(values: AnyArray, more: list[Any]) -> AnyArray:
        return np.concatenate([values, np.array(more, values.dtype)])

    mixed = "mixed" if found.names else "correlation"
    return Residuals(
        names,
        extend(found.first, [place[pair.first] for pair in pairs]),
        extend(found.second, [place[pair.second] for pair in pairs]),
        extend(found.residuals, [pair.value for pair in pairs]),
        extend(found.judged, [pair.is_judged for pair in pairs]),
        extend(found.signs, [pair.sign for pair in pairs]),
        {(pair.first, pair.second): pair for pair in pairs},
        mixed if numbers else "chi2",
    )


def order_columns(subject: Subject) -> list[str]:
    """Columns in the order of the tree: those of a variable, then its branches, strongest first."""
    structure = subject.network.structure
    latents = set(structure.latents)
    order: dict[str, None] = {}
    for root in structure.roots:
        waiting = [root]
        while waiting:
            name = waiting.pop()
            if name in order:
                continue
            order[name] = None
            below = structure.children(name)
            bits = {child: measure_arc(subject, name, child)[0] for child in below}
            ranked = sorted(below, key=lambda each: (each in latents, -round(bits[each], 9)))
            waiting += reversed(ranked)
    return [name for name in order if name not in latents]


def _choose_columns(order: Sequence[str], found: Residuals) -> set[str]:
    """All columns if they are not too many; else those with the largest residuals."""
    if len(order) <= MOST_COLUMNS:
        return set(order)
    largest, values = np.zeros(len(found.names)), np.where(found.judged, found.values, 0.0)
    for ends in (found.first, found.second):
        np.maximum.at(largest, ends, values)
    known = dict(zip(found.names, largest.round(9).tolist(), strict=True))
    rank = {name: i for i, name in enumerate(order)}
    ranked = sorted(order, key=lambda name: (-known.get(name, 0.0), rank[name]))
    return set(ranked[:SHOWN_COLUMNS])


def _write_pairs(place: Mapping[str, int], found: Residuals) -> list[list[Any]]:
    """Places of two columns, residual, whether it can be judged, its sign; of columns shown."""
    places = np.array([place.get(name, -1) for name in found.names])
    first, second = places[found.first], places[found.second]
    shown = np.flatnonzero((first >= 0) & (second >= 0))
    lower, upper = np.minimum(first, second)[shown], np.maximum(first, second)[shown]
    values = round_values(found.values[shown], 4)
    judged, signs = found.judged[shown].astype(int), found.signs[shown]
    columns = (lower.tolist(), upper.tolist(), values, judged.tolist(), signs.tolist())
    return [list(row) for row in zip(*columns, strict=True)]


def _write_largest(subject: Subject, found: Residuals, i: int) -> dict[str, Any]:
    first, second = found.names[found.first[i]], found.names[found.second[i]]
    pair = found.numbers.get((first, second))
    about: dict[str, Any] = {
        "a": subject.places[first],
        "b": subject.places[second],
        "value": round_values(found.values[i]),
        "sign": int(found.signs[i]),
        "kind": "chi2" if pair is None else pair.kind,
    }
    if pair is not None and pair.observed is not None:
        about["observed"] = round_values(pair.observed)
        about["expected"] = round_values(pair.expected)
    return about
