"""Published frequency tables: counts as facts, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError


@dataclass(frozen=True, slots=True)
class TableDescription:
    """What a published table is about.

    Attributes
    ----------
    name
        For ``load``.
    title
        One line.
    source
        Where the counts were published.
    variables
        Meaning of each variable, by its name.
    n_observations
        Sum of the counts.

    Examples
    --------
    >>> describe("hiv-tests").title
    'Four diagnostic tests for HIV'
    """

    name: str
    title: str
    source: str
    variables: dict[str, str]
    n_observations: int


@dataclass(frozen=True, slots=True)
class _Table:
    """Counts of all patterns, the last variable changing fastest."""

    title: str
    source: str
    variables: dict[str, str]
    states: tuple[str, str]
    counts: tuple[int, ...]


_TABLES = {
    "coleman-panel": _Table(
        title="Schoolboys and the leading crowd, asked twice",
        source="Coleman, J. S. (1964), Introduction to Mathematical Sociology, Free Press, Glencoe",
        variables={
            "A": "says he belongs to the leading crowd, first interview",
            "B": "attitude towards the leading crowd, first interview",
            "C": "says he belongs to the leading crowd, second interview",
            "D": "attitude towards the leading crowd, second interview",
        },
        states=("+", "-"),
        counts=(458, 140, 110, 49, 171, 182, 56, 87, 184, 75, 531, 281, 85, 97, 338, 554),
    ),
    "hiv-tests": _Table(
        title="Four diagnostic tests for HIV",
        source=(
            "Alvord, W. G. et al. (1988), A method for predicting individual HIV infection status "
            "in the absence of clinical information, AIDS Research and Human Retroviruses 4(4), "
            "295-304"
        ),
        variables={name: f"result of test {name}" for name in "ABCD"},
        states=("negative", "positive"),
        counts=(170, 15, 0, 0, 6, 0, 0, 0, 4, 17, 0, 83, 1, 4, 0, 128),
    ),
    "house-building": _Table(
        title="Is house building a task for the new government? Two questions, asked twice",
        source=(
            "Hagenaars, J. A. (1988), Latent structure models with direct effects between "
            "indicators: local dependence models, Sociological Methods and Research 16, 379-405"
        ),
        variables={
            "A": "house building is an important problem, first date",
            "B": "house building in relation to other issues, first date",
            "C": "house building is an important problem, second date",
            "D": "house building in relation to other issues, second date",
        },
        states=("0", "1"),
        counts=(193, 44, 26, 34, 103, 77, 15, 58, 58, 16, 32, 48, 84, 54, 60, 283),
    ),
    "role-conflict": _Table(
        title="Four situations of role conflict",
        source=(
            "Stouffer, S. A. and Toby, J. (1951), Role conflict and personality, "
            "American Journal of Sociology 56(5), 395-406"
        ),
        variables={
            name: f"universalistic (+) or particularistic (-) in situation {name}"
            for name in "ABCD"
        },
        states=("+", "-"),
        counts=(42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20),
    ),
}


def names() -> tuple[str, ...]:
    """Names of the tables, for ``load`` and ``describe``.

    Examples
    --------
    >>> names()
    ('coleman-panel', 'hiv-tests', 'house-building', 'role-conflict')
    """
    return tuple(_TABLES)


def load(name: str) -> Dataset:
    """Load a published table: one row per pattern that occurs, weighted by its count.

    Parameters
    ----------
    name
        One of ``names()``.

    Examples
    --------
    >>> load("hiv-tests")
    Dataset(9 rows, 4 columns: 4 categorical; total weight 428)
    """
    table = _find(name)
    patterns = np.array(list(product(range(len(table.states)), repeat=len(table.variables))))
    counts = np.array(table.counts, dtype=np.float64)
    seen = counts > 0
    variables = [Variable(variable, table.states) for variable in table.variables]
    return Dataset(variables, list(patterns[seen].T), counts[seen])


def describe(name: str) -> TableDescription:
    """Say what a published table is about and where it comes from.

    Parameters
    ----------
    name
        One of ``names()``.

    Examples
    --------
    >>> describe("role-conflict").n_observations
    216
    """
    table = _find(name)
    total = sum(table.counts)
    return TableDescription(name, table.title, table.source, dict(table.variables), total)


def _find(name: str) -> _Table:
    try:
        return _TABLES[name]
    except KeyError:
        known = ", ".join(_TABLES)
    raise DataError(f"there is no table {name!r}; the tables are {known}")
