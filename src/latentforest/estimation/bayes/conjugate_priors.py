"""Priors of the families of a forest: from the data, or from experts.

Without expert knowledge, an observed variable gets what a single observation like its column is
worth (empirical Bayes), from the rows that are fitted and no others, and keeps it whatever its
parent: each row of a conditional table has the same prior. Latent variables have symmetric
Dirichlet distributions of total concentration one.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.values import StateFinder
from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ParameterError
from latentforest.inference.columns import summarize
from latentforest.model.conjugate import (
    Conjugate,
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
)

Experts = Mapping[str, Conjugate]

FLAT = 1e-10  # weight of a mean, or of a slope, of which nothing is known


class Priors:
    """The prior of every variable of a table, and of latent variables over it.

    Parameters
    ----------
    data
        The rows that are fitted.
    experts
        Priors of some columns.
    strength
        How many observations the priors of the other columns are worth, for all or by name.
    kept
        Whether a variable keeps its prior when it gets a parent. If not, it falls back to a flat
        one, as in the program of the authors of IL: one for each cell of a table, next to nothing
        for a Gaussian.

    Attributes
    ----------
    strengths
        Of the columns without an expert's prior.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> priors = Priors(load("hiv-tests"), {"B": Dirichlet([2.0, 1.0])})
    >>> priors.of_table("B").concentration, priors.of_latent(4).concentration
    (array([2., 1.]), array([0.25, 0.25, 0.25, 0.25]))
    """

    strengths: dict[str, float]

    def __init__(
        self,
        data: Dataset,
        experts: Experts | None = None,
        strength: float | Mapping[str, float] = 1.0,
        kept: bool = True,
    ) -> None:
        self._kept = kept
        experts = dict(experts or {})
        self._lines = {}
        self._unit: dict[str, Conjugate] = {}  # what one observation is worth
        for variable in data.variables:
            name, values = variable.name, data.column(variable.name)
            if variable.is_categorical:
                smoothed = np.asarray(data.counts(name), np.float64) + 1.0
                self._unit[name] = Dirichlet(smoothed / smoothed.sum())
            else:
                about = summarize(name, values, data.weights)
                self._unit[name] = NormalGamma.like(about.mean, about.variance)
                self._lines[name] = about.mean, float(np.sqrt(about.variance))
        self._experts: dict[str, Conjugate] = {}
        for variable in data.variables:
            if variable.name in experts:
                read = _read_table if variable.is_categorical else _read_gaussian
                self._experts[variable.name] = read(variable, experts.pop(variable.name))
        if experts:
            raise ParameterError(
                f"a prior is given for {', '.join(map(repr, experts))}, but there is no such "
                f"column; columns are {', '.join(data.names[:20])}"
            )
        given = strength if isinstance(strength, Mapping) else dict.fromkeys(data.names, strength)
        self._set({name: given.get(name, 1.0) for name in data.names})

    def _set(self, strengths: Mapping[str, float]) -> None:
        for value in strengths.values():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and 0 < value < np.inf):
                raise ParameterError(f"the strength of a prior must be positive, got {value!r}")
        self.strengths = {n: float(s) for n, s in strengths.items() if n not in self._experts}
        self._priors = {n: _scale(self._unit[n], s) for n, s in self.strengths.items()}
        self._priors.update(self._experts)

    def with_strengths(self, strengths: Mapping[str, float]) -> Priors:
        """Return the same priors, but worth other numbers of observations."""
        priors = copy(self)
        priors._set({**self.strengths, **strengths})
        return priors

    def of_table(self, name: str, given: bool = True) -> Dirichlet:
        """Return the prior of a row of an observed variable's table, with or without a parent."""
        prior = self._priors[name]
        assert isinstance(prior, Dirichlet)
        if given and not self._kept and name not in self._experts:
            return Dirichlet(np.ones_like(prior.concentration))
        return prior

    def of_gaussian(self, name: str, given: bool = True) -> NormalGamma:
        """Return the prior of a continuous variable, with a categorical parent or without."""
        prior = self._priors[name]
        assert isinstance(prior, NormalGamma)
        if given and not self._kept and name not in self._experts:
            return NormalGamma(0.0, FLAT, 1.0, 1.0)
        return prior

    def of_latent(self, n_states: int) -> Dirichlet:
        """Return the prior of a row of a latent variable's table, whatever the strength."""
        return Dirichlet(np.full(n_states, 1.0 / n_states))

    def of_line(self, name: str, parent: str) -> NormalRegression:
        """Return the prior of a continuous variable given another.

        At the parent's mean it is that of the variable alone; the slope, for a deviation of the
        parent, is around zero with the same weight.
        """
        own, (center, unit) = self.of_gaussian(name), self._lines[parent]
        if not self._kept:
            center, unit = 0.0, 1.0
        return NormalRegression(
            center,
            unit,
            np.array([float(own.mean), 0.0]),
            np.eye(2) * float(own.weight),
            own.shape,
            own.rate,
        )

    def of_pouch(self, names: Sequence[str]) -> NormalWishart:
        """Return the prior of a pouch: no correlations, each variable about as by itself."""
        own = [self.of_gaussian(name) for name in names]
        strength = float(np.mean([each.weight for each in own]))
        return NormalWishart(
            np.array([float(each.mean) for each in own]),
            np.array(strength),
            np.array(len(names) - 1.0 + strength),
            np.diag([2.0 * float(each.rate) for each in own]),
        )


