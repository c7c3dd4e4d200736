"""The rows of a report: likeliest states, values, and two latent variables against each other."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.association.information import table_information
from latentforest.kernels.types import AnyArray, FloatArray, LongArray
from latentforest.report.sections.assignment import Assignment
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values
from latentforest.scores.state_counts import StateCounts

MOST_ROWS = 20_000  # that are written into the page; of more a sample
SAMPLE = 2_000
FEW_TEXTS, MORE_TEXTS = 800_000, 4_000  # characters for 50 columns, and for each further one
MOST_TEXTS = 5_000_000
MOST_PAIRS = 300
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
GAP = "."
WIDTH_OF_NUMBER = 8  # characters of a continuous value, about
SEED = 0

Pair = tuple[int, int]


def describe_rows(subject: Subject) -> dict[str, Any] | None:
    """Describe the rows, or a sample of them; nothing without a table or latent variables."""
    data = subject.data
    if data is None or not subject.network.latents:
        return None
    chosen = _choose_rows(subject)
    latents = subject.assignments.latents
    notes = _note_rows(subject)
    return {
        "n_rows": data.n_rows,
        "is_sample": len(chosen) < data.n_rows,
        "numbers": None if len(chosen) == data.n_rows else (chosen + 1).tolist(),
        "ids": None if subject.ids is None else [str(subject.ids[row]) for row in chosen],
        "weights": round_values(data.weights[chosen]) if _is_weighted(subject) else None,
        "latents": [_describe_latent(subject, name, latents[name], chosen) for name in latents],
        "columns": [_describe_column(subject, name, chosen) for name in _choose_columns(subject)],
        "crosstabs": _cross(subject, {name: rows.states for name, rows in latents.items()}),
        "notes": None if not any(notes) else [notes[row] for row in chosen],
    }


def _is_weighted(subject: Subject) -> bool:
    return bool(np.any(subject.weights != 1))


def _choose_rows(subject: Subject) -> LongArray:
    """All rows if they are few; else always the same sample, in their order."""
    assert subject.data is not None
    n_rows, width = subject.data.n_rows, 3 * len(subject.network.latents)
    width += sum(1 if v.is_categorical else WIDTH_OF_NUMBER for v in subject.data.variables)
    room = FEW_TEXTS + MORE_TEXTS * max(0, subject.data.n_columns - 50)
    if n_rows <= MOST_ROWS and n_rows * width <= min(room, MOST_TEXTS):
        return np.arange(n_rows)
    n_drawn = min(n_rows, SAMPLE)
    drawn = np.random.default_rng(SEED).choice(n_rows, n_drawn, replace=False)
    return np.sort(drawn)


def _choose_columns(subject: Subject) -> Sequence[str]:
    return subject.network.observed[: MOST_TEXTS // SAMPLE]


def _describe_latent(
    subject: Subject, name: str, rows: Assignment, chosen: LongArray
) -> dict[str, Any]:
    percent = np.clip(np.rint(100 * rows.top[chosen]), 1, 100).astype(int) - 1
    n_states = len(subject.network.structure.states(name))
    return {
        "variable": subject.places[name],
        "states": write_codes(rows.states[chosen], n_states),
        "probabilities": "".join(f"{each:02d}" for each in percent.tolist()),
    }


def _describe_column(subject: Subject, name: str, chosen: LongArray) -> dict[str, Any]:
    assert subject.data is not None
    column, variable = subject.data.column(name)[chosen], subject.data.variable(name)
    about: dict[str, Any] = {"variable": subject.places[name]}
    if variable.is_categorical:
        return about | {"codes": write_codes(column, variable.n_states)}
    return about | {"values": round_values(column)}


def write_codes(codes: AnyArray, n_states: int) -> str | list[int]:
    """Write codes as a text, one character each; as numbers where there are too many states.

    Examples
    --------
    >>> write_codes(np.array([0, 11, -1, 61]), 62)
    '0B.z'
    """
    if n_states > len(ALPHABET):
        return [int(code) for code in codes]
    letters = np.array(list(ALPHABET + GAP))
    return "".join(letters[np.where(codes < 0, len(ALPHABET), codes)].tolist())


def _note_rows(subject: Subject) -> list[str]:
    """What is odd about each row."""
    assert subject.data is not None
    words = ["", "unseen", "impossible", "unseen, impossible"]
    odd = subject.data.unseen_rows.astype(int) + 2 * subject.assignments.impossible
    return [words[code] for code in odd.tolist()]


def _cross(subject: Subject, states: dict[str, AnyArray]) -> list[dict[str, Any]]:
    """Count the likeliest states of pairs of latent variables; the most related pairs first."""
    names = list(states)
    cards = [len(subject.network.structure.states(name)) for name in names]
    edges = np.cumsum([0, *cards])
    variables = [subject.network.structure.variable(name) for name in names]
    table = Dataset(variables, list(states.values()), subject.weights)
    counts = StateCounts(table).count(0, len(names))
    tables = {
        (i, j): counts[edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
        for i, j in combinations(range(len(names)), 2)
    }
    bits = _measure(tables)
    order = sorted(tables, key=lambda pair: (-bits[pair], pair))
    return [
        {
            "a": subject.places[names[i]],
            "b": subject.places[names[j]],
            "counts": round_values(tables[i, j]),
        }
        for i, j in order[:MOST_PAIRS]
    ]


def _measure(tables: dict[Pair, FloatArray]) -> dict[Pair, float]:
    """Mutual information of tables, those of one shape at once."""
    shapes: dict[tuple[int, ...], list[Pair]] = {}
    for pair, table in tables.items():
        shapes.setdefault(table.shape, []).append(pair)
    found: dict[Pair, float] = {}
    for pairs in shapes.values():
        bits = table_information(np.stack([tables[pair] for pair in pairs])).round(9)
        found |= dict(zip(pairs, bits.tolist(), strict=True))
    return found
