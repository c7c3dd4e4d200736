"""What the lecture on structure learning says of scores, where it can be tested.

N. L. Zhang, COMP538, lecture 8 (2008); docs/structure-learning.md lists what is wrong in it.
"""

import itertools
import math

import numpy as np
import pytest
from tests.reference.dags import all_dags, family_score, random_table
from tests.reference.robinson import count_dags

from latentforest import (
    Dataset,
    Independence,
    Network,
    Structure,
    Variable,
    cross_validate,
    marginal_likelihood,
)
from latentforest.scores import FitSummary, evaluate

A, B = Variable("a", ("0", "1")), Variable("b", ("0", "1", "2"))
FORWARD, BACKWARD = Structure([A, B], {"b": "a"}), Structure([A, B], {"a": "b"})
TABLE = random_table(0, [2, 3], 100)
PAIR = Dataset([A, B], TABLE.columns)


def evidence(structure, table, *prior):
    return marginal_likelihood(structure, table, "exact", *prior).value


# Maximized likelihood


@pytest.mark.parametrize("seed", range(5))
def test_a_further_parent_never_lowers_the_maximized_likelihood(seed):
    table = random_table(seed, [2, 3, 2], 50)
    scores = [family_score(table, 0, parents, "likelihood") for parents in ((), (1,), (1, 2))]
    assert scores == sorted(scores)


def test_a_further_parent_may_gain_nothing():
    """Four rows of two fair coins: empirical independence is not an event of probability zero."""
    n_equal = 0
    for a in itertools.product((0, 1), repeat=4):
        for b in itertools.product((0, 1), repeat=4):
            table = Dataset([A, Variable("b", ("0", "1"))], [a, b])
            alone, given = (family_score(table, 1, p, "likelihood") for p in ((), (0,)))
            n_equal += given == pytest.approx(alone, abs=1e-9)
    assert n_equal == 256 * 21 // 64


def test_maximized_likelihood_is_minus_n_times_the_entropy():
    joint = np.bincount(PAIR.columns[0] * 3 + PAIR.columns[1], minlength=6).reshape(2, 3) / 100
    with np.errstate(divide="ignore"):
        logs = np.log(joint / joint.sum(axis=1, keepdims=True))
    entropy = -np.sum(joint * np.where(joint > 0, logs, 0.0))
    assert family_score(PAIR, 1, (0,), "likelihood") == pytest.approx(-100 * entropy)


# Equivalence of scores


def test_bde_with_joint_probabilities_is_equal_for_equivalent_networks():
    prior = Network.from_tables([A, B], {"b": "a"}, {"a": [0.3, 0.7], "b": [[0.2, 0.5, 0.3]] * 2})
    a, b = (
        marginal_likelihood(s, PAIR, "exact", prior, equivalent_sample_size=5).value
        for s in (FORWARD, BACKWARD)
    )
    assert a == pytest.approx(b, abs=1e-9)


def test_the_conditional_probabilities_that_are_printed_are_not():
    prior = Network.from_tables(
        [A, B], {"b": "a"}, {"a": [0.3, 0.7], "b": [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]}
    )
    joint = prior.query(["a", "b"])
    forward = {"a": 5 * joint.sum(1), "b": 5 * joint / joint.sum(1, keepdims=True)}
    backward = {"b": 5 * joint.sum(0), "a": 5 * (joint / joint.sum(0)).T}
    assert abs(evidence(FORWARD, PAIR, forward) - evidence(BACKWARD, PAIR, backward)) > 0.1


def test_bdeu_is_equal_for_equivalent_networks_and_k2_is_not():
    bdeu = [evidence(s, PAIR, "bdeu") for s in (FORWARD, BACKWARD)]
    assert bdeu[0] == pytest.approx(bdeu[1], abs=1e-9)
    assert abs(evidence(FORWARD, PAIR) - evidence(BACKWARD, PAIR)) > 0.1


def test_the_evidence_is_the_probability_of_one_row_after_another():
    """P(next row | rows) is the ratio of marginal likelihoods: that of expected parameters."""
    for i in (10, 50, 99):
        rows = [PAIR.take(np.arange(n)) for n in (i, i + 1)]
        ratio = evidence(FORWARD, rows[1]) - evidence(FORWARD, rows[0])
        a, b = (column[:i] for column in PAIR.columns)
        x, y = PAIR.columns[0][i], PAIR.columns[1][i]
        expected = (np.sum(a == x) + 1) / (i + 2)
        expected *= (np.sum((a == x) & (b == y)) + 1) / (np.sum(a == x) + 3)
        assert ratio == pytest.approx(math.log(expected), abs=1e-9)


# Consistency: two binary columns, an arc between them or none


