"""Parameters of a latent forest whose shape is known: one latent variable after another.

Each latent variable gets a latent class model of its own, with one column from each side of it:
the neighbour's values if it is observed, its most probable states if it has had its turn, the
values of the nearest observed variable behind it otherwise. Columns from different sides are
independent given the variable, so this is the right model for it; BIC gives the number of states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.association.mixed_information import expected_moments
from latentforest.inference.columns import summarize
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.scores.criteria import FitSummary, bic
from latentforest.search.regularity import most_states
from latentforest.search.tables import soften
from latentforest.ties import is_higher

LATENT = "latent"  # name of the class variable; columns are numbered
ANY_NUMBER = 1 << 16  # of states that a continuous column can tell apart


@dataclass(frozen=True)
class Stepwise:
    """How the models of single latent variables are fitted.

    Parameters
    ----------
    n_states
        Number of states, fewer where so many could not be told apart; none: chosen by BIC.
    max_states
        Most states that are tried.
    n_starts
        Random starts of each fit.
    settings
        Of EM.
    seed
        Each latent variable and number of states has its own random numbers.
    deadline
        Value of ``time.monotonic()`` after which fits are cut short.
    """

    n_states: int | None
    max_states: int
    n_starts: int
    settings: EMSettings
    seed: int
    deadline: float | None = None

    def list_counts(self, columns: Sequence[int]) -> range:
        """Numbers of states to try between columns with these numbers of states."""
        most = max(2, most_states(columns))
        if max(columns, default=0) >= ANY_NUMBER:  # a continuous column tells any number apart
            most = ANY_NUMBER
        if self.n_states is not None:
            n = min(self.n_states, most)
            return range(n, n + 1)
        return range(2, min(self.max_states, most) + 1)


def estimate_stepwise(
    structure: Structure,
    data: PatternedData,
    stepwise: Stepwise,
    tell: Callable[[str], None] = lambda message: None,
) -> Network:
    """Choose numbers of states and parameters for all latent variables of a forest.

    Parameters
    ----------
    structure
        A forest in which each latent variable has at least three neighbours. The numbers of states
        of its latent variables do not matter.
    data
        The table.
    stepwise
        How.
    tell
        Called with a message for each latent variable.
    """
    posteriors: dict[str, FloatArray] = {}
    for number, name in enumerate(_sort_inward(structure)):
        tell(f"latent variable {number + 1:,} of {len(structure.latents):,}")
        columns, bounds = _take_columns(structure, data.dataset, posteriors, name)
        posteriors[name] = _fit_classes(columns, stepwise, bounds, number)
    return _assemble(structure, data.dataset, posteriors)


def _sort_inward(structure: Structure) -> list[str]:
    """List the latent variables from the outside in: all neighbours but one before each, if so."""
    around = {
        name: {z for z in structure.neighbours(name) if z in structure.latents}
        for name in structure.latents
    }
    ready = deque(name for name in structure.latents if len(around[name]) <= 1)
    order, seen = [], set(ready)
    while ready:
        name = ready.popleft()
        order.append(name)
        for other in around[name]:
            around[other].discard(name)
        for other in sorted(around[name], key=structure.latents.index):
            if len(around[other]) <= 1 and other not in seen:
                seen.add(other)
                ready.append(other)
    return order


def _take_columns(
    structure: Structure, dataset: Dataset, posteriors: dict[str, FloatArray], name: str
) -> tuple[Dataset, list[int]]:
    """One column from each side of a latent variable, and how many states there may be at least."""
    variables, columns, bounds = [], [], []
    for number, z in enumerate(structure.neighbours(name)):
        source, states = None, tuple[str, ...]()
        if z in posteriors:
            codes: AnyArray = posteriors[z].argmax(axis=1)
            states = tuple(map(str, range(posteriors[z].shape[1])))
        else:
            source = _find_observed(structure, name, z)
            codes, states = dataset.column(source), dataset.variable(source).states or ()
        variables.append(Variable(str(number), states or None))
        columns.append(codes)
        bounds.append((len(states) or ANY_NUMBER) if source in (None, z) else 2)
    return Dataset(variables, columns, dataset.weights), bounds


def _find_observed(structure: Structure, name: str, neighbour: str) -> str:
    """Return the observed variable that is nearest on the side of a neighbour."""
    ready = deque([(neighbour, name)])
    while True:
        here, before = ready.popleft()
        if here not in structure.latents:
            return here
        ready += [(z, here) for z in structure.neighbours(here) if z != before]


def _fit_classes(
    columns: Dataset, stepwise: Stepwise, bounds: Sequence[int], number: int
) -> FloatArray:
    """Fit latent class models to columns, and return the posterior of the best."""
    data = PatternedData(columns)
    best: tuple[float, FloatArray] | None = None
    for n_states in stepwise.list_counts(bounds):
        variables = [Variable.hidden(LATENT, n_states), *columns.variables]
        structure = Structure(variables, dict.fromkeys(columns.names, LATENT))
        engine = make_engine(structure, data)
        seed = (stepwise.seed * 1_000_003 + number * 1009 + n_states) % 2**31
        starts = random_starts(structure, data.dataset, stepwise.n_starts, seed)
        result = fit(engine, starts, settings=stepwise.settings, deadline=stepwise.deadline)
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        score = bic(FitSummary(result.log_likelihood, structure.dimension, data.total_weight))
        if best is not None and not is_higher(score, best[0]):
            break
        network = Network.trusted(structure, result.parameters)
        best = score, Rows(network, data).filled_posteriors([LATENT])[0][0]
    assert best is not None  # for the type checker: at least one number is tried
    return best[1]


def _assemble(structure: Structure, dataset: Dataset, posteriors: dict[str, FloatArray]) -> Network:
    """Make tables of the posteriors as if they were counts, mixed with uniform ones."""
    variables = [
        Variable.hidden(variable.name, posteriors[variable.name].shape[1])
        if variable.latent
        else variable
        for variable in structure.variables
    ]
    parents = {name: structure.parents(name) for name in structure.names}
    values = dict(posteriors)
    for name in structure.observed:
        if name in structure.continuous:
            continue
        n_states = dataset.variable(name).n_states
        values[name] = np.vstack([np.eye(n_states), np.zeros(n_states)])[dataset.column(name)]
    tables = {}
    for name in structure.names:
        if name in structure.continuous:
            above = structure.categorical_parents(name)
            tables[name] = guess_gaussians(dataset, name, values[above[0]] if above else None)
            if structure.continuous_parents(name):  # two columns alone: a line, which EM finds
                tables[name] = np.insert(tables[name], 1, 0.0)
            continue
        weighted = dataset.weights[:, None] * values[name]
        counts = weighted.sum(axis=0)
        for parent in structure.parents(name):
            counts = values[parent].T @ weighted
        total = counts.sum(axis=-1, keepdims=True)
        uniform = np.full_like(counts, 1.0 / counts.shape[-1])
        tables[name] = soften(np.divide(counts, total, out=uniform, where=total > 0))
    return Network.from_tables(variables, parents, tables)


def guess_gaussians(dataset: Dataset, name: str, shares: FloatArray | None) -> FloatArray:
    """Mean and variance of a continuous column, in each state of its parent if it has one.

    ``shares`` are the probabilities of the parent's states in each row.
    """
    values, weights = dataset.column(name), dataset.weights
    about, used = summarize(name, values, weights), ~np.isnan(values) & (weights > 0)
    alone = np.array([about.mean, about.variance])
    if shares is None:
        return alone
    if not used.any():
        return np.tile(alone, (shares.shape[1], 1))
    x, w, least = values[used], weights[used], about.least_variance
    _, means, variances = expected_moments(x, shares[used], w, least)
    return np.stack([means, variances], axis=1)
