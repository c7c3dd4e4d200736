"""Tests of the differences between learners, by the scores of rows that were held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.scores.paired import PairedDifference, adjust_holm, two_sided

# The smallest of five that kept the level in benchmarks/pair_tests.py; with 1, learners that choose
# their structure are told apart in up to 15% of the tables for which they are equally good.
CAUTION = 2.5


@dataclass(frozen=True)
class FoldParts:
    """The rows of the folds that are complete, one fold after another.

    Parameters
    ----------
    weights
        How many observations each row stands for.
    starts
        Where each fold begins.
    sizes
        Observations in each fold.
    overlap
        Mean number of held-out observations for each that was fitted to.
    """

    weights: FloatArray
    starts: list[int]
    sizes: FloatArray
    overlap: float

    @classmethod
    def from_weights(cls, folds: Sequence[FloatArray], done: Sequence[int]) -> FoldParts:
        """Take the rows of some folds from the weights that all rows have in each."""
        parts = [folds[fold][folds[fold] > 0] for fold in done]
        sizes = np.array([part.sum() for part in parts])
        total = float(sum(fold.sum() for fold in folds))
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist() if parts else []
        overlap = float(np.mean(sizes / (total - sizes))) if parts else 0.0
        return cls(np.concatenate([np.zeros(0), *parts]), starts, sizes, overlap)

    def average(self, values: FloatArray) -> FloatArray:
        """Return the mean of the rows in each fold."""
        if not self.starts:
            return np.zeros(0)
        means: FloatArray = np.add.reduceat(values * self.weights, self.starts) / self.sizes
        return means

    def estimate(self, values: FloatArray, caution: float = 1.0) -> PairedDifference:
        """Return the mean over all rows, its standard error, and a test of whether it is zero.

        Folds are fitted to much the same rows, so their means are not independent: the variance of
        a mean over k folds is (1/k + overlap) times that of one, not 1/k times (Nadeau and Bengio
        2003). That of one is the larger of two estimates: of the rows, and of the folds' means.
        ``caution`` multiplies the overlap.
        """
        total = float(self.weights.sum())
        mean = float(values @ self.weights) / total
        if not np.isfinite(values).all():
            return PairedDifference(mean, math.nan, math.nan, math.nan)
        size = total / len(self.sizes)
        variance = float(self.weights @ (values - mean) ** 2) / total / size
        if len(self.sizes) > 1:
            variance = max(variance, float(np.var(self.average(values), ddof=1)))
        error = math.sqrt(variance * (1 / len(self.sizes) + caution * self.overlap))
        z = mean / error if error > 1e-12 else math.nan
        return PairedDifference(mean, error, z, two_sided(z))


class PairTests:
    """All pairs of learners, with p-values that hold for all pairs at once.

    Parameters
    ----------
    scores
        For each learner, the log-likelihood of each row of ``parts``.
    parts
        The rows.
    """

    def __init__(self, scores: Sequence[FloatArray], parts: FoldParts) -> None:
        alone = [parts.estimate(each) for each in scores]
        self.means = [each.mean for each in alone]
        self.errors = [each.standard_error for each in alone]
        pairs = list(combinations(range(len(scores)), 2))
        self.n_pairs = len(pairs)
        found = [parts.estimate(_subtract(scores[i], scores[j]), CAUTION) for i, j in pairs]
        adjusted = adjust_holm([each.p for each in found])
        self._found = {
            pair: PairedDifference(each.mean, each.standard_error, each.z, p)
            for pair, each, p in zip(pairs, found, adjusted, strict=True)
        }

    def test(self, first: int, second: int) -> PairedDifference:
        """Return the first learner's mean less the second's, with p after Holm's correction."""
        if first == second:
            return PairedDifference(0.0, 0.0, math.nan, math.nan)
        if first < second:
            return self._found[first, second]
        found = self._found[second, first]
        return PairedDifference(-found.mean, found.standard_error, -found.z, found.p)


def _subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """Differences; rows that are impossible under both do not differ."""
    both = np.isneginf(first) & np.isneginf(second)
    gaps: FloatArray = np.subtract(first, second, out=np.zeros(len(first)), where=~both)
    return gaps
