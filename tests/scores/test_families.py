"""Scores of families: values of sets of columns, bounds, priors, and what is refused."""

import math

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, JointCounts
from latentforest.model import Network, Structure
from latentforest.scores.families import (
    FamilyPrior,
    PenalizedLikelihood,
    check_prior_network,
    make_family_score,
)
from latentforest.search.dags.family_scores import FamilyScores
from reference.dags import dirichlet_score, family_score, random_table


def test_values_of_sets():
    score = PenalizedLikelihood.aic(CountingTable(random_table(0, (2, 3), 20)))
    joints = JointCounts(np.array([5.0, 3.0, 12.0]), np.array([2, 3]), np.array([4.0, 6.0]))
    expected = [5 * math.log(5) + 3 * math.log(3) - 4, 12 * math.log(12) - 6]
    np.testing.assert_allclose(score.measure(joints), expected, atol=1e-8)
    assert score.measure_empty(0) == pytest.approx(20 * math.log(20) - 1)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("n_rows", [10, 200])
def test_families_beyond_the_bound_are_no_better(criterion, n_rows):
    """The bound is where a perfect prediction would just pay for its parameters."""
    data = random_table(1, (3, 2), n_rows)
    score = make_family_score(criterion, CountingTable(data))
    alone = family_score(data, 0, (), criterion)
    most = score.limit_cells(0, alone, 1.0)
    price = 1.0 if criterion == "aic" else 0.5 * math.log(n_rows)
    assert -price * (most / 3) * 2 == pytest.approx(alone)


def test_no_bound_without_a_price():
    score = make_family_score("likelihood", CountingTable(random_table(1, (3, 2), 20)))
    assert score.limit_cells(0, -5.0, 1.0) == math.inf


def test_unknown_criterion():
    table = CountingTable(random_table(3, (2, 3), 20))
    with pytest.raises(ParameterError, match="unknown criterion 'k3'; known are likelihood, bic"):
        make_family_score("k3", table)


def score_family(data, criterion, child, parents, **prior):
    scores = FamilyScores(CountingTable(data), criterion, FamilyPrior(**prior))
    return scores.score(child, sum(1 << j for j in parents))


@pytest.mark.parametrize("count", [0.5, 1.0, 3.0])
def test_cooper_herskovits_with_any_count(count):
    data = random_table(4, (2, 3, 2), 80, "whole")
    expected = dirichlet_score(data, 1, (0, 2), lambda *_: count)
    assert score_family(data, "ch", 1, (0, 2), prior_count=count) == pytest.approx(expected)


def test_sample_sizes_of_columns():
    data = random_table(4, (2, 3, 2), 80)
    sizes = {"x1": 7.0}
    for child, parents, size in ((1, (0, 2), 7.0), (0, (1,), 1.0)):
        n_cells = math.prod(data.variables[j].n_states for j in (child, *parents))
        expected = dirichlet_score(data, child, parents, lambda *_, a=size / n_cells: a)
        found = score_family(data, "bdeu", child, parents, equivalent_sample_size=sizes)
        assert found == pytest.approx(expected)


def draw_network(data, parents, seed=0):
    """A network with random tables."""
    structure = Structure(data.variables, parents)
    rng = np.random.default_rng(seed)
    tables = {
        name: rng.dirichlet(np.ones(structure.shape(name)[-1]), structure.shape(name)[:-1])
        for name in structure.names
    }
    return Network.from_tables(structure.variables, parents, tables)


@pytest.mark.parametrize("most", [0.0, 1e6])
def test_prior_networks_count_their_joint_distribution(most, monkeypatch):
    """Both ways to find it: by elimination, and by the engine."""
    monkeypatch.setattr("latentforest.scores.families.prior_network.MOST_CELLS", most)
    data = random_table(5, (2, 3, 2, 2), 60)
    prior = draw_network(data, {"x1": ["x0"], "x3": ["x1", "x2"]})
    joint = prior.query(["x1", "x0", "x3"]).reshape(3, 2, 2)
    expected = dirichlet_score(data, 1, (0, 3), lambda above, state: 4.0 * joint[(state, *above)])
    found = score_family(data, "bde", 1, (0, 3), equivalent_sample_size=4.0, network=prior)
    assert found == pytest.approx(expected, abs=1e-8)


def test_bde_with_a_uniform_network_is_bdeu():
    data = random_table(5, (2, 3, 2, 2), 60)
    structure = Structure(data.variables, {})
    tables = {v.name: np.full(v.n_states, 1 / v.n_states) for v in data.variables}
    prior = Network.from_tables(structure.variables, {}, tables)
    found = score_family(data, "bde", 1, (0, 3), equivalent_sample_size=4.0, network=prior)
    same = score_family(data, "bdeu", 1, (0, 3), equivalent_sample_size=4.0)
    assert found == pytest.approx(same, abs=1e-8)


def test_conditional_prior_counts_would_tell_equivalent_networks_apart():
    """Prior counts from P0(x | parents) make a -> b and b -> a differ; joint ones do not."""
    data = random_table(7, (2, 2), 30)
    prior = draw_network(data, {"x1": ["x0"]})
    joint = prior.query(["x0", "x1"])
    marginals = joint.sum(axis=1), joint.sum(axis=0)

    def score(conditional):
        ways = []
        for child, parent in ((1, 0), (0, 1)):
            table = joint if child == 1 else joint.T
            given = table / table.sum(axis=1, keepdims=True) if conditional else table
            ways.append(
                dirichlet_score(data, parent, (), lambda _, s, p=parent: 5 * marginals[p][s])
                + dirichlet_score(data, child, (parent,), lambda a, s, g=given: 5 * g[a[0], s])
            )
        return ways

    assert score(False)[0] == pytest.approx(score(False)[1])
    assert abs(score(True)[0] - score(True)[1]) > 0.01


@pytest.mark.parametrize(
    ("criterion", "prior", "message"),
    [
        ("bdeu", {"equivalent_sample_size": 0.0}, "must be a positive number, got 0.0"),
        ("bdeu", {"equivalent_sample_size": {"q": 1.0}}, "there is no column 'q'"),
        ("ch", {"prior_count": -1.0}, "prior_count must be a positive number, got -1.0"),
        ("bde", {}, "criterion 'bde' needs prior_network"),
    ],
)
def test_bad_priors(criterion, prior, message):
    with pytest.raises(ParameterError, match=message):
        score_family(random_table(3, (2, 3), 20), criterion, 0, (1,), **prior)


def test_prior_networks_over_other_variables():
    data = random_table(3, (2, 3), 20)
    other = draw_network(random_table(3, (2,), 20), {})
    with pytest.raises(ParameterError, match="prior_network has no observed variable 'x1'"):
        check_prior_network(other, data)
    fewer = draw_network(random_table(3, (2, 2), 20), {})
    with pytest.raises(ParameterError, match="'x1' has no state '2'; it has 0, 1"):
        check_prior_network(fewer, data)


def test_prior_networks_that_rule_out_what_occurs():
    data = random_table(3, (2, 2), 20)
    tables = {"x0": np.array([1.0, 0.0]), "x1": np.array([0.5, 0.5])}
    prior = Network.from_tables(data.variables, {}, tables)
    with pytest.raises(ParameterError, match="gives probability zero to states of x0 that occur"):
        score_family(data, "bde", 0, (), network=prior)
