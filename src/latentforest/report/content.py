"""The plain data of a report: everything that the page shows, and that JSON can hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from latentforest.learners.common.recording import describe_table
from latentforest.model.labels import Labels
from latentforest.report.opening import Given, add_comparisons, open_subject
from latentforest.report.sections.askable import describe_model
from latentforest.report.sections.cautions import list_warnings
from latentforest.report.sections.fit import describe_fit, name_kind
from latentforest.report.sections.graph import describe_graph
from latentforest.report.sections.profiles import describe_profiles
from latentforest.report.sections.reproduce import describe_reproduction
from latentforest.report.sections.rows import describe_rows
from latentforest.report.sections.variables import describe_variables
from latentforest.report.sections.words import describe_words
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values
from latentforest.version import __version__

FORMAT = "latentforest-report"
VERSION = 1


def make_content(
    model: Any,
    data: Any = None,
    *,
    title: str | None = None,
    noun: str = "rows",
    labels: Labels | str | os.PathLike[str] | None = None,
    compare: bool | float = False,
    ids: str | Sequence[object] | None = None,
    weights: Any = None,
    source: str | None = None,
    progress: Any = None,
) -> dict[str, Any]:
    """Gather what a report says, as plain data.

    Parameters
    ----------
    model
        A fitted learner or a `Network`.
    data
        The table, as for ``fit``, or the name of a file; without it the report has neither fit nor
        rows.
    title
        Of the page; by default the name of the table.
    noun
        What the rows are, in the plural: "customers".
    labels
        `Labels` or the file of such; they win over those of the network.
    compare
        Whether other models are fitted to the table for comparison; a number limits the seconds.
    ids
        Name of a column of the table that names the rows, or a name for each row.
    weights
        Name of a column, or an array, as for `Dataset.from_table`.
    source
        Name of the table's file, where the table was read from one.
    progress
        As for learners; says which model is being fitted for comparison.

    Returns
    -------
    content
        Dictionaries, lists, texts and numbers; see the page on reports in the documentation.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> data = datasets.load("hiv-tests")
    >>> content = make_content(LatentClass(2, random_state=0).fit(data), data)
    >>> content["words"]["facts"][0]
    {'label': 'Hidden variables', 'value': '1'}
    """
    given = Given(data, title, noun, labels, ids, weights, source)
    subject = open_subject(model, given)
    if compare is not False:
        subject = add_comparisons(subject, compare, progress)
    return describe(subject)


def describe(subject: Subject) -> dict[str, Any]:
    """Compose the sections."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"latentforest {__version__}",
        "title": subject.title or _make_title(subject),
        "subtitle": _make_subtitle(subject),
        "noun": subject.noun,
        "table": _describe_table(subject),
        "words": None,
        "variables": describe_variables(subject),
        "graph": describe_graph(subject),
        "model": describe_model(subject),
        "profiles": describe_profiles(subject),
        "fit": describe_fit(subject),
        "rows": describe_rows(subject),
        "reproduce": None,
        "missing": _say_missing(subject),
    }
    _mark_order(content)
    words = describe_words(subject, content)
    content["words"] = words | {"warnings": list_warnings(subject, content)}
    content["reproduce"] = describe_reproduction(subject, content)
    return content


def _mark_order(content: dict[str, Any]) -> None:
    """Latent states have an order if the column has one that tells most about them."""
    for profile in content["profiles"]:
        if profile["columns"]:
            best = content["variables"][profile["columns"][0]["variable"]]
            is_ordered = best["kind"] == "continuous" or best["is_ordered"]
            content["variables"][profile["latent"]]["is_ordered"] = is_ordered


def _make_title(subject: Subject) -> str:
    source = subject.source
    if not source:
        return name_kind(subject)
    stem = source.rsplit(".", 1)[0] if "." in source else source
    return stem.replace("_", " ").replace("-", " ").strip() or source


def _make_subtitle(subject: Subject) -> str:
    kind = name_kind(subject)
    article = "An" if kind[0] in "AEIOU" else "A"
    kind = kind[0].lower() + kind[1:] if not kind.startswith("Bayesian") else kind
    text = kind.capitalize() if kind.startswith("independent") else f"{article} {kind}"
    source = subject.source
    text += f" under {source}" if source else ""
    return text if subject.record is None else f"{text}, learned by {subject.record.learner}"


def _describe_table(subject: Subject) -> dict[str, Any] | None:
    data = subject.data
    if data is None:
        return None
    n_numbers = len(subject.network.structure.continuous)
    return {
        "source": subject.source,
        "n_rows": data.n_rows,
        "total_weight": round_values(data.total_weight, 12),
        "is_weighted": bool((data.weights != 1).any()),
        "n_columns": data.n_columns,
        "n_categorical": data.n_columns - n_numbers,
        "n_continuous": n_numbers,
        "missing_share": round_values(describe_table(data)["missing_share"]),
        "hash": data.hash,
        "is_training": subject.is_training,
    }


def _say_missing(subject: Subject) -> dict[str, Any]:
    """What the page lacks, and the command that adds it."""
    command = "latentforest report model.json table.csv --out report.html"
    data = compare = None
    if subject.data is None:
        data = f"Fit, certainty and rows need the table: {command}"
    elif not subject.comparisons:
        compare = f"Other models beside this one: {command} --compare"
    return {"data": data, "compare": compare}
