"""Cheeseman-Stutz, Laplace and the variational bound, against enumeration and closed forms."""

import numpy as np
import pytest
from scipy.special import betaln, gammaln
from tests.reference.enumeration import enumerate_rows
from tests.reference.random_networks import fill_randomly
from tests.reference.tiny_tables import CASES, draw_rows, evidence_of, latent_class

from latentforest import Dataset, Network, Structure, Variable, marginal_likelihood
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.scores.evidence.cheeseman_stutz import approximate_at
from latentforest.scores.evidence.coordinates import list_rows
from latentforest.scores.evidence.information import find_information
from latentforest.scores.evidence.laplace import differentiate
from latentforest.scores.evidence.marginal import SETTINGS
from latentforest.scores.evidence.maximum import Question, find_maximum, take_point
from latentforest.scores.evidence.units import find_openings

by_case = pytest.mark.parametrize(("structure", "table"), CASES.values(), ids=CASES.keys())


def ask(structure, table, prior=1.0):
    vector = np.full(structure.n_values, prior)
    return Question(structure, vector, PatternedData(table), None, 8, 0, SETTINGS)


@by_case
def test_lower_bounds_are_below_the_evidence(structure, table):
    exact = evidence_of(structure, table, 1.0)
    for method in ("cs", "elbo"):
        found = marginal_likelihood(structure, table, method)
        assert found.is_lower_bound
        assert exact - 8 < found.value < exact


@by_case
def test_cheeseman_stutz_is_a_lower_bound_at_any_parameters(structure, table):
    question = ask(structure, table)
    exact = evidence_of(structure, table, 1.0)
    engine = make_engine(structure, question.data)
    for seed in range(10):
        point = take_point(engine, fill_randomly(structure, seed, 0).parameters.copy(), True)
        assert approximate_at(question, point) < exact


@pytest.mark.parametrize("name", ["two classes", "classes and gaps", "two latent variables"])
def test_cheeseman_stutz_by_hand(name):
    structure, table = CASES[name]
    question = ask(structure, table, 0.7)
    theta = find_maximum(question).theta
    values, counts = enumerate_rows(structure, theta, table)
    by_hand = values.sum() - counts @ np.log(theta)
    for n in structure.names:
        a, m = (structure.table_view(v, n) for v in (question.prior, counts))
        by_hand += (gammaln(a.sum(-1)) - gammaln((a + m).sum(-1))).sum()
        by_hand += (gammaln(a + m) - gammaln(a)).sum()
    assert marginal_likelihood(structure, table, "cs", 0.7, n_starts=8).value == pytest.approx(
        by_hand, abs=1e-9
    )


@by_case
def test_the_maximum_is_one_in_softmax_coordinates(structure, table):
    question = ask(structure, table, 0.5)
    point = find_maximum(question)
    total = point.counts + question.prior
    for name in structure.names:
        share = structure.table_view(total, name)
        share = share / share.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(structure.table_view(point.theta, name), share, atol=1e-4)


@by_case
def test_information_is_the_derivative_of_the_gradient(structure, table):
    question, theta = ask(structure, table, 0.5), fill_randomly(structure, 1, 0).parameters.copy()
    rows, openings = list_rows(structure), find_openings(structure, table)
    exact = find_information(question.prior, theta, openings, rows)
    engine = make_engine(structure, question.data)
    by_differences = differentiate(engine, question.prior, theta, rows)
    np.testing.assert_allclose(exact, by_differences, atol=1e-9)


def test_laplace_of_one_column_by_hand():
    table = Dataset([Variable("a", ("0", "1"))], [[0, 1]], [30.0, 50.0])
    structure = Structure(table.variables, {})
    p, n = np.array([32.0, 51.5]) / 83.5, 83.5
    value = 32 * np.log(p[0]) + 51.5 * np.log(p[1]) - betaln(2, 1.5)
    value += 0.5 * np.log(2 * np.pi) - 0.5 * np.log(n * p[0] * p[1])
    found = marginal_likelihood(structure, table, "laplace", {"a": [2, 1.5]})
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.is_negative_definite


def test_laplace_is_exact_in_the_limit():
    table = draw_rows(60, 0)
    structure = Structure(table.variables, {"b": "a", "c": ("a", "b"), "d": "c"})
    errors = []
    for n in (10, 100, 1000):
        many = table.with_weights(np.full(60, float(n)))
        exact, found = (marginal_likelihood(structure, many, m).value for m in ("exact", "laplace"))
        errors.append(n * (found - exact))
    assert errors[1] == pytest.approx(errors[2], rel=0.02)  # like 1/N
    assert abs(errors[2]) < 1


def test_laplace_of_many_completions_uses_differences(monkeypatch):
    structure, table = CASES["two latent variables"]
    exact = marginal_likelihood(structure, table, "laplace").value
    monkeypatch.setattr("latentforest.scores.evidence.units.MOST_CELLS", 1)
    assert marginal_likelihood(structure, table, "laplace").value == pytest.approx(exact, abs=1e-9)


def test_a_saddle_is_reported():
    structure, table = latent_class(2, 200, 0)
    same = np.full(structure.n_values, 0.5)  # two equal classes, which EM does not part
    for name in structure.observed:
        structure.table_view(same, name)[...] = table.counts(name) / 200
    network = Network(structure, same)
    with pytest.warns(match="the Hessian at the most probable parameters is not negative definite"):
        found = marginal_likelihood(network, table, "laplace", n_starts=0)
    assert np.isnan(found.value)
    assert found.is_negative_definite is False
    assert len(found.notes) == 1
    assert marginal_likelihood(structure, table, "laplace").is_negative_definite


@pytest.mark.parametrize("prior", [{"b": [[1, 2], [0.5, 3]], "c": 0.25}, "bdeu", "network"])
def test_methods_agree_without_latent_values(prior):
    table = draw_rows(40, 1)
    structure = Structure(table.variables, {"b": "a", "c": ("a", "b")})
    if prior == "network":  # BDe
        prior = fill_randomly(Structure(table.variables, {"a": "b", "d": "a"}), 0, 0)
    exact = marginal_likelihood(structure, table, prior=prior)
    assert exact.method == "exact"
    for method in ("cs", "elbo", "elbo+", "ais"):
        found = marginal_likelihood(structure, table, method, prior)
        assert found.value == pytest.approx(exact.value, abs=1e-9)


def test_elbo_plus_counts_the_names_of_states():
    structure, table = CASES["three classes"]
    plain, plus = (marginal_likelihood(structure, table, m) for m in ("elbo", "elbo+"))
    assert plus.value - plain.value == pytest.approx(np.log(6))
    assert not plus.is_lower_bound
