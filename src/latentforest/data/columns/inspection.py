"""What was understood of the columns of a table, and the options that change it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.findings import (
    ODDITIES,
    Finding,
    describe_group,
    explain_left_out,
    group_findings,
)
from latentforest.data.columns.recipe import Recipe
from latentforest.data.columns.recipe_file import write_recipe
from latentforest.data.columns.suspicions import find_empty, find_suspicions
from latentforest.data.dataset import Dataset
from latentforest.data.read import read
from latentforest.data.results.table import Table
from latentforest.data.variable import Variable
from latentforest.errors import LatentForestWarning

_LISTED_STATES = 6


@dataclass(frozen=True)
class Inspection:
    """What was understood of each column of a table.

    Attributes
    ----------
    data
        The table as it was read.
    findings
        What is odd about columns.
    """

    data: Dataset
    findings: tuple[Finding, ...]

    @property
    def table(self) -> Table:
        """One row for each column: kind, states, missing values, range or states, notes."""
        return Table.from_rows([self._describe(name) for name in self._list_names()])

    @property
    def advice(self) -> list[str]:
        """One sentence for each kind of oddity, with the option that changes it."""
        return [
            describe_group(kind, group) for kind, group in group_findings(self.findings).items()
        ]

    @property
    def left_out(self) -> dict[str, str]:
        """Columns that a model would not have, and why."""
        return {**self.data.left_out, **explain_left_out(self.findings)}

    @property
    def recipe(self) -> Recipe:
        """A recipe that states what was understood; columns that are left out are in ``drop``."""
        stated, unsure = self.data.recipe or Recipe(), self._list_unsure()
        kept = [v for v in self.data.variables if v.name not in self.left_out]
        kinds = {v.name: v.states is None for v in kept if "kind" not in unsure.get(v.name, {})}
        states = {v.name: v.states for v in kept if v.states is not None and v.name in kinds}
        drop = [name for name in self.left_out if name not in stated.drop]
        return replace(
            stated,
            kinds={
                n: "continuous" if is_number else "categorical" for n, is_number in kinds.items()
            },
            states={**states, **stated.states},
            drop=(*stated.drop, *drop),
        )

    def write_recipe(self, path: str | os.PathLike[str]) -> None:
        """Write the recipe to a TOML file, with what is odd as comments."""
        rows = {row["column"]: row for row in self.table.rows()}
        comments = {name: _comment(row) for name, row in rows.items()}
        write_recipe(self.recipe, path, comments, self._list_unsure())

    def to_dict(self) -> dict[str, Any]:
        """Describe all by lists, dictionaries, strings and numbers."""
        return {
            "rows": self.data.n_rows,
            "total_weight": self.data.total_weight,
            "columns": list(self.table.rows()),
            "left_out": self.left_out,
            "findings": [
                {"column": each.column, "oddity": each.oddity, "detail": each.detail}
                for each in self.findings
            ],
            "advice": self.advice,
        }

    def __str__(self) -> str:
        lines = [repr(self.data), "", str(self.table)]
        lines += ["", *(f"- {sentence}" for sentence in self.advice)] if self.findings else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Inspection({len(self._list_names())} columns, {len(self.findings)} findings)"

    def _list_names(self) -> Sequence[str]:
        origin = self.data.origin
        return self.data.names if origin is None else origin.names

    def _describe(self, name: str) -> dict[str, Any]:
        row: dict[str, Any] = {"column": name, "kind": "left out", "states": None, "missing": None}
        values = ""
        if name in self.data.names:
            variable, column = self.data.variable(name), self.data.column(name)
            kind = "categorical" if variable.is_categorical else "continuous"
            row["kind"] = "left out" if name in self.left_out else kind
            row["states"] = len(variable.states) if variable.states is not None else None
            is_missing = np.isnan(column) if variable.states is None else column < 0
            row["missing"] = int(np.count_nonzero(is_missing))
            values = _describe_values(variable, column)
        notes = [found.describe() for found in self.findings if found.column == name]
        return {**row, "values": values, "notes": "; ".join(notes)}

    def _list_unsure(self) -> dict[str, dict[str, Any]]:
        """Entries of a recipe that a person should decide on, by column."""
        unsure: dict[str, dict[str, Any]] = {}
        for found in self.findings:
            if found.column not in self.data.names or ODDITIES[found.oddity].leaves_out:
                continue
            entry = unsure.setdefault(found.column, {})
            variable = self.data.variable(found.column)
            if found.oddity in ("sentinels", "doubtful states", "mostly numbers"):
                entry["missing"] = [found.code]
                if found.oddity != "sentinels" or variable.states is not None:
                    entry["kind"] = "categorical"
            elif found.oddity in _ABOUT_KINDS:
                entry["kind"] = "categorical" if variable.is_categorical else "continuous"
        return unsure


_ABOUT_KINDS = (
    "row numbers",
    "compact dates",
    "weights",
    "identifiers",
    "free text",
    "mostly blank",
    "units",
    "ambiguous marks",
)


def inspect(data: object, **reading: Any) -> Inspection:
    """Say what is understood of each column of a table, and what looks odd.

    Parameters
    ----------
    data
        A file, or anything that ``Dataset.from_table`` takes.
    reading
        Options of `read` for files, of ``Dataset.from_table`` for others, ``recipe=`` say.

    Examples
    --------
    >>> found = inspect({"sex": ["f", "m", "m"], "born": ["1990-01-31", "1985-07-01", "?"]})
    >>> found.left_out
    {'born': "dates or times: such as '1990-01-31'"}
    >>> found.table["kind"]
    ['categorical', 'left out']
    """
    with warnings.catch_warnings():  # all of them are among the findings
        warnings.simplefilter("ignore", LatentForestWarning)
        if isinstance(data, str | os.PathLike):
            table = read(data, **reading)
        else:
            table = Dataset.from_table(data, **reading)
    noted = () if table.origin is None else table.origin.findings
    empty = find_empty(table)
    gone = explain_left_out(empty)
    kept = [name for name in table.names if name not in gone]
    suspicions = find_suspicions(table.select(kept)) if kept else []
    return Inspection(table, (*noted, *empty, *suspicions))


def _describe_values(variable: Variable, column: NDArray[Any]) -> str:
    if variable.states is None:
        least, most = np.fmin.reduce(column), np.fmax.reduce(column)
        return "" if np.isnan(least) else f"{least:.6g} to {most:.6g}"
    shown = ", ".join(variable.states[:_LISTED_STATES])
    return shown + (", …" if len(variable.states) > _LISTED_STATES else "")


def _comment(row: dict[str, Any]) -> list[str]:
    if row["missing"] is None:
        return [row["notes"]]
    facts = f"{row['values']}; {row['missing']:,} missing"
    notes = [f"{note} (decide below, or by id, weight or drop)" for note in [row["notes"]] if note]
    return [facts, *notes]
