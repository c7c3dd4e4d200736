"""Variational Bayes on forests: VBEM from several starts, with the loop of EM.

The posterior over the latent variables is the exact one under the expected log parameters, by
message passing; that over the parameters has one factor for each row of each table. See
``kernels.variational.posteriors`` for the vectors.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.em import (
    LOG_IMPOSSIBLE,
    EMSettings,
    FitResult,
    Report,
    Task,
    list_families,
)
from latentforest.estimation.posterior_vector import (
    find_inside,
    measure_vector,
    read_family,
    write_family,
)
from latentforest.estimation.variational_blocks import BlockPosterior
from latentforest.inference.blocks import find_blocks
from latentforest.inference.forest import Forest
from latentforest.kernels.forest.em import (
    CONVERGED,
    N_DONE,
    OBJECTIVE,
    Climb,
    Families,
    Limits,
    make_climb,
)
from latentforest.kernels.types import FloatArray
from latentforest.kernels.variational.posteriors import (
    advance_posterior,
    climb_posteriors,
    divergence,
    fill_potentials,
    update_posterior,
)
from latentforest.model.conjugate import NormalGamma
from latentforest.model.structure import Structure


def fit_posterior(
    forest: Forest,
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
    size = measure_vector(forest.structure)
    if starts.ndim != 2 or starts.shape[0] < 1 or starts.shape[1] != size:
        raise ParameterError(f"starts has shape {starts.shape}, expected (at least 1, {size})")
    if np.shape(prior) != (size,):
        raise ParameterError(f"prior has shape {np.shape(prior)}, expected ({size},)")
    kind = _BlockTask if find_inside(forest.structure) else _Task
    task = kind(forest, prior, settings or EMSettings(), report, deadline, False)
    task.frozen = find_potentials(forest, starts[0])
    return task.climb(starts)


class _Task(Task):
    """A fit whose vectors are posteriors."""

    frozen: FloatArray  # potentials of the frozen tables, in their places

    def read_prior(self, forest: Forest, prior: FloatArray) -> FloatArray:
        return np.array(prior, dtype=np.float64)

    def find_families(self, forest: Forest) -> Families:
        return list_families(forest.structure, forest.free)

    def make_climb(self) -> Climb:
        return make_climb(self.forest.n_counts)

    def call(
        self,
        starts: FloatArray,
        climb: Climb,
        limits: Limits,
        resumes: bool,
        trajectory: FloatArray,
    ) -> tuple[int, float, bool]:
        plan, work = self.forest.plans[0], self.forest.take_workspace(0)
        result: tuple[int, float, bool] = climb_posteriors(
            plan,
            work,
            climb,
            self.families,
            starts,
            self.frozen.copy(),
            self.prior,
            limits,
            resumes,
            trajectory,
        )
        self.was_scaled = bool(work.is_shifted.any())
        self.forest.give_back(0, work)
        return result

    def step(self, theta: FloatArray, climb: Climb, limits: Limits, trajectory: FloatArray) -> bool:
        potentials = self.expect(theta)
        value, lost = self.forest.expected_counts(potentials, climb.counts)
        value += lost * LOG_IMPOSSIBLE
        goes_on: bool = advance_posterior(
            climb, self.families, theta, potentials, value, self.prior, limits, trajectory
        )
        return goes_on

    def expect(self, q: FloatArray) -> FloatArray:
        potentials = self.frozen.copy()
        fill_potentials(self.families, q, potentials)
        return potentials

    def measure(self, theta: FloatArray) -> tuple[float, float]:
        value, lost = self.forest.log_likelihood(self.expect(theta))
        return value + self.log_prior(theta), lost

    def log_prior(self, theta: FloatArray) -> float:
        return -float(divergence(self.families, self.prior, theta))


class _BlockTask(_Task):
    """A fit with lines between continuous variables: one iteration after another, in NumPy."""

    def find_families(self, forest: Forest) -> Families:
        self.is_compiled = False
        self.blocks = list_block_posteriors(forest)
        inside = find_inside(forest.structure)
        return list_families(forest.structure, [n for n in forest.free if n not in inside])

    def make_climb(self) -> Climb:
        return make_climb(len(self.prior), self.forest.n_counts)

    def climb(self, starts: FloatArray) -> FitResult:
        self.is_compiled = False
        return super().climb(starts)

    def expect(self, q: FloatArray) -> FloatArray:
        potentials = super().expect(q)
        for block in self.blocks:
            block.fill(q, potentials)
        return potentials

    def log_prior(self, theta: FloatArray) -> float:
        free = set(self.forest.free)
        inside = sum(block.divergence(self.prior, theta, free) for block in self.blocks)
        return super().log_prior(theta) - inside

    def step(self, theta: FloatArray, climb: Climb, limits: Limits, trajectory: FloatArray) -> bool:
        potentials, flags, values = self.expect(theta), climb.flags, climb.values
        value, lost = self.forest.expected_counts(potentials, climb.counts)
        objective = value + lost * LOG_IMPOSSIBLE + self.log_prior(theta)
        n, last = int(flags[N_DONE]), float(values[OBJECTIVE])
        flags[N_DONE], values[OBJECTIVE], trajectory[n] = n + 1, objective, objective
        if objective - last <= limits.least_gain:
            flags[CONVERGED] = 1
            return False
        update_posterior(self.families, climb.counts, self.prior, potentials, theta)
        for block in self.blocks:
            block.update(climb.counts, potentials, self.prior, theta)
        return n + 1 < min(limits.max_iterations, limits.pause)


def list_block_posteriors(forest: Forest) -> list[BlockPosterior]:
    """Make what fills and updates the blocks of a forest."""
    return [BlockPosterior(forest, block) for block in find_blocks(forest.structure)]


def find_potentials(forest: Forest, q: FloatArray) -> FloatArray:
    """Return the potentials of all tables, for a variational forest."""
    if not forest.is_variational:
        raise ParameterError("the forest takes parameters; make it with is_variational=True")
    structure, potentials = forest.structure, np.zeros(forest.n_counts)
    q, inside = np.array(q, dtype=np.float64), find_inside(structure)
    families = list_families(structure, [name for name in structure.names if name not in inside])
    fill_potentials(families, q, potentials)
    for block in list_block_posteriors(forest) if inside else ():
        block.fill(q, potentials)
    return potentials


def find_divergence(
    forest: Forest, prior: FloatArray, q: FloatArray, names: Collection[str] | None = None
) -> float:
    """Sum the divergences of some posteriors, default all, from their priors."""
    structure, inside = forest.structure, find_inside(forest.structure)
    wanted = set(structure.names if names is None else names)
    families = list_families(structure, [n for n in structure.names if n in wanted - set(inside)])
    result = float(divergence(families, prior, q))
    for block in list_block_posteriors(forest) if inside else ():
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
