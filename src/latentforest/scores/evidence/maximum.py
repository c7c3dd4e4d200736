"""The most probable parameters in softmax coordinates, where approximations are taken.

A row of a table has the coordinates log(theta_j / theta_last). The density of a Dirichlet there is
proportional to the product of theta_j^alpha_j, not alpha_j - 1: its mode is inside, and EM with
alpha_j pseudo-counts finds it.
"""

from __future__ import annotations

import numbers
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import Engine, make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure


class Question(NamedTuple):
    """What all methods are asked: a structure, a prior and a table.

    ``prior`` has the layout of the parameters, ``start`` are parameters to begin with, or none.
    """

    structure: Structure
    prior: FloatArray
    data: PatternedData
    start: FloatArray | None
    n_starts: int
    seed: int
    settings: EMSettings
    deadline: float | None = None

    @property
    def table(self) -> Dataset:
        """The rows, equal ones merged."""
        return self.data.dataset

    def draw_starts(self) -> FloatArray:
        """Parameters to begin with: those given, then random ones."""
        starts = random_starts(self.structure, self.table, self.n_starts, self.seed)
        return starts if self.start is None else np.concatenate([self.start[None], starts])


class Maximum(NamedTuple):
    """The most probable parameters, with what the data and the prior say there."""

    engine: Engine
    theta: FloatArray
    log_likelihood: float
    counts: FloatArray
    converged: bool


def find_maximum(question: Question) -> Maximum:
    """Find the most probable parameters in softmax coordinates, from several starts."""
    engine = make_engine(question.structure, question.data)
    result = fit(
        engine,
        question.draw_starts(),
        question.prior,
        question.settings,
        deadline=question.deadline,
    )
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    return take_point(engine, result.parameters, result.monitor.converged)


def take_point(engine: Engine, theta: FloatArray, converged: bool) -> Maximum:
    """Compute the expected counts at some parameters."""
    counts = np.zeros(engine.n_counts)
    log_likelihood, lost = engine.expected_counts(theta, counts)
    if lost > 0:
        log_likelihood = -np.inf
    return Maximum(engine, theta, log_likelihood, counts[: engine.n_values], converged)


def log_density(structure: Structure, prior: FloatArray, theta: FloatArray) -> float:
    """Log-density of the prior in softmax coordinates."""
    total = float(np.sum(prior * np.log(theta) - gammaln(prior)))
    for name in structure.names:
        total += float(gammaln(structure.table_view(prior, name).sum(axis=-1)).sum())
    return total


def check_count(name: str, value: int, least: int) -> int:
    """Refuse what is not a whole number of at least so many."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)
