"""Networks as JSON files: plain, versioned, and read back exactly."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError, ModelError
from latentforest.files import write_atomically
from latentforest.model.network import Network
from latentforest.model.structure import Structure

FORMAT = "latentforest-network"
VERSION = 1  # of networks of categorical variables only
CONTINUOUS_VERSION = 2  # of all others, which older versions of the library cannot read

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
    structure = network.structure
    document = {
        "format": FORMAT,
        "version": CONTINUOUS_VERSION if structure.continuous else VERSION,
        "variables": [_write_variable(variable) for variable in network.variables],
        "families": [
            {
                "variable": name,
                "parents": list(structure.parents(name)),
                **_write_table(network, name),
            }
            for name in network.names
        ],
    }
    if structure.pouches:
        document["pouches"] = [list(pouch) for pouch in structure.pouches]
    return document


def _write_variable(variable: Variable) -> dict[str, Any]:
    if variable.states is None:
        return {"name": variable.name, "kind": "continuous", "latent": variable.latent}
    return {"name": variable.name, "states": list(variable.states), "latent": variable.latent}


def _write_table(network: Network, name: str) -> dict[str, Any]:
    table = network.cpd(name)
    parts = _list_parts(network.structure, name)
    return {key: table[..., place].tolist() for key, place in parts.items()}


def _list_parts(structure: Structure, name: str) -> dict[str, int | slice]:
    """Name the parts of a table, and say where they lie along its last axis."""
    if structure.variable(name).is_categorical:
        return {"probabilities": slice(None)}
    if len(structure.pouch(name)) > 1:
        return {"means": 0, "covariances": slice(1, None)}
    if structure.continuous_parents(name):
        return {"intercepts": 0, "slopes": slice(1, -1), "variances": -1}
    return {"means": 0, "variances": 1}


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
    structure = Structure(variables, parents, _read_pouches(document))
    # A list, because a damaged file may declare a table far larger than the file itself.
    values: list[float] = []
    for name in structure.names:
        if name not in families:
            raise _Mismatch(f"families: expected one for variable {name!r}, found none")
        where, entry = families[name]
        values.extend(_read_table(structure, name, entry, where))
    return Network(structure, values)


def _read_pouches(document: object) -> list[list[str]]:
    if not isinstance(document, dict) or "pouches" not in document:
        return []
    pouches = _get(document, "pouches", list, "the document")
    return [_check_strings(pouch, f"pouches[{i}]") for i, pouch in enumerate(pouches)]


def _read_table(structure: Structure, name: str, entry: object, where: str) -> list[float]:
    """Return the numbers of a family in the order of its table."""
    shape = structure.shape(name)
    found = []
    for key, place in _list_parts(structure, name).items():
        numbers: list[float] = []
        width = len(range(shape[-1])[place]) if isinstance(place, slice) else 0
        nested = _get(entry, key, None, where)
        _append_numbers(numbers, nested, shape[:-1] + ((width,) if width else ()), f"{where}.{key}")
        found.append(numbers)
    if len(found) == 1:
        return found[0]
    n_rows = math.prod(shape[:-1])
    return np.hstack([np.reshape(numbers, (n_rows, -1)) for numbers in found]).ravel().tolist()


def _check_header(document: object) -> None:
    kind = _get(document, "format", str, "the document")
    if kind != FORMAT:
        raise _Mismatch(f"format: expected {FORMAT!r}, found {kind!r}")
    version = _get(document, "version", int, "the document")
    if version not in (VERSION, CONTINUOUS_VERSION):
        raise _Mismatch(f"version: expected {VERSION} or {CONTINUOUS_VERSION}, found {version!r}")


def _read_variable(entry: object, where: str) -> Variable:
    name = _get(entry, "name", str, where)
    states = None
    if _read_kind(entry, where) == "categorical":
        states = tuple(_get_strings(entry, "states", where))
    return Variable(
        name,
        states,
        _get(entry, "latent", bool, where),
    )


def _read_kind(entry: object, where: str) -> str:
    if not isinstance(entry, dict) or "kind" not in entry:
        return "categorical"
    kind: str = _get(entry, "kind", str, where)
    if kind not in ("categorical", "continuous"):
        raise _Mismatch(f"{where}.kind: expected 'categorical' or 'continuous', found {kind!r}")
    return kind


def _entries(document: object, key: str) -> list[tuple[str, object]]:
    """Return the entries of a list at the top, each with its place."""
    entries = _get(document, key, list, "the document")
    return [(f"{key}[{position}]", entry) for position, entry in enumerate(entries)]


def _get(entry: object, key: str, kind: type[Kind] | None, where: str) -> Any:
    """Return one value of an object, of exactly the kind expected; ``None`` stands for any."""
    if not isinstance(entry, dict):
        raise _Mismatch(f"{where}: expected an object, found {_describe(entry)}")
    if key not in entry:
        raise _Mismatch(f"{where}: expected a key {key!r}, found none")
    value = entry[key]
    # Not isinstance: true would pass for a whole number.
    if kind is not None and type(value) is not kind:
        raise _Mismatch(f"{where}.{key}: expected {KINDS[kind]}, found {_describe(value)}")
    return value


def _get_strings(entry: object, key: str, where: str) -> list[str]:
    return _check_strings(_get(entry, key, list, where), f"{where}.{key}")


def _check_strings(values: object, where: str) -> list[str]:
    if not isinstance(values, list):
        raise _Mismatch(f"{where}: expected a list, found {_describe(values)}")
    for position, value in enumerate(values):
        if not isinstance(value, str):
            raise _Mismatch(f"{where}[{position}]: expected a string, found {_describe(value)}")
    return values


def _append_numbers(
    values: list[float], nested: object, shape: tuple[int, ...], where: str
) -> None:
    """Append the numbers of lists nested as the shape says; without a shape, a number."""
    if not shape:
        values.append(_read_number(nested, where))
        return
    if not isinstance(nested, list) or len(nested) != shape[0]:
        raise _Mismatch(
            f"{where}: expected a list of {shape[0]} entries, found {_describe(nested)}"
        )
    for position, entry in enumerate(nested):
        _append_numbers(values, entry, shape[1:], f"{where}[{position}]")


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
