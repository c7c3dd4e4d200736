"""What a fitted learner notes about its network: labels of the columns, and a record."""

from __future__ import annotations

import inspect
import numbers
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from latentforest.model import Network, Structure
from latentforest.model.about import About
from latentforest.model.labels import Labels
from latentforest.model.notation import write_structure
from latentforest.model.record import Record
from latentforest.version import __version__

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.learners.common.base import NetworkLearner

# Settings that do not change the result, or that the record has elsewhere.
_UNRECORDED = ("checkpoint", "n_jobs", "progress", "random_state", "resume")
MAX_VALUES = 1000  # of a setting, such as the folds of rows; of more their number is told


def describe_fit(learner: NetworkLearner, table: Dataset) -> About:
    """Say what a learner's network is to carry: how its table was read, its labels, its record.

    Parameters
    ----------
    learner
        All of its attributes are there.
    table
        The columns and rows that were modelled.
    """
    network = learner.network_
    labels = Labels(table.labels).select(network.variables)
    return About(table.recipe, network.labels.merged(labels), make_record(learner, table))


def make_record(learner: NetworkLearner, table: Dataset) -> Record:
    """Note how a learner came to its network."""
    monitor = getattr(learner, "monitor_", None)
    seed = learner.random_state if isinstance(learner.random_state, numbers.Integral) else None
    return Record(
        type(learner).__name__,
        list_settings(learner),
        None if seed is None else int(seed),
        list_versions(),
        table=describe_table(table),
        log_likelihood=learner.log_likelihood_,
        n_parameters=learner.n_parameters_,
        bic=learner.bic_,
        seconds=learner.seconds_,
        interrupted=learner.interrupted_,
        converged=getattr(monitor, "converged", None),
        history=list(learner.history_.rows()),
        notes=learner.notes_,
    )


def describe_table(table: Dataset) -> dict[str, Any]:
    """Facts about a table that tell it from others."""
    missing = sum(
        float(table.weights[np.isnan(column) if column.dtype.kind == "f" else column < 0].sum())
        for column in table.columns
    )
    return {
        "hash": table.hash,
        "n_rows": table.n_rows,
        "n_columns": table.n_columns,
        "total_weight": table.total_weight,
        "is_weighted": not bool(np.all(table.weights == 1)),
        "missing_share": missing / (table.total_weight * table.n_columns),
    }


def list_settings(learner: BaseEstimator) -> dict[str, Any]:
    """Settings by name, in values that JSON knows."""
    return _write_settings(learner.get_params(deep=False))


def list_defaults(kind: type[BaseEstimator]) -> dict[str, Any]:
    """Usual settings of a kind of learner, as they are recorded; not those that must be given."""
    given = inspect.signature(kind).parameters.values()
    return _write_settings(
        {each.name: each.default for each in given if each.default is not each.empty}
    )


def _write_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _write_setting(value) for name, value in settings.items() if name not in _UNRECORDED
    }


def _write_setting(value: Any) -> Any:
    if isinstance(value, Network):
        return _write_setting(value.structure)
    if isinstance(value, Structure) and not value.pouches:  # those have no sign in text
        return write_structure(value)
    if isinstance(value, BaseEstimator):
        return {"learner": type(value).__name__, **list_settings(value)}
    if isinstance(value, os.PathLike):
        return Path(value).name
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | list | tuple) and len(value) > MAX_VALUES:
        return f"{len(value):,} values"
    if _is_range(value):
        return {"lowest": int(value[0]), "highest": int(value[1])}  # a list would be two choices
    if isinstance(value, np.ndarray | range):
        return _write_setting(list(value))
    if isinstance(value, Mapping):
        return {str(key): _write_setting(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_write_setting(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return type(value).__name__


def _is_range(value: Any) -> bool:
    """Whether a setting is a pair of whole numbers, such as ``n_states=(1, 4)``."""
    is_pair = isinstance(value, tuple) and len(value) == 2
    return is_pair and all(isinstance(each, numbers.Integral) for each in value)


def list_versions() -> dict[str, str]:
    """Versions of what the result may depend on."""
    return {
        "latentforest": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": version("numba"),
    }
