"""Models of one table compared: fit, rows, structure, and what their latent variables say."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from latentforest.data import Dataset, encode_like
from latentforest.data.lookup import list_briefly
from latentforest.data.table import Table
from latentforest.errors import ModelError, ParameterError
from latentforest.formats import load
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.network import Network
from latentforest.scores.comparison import tree_distance
from latentforest.scores.contingency import adjusted_rand, match_states, mutual_information
from latentforest.scores.criteria import FitSummary, bic

__all__ = ["ModelComparison", "compare"]


@dataclass(frozen=True)
class ModelComparison:
    """What `compare` found, as tables.

    Attributes
    ----------
    models
        One row for each model: log-likelihood of the rows under the reported parameters, number of
        parameters, BIC, log-likelihood per row under the predictive parameters, rows that are
        impossible under the reported ones.
    pairs
        One row for each pair: mean difference of the predictive log-likelihood per row (positive
        if the first model is better), its standard error, Vuong's z and p, and z and p after his
        correction for the numbers of parameters, which is for rows that the models were fitted to.
    structures
        One row for each pair: edges in common and of one model alone, latent variables matched
        where they say the same of the rows; the number of splits by which two forests differ.
    latents
        One row for each latent variable and the one of the other model that it is matched with:
        adjusted Rand index and mutual information (bits) of the states that rows are assigned to,
        and which states belong together.
    """

    models: Table
    pairs: Table
    structures: Table
    latents: Table

    def __str__(self) -> str:
        parts = [str(self.models)]
        if len(self.pairs):
            parts.append(
                f"Rows: the first model's log-likelihood per row less the second's\n{self.pairs}"
            )
            parts.append(f"Structure\n{self.structures}")
        if len(self.latents):
            parts.append(f"Latent variables that say the same of the rows\n{self.latents}")
        return "\n\n".join(parts)


def compare(
    models: Mapping[str, Any] | Sequence[Any], data: Any, *, n_jobs: int | None = None
) -> ModelComparison:
    """Compare models of the same columns by what they say of rows.

    The rows should be new to the models, or to all of them alike: of rows that a model was fitted
    to, a larger model always says more.

    Parameters
    ----------
    models
        Fitted learners, networks or model files, at least one; a mapping names them.
    data
        A table with the columns of the models.
    n_jobs
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> data = datasets.load("coleman-panel")
    >>> two, three = (LatentClass(k, random_state=0).fit(data) for k in (2, 3))
    >>> result = compare({"two": two, "three": three}, data)
    >>> result.models["n_parameters"]
    [9, 14]
    >>> [round(value, 2) for value in result.latents["adjusted_rand"]]
    [0.43]
    """
    given = _read_models(models)
    judged = [_Judged(name, model, data, n_jobs) for name, model in given.items()]
    for other in judged[1:]:
        _check_columns(judged[0], other)
    pairs = list(combinations(judged, 2))
    matches = {(a.name, b.name): _match_latents(a, b) for a, b in pairs}
    return ModelComparison(
        Table.from_rows([model.describe() for model in judged]),
        Table.from_rows([_compare_rows(a, b) for a, b in pairs]),
        Table.from_rows([_compare_structures(a, b, matches[a.name, b.name]) for a, b in pairs]),
        Table.from_rows(
            [row for a, b in pairs for row in _describe(a, b, matches[a.name, b.name])]
        ),
    )


def _read_models(models: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Models by name."""
    if isinstance(models, Mapping):
        given = {str(name): model for name, model in models.items()}
    elif isinstance(models, Sequence) and not isinstance(models, str):
        given = {_name(model, place): model for place, model in enumerate(models, 1)}
        if len(given) < len(models):
            given = {f"{place} {_name(m, place)}": m for place, m in enumerate(models, 1)}
    else:
        raise ParameterError(
            f"models: got {models!r}, expected a list of models or names with them"
        )
    if not given:
        raise ParameterError("models: got none, expected at least one")
    return given


def _name(model: Any, place: int) -> str:
    if isinstance(model, str | os.PathLike):
        return Path(model).name
    return f"model {place}" if isinstance(model, Network) else type(model).__name__


class _Judged:
    """A model and what it says of the rows."""

    def __init__(self, name: str, model: Any, data: Any, n_jobs: int | None) -> None:
        self.name = name
        self.network, predictive = _find_networks(name, model)
        variables = [self.network.structure.variable(each) for each in self.network.observed]
        table = data if isinstance(data, Dataset) and data.variables == tuple(variables) else None
        self.table = encode_like(data, variables) if table is None else table
        patterned = PatternedData(self.table, n_jobs)
        rows = Rows(self.network, patterned)
        self.reported = rows.log_likelihoods()
        judge = rows if predictive is self.network else Rows(predictive, patterned)
        self.predictive = judge.log_likelihoods()
        self.states = [
            np.argmax(posterior, axis=1)
            for posterior in rows.filled_posteriors(self.network.latents)[0]
        ]

    @property
    def weights(self) -> FloatArray:
        return self.table.weights

    def describe(self) -> dict[str, Any]:
        used = self.weights > 0
        total = float(self.weights[used] @ self.reported[used])
        mean = float(self.weights[used] @ self.predictive[used]) / self.table.total_weight
        return {
            "model": self.name,
            "log_likelihood": total,
            "n_parameters": self.network.dimension,
            "bic": bic(FitSummary(total, self.network.dimension, self.table.total_weight)),
            "predictive_per_row": mean,
            "impossible_rows": int(np.count_nonzero(np.isneginf(self.reported) & used)),
        }


