"""Writes what follows from the code: type stubs, tables of README and docs, the commands' page.

``make lists`` runs it; a test checks that nothing is missing.
"""

from __future__ import annotations

import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import commands
import latentforest
from latentforest import learners
from latentforest.cli.learners import name_option
from latentforest.learners.registry import FAMILIES, LEARNERS, LearnerEntry

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- from the registry: make lists -->", "<!-- end of make lists -->"
COMMON = ("random_state", "n_jobs", "time_limit", "progress")
HEAD = "# Written by make lists, from the registry of learners and the list of public names."
WIDTH = 99


def derive() -> dict[Path, str]:
    """Return the files and what they should hold."""
    package = ROOT / "src" / "latentforest"
    stubs = {
        package / "__init__.pyi": make_stub(latentforest._HOMES),
        package / "learners" / "__init__.pyi": make_stub(learners.HOMES),
    }
    readme, guide = ROOT / "README.md", ROOT / "docs" / "learners.md"
    return stubs | {
        readme: put_between(readme.read_text(encoding="utf-8"), make_table()),
        guide: put_between(guide.read_text(encoding="utf-8"), "\n\n".join(make_sections())),
        ROOT / "docs" / "commands.md": commands.make_page(),
    }


def make_stub(homes: Mapping[str, str]) -> str:
    """Write the imports that type checkers read, and the names that a star imports."""
    imported = defaultdict(list)
    for name, home in homes.items():
        package, _, last = home.rpartition(".")
        imported[package if name == last else home].append(name)
    lines = [write_import(home, sort(imported[home])) for home in sorted(imported)]
    public = [f'    "{name}",' for name in sort(homes)]
    return "\n".join([HEAD, *lines, "", "__all__ = [", *public, "]", ""])


def write_import(home: str, names: Iterable[str]) -> str:
    """Write an import as ruff does: in one line, or with a line for each name."""
    line = f"from {home} import {', '.join(names)}"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {home} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def sort(names: Iterable[str]) -> list[str]:
    """Sort names as ruff does: constants, classes, others."""
    return sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


def make_table() -> str:
    """Write the table of learners."""
    rows = ["| in Python | `--learner` | what it learns |", "|---|---|---|"]
    for entry in LEARNERS:
        names = quote(command.name for command in entry.commands)
        rows.append(f"| `{entry.name}` | {names} | {describe(entry)} |")
    return "\n".join(rows)


def make_sections() -> Iterator[str]:
    """Write the families: their learners with what each can be set to."""
    for family, text in FAMILIES.items():
        yield f"## {family}\n\n{text}"
        for entry in (each for each in LEARNERS if each.family == family):
            yield "\n".join(describe_settings(entry))


def describe_settings(entry: LearnerEntry) -> Iterator[str]:
    """Write what a learner learns, and its options."""
    yield from wrap(f"**`{entry.name}`** (`--learner {entry.command}`): {describe(entry)}.")
    for command in entry.commands[1:]:
        yield f"`--learner {command.name}`: {command.description}."
    settings = [name for name in inspect.signature(entry.load()).parameters if name not in COMMON]
    options = [name_option(name) for name in settings]
    others = [name for name, option in zip(settings, options, strict=True) if " " in option]
    by_set = f"; by `--set`: {quote(others)}" if others else ""
    named = dict.fromkeys(name for name in options if " " not in name)
    yield from wrap(f"Options: {quote(named)}{by_set}.")


def quote(names: Iterable[str]) -> str:
    """List names as code."""
    return ", ".join(f"`{name}`" for name in names)


def describe(entry: LearnerEntry) -> str:
    """Say what a learner learns, and whose idea that was."""
    return entry.description + (f" ({entry.source})" if entry.source else "")


def wrap(text: str) -> list[str]:
    """Break a text into lines."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def put_between(text: str, part: str) -> str:
    """Replace what is between the marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for path, text in derive().items():
        path.write_text(text, encoding="utf-8")
