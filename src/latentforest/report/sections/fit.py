"""How well the model fits: other models beside it, the test against the saturated model."""

from __future__ import annotations

import math
import warnings
from typing import Any

from latentforest.errors import DataError, LatentForestWarning, ModelError
from latentforest.report.sections.certainty import describe_certainty
from latentforest.report.sections.residuals import describe_residuals
from latentforest.report.sections.search import describe_search
from latentforest.report.subject import Subject
from latentforest.report.wording import count, round_values
from latentforest.scores.criteria import FitSummary, bic
from latentforest.scores.goodness import goodness_of_fit
from latentforest.scores.saturated import count_cells

MOST_CELLS = 50_000  # of a table that is tested against the saturated model
MOST_PARAMETERS = 150  # of a network that is tested


def describe_fit(subject: Subject) -> dict[str, Any] | None:
    """Describe the fit to the table; without a table, what the record says of it."""
    search = describe_search(subject)
    models = list_models(subject)
    if subject.data is None and not models and search is None:
        return None
    return {
        "models": models,
        "elbow": describe_elbow(subject, models),
        "residuals": describe_residuals(subject),
        "certainty": describe_certainty(subject),
        "goodness": describe_goodness(subject),
        "search": search,
    }


def find_scores(subject: Subject) -> dict[str, Any] | None:
    """Log-likelihood, BIC and number of parameters: of the given table, or of the record."""
    record = subject.record
    is_recorded = record is not None and record.bic is not None
    if subject.data is None and not is_recorded:
        return None
    if record is not None and is_recorded and (subject.data is None or subject.is_training):
        return {
            "log_likelihood": record.log_likelihood,
            "bic": record.bic,
            "n_parameters": record.n_parameters,
        }
    n_parameters, total = subject.network.dimension, float(subject.weights.sum())
    summary = FitSummary(subject.log_likelihood, n_parameters, total)
    return {
        "log_likelihood": subject.log_likelihood,
        "bic": bic(summary),
        "n_parameters": n_parameters,
    }


def list_models(subject: Subject) -> list[dict[str, Any]]:
    """This model and those compared with it, the best BIC first."""
    scores = find_scores(subject)
    if scores is None:
        return []
    this = {
        "name": name_model(subject),
        "detail": detail_model(subject),
        "n_states": None,
        **scores,
    }
    models = [this | {"is_this": True}]
    if subject.is_training is not False:
        models += [{**each, "is_this": False} for each in _choose_others(subject)]
    models.sort(key=lambda each: (-round(each["bic"], 6), not each["is_this"], each["name"]))
    keys = ("name", "detail", "n_states", "n_parameters", "log_likelihood", "bic", "is_this")
    return [
        {key: _round(each.get(key)) for key in keys}
        for each in models
        if math.isfinite(each["bic"])
    ]


def _round(value: Any) -> Any:
    return round_values(value, 9) if isinstance(value, float) else value


def _choose_others(subject: Subject) -> list[dict[str, Any]]:
    """Of the latent class models only the best one; the elbow shows all."""
    others = [dict(each) for each in subject.comparisons or () if not each.get("is_again")]
    classes = [each for each in others if each.get("n_states") is not None]
    best = max(classes, key=lambda each: each["bic"], default=None)
    return [each for each in others if each.get("n_states") is None or each is best]


def describe_elbow(subject: Subject, models: list[dict[str, Any]]) -> dict[str, Any] | None:
    """BIC by the number of classes of a single latent variable."""
    found = {
        int(each["n_states"]): float(each["bic"])
        for each in subject.comparisons or ()
        if each.get("n_states") is not None
    }
    record = subject.record
    if record is not None and record.learner == "LatentClass":
        for row in record.history:
            if row.get("n_states") is not None and row.get("bic") is not None:
                found.setdefault(int(row["n_states"]), float(row["bic"]))
    if len(found) < 2 or subject.is_training is False or not models:
        return None
    numbers = sorted(found)
    return {"n_states": numbers, "bic": [round_values(found[each], 9) for each in numbers]}


def name_model(subject: Subject) -> str:
    """What kind of model it is, and who learned it."""
    learner = "" if subject.record is None else f", {subject.record.learner}"
    return f"{name_kind(subject)}{learner}"


def name_kind(subject: Subject) -> str:
    """What kind of model it is."""
    structure = subject.network.structure
    latents, roots = structure.latents, structure.roots
    if not any(map(structure.parents, structure.names)) and not latents:
        return "Independent columns"
    if not structure.is_forest:
        return "Network with hidden variables" if latents else "Bayesian network"
    if len(latents) == 1 and all(structure.parents(n) == latents for n in structure.observed):
        return "Latent class model"
    shape = "tree" if len(roots) == 1 else "forest"
    return f"Latent {shape}" if latents else f"{shape.capitalize()} of columns"


def detail_model(subject: Subject) -> str:
    """How many latent variables it has."""
    n = len(subject.network.latents)
    if n == 0:
        return "no hidden variable"
    if n == 1:
        n_states = len(subject.network.structure.states(subject.network.latents[0]))
        return f"one hidden variable, {count(n_states, 'state')}"
    return count(n, "hidden variable")


def describe_goodness(subject: Subject) -> dict[str, Any] | None:
    """Test against the saturated model, where that is cheap and means something."""
    data, structure = subject.data, subject.network.structure
    if data is None or structure.continuous or subject.is_training is False:
        return None
    table = data.select(subject.network.observed)
    if structure.dimension > MOST_PARAMETERS or count_cells(table.variables) > MOST_CELLS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LatentForestWarning)  # the page says it
            found = goodness_of_fit(subject.network, table)
    except (DataError, ModelError):  # missing values could be in too many cells
        return None
    return {
        "g2": round_values(found.g_squared),
        "x2": round_values(found.x_squared),
        "df": found.df,
        "df_nominal": found.df_nominal,
        "p": round_values(found.p),
        "dissimilarity": round_values(found.dissimilarity),
        "n_cells": found.n_cells,
        "n_boundary": found.n_boundary,
    }
