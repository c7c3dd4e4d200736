"""The part of a network file that holds the posterior of the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from latentforest.model.conjugate import Conjugate
from latentforest.model.files.json_values import Mismatch, append_numbers, get, list_entries
from latentforest.model.network import Network
from latentforest.model.posterior_network import Part, PosteriorNetwork, build_family, list_parts
from latentforest.model.structure import Structure

KEYS = {  # of arrays with an entry for each row of a table
    "concentration": "concentrations",
    "mean": "means",
    "weight": "weights",
    "shape": "shapes",
    "rate": "rates",
    "freedom": "freedoms",
    "scatter": "scatters",
}


def write_posterior(
    structure: Structure, posterior: Mapping[str, Conjugate]
) -> list[dict[str, Any]]:
    """Describe a posterior by lists, dictionaries, strings and numbers only."""
    return [
        {"variable": name, **_write_family(structure, name, posterior[name])}
        for name in _list_owners(structure)
    ]


def read_posterior(document: object, network: Network) -> PosteriorNetwork:
    """Give a network the posterior that its document has."""
    structure = network.structure
    owners, found = _list_owners(structure), {}
    for where, entry in list_entries(document, "posterior"):
        name = get(entry, "variable", str, where)
        if name in found:
            raise Mismatch(f"{where}: variable {name!r} has a second posterior")
        if name not in owners:
            raise Mismatch(f"{where}: expected the posterior of a variable, found {name!r}")
        found[name] = _read_family(structure, name, entry, where)
    for name in owners:
        if name not in found:
            raise Mismatch(f"posterior: expected one for variable {name!r}, found none")
    posterior = {name: found[structure.pouch(name)[0]] for name in structure.names}
    return PosteriorNetwork(structure, posterior, network.parameters)


def _list_owners(structure: Structure) -> list[str]:
    """Variables with an entry: all, but of a pouch the first."""
    return [name for name in structure.names if structure.pouch(name)[0] == name]


def _write_family(structure: Structure, name: str, family: Conjugate) -> dict[str, Any]:
    _, parts = list_parts(structure, name)
    return {KEYS.get(part, part): np.asarray(getattr(family, part)).tolist() for part in parts}


def _read_family(structure: Structure, name: str, entry: object, where: str) -> Conjugate:
    kind, parts = list_parts(structure, name)
    arrays = {}
    for part, wanted in parts.items():
        key = KEYS.get(part, part)
        arrays[part] = _read_array(get(entry, key, None, where), wanted, f"{where}.{key}")
    return build_family(kind, arrays)


def _read_array(nested: object, wanted: Part, where: str) -> Any:
    numbers: list[float] = []
    append_numbers(numbers, nested, wanted.shape, where)
    if wanted.condition == "positive" and min(numbers) <= 0:
        raise Mismatch(f"{where}: expected positive numbers, found {min(numbers)!r}")
    return np.reshape(numbers, wanted.shape)
