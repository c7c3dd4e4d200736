"""Variational Bayes on forests: VBEM from several starts, with the loop of EM.

The posterior over the latent variables is the exact one under the expected log parameters, by
message passing; that over the parameters has one factor for each row of each table. See
``kernels.variational.posteriors`` for the vectors.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.bayes.posterior_vector import (
    find_inside,
    measure_vector,
    read_family,
    write_family,
)
from latentforest.estimation.bayes.variational_blocks import BlockPosterior
from latentforest.estimation.em import EMSettings, FitResult, FitTask, Objective, Report
from latentforest.estimation.families import list_families
from latentforest.inference.blocks import find_blocks
from latentforest.inference.engine import Engine
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import REST, Climb, Limits, Method, goes_on, judge
from latentforest.kernels.types import FloatArray
from latentforest.kernels.variational import posteriors as kernels
from latentforest.kernels.variational.posteriors import fill_potentials
from latentforest.model.conjugate import NormalGamma
from latentforest.model.structure import Structure


def fit_posterior(
    engine: Engine,
    starts: FloatArray,
    prior: FloatArray,
    settings: EMSettings | None = None,
    report: Report | None = None,
    deadline: float | None = None,
) -> FitResult:
    """Fit the posterior of the free tables of a forest: VBEM.

    Parameters
    ----------
    forest
        The structure over the data, made with ``is_variational``.
    starts
        Posteriors (see ``posterior_vector``), one or several. Frozen tables are those of the first.
    prior
        A vector of the same kind.
    settings, report, deadline
        As for ``em.fit``.

    Returns
    -------
    FitResult
        ``parameters`` is the posterior. ``objective`` is the evidence lower bound without the
        divergence of the frozen tables, ``log_likelihood`` the log normalizer of the latent
        variables' posterior.
    """
    starts = np.atleast_2d(np.array(starts, dtype=np.float64))
    size = measure_vector(engine.structure)
    if starts.ndim != 2 or starts.shape[0] < 1 or starts.shape[1] != size:
        raise ParameterError(f"starts has shape {starts.shape}, expected (at least 1, {size})")
    if np.shape(prior) != (size,):
        raise ParameterError(f"prior has shape {np.shape(prior)}, expected ({size},)")
    frozen, prior = find_potentials(engine, starts[0]), np.array(prior, dtype=np.float64)
    kind = _BlockBound if find_inside(engine.structure) else _Bound
    task = FitTask(kind(engine, prior, frozen), settings or EMSettings(), report, deadline)
    return task.climb(starts)


class _Bound(Objective):
    """The evidence lower bound; vectors hold posteriors.

    ``frozen`` holds the potentials of the frozen tables, in their places.
    """

    def __init__(self, engine: Engine, prior: FloatArray, frozen: FloatArray) -> None:
        super().__init__(engine, self.find_families(engine), prior)
        self.n_values, self.frozen = len(prior), frozen

    def find_families(self, engine: Engine) -> Families:
        return list_families(engine.structure, engine.free)

    def find_method(self) -> Method:
        return kernels.find_method()

    def expect(self, vector: FloatArray) -> FloatArray:
        potentials = self.frozen.copy()
        fill_potentials(self.families, vector, potentials)
        return potentials

    def penalize(self, vector: FloatArray) -> float:
        return float(kernels.penalize(self.families, self.prior, vector))


class _BlockBound(_Bound):
    """The bound with lines between continuous variables: one iteration after another, in NumPy."""

    def __init__(self, engine: Engine, prior: FloatArray, frozen: FloatArray) -> None:
        super().__init__(engine, prior, frozen)
        self.blocks, self.is_compiled = list_block_posteriors(engine), False

    def find_families(self, engine: Engine) -> Families:
        inside = find_inside(engine.structure)
        return list_families(engine.structure, [n for n in engine.free if n not in inside])

    def expect(self, vector: FloatArray) -> FloatArray:
        potentials = super().expect(vector)
        for block in self.blocks:
            block.fill(vector, potentials)
        return potentials

    def expected_counts(self, vector: FloatArray, counts: FloatArray) -> tuple[float, float]:
        self.potentials = self.expect(vector)
        return self.engine.expected_counts(self.potentials, counts)

    def penalize(self, vector: FloatArray) -> float:
        free = set(self.engine.free)
        inside = sum(block.divergence(self.prior, vector, free) for block in self.blocks)
        return super().penalize(vector) - inside

    def advance(
        self,
        climb: Climb,
        vector: FloatArray,
        value: float,
        limits: Limits,
        trajectory: FloatArray,
    ) -> bool:
        limits, objective = limits._replace(accelerate=False), value + self.penalize(vector)
        if judge(climb, vector, objective, limits, trajectory) != REST:
            kernels.update_posterior(self.families, self.prior, climb.counts, vector)
            for block in self.blocks:
                block.update(climb.counts, self.potentials, self.prior, vector)
        return goes_on(climb, limits)


def list_block_posteriors(engine: Engine) -> list[BlockPosterior]:
    """Make what fills and updates the blocks of a forest."""
    return [BlockPosterior(engine, block) for block in find_blocks(engine.structure)]


def find_potentials(engine: Engine, q: FloatArray) -> FloatArray:
    """Return the potentials of all tables, for a variational engine."""
    if not engine.is_variational:
        raise ParameterError("the forest takes parameters; make it with is_variational=True")
    structure, potentials = engine.structure, np.zeros(engine.n_counts)
    q, inside = np.array(q, dtype=np.float64), find_inside(structure)
    families = list_families(structure, [name for name in structure.names if name not in inside])
    fill_potentials(families, q, potentials)
    for block in list_block_posteriors(engine) if inside else ():
        block.fill(q, potentials)
    return potentials


def find_divergence(
    engine: Engine, prior: FloatArray, q: FloatArray, names: Collection[str] | None = None
) -> float:
    """Sum the divergences of some posteriors, default all, from their priors."""
    structure, inside = engine.structure, find_inside(engine.structure)
    wanted = set(structure.names if names is None else names)
    families = list_families(structure, [n for n in structure.names if n in wanted - set(inside)])
    result = -float(kernels.penalize(families, prior, q))
    for block in list_block_posteriors(engine) if inside else ():
        result += block.divergence(prior, q, wanted)
    return result


def from_parameters(
    structure: Structure, theta: FloatArray, prior: FloatArray, weight: float
) -> FloatArray:
    """Make a posterior of parameters: what the prior and so many rows with them would give.

    Rows are shared equally by the states of a parent. There must be no blocks.
    """
    q = np.array(prior)
    for name in structure.names:
        table = structure.table_view(theta, name)
        n = weight * table.shape[-1] / table.size
        if name not in structure.continuous:
            structure.table_view(q, name)[...] += n * table
            continue
        before = read_family(structure, prior, name)
        assert isinstance(before, NormalGamma)
        shape = before.shape + 0.5 * n
        after = NormalGamma(table[..., 0], before.weight + n, shape, shape * table[..., 1])
        write_family(structure, q, name, after)
    return q