def judge_arc(n_rows, dependence, seed):
    """By how much each score prefers the arc."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, n_rows)
    b = (random.random(n_rows) < 0.5 + dependence * (a - 0.5)).astype(int)
    counts = np.bincount(2 * a + b, minlength=4).astype(float)
    pair = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    table = Dataset(pair, [[0, 0, 1, 1], [0, 1, 0, 1]], counts)
    table = table.take(counts > 0)
    fits = []
    for parents in ((), (0,)):
        value = family_score(table, 1, parents, "likelihood")
        fits.append(FitSummary(value, 1 + len(parents), n_rows))
    gains = {c: evaluate(c, fits[1]) - evaluate(c, fits[0]) for c in ("bic", "mdl", "aic")}
    with_arc, without = Structure(pair, {"b": "a"}), Structure(pair, {})
    gains["bde"] = evidence(with_arc, table, "bdeu") - evidence(without, table, "bdeu")
    return gains


def share_of_arcs(n_rows, dependence, n_tables=150):
    gains = [judge_arc(n_rows, dependence, seed) for seed in range(n_tables)]
    return {name: np.mean([gain[name] > 0 for gain in gains]) for name in gains[0]}


def test_consistent_scores_find_the_arc():
    found = share_of_arcs(5000, 0.1, 30)
    assert set(found.values()) == {1.0}


def test_without_an_arc_all_but_aic_find_none():
    few, many = share_of_arcs(50, 0.0), share_of_arcs(50_000, 0.0)
    for name in ("bic", "mdl", "bde"):
        assert many[name] < 0.02
        assert few[name] > many[name]
    assert many["aic"] == pytest.approx(0.157, abs=0.06)  # P(chi-square > 2), at any size
    assert few["aic"] == pytest.approx(0.157, abs=0.06)


def find_gaps(cells):
    """Evidence less BIC of tables with these cells times 10, 1,000 and 100,000."""
    gaps = []
    for n in (10, 1000, 100_000):
        table = Dataset([A, B], [[0, 0, 0, 1, 1, 1], [0, 1, 2] * 2], n * np.array(cells, float))
        value = family_score(table, 0, (), "likelihood")
        value += family_score(table, 1, (0,), "likelihood")
        summary = FitSummary(value, FORWARD.dimension, table.total_weight)
        gaps.append(evidence(FORWARD, table) - evaluate("bic", summary))
    return gaps


def test_bic_and_the_evidence_differ_by_no_more_than_a_constant():
    gaps = find_gaps([3, 1, 1, 1, 2, 2])
    assert gaps[2] == pytest.approx(gaps[1], abs=0.01)


def test_unless_an_estimate_is_zero():
    gaps = find_gaps([3, 1, 1, 0, 2, 2])
    assert gaps[2] - gaps[1] == pytest.approx(-0.5 * math.log(100), abs=0.01)


def test_the_logarithm_of_the_determinant_grows_like_d_log_n():
    from latentforest.scores.evidence.coordinates import list_rows
    from latentforest.scores.evidence.information import find_information
    from latentforest.scores.evidence.units import find_openings

    theta, d = FORWARD.table_view, FORWARD.dimension
    share = np.full(FORWARD.n_values, 1 / 3)
    theta(share, "a")[:] = 0.5
    logs = []
    for n in (10, 1000):
        openings = find_openings(FORWARD, PAIR.with_weights(np.full(100, float(n))))
        information = find_information(
            np.zeros(FORWARD.n_values), share, openings, list_rows(FORWARD)
        )
        logs.append(np.linalg.slogdet(information)[1])
    assert logs[1] - logs[0] == pytest.approx(d * math.log(100))


def test_leaving_one_out_is_aic_in_the_limit():
    gaps = []
    for n in (10, 100):
        column = Dataset([A], [[0] * n + [1] * (2 * n)])
        left_out = cross_validate(Independence(), column, 3 * n).log_likelihoods.sum()
        log_likelihood = n * math.log(1 / 3) + 2 * n * math.log(2 / 3)
        gaps.append(left_out - evaluate("aic", FitSummary(log_likelihood, 1, 3.0 * n)))
    assert abs(gaps[1]) < 0.02
    assert abs(gaps[1]) < abs(gaps[0]) / 5


def test_two_folds_are_not_aic():
    random, gaps = np.random.default_rng(0), []
    for _ in range(1000):
        halves = random.binomial(300, 0.4, 2)
        shares = np.concatenate([halves[::-1] / 300, [halves.sum() / 600]])
        logs = np.log(shares), np.log1p(-shares)
        held_out = halves @ logs[0][:2] + (300 - halves) @ logs[1][:2]
        n = halves.sum()
        gaps.append(held_out - n * logs[0][2] - (600 - n) * logs[1][2])
    assert np.mean(gaps) == pytest.approx(-1.5, abs=0.2)  # AIC has -1


# Number of structures


def test_robinsons_recursion_counts_labelled_networks():
    assert [count_dags(n) for n in range(6)] == [1, 1, 3, 25, 543, 29281]
    assert [len(all_dags(n)) for n in (1, 2, 3, 4)] == [count_dags(n) for n in (1, 2, 3, 4)]
    assert count_dags(10) == pytest.approx(4.2e18, rel=0.01)
