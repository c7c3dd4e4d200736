"""The search of a report: its steps in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from latentforest.report.subject import Subject
from latentforest.report.wording import round_values

NAMED = 3  # steps with the largest gains
MOST_STEPS = 2_000


def describe_search(subject: Subject) -> dict[str, Any] | None:
    """Describe the steps; nothing if the learner did not climb BIC step by step."""
    rows = [] if subject.record is None else list(subject.record.history)
    steps = [row for row in rows if row.get("bic") is not None and "operator" in row]
    if len(steps) < 2:
        return None
    shown = steps[:MOST_STEPS]
    return {
        "steps": [_describe_step(subject, number, row) for number, row in enumerate(shown)],
        "named": _find_largest_gains(shown),
    }


def _describe_step(subject: Subject, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    names = [str(name) for name in row.get("variables") or ()]
    return {
        "step": int(row.get("step", number)),
        "phase": str(row.get("phase") or ""),
        "operator": str(row["operator"] or ""),
        "variables": [subject.places.get(name, -1) for name in names],
        "text": word_step(subject, row, names),
        "bic": round_values(row["bic"], 9),
        "accepted": bool(row.get("accepted", True)),
    }


def word_step(subject: Subject, row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Say what a step did."""
    operator = str(row.get("operator") or "")
    texts = [subject.label(name) if name in subject.places else name for name in names]
    columns = [subject.label(name) for name in names if name in subject.network.observed]
    first = texts[0] if texts else ""
    sentences = {
        "": "The start of the search" if row.get("phase") == "start" else "All parameters again",
        "NI": f"A hidden variable for {_join(columns or texts[-2:])}",
        "ND": f"A hidden variable less{_at(first)}",
        "SI": f"One state more{_at(first)}",
        "SD": f"One state less{_at(first)}",
        "NR": f"{first or 'A variable'} moved to another hidden variable",
        "PO": f"{_join(texts)} joined in one group",
        "UP": f"{_join(texts)} taken out of a group",
    }
    return sentences.get(operator, f"{operator} {_join(texts)}".strip())


def _at(name: str) -> str:
    return f": {name}" if name else ""


def _join(texts: Sequence[str]) -> str:
    if len(texts) > 3:
        return f"{', '.join(texts[:2])} and {len(texts) - 2} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _find_largest_gains(steps: Sequence[Mapping[str, Any]]) -> list[int]:
    """The accepted steps that raised BIC most."""
    gains: dict[int, float] = {}
    before: float | None = None
    for place, row in enumerate(steps):
        if not row.get("accepted", True):
            continue
        if before is not None:
            gains[place] = float(row["bic"]) - before
        before = float(row["bic"])
    best = sorted(gains, key=lambda place: (-round(gains[place], 6), place))[:NAMED]
    return sorted(place for place in best if gains[place] > 0)
