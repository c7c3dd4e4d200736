"""Networks as JSON files: plain, versioned, and read back exactly."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError, ModelError
from latentforest.files import write_atomically
from latentforest.model.about import NOTHING, About
from latentforest.model.files.json_values import (
    Mismatch,
    append_numbers,
    check_strings,
    get,
    get_strings,
    list_entries,
    parse,
)
from latentforest.model.network import Network
from latentforest.model.structure import Structure

FORMAT = "latentforest-network"
VERSION = 1  # of networks of categorical variables only
CONTINUOUS_VERSION = 2  # of all others, which older versions of the library cannot read


def save(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a JSON file, which appears only when it is complete."""
    write_atomically(path, _format(to_document(network)))


def _format(document: dict[str, Any], indent: str = " ") -> str:
    """Write JSON with one line for each variable, each family, each step of a search."""
    parts = []
    for key, value in document.items():
        if key == "record":
            text = _format(value, indent + " ")
        elif isinstance(value, list) and value:
            lines = f",\n{indent} ".join(json.dumps(entry, allow_nan=False) for entry in value)
            text = f"[\n{indent} {lines}\n{indent}]"
        else:
            text = json.dumps(value, allow_nan=False)
        parts.append(f"{indent}{json.dumps(key)}: {text}")
    end = "\n" if indent == " " else ""
    return "{\n" + ",\n".join(parts) + f"\n{indent[1:]}}}{end}"


def load(path: str | os.PathLike[str]) -> Network:
    """Read a network from a JSON file.

    Parameters
    ----------
    path
        A file written by `Network.save`.

    Returns
    -------
    Network
        A `PosteriorNetwork` if the file has the posterior of the parameters.

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
    return from_document(parse(Path(path)), source=os.fspath(path))


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
    if network.n_tied:
        document["tied"] = network.n_tied
    if network.predictive is not network:
        document["predictive"] = [
            {"variable": name, **_write_table(network.predictive, name)} for name in network.names
        ]
    document.update(network.about.to_dict())
    if network.posterior is not None:
        from latentforest.model.files.posterior_document import write_posterior

        document["posterior"] = write_posterior(structure, network.posterior)
    return document


def _write_variable(variable: Variable) -> dict[str, Any]:
    if variable.states is None:
        return {"name": variable.name, "kind": "continuous", "latent": variable.latent}
    return {"name": variable.name, "states": list(variable.states), "latent": variable.latent}


def _write_table(network: Network, name: str) -> dict[str, Any]:
    table = network.table_view(name)
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
    except (Mismatch, DataError, ModelError) as error:
        raise FileFormatError(f"{source}: {error}") from None


def _read_network(document: object) -> Network:
    network = _read_plain(document)
    assert isinstance(document, dict)  # or it would have been refused
    about = About.from_dict(document)
    about.labels.check(network.variables)
    return network if about == NOTHING else network.with_about(about)


def _read_plain(document: object) -> Network:
    _check_header(document)
    variables = [
        _read_variable(entry, where) for where, entry in list_entries(document, "variables")
    ]
    families: dict[str, tuple[str, object]] = {}
    for where, entry in list_entries(document, "families"):
        name = get(entry, "variable", str, where)
        if name in families:
            raise Mismatch(f"{where}: variable {name!r} has a second family")
        families[name] = (where, entry)
    parents = {name: get_strings(entry, "parents", at) for name, (at, entry) in families.items()}
    structure = Structure(variables, parents, _read_pouches(document))
    # A list, because a damaged file may declare a table far larger than the file itself.
    values: list[float] = []
    for name in structure.names:
        if name not in families:
            raise Mismatch(f"families: expected one for variable {name!r}, found none")
        where, entry = families[name]
        values.extend(_read_table(structure, name, entry, where))
    if isinstance(document, dict) and "posterior" in document:
        from latentforest.model.files.posterior_document import read_posterior

        return read_posterior(document, Network(structure, values))
    return Network(structure, values, _read_tied(document), _read_predictive(document, structure))


def _read_predictive(document: object, structure: Structure) -> list[float] | None:
    """Parameters for new rows; files of before have none."""
    if not isinstance(document, dict) or "predictive" not in document:
        return None
    found: dict[str, list[float]] = {}
    for where, entry in list_entries(document, "predictive"):
        name = get(entry, "variable", str, where)
        if name in found or name not in structure:
            raise Mismatch(f"{where}: expected one entry for each variable, found {name!r}")
        found[name] = _read_table(structure, name, entry, where)
    for name in structure.names:
        if name not in found:
            raise Mismatch(f"predictive: expected an entry for variable {name!r}, found none")
    return [value for name in structure.names for value in found[name]]


def _read_tied(document: object) -> int:
    """How many parameters are equal to others by design; files of before have none."""
    if not isinstance(document, dict) or "tied" not in document:
        return 0
    n_tied: int = get(document, "tied", int, "the document")
    return n_tied


def _read_pouches(document: object) -> list[list[str]]:
    if not isinstance(document, dict) or "pouches" not in document:
        return []
    pouches = get(document, "pouches", list, "the document")
    return [check_strings(pouch, f"pouches[{i}]") for i, pouch in enumerate(pouches)]


def _read_table(structure: Structure, name: str, entry: object, where: str) -> list[float]:
    """Return the numbers of a family in the order of its table."""
    shape = structure.shape(name)
    found = []
    for key, place in _list_parts(structure, name).items():
        numbers: list[float] = []
        width = len(range(shape[-1])[place]) if isinstance(place, slice) else 0
        nested = get(entry, key, None, where)
        append_numbers(numbers, nested, shape[:-1] + ((width,) if width else ()), f"{where}.{key}")
        found.append(numbers)
    if len(found) == 1:
        return found[0]
    n_rows = math.prod(shape[:-1])
    return np.hstack([np.reshape(numbers, (n_rows, -1)) for numbers in found]).ravel().tolist()


def _check_header(document: object) -> None:
    kind = get(document, "format", str, "the document")
    if kind != FORMAT:
        raise Mismatch(f"format: expected {FORMAT!r}, found {kind!r}")
    version = get(document, "version", int, "the document")
    if version not in (VERSION, CONTINUOUS_VERSION):
        raise Mismatch(f"version: expected {VERSION} or {CONTINUOUS_VERSION}, found {version!r}")


def _read_variable(entry: object, where: str) -> Variable:
    name = get(entry, "name", str, where)
    states = None
    if _read_kind(entry, where) == "categorical":
        states = tuple(get_strings(entry, "states", where))
    return Variable(
        name,
        states,
        get(entry, "latent", bool, where),
    )


def _read_kind(entry: object, where: str) -> str:
    if not isinstance(entry, dict) or "kind" not in entry:
        return "categorical"
    kind: str = get(entry, "kind", str, where)
    if kind not in ("categorical", "continuous"):
        raise Mismatch(f"{where}.kind: expected 'categorical' or 'continuous', found {kind!r}")
    return kind
