"""How to get the same model again: code, command, versions, seed, hash of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from latentforest.model.record import Record
from latentforest.report.subject import Subject
from latentforest.report.wording import write_number, write_seconds, write_weight
from latentforest.version import __version__

READING_OPTIONS = (
    *("--weights", "--categorical", "--continuous", "--exclude", "--missing", "--order"),
    *("--decimal", "--recipe", "--delimiter", "--encoding", "--input-format", "--sheet"),
    *("--labels", "--no-labels", "--catalog", "--vocabulary"),
)  # of the command line; what they say of a table is not in the model file
_CAPITALS = {"python": "Python", "numpy": "NumPy", "numba": "Numba"}


def describe_reproduction(subject: Subject, content: Mapping[str, Any]) -> dict[str, Any]:
    """Describe code, command and facts."""
    record = subject.record
    return {
        "python": write_python(subject),
        "command": None if record is None else record.command,
        "facts": _list_facts(subject, content),
    }


def write_python(subject: Subject) -> str:
    """Write the lines of Python that learn the model and make the report."""
    record = subject.record
    if record is None:
        lines = [
            "import latentforest as lf",
            'network = lf.load("model.json")',
            f"data = {_write_read(subject.source)}",
            'lf.report(network, data, "report.html")',
        ]
        return "\n".join(lines)
    lines = [
        "import latentforest as lf",
        f"data = {_write_read(record.source or subject.source)}{_note_reading(record.command)}",
        f"model = lf.{record.learner}({_write_settings(record)}).fit(data)",
        'lf.report(model, data, "report.html")',
    ]
    return "\n".join(lines)


def _write_read(source: str | None) -> str:
    from latentforest import datasets

    if source is None:
        return "lf.read('table.csv')  # your table: its name is not known here"
    return f"lf.datasets.load({source!r})" if source in datasets.names() else f"lf.read({source!r})"


def _note_reading(command: str | None) -> str:
    """Say that the table was not read in the usual way, if it was not."""
    words = [word.partition("=")[0] for word in (command or "").split()]
    given = [name for name in dict.fromkeys(words) if name in READING_OPTIONS]
    return f"  # read as the command says: {', '.join(given)}" if given else ""


def _write_settings(record: Record) -> str:
    """Write the settings that are not the usual ones."""
    usual = _find_usual(record.learner)
    given = {
        name: value
        for name, value in record.settings.items()
        if name in usual and value != usual[name]
    }
    if record.seed is not None:
        given["random_state"] = record.seed
    return ", ".join(f"{name}={_write(value)}" for name, value in given.items())


def _write(value: Any) -> str:
    if isinstance(value, Mapping):
        return repr({key: value[key] for key in value})
    return repr(value)


def _find_usual(learner: str) -> Mapping[str, Any]:
    """Default settings of a learner, as they are recorded."""
    from latentforest.learners.common.recording import list_settings
    from latentforest.learners.registry import LEARNERS

    entry = next((each for each in LEARNERS if each.name == learner), None)
    if entry is None:
        return {}
    return Record(learner, list_settings(entry.load()())).settings


def _list_facts(subject: Subject, content: Mapping[str, Any]) -> list[dict[str, str]]:
    record, table = subject.record, content["table"]
    facts: dict[str, str] = {}
    if record is None:
        facts["latentforest (this report)"] = __version__
    else:
        facts |= {_CAPITALS.get(name, name): text for name, text in record.versions.items()}
        facts["Seed"] = "none" if record.seed is None else str(record.seed)
        if record.seconds is not None:
            facts["Time"] = write_seconds(record.seconds)
    if table is not None:
        size = f"{write_number(table['n_rows'])} × {write_number(table['n_columns'])}"
        facts["Table"] = size
        if table["is_weighted"]:
            facts["Total weight"] = write_weight(table["total_weight"])
        if table["hash"]:
            facts["SHA-256 of the table"] = table["hash"]
    learned = None if record is None else record.table.get("hash")
    if learned and (table is None or table["hash"] != learned):
        facts["SHA-256 of the table it was learned from"] = str(learned)
    return [{"label": label, "value": value} for label, value in facts.items()]
