"""Values of a JSON document, read with checks: what is not as expected is named with its place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from latentforest.errors import FileFormatError

Kind = TypeVar("Kind")
KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
}


class Mismatch(Exception):
    """A part of a document that is not what it should be; becomes a FileFormatError."""


def parse(path: Path, what: str = "a network") -> object:
    """Read JSON; whatever is wrong with the text becomes a FileFormatError."""
    try:
        return json.loads(
            path.read_text(encoding="utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_read_pairs,
        )
    except RecursionError:
        reason = "it is nested too deeply"
    # Text that is not UTF-8, not JSON, or has a number that is too long.
    except (ValueError, Mismatch) as error:
        reason = str(error)
    raise FileFormatError(f"{path}: expected {what} as JSON text, but {reason}")


def _refuse_constant(text: str) -> NoReturn:
    raise Mismatch(f"it holds {text}, which is not a finite number")


def _read_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Mismatch(f"an object repeats one of its keys {[key for key, _ in pairs]}")
    return found


def list_entries(document: object, key: str) -> list[tuple[str, object]]:
    """Return the entries of a list at the top, each with its place."""
    entries = get(document, key, list, "the document")
    return [(f"{key}[{position}]", entry) for position, entry in enumerate(entries)]


def get(entry: object, key: str, kind: type[Kind] | None, where: str) -> Any:
    """Return one value of an object, of exactly the kind expected; ``None`` stands for any."""
    if not isinstance(entry, dict):
        raise Mismatch(f"{where}: expected an object, found {describe(entry)}")
    if key not in entry:
        raise Mismatch(f"{where}: expected a key {key!r}, found none")
    value = entry[key]
    # Not isinstance: true would pass for a whole number.
    if kind is not None and type(value) is not kind:
        raise Mismatch(f"{where}.{key}: expected {KINDS[kind]}, found {describe(value)}")
    return value


def get_strings(entry: object, key: str, where: str) -> list[str]:
    """Return a value of an object that is a list of strings."""
    return check_strings(get(entry, key, list, where), f"{where}.{key}")


def check_strings(values: object, where: str) -> list[str]:
    """Return what must be a list of strings."""
    if not isinstance(values, list):
        raise Mismatch(f"{where}: expected a list, found {describe(values)}")
    for position, value in enumerate(values):
        if not isinstance(value, str):
            raise Mismatch(f"{where}[{position}]: expected a string, found {describe(value)}")
    return values


def append_numbers(values: list[float], nested: object, shape: tuple[int, ...], where: str) -> None:
    """Append the numbers of lists nested as the shape says; without a shape, a number."""
    if not shape:
        values.append(_read_number(nested, where))
        return
    if not isinstance(nested, list) or len(nested) != shape[0]:
        raise Mismatch(f"{where}: expected a list of {shape[0]} entries, found {describe(nested)}")
    for position, entry in enumerate(nested):
        append_numbers(values, entry, shape[1:], f"{where}[{position}]")


def _read_number(value: object, where: str) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
    except OverflowError:
        pass
    raise Mismatch(f"{where}: expected a finite number, found {describe(value)}")


def describe(value: object) -> str:
    """Show a value briefly."""
    if isinstance(value, list):
        return f"a list of {len(value)} entries"
    if isinstance(value, dict):
        return "an object"
    try:
        text = repr(value)
    except ValueError:
        return "a number that is too long"
    return text if len(text) <= 40 else f"{text[:40]}…"
