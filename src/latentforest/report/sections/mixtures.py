"""Continuous columns given the states of a categorical variable: components, information, shape."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.gaussian import Mixture, information_of_mixtures
from latentforest.model.questions.elimination import compute_joint
from latentforest.report.subject import Subject

N_POINTS = 48  # of a density


class Components(NamedTuple):
    """A mixture of the same Gaussians in each state: ``weights`` are ``(n_states, n)``."""

    weights: FloatArray
    means: FloatArray
    variances: FloatArray

    def mixture(self, state: int) -> Mixture:
        """The distribution in one state."""
        return Mixture(self.weights[state], self.means, self.variances)


def find_components(subject: Subject, given: str, column: str) -> Components | None:
    """Find the components of a column in each state of a variable; none if there are too many."""
    block = subject.blocks.get(column)
    if block is None:
        return None
    means, variances = block.moments(column)
    sizes = subject.tables.marginal(given)
    joint = _join(subject, given, block.joint.scope)
    total = joint.sum(axis=1, keepdims=True)
    everywhere = joint.sum(axis=0)[None]
    weights = np.where(total > 0, joint / np.where(total > 0, total, 1.0), everywhere)
    return Components(weights.reshape(len(sizes), -1), means, variances)


def _join(subject: Subject, given: str, scope: tuple[str, ...]) -> FloatArray:
    """Probabilities of a variable's states with all joint states of a scope."""
    network, sizes = subject.network, subject.tables.marginal(given)
    if not scope:
        return sizes[:, None]
    if len(scope) == 1:
        return subject.tables.joint(given, scope[0])
    if given not in scope:
        joint = compute_joint(network.structure, network.parameters, (given, *scope), {})
        return joint.reshape(len(sizes), -1)
    joint = compute_joint(network.structure, network.parameters, scope, {})
    states = np.indices(joint.shape)[scope.index(given)]
    return np.stack([np.where(states == state, joint, 0.0).ravel() for state in range(len(sizes))])


def measure_information(subject: Subject, given: str, column: str) -> float:
    """Mutual information of a categorical variable and a continuous one, in bits."""
    found = find_components(subject, given, column)
    if found is None:
        return 0.0
    sizes = subject.tables.marginal(given)
    return information_of_mixtures(sizes, *found) / math.log(2.0)


def find_range(subject: Subject, column: str) -> tuple[float, float]:
    """Where the values of a column lie: in the table, or in the model if there is none."""
    if subject.data is not None:
        values = subject.data.column(column)
        values = values[~np.isnan(values)]
        if len(values) and values.min() < values.max():
            return float(values.min()), float(values.max())
    block = subject.blocks.get(column)
    if block is None:
        return 0.0, 1.0
    mixture = block.mixture(column)
    spread = 3.0 * np.sqrt(mixture.variances)
    counts = mixture.weights > 1e-3
    return (
        float((mixture.means - spread)[counts].min()),
        float((mixture.means + spread)[counts].max()),
    )


def draw_density(mixture: Mixture, limits: tuple[float, float]) -> FloatArray:
    """Density at even points of a range."""
    return mixture.density(np.linspace(*limits, N_POINTS))
