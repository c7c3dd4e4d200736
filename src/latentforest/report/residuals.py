"""Pairs of columns that the model does not fully explain: the triangle of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from latentforest.errors import ModelError
from latentforest.report.graph import measure_arc
from latentforest.report.number_residuals import NumberPair, compare_correlations, compare_means
from latentforest.report.subject import Subject
from latentforest.report.wording import count, round_values, write_number
from latentforest.scores.residuals import compare_pairs

HIGH = 4.0  # a residual that is far from chance
MOST_COLUMNS, SHOWN_COLUMNS = 100, 60  # above so many columns, so many are shown
MOST_LARGEST = 40
MOST_NUMBERS = 400  # continuous columns whose correlations are compared


def describe_residuals(subject: Subject) -> dict[str, Any] | None:
    """Describe the residuals of all pairs; nothing without a table or without pairs."""
    if subject.data is None or len(subject.network.observed) < 2:
        return None
    try:
        pairs, kinds = _list_pairs(subject)
    except ModelError as error:
        return _explain_absence(str(error))
    if not pairs:
        return None
    order = order_columns(subject)
    shown = _choose_columns(order, pairs)
    place = {name: i for i, name in enumerate(each for each in order if each in shown)}
    judged = [pair for pair in pairs if pair.is_judged]
    largest = sorted(judged, key=lambda p: (-round(p.value, 9), p.first, p.second))[:MOST_LARGEST]
    return {
        "kind": kinds,
        "order": [subject.places[name] for name in place],
        "n_columns_left_out": len(order) - len(place),
        "pairs": [
            _write_pair(place, pair)
            for pair in pairs
            if pair.first in place and pair.second in place
        ],
        "largest": [_write_largest(subject, pair) for pair in largest],
        "n_judged": len(judged),
        "n_pairs": len(pairs),
        "n_high": sum(pair.value > HIGH for pair in judged),
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


def _list_pairs(subject: Subject) -> tuple[list[NumberPair], str]:
    """All pairs, and what kinds of them there are."""
    assert subject.data is not None
    numbers = list(subject.network.structure.continuous)[:MOST_NUMBERS]
    categorical = [n for n in subject.network.observed if n not in set(numbers)]
    found = compare_pairs(subject.network, subject.data)
    columns = (found.first, found.second, found.residuals, found.judged, found.signs)
    pairs = [
        NumberPair(found.names[i], found.names[j], value, is_judged, sign)
        for i, j, value, is_judged, sign in zip(*(each.tolist() for each in columns), strict=True)
    ]
    if not numbers:
        return pairs, "chi2"
    pairs += compare_correlations(subject, numbers)
    pairs += compare_means(subject, categorical, numbers)
    return pairs, "mixed" if categorical else "correlation"


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


def _choose_columns(order: Sequence[str], pairs: Sequence[NumberPair]) -> set[str]:
    """All columns if they are not too many; else those with the largest residuals."""
    if len(order) <= MOST_COLUMNS:
        return set(order)
    largest: dict[str, float] = dict.fromkeys(order, 0.0)
    for pair in pairs:
        if pair.is_judged:
            for name in (pair.first, pair.second):
                largest[name] = max(largest[name], pair.value)
    rank = {name: i for i, name in enumerate(order)}
    ranked = sorted(order, key=lambda name: (-round(largest[name], 9), rank[name]))
    return set(ranked[:SHOWN_COLUMNS])


def _write_pair(place: dict[str, int], pair: NumberPair) -> list[Any]:
    i, j = sorted((place[pair.first], place[pair.second]))
    value = round_values(pair.value, 4) if np.isfinite(pair.value) else None
    return [i, j, value, int(pair.is_judged), pair.sign]


def _write_largest(subject: Subject, pair: NumberPair) -> dict[str, Any]:
    is_number = pair.second in subject.blocks
    about: dict[str, Any] = {
        "a": subject.places[pair.first],
        "b": subject.places[pair.second],
        "value": round_values(pair.value),
        "sign": pair.sign,
        "kind": pair.kind if is_number else "chi2",
    }
    if pair.observed is not None and pair.expected is not None:
        about |= {
            "observed": round_values(pair.observed),
            "expected": round_values(pair.expected),
        }
    return about
