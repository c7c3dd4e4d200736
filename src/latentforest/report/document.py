"""A report as a value: its content, its page, and the files of both."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from latentforest.errors import ParameterError
from latentforest.files import write_atomically
from latentforest.model.labels import Labels
from latentforest.report.content import make_content

PAGES = (".html", ".htm")
DATA = (".json",)


@dataclass(frozen=True)
class Report:
    """What a report says, and the page that shows it.

    Attributes
    ----------
    content
        The plain data: dictionaries, lists, texts and numbers.
    """

    content: dict[str, Any]

    @cached_property
    def html(self) -> str:
        """The page: one HTML file that needs nothing else."""
        from latentforest.report.page import write_page

        return write_page(self.content)

    def to_json(self) -> str:
        """Write the content as JSON."""
        return write_json(self.content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (.html), or the content (.json)."""
        is_data = _check_path(path).endswith(DATA)
        write_atomically(path, self.to_json() + "\n" if is_data else self.html)

    def __repr__(self) -> str:
        n = len(self.content["words"]["warnings"])
        return f"Report({self.content['title']!r}, {n} warning{'' if n == 1 else 's'})"


def _check_path(path: str | os.PathLike[str]) -> str:
    """Return the name of a file in small letters, if it is one that can be written."""
    name = Path(path).name.lower() if isinstance(path, str | os.PathLike) else ""
    if not name.endswith(DATA + PAGES):
        raise ParameterError(f"path must end in .html or .json, got {path!r}")
    return name


def write_json(content: dict[str, Any]) -> str:
    """Write content as JSON in one line, the same for the same content."""
    return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def report(
    model: Any,
    data: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    noun: str = "rows",
    labels: Labels | str | os.PathLike[str] | None = None,
    compare: bool | float = False,
    ids: str | Sequence[object] | None = None,
    weights: Any = None,
    progress: Any = None,
) -> Report:
    """Make a report of a model: a page that says what was found, how sure, and how well it fits.

    Parameters
    ----------
    model
        A fitted learner, a `Network`, or the path of a model file.
    data
        The table that it was learned from, or another one with the same columns: anything that
        ``fit`` takes, or the name of a file. Without it the page shows the model alone.
    path
        Where to write the page (.html) or its content (.json); a file that is there is replaced.
    title
        Of the page; by default the name of the table.
    noun
        What the rows are, in the plural: "customers".
    labels
        `Labels`, or a file of names that the page saved. They win over those of the model.
    compare
        Whether other models are fitted to the table, to compare them with this one: independence,
        a Chow-Liu tree, bridged islands, latent class models. It takes up to 30 seconds, or up to
        so many as are given.
    ids
        Name of a column of the table that names the rows, or a name for each row. The index of a
        pandas frame names them by itself.
    weights
        Name of the column that says how often each row counts, or an array.
    progress
        As for learners; says which model is being fitted for comparison.

    Returns
    -------
    report
        With ``content``, ``html`` and ``save``.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> data = datasets.load("hiv-tests")
    >>> model = LatentClass(2, random_state=0).fit(data)
    >>> found = report(model, data, title="Four tests for HIV", noun="patients")
    >>> found.content["words"]["paragraphs"][0][0]
    {'strong': '428 patients'}
    """
    if path is not None:
        _check_path(path)  # before other models are fitted
    content = make_content(
        model,
        data,
        title=title,
        noun=noun,
        labels=labels,
        compare=compare,
        ids=ids,
        weights=weights,
        progress=progress,
    )
    made = Report(content)
    if path is not None:
        made.save(path)
    return made
