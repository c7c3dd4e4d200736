"""What an edge adds to a score: the score with the edge less the score without."""

import math

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import ParameterError
from latentforest.learners.chow_liu import ChowLiu
from latentforest.scores.criteria import FitSummary, evaluate
from latentforest.scores.edges import edge_score

COUNTS = np.array([[12.0, 3, 0], [4, 9, 7]])


def score_of(counts, criterion, size=1.0):
    return edge_score(criterion, counts.sum(), size)(counts[:, None, :, None])[0, 0]


def log_likelihood(counts):
    p = counts / counts.sum()
    return float((counts[p > 0] * np.log(p[p > 0])).sum())


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_information_criteria(criterion):
    n = COUNTS.sum()
    rows, columns = COUNTS.sum(axis=1), COUNTS.sum(axis=0)
    joined = FitSummary(log_likelihood(COUNTS), 5, n)
    apart = FitSummary(log_likelihood(rows) + log_likelihood(columns), 3, n)
    gain = evaluate(criterion, joined) - evaluate(criterion, apart)
    assert score_of(COUNTS, criterion) == pytest.approx(gain)


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_bde_is_a_ratio_of_marginal_likelihoods(size):
    """Row after row: the predictive probabilities of a Dirichlet-multinomial."""

    def marginal(counts, prior):
        value, seen = 0.0, np.zeros(len(counts))
        for cell, n in enumerate(counts):
            for _ in range(int(n)):
                value += math.log((seen[cell] + prior[cell]) / (seen.sum() + prior.sum()))
                seen[cell] += 1
        return value

    flat = marginal(COUNTS.ravel(), np.full(6, size / 6))
    rows = marginal(COUNTS.sum(axis=1), np.full(2, size / 2))
    columns = marginal(COUNTS.sum(axis=0), np.full(3, size / 3))
    assert score_of(COUNTS, "bde", size) == pytest.approx(flat - rows - columns)


def test_a_pair_seldom_complete_is_scaled_up():
    half = edge_score("likelihood", 2 * COUNTS.sum())(COUNTS[:, None, :, None])[0, 0]
    assert half == pytest.approx(2 * score_of(COUNTS, "likelihood"))


def test_the_sum_over_the_edges_is_the_log_likelihood():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 50) for _ in range(4)]
    table = Dataset([Variable(f"x{i}", ("a", "b", "c")) for i in range(4)], columns)
    model = ChowLiu().fit(table)
    alone = sum(log_likelihood(table.counts(name)) for name in table.names)
    assert model.log_likelihood_ == pytest.approx(alone + sum(model.edges_["gain"]))


def test_unknown_criterion():
    with pytest.raises(ParameterError, match="unknown criterion 'x'; known are likelihood, bic"):
        edge_score("x", 1.0)
