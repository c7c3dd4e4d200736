"""Writes recipes as TOML files, with comments for people who edit them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from latentforest.data.columns.recipe import Recipe
from latentforest.data.columns.state_names import DEFAULT_MISSING
from latentforest.files import write_atomically

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = (
    "How the columns of a table are understood.",
    "Use it with --recipe FILE (learn, fit, inspect), or lf.read(path, recipe=FILE).",
)
_TOP = {
    "missing": (
        "Texts that mean 'no value' in every column, besides the usual ones:",
        ", ".join(json.dumps(text) for text in DEFAULT_MISSING),
    ),
    "usual_missing": ("Whether the usual texts mean 'no value'.",),
    "decimal": ("The decimal mark, '.' or ',', where both are possible.",),
    "weight": ("The column that says how often each row counts.",),
    "id": ("Columns that tell whose row it is; they are not modelled.",),
    "drop": ("Columns that are left out.",),
}
_EXAMPLES = {"decimal": '","', "weight": '"name of a column"', "usual_missing": "false"}


def write_recipe(
    recipe: Recipe,
    path: str | os.PathLike[str],
    comments: Mapping[str, Sequence[str]] | None = None,
    unsure: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write a recipe; ``comments`` are by column, ``unsure`` has entries that are commented out."""
    write_atomically(path, format_recipe(recipe, comments or {}, unsure or {}))


def format_recipe(
    recipe: Recipe,
    comments: Mapping[str, Sequence[str]],
    unsure: Mapping[str, Mapping[str, Any]],
) -> str:
    """Write a recipe as TOML text."""
    document = recipe.to_dict()
    lines = [f"# {line}" for line in _HEAD]
    for key, about in _TOP.items():
        value = document.get(key, [] if key in ("missing", "id", "drop") else None)
        lines += ["", *(f"# {line}" for line in about)]
        lines.append(f"# {key} = {_EXAMPLES[key]}" if value is None else f"{key} = {_write(value)}")
        if key in ("id", "drop"):
            lines += [
                f"#   {_write(name)}: {_tame(text)}"
                for name in document.get(key, ())
                for text in comments.get(name, ())
            ]
    entries = document.get("columns", {})
    aside = {*recipe.drop, *recipe.id, *([recipe.weight] if recipe.weight else ())}
    names = [name for name in dict.fromkeys((*comments, *entries, *unsure)) if name not in aside]
    for name in names:
        lines += ["", f"[columns.{_write_key(name)}]"]
        lines += [f"# {_tame(text)}" for text in comments.get(name, ())]
        lines += [f"{key} = {_write(value)}" for key, value in entries.get(name, {}).items()]
        lines += [f"# {key} = {_write(value)}" for key, value in unsure.get(name, {}).items()]
    return "\n".join(lines) + "\n"


def _write_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _write(name)


def _write(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{_write_key(key)} = {_write(each)}" for key, each in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_write, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _tame(text: str) -> str:
    """One line without control characters, which comments must not have."""
    return "".join(c if c.isprintable() else " " for c in text)
