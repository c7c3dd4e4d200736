"""How to get the same model again: code, command, versions, seed, hash of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from latentforest.data.columns.recipe import Recipe
from latentforest.learners.registry import START_LEARNERS
from latentforest.model.record import Record
from latentforest.report.subject import Subject
from latentforest.report.wording import write_number, write_seconds, write_weight
from latentforest.version import __version__

LONGEST_RECIPE = 300  # characters of a recipe that is written out
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
    source = subject.source or "table.csv"
    if record is None:
        lines = [
            "import latentforest as lf",
            'network = lf.load("model.json")',
            f"data = {_write_read(source, subject)}",
            'lf.report(network, data, "report.html")',
        ]
        return "\n".join(lines)
    lines = [
        "import latentforest as lf",
        f"data = {_write_read(record.source or source, subject)}",
        f"model = {_write_learner(record.learner, record.settings, record.seed)}.fit(data)",
        'lf.report(model, data, "report.html")',
    ]
    return "\n".join(lines)


def _write_read(source: str, subject: Subject) -> str:
    """Write how the table is read; what a recipe says is part of it."""
    from latentforest import datasets

    if source in datasets.names():
        return f"lf.datasets.load({source!r})"
    recipe, record = subject.network.recipe or Recipe(), subject.record
    usual = Recipe()
    given = [
        f"{each.name}={_write(getattr(recipe, each.name))}"
        for each in fields(Recipe)
        if getattr(recipe, each.name) != getattr(usual, each.name)
    ]
    text = f"lf.Recipe({', '.join(given)})"
    if len(text) > LONGEST_RECIPE:
        text = 'lf.load("model.json").recipe'
    is_weighted = record is not None and record.table.get("is_weighted")
    note = "  # and the weights of its rows" if is_weighted and not recipe.weight else ""
    return f"lf.read({source!r}{f', recipe={text}' if given else ''}){note}"


def _write_learner(learner: str, settings: Mapping[str, Any], seed: int | None = None) -> str:
    """Write a learner with the settings that are not the usual ones."""
    usual = _find_usual(learner)
    given = {
        name: _write_start(value) if name == "start" else _write(value)
        for name, value in settings.items()
        if name not in usual or value != usual[name]
    }
    if seed is not None:
        given["random_state"] = str(seed)
    return f"lf.{learner}({', '.join(f'{name}={text}' for name, text in given.items())})"


def _write_start(value: Any) -> str:
    """Write what a search began with: a network is recorded as its structure, in text."""
    is_network = isinstance(value, str) and value not in START_LEARNERS
    return 'lf.load("start.json")' if is_network else _write(value)


def _write(value: Any) -> str:
    """Write a value of a record, in which lists are tuples."""
    if isinstance(value, Mapping) and set(value) == {"lowest", "highest"}:
        return repr((value["lowest"], value["highest"]))
    if isinstance(value, Mapping) and "learner" in value:
        settings = {name: each for name, each in value.items() if name != "learner"}
        return _write_learner(value["learner"], settings)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_write(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_write, value)) + "]"
    return repr(value)


def _find_usual(learner: str) -> Mapping[str, Any]:
    """Default settings of a learner, as they are recorded."""
    import latentforest
    from latentforest.learners.common.recording import list_defaults

    kind = getattr(latentforest, learner, None)
    return Record(learner, list_defaults(kind)).settings if isinstance(kind, type) else {}


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
