"""Takes what a user gives: a learner or network, a table of any kind, labels, names of rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, LatentForestWarning, ParameterError
from latentforest.formats import load
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.progress import open_progress
from latentforest.model.labels import Labels
from latentforest.model.network import Network
from latentforest.model.record import Record
from latentforest.model.showing.suggestions import suggest_names
from latentforest.report.sections.comparisons import SECONDS, compare_with
from latentforest.report.subject import Subject


class Given(NamedTuple):
    """What a user says beside the model, as for ``make_content``."""

    data: Any = None
    title: str | None = None
    noun: str = "rows"
    labels: Labels | str | os.PathLike[str] | None = None
    ids: str | Sequence[object] | None = None
    weights: Any = None
    source: str | None = None


def open_subject(model: Any, given: Given | None = None) -> Subject:
    """Make the subject of a report."""
    network, given = find_network(model), given or Given()
    _check_texts(given)
    table = None if given.data is None else _encode(model, network, given.data, given.weights)
    known = _find_labels(network, table, given.labels)
    suggestions = suggest_names(network.with_labels(known))
    record = network.record
    return Subject(
        network,
        table,
        noun=given.noun,
        ids=_find_ids(given.ids, given.data, table),
        title=given.title,
        source=_name_source(given, network.record),
        labels=suggestions.merged(known),
        suggested=frozenset(suggestions.variables),
        comparisons=None if record is None else record.comparisons,
    )


def add_comparisons(subject: Subject, compare: bool | float, progress: Any) -> Subject:
    """Fit other models to the table, unless the network was learned from another one."""
    is_number = isinstance(compare, int | float)
    seconds = SECONDS if compare is True else float(compare) if is_number else 0.0
    if not seconds > 0:
        raise ParameterError(f"compare must be true, false or positive seconds, got {compare!r}")
    if subject.data is None:
        raise ParameterError("compare needs the table: give it as data")
    if subject.is_training is False:
        warnings.warn(
            "other models are not fitted for comparison: the table is not the one that the model "
            "was learned from",
            LatentForestWarning,
            stacklevel=4,
        )
        return subject
    with open_progress(progress) as say:
        found = compare_with(subject.network, subject.data, seconds, say)
    return replace(subject, comparisons=found)


def _check_texts(given: Given) -> None:
    for name, value in (("noun", given.noun), ("title", given.title)):
        if not isinstance(value, str) and (name == "noun" or value is not None):
            raise ParameterError(f"{name} must be a text, got {value!r}")
    if not given.noun.strip():
        raise ParameterError(f"noun must say what the rows are, got {given.noun!r}")


def _find_labels(network: Network, table: Dataset | None, given: Any) -> Labels:
    """Labels of the network, of the table, and those given, which win."""
    known = network.labels
    if table is not None:
        known = Labels(table.labels).merged(known)
    if given is None:
        return known.select(network.variables)
    if not isinstance(given, Labels | str | os.PathLike):
        kind = type(given).__name__
        raise ParameterError(f"labels must be Labels or the path of a file of names, got {kind}")
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
    """Return the network of a learner, the network itself, or that of a file."""
    if isinstance(model, str | os.PathLike):
        return load(model)
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
        raise ParameterError(
            f"model: got {kind}, expected a fitted learner, a network or the path of a model file"
        )
    return network


def _encode(model: Any, network: Network, data: Any, weights: Any) -> Dataset:
    """Encode the network's columns of a table."""
    variables = [network.structure.variable(name) for name in network.observed]
    if isinstance(data, str | os.PathLike):
        from latentforest.data.read import read

        table: Dataset = read(data, like=variables, weights=weights, recipe=network.recipe)
        return table
    if isinstance(model, NetworkLearner):
        data = model._take_features(data)  # columns of an array that fit left out
    return encode_like(data, variables, weights=weights, recipe=network.recipe)


def _name_source(given: Given, record: Record | None) -> str | None:
    """Name of the table's file: given, of the path, or of the table that was learned from."""
    if given.source is not None:
        return given.source
    if isinstance(given.data, str | os.PathLike):
        return Path(given.data).name
    return None if record is None else record.source


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
    if not isinstance(ids, Iterable):
        raise ParameterError(f"ids must be the name of a column or a name for each row, got {ids}")
    found = [str(each) for each in ids]
    if len(found) != table.n_rows:
        raise DataError(f"ids: got {len(found)} names for {table.n_rows} rows")
    return found


def _read_column(name: str, data: Any) -> Sequence[object]:
    if isinstance(data, str | os.PathLike):
        from latentforest.data.files.kept_columns import read_as_written

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
