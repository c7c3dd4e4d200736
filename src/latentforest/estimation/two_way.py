"""Latent class models of a two-way table of counts: EM on the cells, all starts at once.

With two columns the table holds all that the data say, so that an iteration costs a few products
of tiny matrices, however many rows there are. A table of latent variables holds pseudo-frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from latentforest.kernels.types import FloatArray
from latentforest.ties import is_higher

SHARE = 0.5  # share of the random part in a row of a start; the rest is the marginal distribution
TINY = 1e-300


@dataclass(frozen=True)
class TwoWayClasses:
    """A latent class model of two variables.

    Attributes
    ----------
    weights
        Probabilities of the classes, ``(n_classes,)``.
    left, right
        Distributions of the two variables in each class, ``(n_classes, n_states)``.
    log_likelihood
        Of the counts.
    bic
        Log-likelihood less half the number of parameters times log N.
    """

    weights: FloatArray
    left: FloatArray
    right: FloatArray
    log_likelihood: float
    bic: float

    @property
    def n_states(self) -> int:
        """Number of classes."""
        return len(self.weights)


def choose_classes(
    counts: FloatArray,
    max_states: int,
    n_starts: int = 8,
    seed: int = 0,
    max_iterations: int = 200,
    tolerance: float = 1e-7,
) -> TwoWayClasses:
    """Fit models with one to ``max_states`` classes and return the one with the highest BIC.

    No number of classes is tried that could not win even if it fitted the table perfectly; more
    classes than the smaller number of states never fit better.

    Parameters
    ----------
    counts
        Joint counts, ``(n_states, n_states)``.
    max_states
        Most classes.
    n_starts, seed, max_iterations, tolerance
        As for ``fit_classes``.
    """
    total = float(counts.sum())
    perfect = float(xlogy(counts, counts).sum() - xlogy(total, total))
    best = fit_classes(counts, 1)
    for n_states in range(2, min(max_states, *counts.shape) + 1):
        if perfect - _penalty(counts, n_states) <= best.bic:
            break
        found = fit_classes(counts, n_states, n_starts, seed, max_iterations, tolerance)
        if is_higher(found.bic, best.bic):
            best = found
    return best


def fit_classes(
    counts: FloatArray,
    n_states: int,
    n_starts: int = 8,
    seed: int = 0,
    max_iterations: int = 200,
    tolerance: float = 1e-7,
) -> TwoWayClasses:
    """Fit a latent class model to a two-way table.

    Parameters
    ----------
    counts
        Joint counts, ``(n_states, n_states)``.
    n_states
        Number of classes.
    n_starts
        Random starts; they run side by side.
    seed
        Of the starts.
    max_iterations, tolerance
        EM ends after so many iterations, or when one raises no start's log-likelihood by more than
        ``tolerance`` times the total.
    """
    total = float(counts.sum())
    margins = [_share(counts.sum(axis=1)), _share(counts.sum(axis=0))]
    weights, left, right = _start(margins, n_states, n_starts, seed)
    value = np.full(len(weights), -np.inf)
    for _ in range(max_iterations):
        joint = weights[:, :, None] * left
        cells = np.maximum(joint.transpose(0, 2, 1) @ right, TINY)
        before, value = value, (counts * np.log(cells)).sum(axis=(1, 2))
        if n_states == 1 or np.all(value - before <= tolerance * total):
            break
        ratio = counts / cells
        to_left = joint * (right @ ratio.transpose(0, 2, 1))
        to_right = weights[:, :, None] * right * (left @ ratio)
        sums = to_left.sum(axis=2)
        weights = sums / max(total, TINY)
        left = to_left / np.maximum(sums, TINY)[:, :, None]
        right = to_right / np.maximum(sums, TINY)[:, :, None]
    s = int(np.argmax(value))
    tables = [_fill(table[s], margin) for table, margin in zip((left, right), margins, strict=True)]
    found, score = float(value[s]), float(value[s]) - _penalty(counts, n_states)
    return TwoWayClasses(_share(weights[s]), tables[0], tables[1], found, score)


def _fill(table: FloatArray, margin: FloatArray) -> FloatArray:
    """Normalize rows; classes that nobody is in get the marginal distribution."""
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0.5, table / np.maximum(sums, TINY), margin)


def _penalty(counts: FloatArray, n_states: int) -> float:
    dimension = n_states - 1 + n_states * (sum(counts.shape) - 2)
    total = float(counts.sum())
    return 0.5 * dimension * math.log(total) if total > 0 else math.inf


def _share(counts: FloatArray) -> FloatArray:
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts))


def _start(
    margins: list[FloatArray], n_states: int, n_starts: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Classes of equal size, their distributions halfway between marginal and random ones."""
    if n_states == 1:
        return np.ones((1, 1)), margins[0][None, None], margins[1][None, None]
    generator = np.random.default_rng(seed)
    weights = np.full((n_starts, n_states), 1.0 / n_states)
    tables = []
    for margin in margins:
        noise = generator.standard_exponential((n_starts, n_states, len(margin)))
        noise /= noise.sum(axis=2, keepdims=True)
        tables.append((1 - SHARE) * margin + SHARE * noise)
    return weights, tables[0], tables[1]
