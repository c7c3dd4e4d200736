"""Models of one table compared: fit, rows, structure, and what their latent variables say."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from latentforest.data.results.table import Table
from latentforest.data.results.table_groups import TableGroup
from latentforest.errors import ParameterError
from latentforest.scores.compared_models import (
    ComparedModel,
    Models,
    check_same_rows,
    find_hidden,
    read_models,
)
from latentforest.scores.comparison_words import describe_comparison
from latentforest.scores.latent_matching import LatentMatch, describe_matches, match_latents
from latentforest.scores.paired import PairedDifference, adjust_holm, compare_paired
from latentforest.scores.structure_distance import compare_structures
from latentforest.visible import make_visible

__all__ = ["ModelComparison", "compare", "compare_models"]

_SHOWN_ROWS = 30
_SELDOM = ("fitted", "hidden_rows", "impossible_rows", "impossible_first", "impossible_second")
_TITLES = {
    "pairs": "Rows: the first model's log-likelihood per row less the second's",
    "structures": "Structure",
    "latents": "Latent variables by what they say of the rows",
    "edges": "Edges",
}


@dataclass(frozen=True)
class ModelComparison:
    """What `compare` found: sentences and tables.

    Attributes
    ----------
    models
        One row for each model: log-likelihood of the rows under the reported parameters, number of
        parameters, BIC, log-likelihood per row under the predictive parameters, numbers of columns
        and latent variables, whether the model was fitted to these rows (None if that is not
        known), rows that are impossible under the reported parameters.
    pairs
        One row for each pair: mean difference of the predictive log-likelihood per row (positive
        if the first model is better), its standard error, Vuong's z and p; z and p after his
        correction for the numbers of parameters, which is for rows that both were fitted to; the
        one of these p that is called for, after Holm's correction for the number of pairs; the
        p-value of the hypothesis that models fitted to these rows are the same, by the variance of
        the differences, without which his other tests do not hold; the number of columns that both
        have, which the difference is of; rows that have values which only one of them knows, and
        which were hidden from both; rows that are impossible under one of them, which are left
        out.
    structures
        One row for each pair: edges in common and of one model alone, latent variables being the
        same where they are matched; the structural Hamming distance of their equivalence classes;
        the number of splits by which two forests differ.
    latents
        One row for each latent variable and the one of the other model that it is matched with:
        adjusted Rand index and mutual information (bits) of the states that rows are assigned to,
        which states belong together, and the share of rows in these.
    edges
        One row for each edge of two models: whether it is in both, or in which.
    notes
        Sentences that say which differences matter.
    """

    models: Table
    pairs: Table
    structures: Table
    latents: Table
    edges: Table
    notes: tuple[str, ...]

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that have rows, by their names."""
        names = ("models", "pairs", "structures", "latents", "edges")
        return {name: getattr(self, name) for name in names if len(getattr(self, name))}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON knows; each table is a list of rows."""
        names = ("models", "pairs", "structures", "latents", "edges")
        plain = {name: getattr(self, name).to_dict() for name in names}
        rows = {
            name: [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
            for name, table in plain.items()
        }
        return {"notes": list(self.notes), **rows}

    def to(self, target: str | os.PathLike[str]) -> str | None:
        """Write the sentences and tables to a file, or as text in a format, see `Table.to`.

        CSV, TSV and Parquet hold one table, that of the models; a workbook has a sheet for each.
        """
        return TableGroup(self.tables, self.notes, _TITLES).to(target)

    def __str__(self) -> str:
        parts = ["\n".join(map(make_visible, self.notes))] if self.notes else []
        for name, table in self.tables.items():
            if name != "edges" or len(self.pairs) == 1:
                title = _TITLES.get(name)
                parts.append(f"{title}\n{_shorten(table)}" if title else str(_shorten(table)))
        return "\n\n".join(parts)


def _shorten(table: Table) -> Table:
    """Leave out columns that say nothing in this case, and rows beyond what a person reads."""
    shown = {
        name: values[:_SHOWN_ROWS]
        for name, values in table.items()
        if name not in _SELDOM or any(values)
    }
    n_rows = len(table)
    more = [f"{_SHOWN_ROWS} of {n_rows:,} rows are shown."] if n_rows > _SHOWN_ROWS else []
    return Table(shown, more)


def compare(
    models: Models, data: Any, *, fitted: bool = False, n_jobs: int | None = None
) -> ModelComparison:
    """Compare models by what they say of rows.

    The rows should be new to the models: of rows that a model was fitted to, a larger model always
    says more. If they are not, the numbers of parameters are taken into account. That a model was
    fitted to just these rows is known from its record, if it has one (`Record`).

    The models need not have the same columns or states: two are compared by the columns that both
    have, all others being summed out, and values that one of them does not know are hidden from
    both.

    Parameters
    ----------
    models
        Fitted learners, networks or model files, at least one; a mapping names them.
    data
        A table with the columns of the models.
    fitted
        States that all models were fitted to these rows; otherwise their records count.
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
    >>> print(result.notes[0])
    'three' is better than 'two' by 0.027 per row (standard error 0.0039, p < 0.0001).
    """
    given = read_models(models)
    return compare_models([ComparedModel(n, m, data, n_jobs) for n, m in given.items()], fitted)


def compare_models(models: Sequence[ComparedModel], fitted: bool = False) -> ModelComparison:
    """Compare models that know their tables, which have the same rows."""
    if not isinstance(fitted, bool):
        raise ParameterError(f"fitted: got {fitted!r}, expected True or False")
    check_same_rows(models)
    pairs = [_Pair(first, second) for first, second in combinations(models, 2)]
    rows = [pair.compare_rows() for pair in pairs]
    facts = [model.describe() | ({"fitted": True} if fitted else {}) for model in models]
    known = {row["model"] for row in facts if row["fitted"]}
    called = ["p_corrected" if {r["first"], r["second"]} <= known else "p" for r in rows]
    found = adjust_holm([row[p] for row, p in zip(rows, called, strict=True)])
    for row, adjusted in zip(rows, found, strict=True):
        row["p_holm"] = adjusted
    structures = [pair.compare_structures() for pair in pairs]
    tables = (
        Table.from_rows(facts),
        Table.from_rows(rows),
        Table.from_rows([distances for distances, _ in structures]),
        Table.from_rows([row for pair in pairs for row in pair.describe_latents()]),
        Table.from_rows([row for _, edges in structures for row in edges]),
    )
    return ModelComparison(*tables, describe_comparison(*tables[:4], fitted))


def _test_variance(found: PairedDifference, total: float, n_parameters: int) -> float:
    """Vuong's first test: whether the differences are larger than those of equal models.

    If the models are the same, N times the variance and twice the difference of log-likelihoods are
    about chi-squared. The degrees of freedom are at most the parameters of both, which is taken to
    be on the safe side.
    """
    from scipy.stats import chi2

    if math.isnan(found.standard_error):
        return math.nan
    size = max((found.standard_error * total) ** 2, 2 * abs(found.mean) * total)
    return float(chi2.sf(size, n_parameters))


class _Pair:
    """Two models, what both can look at, and their latent variables matched."""

    def __init__(self, first: ComparedModel, second: ComparedModel) -> None:
        self.first, self.second = first, second
        *self._hidden, self.shared = find_hidden(first, second)
        self.matches: list[LatentMatch] = match_latents(first, second)

    def compare_rows(self) -> dict[str, Any]:
        """Vuong's test of the rows' log-likelihoods."""
        scores = [
            model.predict_without(hidden) if hidden else model.predictive
            for model, hidden in zip((self.first, self.second), self._hidden, strict=True)
        ]
        weights = self.first.weights
        used = (weights > 0) & bool(self.shared)
        possible = [np.isfinite(score) for score in scores]
        kept = used & possible[0] & possible[1]
        gaps = np.subtract(*(score[kept] for score in scores))
        total, n_more = float(weights[kept].sum()), self.first.dimension - self.second.dimension
        # The numbers of parameters are of all columns, so they say nothing of some of them.
        is_whole = self.first.columns == self.second.columns and total > 0
        correction = n_more * math.log(total) / (2 * total) if is_whole else math.nan
        plain = compare_paired(gaps, weights[kept])
        corrected = compare_paired(gaps, weights[kept], correction)
        return {
            "first": self.first.name,
            "second": self.second.name,
            "difference": plain.mean,
            "standard_error": plain.standard_error,
            "z": plain.z,
            "p": plain.p,
            "z_corrected": corrected.z,
            "p_corrected": corrected.p,
            "p_holm": math.nan,
            "p_distinct": _test_variance(
                plain, total, self.first.dimension + self.second.dimension
            ),
            "n_columns": len(self.shared),
            "hidden_rows": self._count_hidden_rows(),
            "impossible_first": int(np.count_nonzero(used & ~possible[0])),
            "impossible_second": int(np.count_nonzero(used & ~possible[1])),
        }

    def _count_hidden_rows(self) -> int:
        """Rows with a value in a shared column that only one of the models knows."""
        rows = self.first.weights < 0
        for hidden in self._hidden:
            for name in hidden.keys() & set(self.shared):
                rows |= hidden[name]
        return int(np.count_nonzero(rows))

    def compare_structures(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return compare_structures(self.first, self.second, self.matches, self.shared)

    def describe_latents(self) -> list[dict[str, Any]]:
        return describe_matches(self.first, self.second, self.matches)