def _scale(prior: Conjugate, strength: float) -> Conjugate:
    if isinstance(prior, Dirichlet):
        return Dirichlet(strength * prior.concentration)
    assert isinstance(prior, NormalGamma)
    return NormalGamma(
        prior.mean, strength * prior.weight, strength * prior.shape, strength * prior.rate
    )


def _read_table(variable: Variable, expert: Conjugate) -> Dirichlet:
    if not isinstance(expert, Dirichlet) or expert.concentration.shape != (variable.n_states,):
        raise ParameterError(
            f"the prior of column {variable.name!r} must be a Dirichlet with a number for each of "
            f"its {variable.n_states} states, got {expert!r}"
        )
    return expert


def _read_gaussian(variable: Variable, expert: Conjugate) -> NormalGamma:
    if not isinstance(expert, NormalGamma) or expert.mean.ndim:
        raise ParameterError(
            f"the prior of the continuous column {variable.name!r} must be a NormalGamma, "
            f"got {expert!r}"
        )
    return expert


def read_priors(path: str | os.PathLike[str], data: Dataset) -> dict[str, Conjugate]:
    """Read priors of columns from a TOML file.

    Each table of the file is named after a column. Of a categorical column it has ``counts``: a
    list in the order of the states, or a table by their values. Of a continuous one it has
    ``mean`` and ``variance``, and ``strength`` if they are worth more than one observation; or
    ``mean``, ``weight``, ``shape`` and ``rate``.
    """
    try:
        with Path(path).open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise FileFormatError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{os.fspath(path)}: not a TOML file: {error}") from None
    known = {variable.name: variable for variable in data.variables}
    priors: dict[str, Conjugate] = {}
    for name, entries in content.items():
        where = f"{os.fspath(path)}: prior of {name!r}"
        if name not in known:
            raise FileFormatError(f"{where}: there is no such column")
        if not isinstance(entries, dict):
            raise FileFormatError(f"{where}: expected a table [{name}], got {entries!r}")
        try:
            read = _read_counts if known[name].is_categorical else _read_moments
            priors[name] = read(known[name], entries)
        except ParameterError as error:
            raise FileFormatError(f"{where}: {error}") from None
    return priors


def _read_counts(variable: Variable, entries: dict[str, Any]) -> Dirichlet:
    _expect(entries, ("counts",), ())
    counts, states = entries["counts"], variable.states or ()
    if isinstance(counts, dict):
        finder = StateFinder(states)
        found = {finder.find(state): number for state, number in counts.items()}
        if set(found) != set(range(len(states))) or len(found) < len(counts):
            raise ParameterError(
                f"counts are given for the states {', '.join(counts)}; expected {', '.join(states)}"
            )
        counts = [found[code] for code in range(len(states))]
    if not isinstance(counts, list) or len(counts) != len(states):
        raise ParameterError(f"counts must be a number for each of {len(states)} states")
    return Dirichlet(counts)


def _read_moments(variable: Variable, entries: dict[str, Any]) -> NormalGamma:
    if "variance" in entries:
        _expect(entries, ("mean", "variance"), ("strength",))
        strength = _number(entries.get("strength", 1.0), "strength")
        mean, variance = (_number(entries[key], key) for key in ("mean", "variance"))
        return NormalGamma.like(mean, variance, strength)
    _expect(entries, ("mean", "weight", "shape", "rate"), ())
    return NormalGamma(*(_number(entries[k], k) for k in ("mean", "weight", "shape", "rate")))


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"{name} must be a number, got {value!r}")
    return float(value)


def _expect(entries: dict[str, Any], needed: tuple[str, ...], optional: tuple[str, ...]) -> None:
    missing = [name for name in needed if name not in entries]
    unknown = [name for name in entries if name not in (*needed, *optional)]
    if missing or unknown:
        found = f"{', '.join(missing)} is missing" if missing else f"{unknown[0]!r} is not known"
        raise ParameterError(f"{found}; expected {', '.join((*needed, *optional))}")
