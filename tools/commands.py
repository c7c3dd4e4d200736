"""Writes docs/commands.md: every command with its arguments and options, from the code.

``make lists`` runs it; a test checks that nothing is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from latentforest.cli.main import app

HEAD = """\
# Commands and options

Written from the code by `make lists`. `latentforest COMMAND --help` prints the same. What holds
for all commands is in [the command line](command-line.md)."""
OTHER = "Options"  # of no panel


def make_page() -> str:
    """Write the page."""
    group: Any = get_command(app)
    parts = [HEAD, describe(group.help), *write_table(group.params)]
    for name, command in group.commands.items():
        parts += [f"## {name}", describe(command.help), f"`{write_usage(name, command)}`"]
        parts += write_parameters(command.params)
    return "\n\n".join(parts) + "\n"


def write_usage(name: str, command: Any) -> str:
    """Write the command with its arguments."""
    arguments = [each for each in command.params if is_argument(each)]
    words = [name_argument(each) for each in arguments]
    return " ".join(["latentforest", name, *words, "[OPTIONS]"])


def write_parameters(parameters: list[Any]) -> Iterator[str]:
    """Write one table of the arguments, then one for each panel of options."""
    shown = [each for each in parameters if not each.hidden]
    panels: dict[str, list[Any]] = {"": [each for each in shown if is_argument(each)]}
    for each in (each for each in shown if not is_argument(each)):
        panels.setdefault(each.rich_help_panel or OTHER, []).append(each)
    for panel, members in panels.items():
        if members:
            yield from [f"**{panel}**"] if panel else []
            yield from write_table(members)


def write_table(parameters: list[Any]) -> Iterator[str]:
    """Write a table of parameters: names, what they mean, default."""
    rows = ["| | | default |", "|---|---|---|"]
    for each in parameters:
        name = f"`{name_argument(each) if is_argument(each) else name_option(each)}`"
        rows.append(f"| {name} | {escape(each.help or '')} | {escape(write_default(each))} |")
    yield "\n".join(rows)


def is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def name_argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required else f"[{name}]"


def name_option(parameter: Any) -> str:
    """Write the spellings of an option, and what it takes."""
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return f"{names} {parameter.metavar}" if parameter.metavar else names


def write_default(parameter: Any) -> str:
    """Write the default that help shows, if any."""
    shown, default = parameter.show_default, parameter.default
    if isinstance(shown, str):
        return shown
    if not shown or default is None or callable(default) or isinstance(default, bool):
        return ""
    return str(getattr(default, "value", default))


def describe(text: str | None) -> str:
    """Write a docstring as paragraphs of one line each."""
    paragraphs = re.split(r"\n\s*\n", (text or "").strip())
    return "\n\n".join(" ".join(escape(each).split()) for each in paragraphs)


def escape(text: str) -> str:
    """Keep marks of tables and of HTML from being read as such."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