def _find_networks(name: str, model: Any) -> tuple[Network, Network]:
    """The reported network of a model, and the one that meets new rows."""
    if isinstance(model, str | os.PathLike):
        model = load(model)
    if isinstance(model, Network):
        return model, model.predictive
    network = getattr(model, "network_", None)
    if not isinstance(network, Network):
        raise ParameterError(
            f"models: {name!r} is a {type(model).__name__}, expected a fitted learner, a network "
            "or a model file"
        )
    return network, network.predictive


def _check_columns(first: _Judged, second: _Judged) -> None:
    different = set(first.network.observed) ^ set(second.network.observed)
    if different:
        raise ModelError(
            f"the models {first.name!r} and {second.name!r} have different columns, so what they "
            f"say of rows cannot be compared: {list_briefly(sorted(different))}"
        )


def _compare_rows(first: _Judged, second: _Judged) -> dict[str, Any]:
    """Vuong's test of the rows' log-likelihoods."""
    used = (first.weights > 0) & np.isfinite(first.predictive) & np.isfinite(second.predictive)
    weights, gaps = first.weights[used], (first.predictive - second.predictive)[used]
    total = float(weights.sum())
    mean = float(weights @ gaps) / total if total else math.nan
    variance = float(weights @ (gaps - mean) ** 2) / total if total else math.nan
    error = math.sqrt(variance / total) if total else math.nan
    n_more = first.network.dimension - second.network.dimension
    correction = n_more * math.log(total) / (2 * total) if total else math.nan
    z, z_corrected = _divide(mean, error), _divide(mean - correction, error)
    return {
        "first": first.name,
        "second": second.name,
        "difference": mean,
        "standard_error": error,
        "z": z,
        "p": _two_sided(z),
        "z_corrected": z_corrected,
        "p_corrected": _two_sided(z_corrected),
    }


def _divide(value: float, error: float) -> float:
    """Differences that are nothing but rounding have no z."""
    return value / error if error > 1e-12 else math.nan


def _two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2)) if math.isfinite(z) else math.nan


@dataclass(frozen=True)
class _Match:
    """Two latent variables that are matched."""

    first: str
    second: str
    counts: FloatArray
    adjusted_rand: float


def _match_latents(first: _Judged, second: _Judged) -> list[_Match]:
    """Match latent variables one to one, so that the sum of their agreement is largest."""
    from scipy.optimize import linear_sum_assignment

    if not first.states or not second.states:
        return []
    tables = [
        [_count(first, i, second, j) for j in range(len(second.states))]
        for i in range(len(first.states))
    ]
    agreement = np.array([[adjusted_rand(table) for table in row] for row in tables])
    rows, columns = linear_sum_assignment(-agreement)
    return [
        _Match(
            first.network.latents[i],
            second.network.latents[j],
            tables[i][j],
            float(agreement[i, j]),
        )
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


def _count(first: _Judged, i: int, second: _Judged, j: int) -> FloatArray:
    """Weights of the rows by the states that two latent variables give them."""
    shape = tuple(
        model.network.structure.variable(model.network.latents[k]).n_states
        for model, k in ((first, i), (second, j))
    )
    cells: AnyArray = np.ravel_multi_index((first.states[i], second.states[j]), shape)
    counts = np.bincount(cells, weights=first.weights, minlength=math.prod(shape))
    return counts.astype(np.float64).reshape(shape)


def _describe(first: _Judged, second: _Judged, matches: Sequence[_Match]) -> list[dict[str, Any]]:
    rows = []
    for match in sorted(matches, key=lambda each: -round(each.adjusted_rand, 9)):
        ours = first.network.structure.states(match.first)
        theirs = second.network.structure.states(match.second)
        pairs = ", ".join(f"{ours[a]}={theirs[b]}" for a, b in match_states(match.counts))
        rows.append(
            {
                "first": first.name,
                "latent": match.first,
                "second": second.name,
                "other_latent": match.second,
                "adjusted_rand": match.adjusted_rand,
                "bits": mutual_information(match.counts) / math.log(2),
                "states": pairs,
            }
        )
    return rows


def _compare_structures(
    first: _Judged, second: _Judged, matches: Sequence[_Match]
) -> dict[str, Any]:
    same = {match.second: match.first for match in matches if match.adjusted_rand > 0}
    ours = _list_edges(first.network, {}, "first")
    theirs = _list_edges(second.network, same, "second")
    is_forest = first.network.structure.is_forest and second.network.structure.is_forest
    networks = (first.network, second.network)
    return {
        "first": first.name,
        "second": second.name,
        "common_edges": len(ours & theirs),
        "only_first": len(ours - theirs),
        "only_second": len(theirs - ours),
        "splits": tree_distance(*networks) if is_forest else math.nan,
    }


def _list_edges(network: Network, names: Mapping[str, str], owner: str) -> set[frozenset[str]]:
    """Pairs of neighbours; latent variables by the names of those that they are matched with."""
    latents = set(network.latents)

    def call(name: str) -> str:
        if name not in latents:
            return f"column {name}"
        return f"latent {names[name]}" if name in names else f"latent {owner} {name}"

    if owner == "first":
        names = {name: name for name in latents}
    structure = network.structure
    return {
        frozenset((call(parent), call(name)))
        for name in network.names
        for parent in structure.parents(name)
    }
