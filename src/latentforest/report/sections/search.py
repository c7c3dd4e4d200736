"""The search of a report: its steps in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from latentforest.report.subject import Subject
from latentforest.report.wording import count, round_values

NAMED = 3  # steps with the largest gains
MOST_STEPS = 2_000
MOST_LISTED = 3  # variables in a sentence
GONE = "a hidden variable"  # one that is not in the model any more


def describe_search(subject: Subject) -> dict[str, Any] | None:
    """Describe the steps; nothing if the learner did not climb BIC step by step."""
    rows = [] if subject.record is None else list(subject.record.history)
    steps = [row for row in rows if row.get("bic") is not None and _is_step(row)][:MOST_STEPS]
    if len(steps) < 2:
        return None
    return {
        "steps": [_describe_step(subject, number, row) for number, row in enumerate(steps)],
        "named": find_largest_gains(steps),
    }


def _is_step(row: Mapping[str, Any]) -> bool:
    return "operator" in row or "left" in row


def _describe_step(subject: Subject, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "step": int(row.get("step", number)),
        "phase": str(row.get("phase") or ""),
        "operator": str(row.get("operator") or ""),
        "variables": [subject.places.get(name, -1) for name in _list_names(row)],
        "text": word_step(subject, row),
        "bic": round_values(row["bic"], 9),
        "accepted": bool(row.get("accepted", True)),
    }


def _list_names(row: Mapping[str, Any]) -> list[str]:
    if "left" in row:
        return [*row["left"], *row["right"]]
    return [str(name) for name in row.get("variables") or ()]


def word_step(subject: Subject, row: Mapping[str, Any]) -> str:
    """Say what a step did."""
    names = [_word(subject, name) for name in _list_names(row)]
    if "left" in row:
        return _begin(f"{_join(names)} in one group")
    operator = str(row.get("operator") or "")
    write = _SENTENCES.get(operator)
    if write is not None and len(names) >= _LEAST.get(operator, 1):
        return _begin(write(names))
    text = operator or _PHASES.get(str(row.get("phase")), "all parameters estimated again")
    return _begin(f"{text}: {_join(names)}" if names else text)


def _word(subject: Subject, name: str) -> str:
    return subject.label(name) if name in subject.places else GONE


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def _join(texts: Sequence[str]) -> str:
    """List texts: one, two and three; of many only the first."""
    texts = list(dict.fromkeys(texts))
    if len(texts) > MOST_LISTED:
        return f"{', '.join(texts[:2])} and {count(len(texts) - 2, 'other')}"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _introduce(names: Sequence[str]) -> str:
    return f"a hidden variable for {_join(names[2:])}"


def _stand_above(names: Sequence[str]) -> str:
    return f"a hidden variable for {_join(names[1:])}"


def _link(names: Sequence[str]) -> str:
    return f"a link from {_join(names[:-1])} to {names[-1]}"


_PHASES = {
    "start": "the start of the search",
    "islands": "groups of columns",
    "kick": "a jump to another model, from which the search goes on",
}
_SENTENCES: dict[str, Callable[[Sequence[str]], str]] = {
    **dict.fromkeys(("NI", "node introduction", "node introduction, no link"), _introduce),
    **dict.fromkeys(("root introduction", "node for links", "latent for links"), _stand_above),
    **dict.fromkeys(("ND", "node deletion"), lambda names: "one hidden variable less"),
    **dict.fromkeys(("SI", "state introduction"), lambda names: f"one state more: {names[0]}"),
    **dict.fromkeys(("SD", "state deletion"), lambda names: f"one state less: {names[0]}"),
    **dict.fromkeys(("add", "link addition"), _link),
    **dict.fromkeys(("delete", "link removal"), lambda names: f"without {_link(names)}"),
    **dict.fromkeys(("reverse", "link reversal"), lambda names: f"{_link(names)}, turned around"),
    "NR": lambda names: f"{_join(names[2:])} moved from {names[0]} to {names[1]}",
    "PO": lambda names: f"{_join(names[1:])} joined, so that they vary together",
    "UP": lambda names: f"{_join(names[1:])} taken apart",
    "parent replacement": lambda names: f"{names[-1]} now depends on {names[-2]}",
    "node beside": lambda names: f"a hidden variable beside {names[1]}",
    "AA": _link,
    "NA": _stand_above,
    "no arcs": lambda names: "the start: no links",
    "search": lambda names: "a search over all links",
}
_LEAST = {
    **dict.fromkeys(("NI", "node introduction", "node introduction, no link", "NR"), 3),
    **dict.fromkeys(("root introduction", "node for links", "latent for links", "NA"), 2),
    **dict.fromkeys(("add", "link addition", "delete", "link removal", "AA"), 2),
    **dict.fromkeys(("reverse", "link reversal", "parent replacement", "node beside"), 2),
    **dict.fromkeys(("PO", "UP"), 2),
    **dict.fromkeys(("no arcs", "search"), 0),
}


def find_largest_gains(steps: Sequence[Mapping[str, Any]]) -> list[int]:
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
