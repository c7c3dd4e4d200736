"""Variational Bayes on forests: VBEM from several starts, with the loop of EM.

The posterior over the latent variables is the exact one under the expected log parameters, by
message passing; that over the parameters has one factor for each row of each table. See
``kernels.variational`` for the vectors.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.conjugate_priors import Priors
from latentforest.estimation.em import (
    LOG_IMPOSSIBLE,
    EMSettings,
    FitResult,
    Report,
    Task,
    list_families,
)
from latentforest.inference.forest import Forest
from latentforest.inference.plan import place_sums
from latentforest.kernels.em import Climb, Families, Limits, make_climb
from latentforest.kernels.gaussian import N_ROWS
from latentforest.kernels.plan import FILL
from latentforest.kernels.types import FloatArray
from latentforest.kernels.variational import (
    advance_posterior,
    climb_posteriors,
    divergence,
    fill_potentials,
)
from latentforest.model.conjugate import Conjugate, Dirichlet, NormalGamma
from latentforest.model.structure import Structure

Posteriors = Mapping[str, Conjugate]


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
        The structure over the data; it serves posteriors from then on (see
        ``expect_posteriors``).
    starts
        Posteriors, ``(n_starts, n_counts)`` or one vector. Frozen tables are those of the first.
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
    if starts.ndim != 2 or starts.shape[0] < 1 or starts.shape[1] != forest.n_counts:
        expected = f"(at least 1, {forest.n_counts})"
        raise ParameterError(f"starts has shape {starts.shape}, expected {expected}")
    if np.shape(prior) != (forest.n_counts,):
        raise ParameterError(f"prior has shape {np.shape(prior)}, expected ({forest.n_counts},)")
    task = _Task(forest, prior, settings or EMSettings(), report, deadline)
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

    def find_bounded(self, theta: FloatArray) -> tuple[str, ...]:
        return ()


def find_potentials(forest: Forest, q: FloatArray) -> FloatArray:
    """Return the potentials of all tables, and let the forest work with such from now on."""
    expect_posteriors(forest)
    potentials = np.zeros(forest.n_counts)
    fill_potentials(all_families(forest.structure), np.array(q, dtype=np.float64), potentials)
    return potentials


def expect_posteriors(forest: Forest) -> None:
    """Let the Gaussian leaves of a forest take potentials instead of means and variances."""
    if any(plan.sizes[FILL] for plan in forest.plans):
        from latentforest.kernels import variational_steps  # compiles, so only when needed

        for plan in forest.plans:
            plan.sizes[FILL] = variational_steps.FILL_ADDRESS


def all_families(structure: Structure) -> Families:
    """List where the tables of a structure lie."""
    return list_families(structure, structure.names)


def find_divergence(
    structure: Structure, prior: FloatArray, q: FloatArray, names: tuple[str, ...] | None = None
) -> float:
    """Sum the divergences of some posteriors, default all, from their priors."""
    families = list_families(structure, structure.names if names is None else names)
    return float(divergence(families, prior, q))


def pack(structure: Structure, families: Posteriors) -> FloatArray:
    """Put distributions of all families into a vector; one without axes counts for every row."""
    sums, size = place_sums(structure)
    vector = np.zeros(size)
    for name in structure.names:
        family, table = families[name], structure.table_view(vector, name)
        if isinstance(family, Dirichlet):
            table[...] = family.concentration
        elif isinstance(family, NormalGamma):
            table[..., 0], table[..., 1] = family.mean, family.rate
            rest = vector[sums[name] :][: N_ROWS * (table.size // 2)]
            rest = rest.reshape(*table.shape[:-1], N_ROWS)
            rest[..., 0], rest[..., 1] = family.weight, family.shape
    return vector


def unpack(structure: Structure, vector: FloatArray) -> dict[str, Conjugate]:
    """Read the distributions of all families out of a vector."""
    sums, _ = place_sums(structure)
    families: dict[str, Conjugate] = {}
    for name in structure.names:
        table = structure.table_view(vector, name)
        if name not in sums:
            families[name] = Dirichlet(table)
            continue
        rest = vector[sums[name] :][: N_ROWS * (table.size // 2)]
        rest = rest.reshape(*table.shape[:-1], N_ROWS)
        families[name] = NormalGamma(table[..., 0], rest[..., 0], rest[..., 1], table[..., 1])
    return families


def pack_priors(structure: Structure, priors: Priors) -> FloatArray:
    """Put the priors of all families of a structure into a vector."""
    return pack(structure, {name: _find_prior(structure, priors, name) for name in structure.names})


def _find_prior(structure: Structure, priors: Priors, name: str) -> Conjugate:
    if name in structure.latents:
        return priors.of_latent(structure.shape(name)[-1])
    has_parent = bool(structure.parents(name))
    if name in structure.continuous:
        return priors.of_gaussian(name, has_parent)
    return priors.of_table(name, has_parent)


def from_parameters(
    structure: Structure, theta: FloatArray, prior: FloatArray, weight: float
) -> FloatArray:
    """Make a posterior of parameters: what the prior and so many rows with them would give.

    Rows are shared equally by the states of a parent.
    """
    sums, _ = place_sums(structure)
    q = np.array(prior)
    for name in structure.names:
        table, start = structure.table_view(theta, name), structure.table_view(q, name)
        n = weight * table.shape[-1] / table.size
        if name not in sums:
            start += n * table
            continue
        rest = q[sums[name] :][: N_ROWS * (table.size // 2)].reshape(*table.shape[:-1], N_ROWS)
        rest[..., 0] += n
        rest[..., 1] += 0.5 * n
        start[..., 0] = table[..., 0]
        start[..., 1] = rest[..., 1] * table[..., 1]
    return q
