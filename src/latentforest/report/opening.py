"""Takes what a user gives: a learner or network, a table of any kind, labels, names of rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, LatentForestWarning, ParameterError
from latentforest.model.labels import Labels
from latentforest.model.network import Network
from latentforest.model.suggestions import suggest_names
from latentforest.report.subject import Subject


def open_subject(
    model: Any,
    data: Any,
    title: str | None,
    noun: str,
    labels: Any,
    compare: bool | float,
    ids: str | Sequence[object] | None,
    weights: Any,
) -> Subject:
    """Make the subject of a report; the parameters are those of ``make_content``."""
    network = find_network(model)
    table = None if data is None else _encode(network, data, weights)
    known = _find_labels(network, table, labels)
    suggestions = suggest_names(network.with_labels(known))
    record = network.record
    subject = Subject(
        network,
        table,
        noun=noun,
        ids=_find_ids(ids, data, table),
        title=title,
        source=_name_source(data) or (None if record is None else record.source),
        labels=suggestions.merged(known),
        suggested=frozenset(suggestions.variables),
        comparisons=None if record is None else record.comparisons,
    )
    return subject


def open_network(network: Network) -> Subject:
    """Make the subject of a report on a network alone."""
    return open_subject(network, None, None, "rows", None, False, None, None)


def _find_labels(network: Network, table: Dataset | None, given: Any) -> Labels:
    """Labels of the network, of the table, and those given, which win."""
    known = network.labels
    if table is not None:
        known = Labels(table.labels).merged(known)
    if given is None:
        return known.select(network.variables)
    asked = given if isinstance(given, Labels) else Labels.read(given)
    fitting = asked.select(network.variables)
    if asked and fitting.to_dict() != asked.to_dict():
        warnings.warn(
            "some of the labels given are of variables or states that the network does not have; "
            "they are left out",
            LatentForestWarning,
            stacklevel=4,
        )
    return known.merged(fitting).select(network.variables)


def find_network(model: Any) -> Network:
    """Return the network of a learner, or the network itself."""
    if isinstance(model, Network):
        return model
    if hasattr(model, "models_"):
        raise ParameterError(
            "a report shows one network, and an average has several: give one of them, such as "
            "model.models_[0]"
        )
    network = getattr(model, "network_", None)
    if not isinstance(network, Network):
        kind = type(model).__name__
        raise ParameterError(f"model must be a fitted learner or a Network, got {kind}")
    return network


def _encode(network: Network, data: Any, weights: Any) -> Dataset:
    """Encode the network's columns of a table."""
    variables = [network.structure.variable(name) for name in network.observed]
    if isinstance(data, str | os.PathLike):
        from latentforest.data.read import read

        table: Dataset = read(data, like=variables, weights=weights, recipe=network.recipe)
        return table
    return encode_like(data, variables, weights=weights, recipe=network.recipe)


def _name_source(data: Any) -> str | None:
    return Path(data).name if isinstance(data, str | os.PathLike) else None


def _find_ids(
    ids: str | Sequence[object] | None, data: Any, table: Dataset | None
) -> list[str] | None:
    """Texts that name the rows: given, of a column, or of the index of a frame."""
    if table is None:
        return None
    if ids is None:
        return _read_index(data)
    if isinstance(ids, str):
        ids = _read_column(ids, data)
    found = [str(each) for each in ids]
    if len(found) != table.n_rows:
        raise DataError(f"ids: got {len(found)} names for {table.n_rows} rows")
    return found


def _read_column(name: str, data: Any) -> Sequence[object]:
    if isinstance(data, str | os.PathLike):
        from latentforest.data.kept_columns import read_as_written

        return list(read_as_written([os.fspath(data)], [name])[name])
    if isinstance(data, Dataset):
        return list(data.decode(name))
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        if name not in list(data if isinstance(data, Mapping) else data.columns):
            raise DataError(f"ids: there is no column {name!r} in the table")
        return list(np.asarray(data[name], dtype=object))
    raise ParameterError(f"ids={name!r} names a column, and the table has no names")


def _read_index(data: Any) -> list[str] | None:
    """The index of a pandas frame, unless it only counts the rows."""
    index = getattr(data, "index", None)
    if index is None or callable(index) or not hasattr(data, "iloc"):
        return None
    names = list(index)
    return None if names == list(range(len(names))) else [str(name) for name in names]
