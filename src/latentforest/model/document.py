"""Networks as JSON files: plain, versioned, and read back exactly."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError, ModelError
from latentforest.files import write_atomically
from latentforest.model.network import Network
from latentforest.model.structure import Structure

FORMAT = "latentforest-network"
VERSION = 1

Kind = TypeVar("Kind")
KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
}


class _Mismatch(Exception):
    """A part of a document that is not what it should be; becomes a FileFormatError."""


def save(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a JSON file, which appears only when it is complete."""
    write_atomically(path, _format(to_document(network)))


def _format(document: dict[str, Any]) -> str:
    """Write JSON with one line for each variable and each family."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list):
            lines = ",\n  ".join(json.dumps(entry, allow_nan=False) for entry in value)
            text = f"[\n  {lines}\n ]"
        else:
            text = json.dumps(value, allow_nan=False)
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a JSON file.

    Parameters
    ----------
    path
        A file written by `Network.save`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> coin = Network.from_tables([Variable("coin", ("heads", "tails"))], {}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "coin.json")
    ...     coin.save(path)
    ...     load(path) == coin
    True
    """
    return from_document(_parse(Path(path)), source=os.fspath(path))


def to_document(network: Network) -> dict[str, Any]:
    """Describe a network by lists, dictionaries, strings and numbers only."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "variables": [
            {
                "name": variable.name,
                "states": list(variable.states or ()),
                "latent": variable.latent,
            }
            for variable in network.variables
        ],
        "families": [
            {
                "variable": name,
                "parents": list(network.structure.parents(name)),
                "probabilities": network.cpd(name).tolist(),
            }
            for name in network.names
        ],
    }


def from_document(document: object, source: str = "document") -> Network:
    """Build a network from what `to_document` gives.

    Parameters
    ----------
    document
        Lists, dictionaries, strings and numbers, as read from JSON.
    source
        Where the document comes from, for error messages.
    """
    try:
        return _read_network(document)
    except (_Mismatch, DataError, ModelError) as error:
        raise FileFormatError(f"{source}: {error}") from None


def _parse(path: Path) -> object:
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
    except (ValueError, _Mismatch) as error:
        reason = str(error)
    raise FileFormatError(f"{path}: expected a network as JSON text, but {reason}")


def _refuse_constant(text: str) -> NoReturn:
    raise _Mismatch(f"it holds {text}, which is not a finite number")


def _read_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Mismatch(f"an object repeats one of its keys {[key for key, _ in pairs]}")
    return found


def _read_network(document: object) -> Network:
    _check_header(document)
    variables = [_read_variable(entry, where) for where, entry in _entries(document, "variables")]
    families: dict[str, tuple[str, object]] = {}
    for where, entry in _entries(document, "families"):
        name = _get(entry, "variable", str, where)
        if name in families:
            raise _Mismatch(f"{where}: variable {name!r} has a second family")
        families[name] = (where, entry)
    parents = {name: _get_strings(entry, "parents", at) for name, (at, entry) in families.items()}
    structure = Structure(variables, parents)
    # A list, because a damaged file may declare a table far larger than the file itself.
    values: list[float] = []
    for name in structure.names:
        if name not in families:
            raise _Mismatch(f"families: expected one for variable {name!r}, found none")
        where, entry = families[name]
        table = _get(entry, "probabilities", list, where)
        _append_numbers(values, table, structure.shape(name), f"{where}.probabilities")
    return Network(structure, values)


def _check_header(document: object) -> None:
    kind = _get(document, "format", str, "the document")
    if kind != FORMAT:
        raise _Mismatch(f"format: expected {FORMAT!r}, found {kind!r}")
    version = _get(document, "version", int, "the document")
    if version != VERSION:
        raise _Mismatch(f"version: expected {VERSION}, found {version!r}")


def _read_variable(entry: object, where: str) -> Variable:
    return Variable(
        _get(entry, "name", str, where),
        tuple(_get_strings(entry, "states", where)),
        _get(entry, "latent", bool, where),
    )


def _entries(document: object, key: str) -> list[tuple[str, object]]:
    """Return the entries of a list at the top, each with its place."""
    entries = _get(document, key, list, "the document")
    return [(f"{key}[{position}]", entry) for position, entry in enumerate(entries)]


def _get(entry: object, key: str, kind: type[Kind], where: str) -> Kind:
    """Return one value of an object, of exactly the kind expected."""
    if not isinstance(entry, dict):
        raise _Mismatch(f"{where}: expected an object, found {_describe(entry)}")
    if key not in entry:
        raise _Mismatch(f"{where}: expected a key {key!r}, found none")
    value = entry[key]
    # Not isinstance: true would pass for a whole number.
    if type(value) is not kind:
        raise _Mismatch(f"{where}.{key}: expected {KINDS[kind]}, found {_describe(value)}")
    return value


def _get_strings(entry: object, key: str, where: str) -> list[str]:
    values = _get(entry, key, list, where)
    for position, value in enumerate(values):
        if not isinstance(value, str):
            raise _Mismatch(
                f"{where}.{key}[{position}]: expected a string, found {_describe(value)}"
            )
    return values


def _append_numbers(
    values: list[float], nested: object, shape: tuple[int, ...], where: str
) -> None:
    """Append the numbers of lists nested as the shape says."""
    if not isinstance(nested, list) or len(nested) != shape[0]:
        raise _Mismatch(
            f"{where}: expected a list of {shape[0]} entries, found {_describe(nested)}"
        )
    for position, entry in enumerate(nested):
        place = f"{where}[{position}]"
        if len(shape) > 1:
            _append_numbers(values, entry, shape[1:], place)
        else:
            values.append(_read_number(entry, place))


def _read_number(value: object, where: str) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
    except OverflowError:
        pass
    raise _Mismatch(f"{where}: expected a finite number, found {_describe(value)}")


def _describe(value: object) -> str:
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
