"""Bayesian networks over columns: what is found, what is told of it, and what is refused."""

import numpy as np
import pytest

from latentforest import BayesianNetworkSearch, Dataset, Independence, Variable
from latentforest.datasets import load
from latentforest.errors import DataError, ParameterError
from latentforest.model import Structure
from latentforest.search.dags.search import METHODS
from reference.dags import all_dags, as_dag, family_score, permute_columns, random_table, score_all
from reference.gaussian_families import random_mixed_table

pytestmark = pytest.mark.filterwarnings("ignore:columns with a single observed value")
HEURISTICS = [method for method in METHODS if method != "exact"]


def learn(data, **settings):
    return BayesianNetworkSearch(**{"random_state": 0, "n_restarts": 2, **settings}).fit(data)


@pytest.mark.parametrize("criterion", ["bic", "aic", "k2", "bdeu"])
def test_the_optimum_of_few_columns_is_found(criterion):
    data = random_table(1, (2, 3, 2, 2), 150).with_seen_states()
    model = learn(data, criterion=criterion)
    scores = score_all(data, all_dags(4), criterion)
    assert model.score_ == pytest.approx(max(scores), abs=1e-6)
    assert model.is_optimal_
    assert model.gap_ >= 0


@pytest.mark.parametrize(
    ("name", "bic"),
    [("hiv-tests", -653.657), ("coleman-panel", -8535.001), ("house-building", -2940.982)],
)
def test_published_tables(name, bic):
    assert learn(load(name)).bic_ == pytest.approx(bic, abs=6e-4)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_mdl_is_minus_bic():
    data = random_table(1, (2, 3, 2, 2), 150)
    one, other = learn(data, criterion="mdl"), learn(data)
    assert one.score_ == -other.score_
    assert one.network_ == other.network_


def test_scores_and_strengths():
    data = random_table(2, (2, 3, 2, 2, 3), 400)
    model = learn(data)
    dag = as_dag(model.network_, data.names)
    assert model.score_ == pytest.approx(
        sum(family_score(data, j, parents) for j, parents in enumerate(dag)), abs=1e-6
    )
    assert model.bic_ == pytest.approx(model.score_, abs=1e-6)
    for row in model.arcs_.rows():
        child, parent = data.names.index(row["child"]), data.names.index(row["parent"])
        without = tuple(j for j in dag[child] if j != parent)
        loss = family_score(data, child, dag[child]) - family_score(data, child, without)
        assert row["strength"] == pytest.approx(loss, abs=1e-6)
    assert model.arcs_["strength"] == sorted(model.arcs_["strength"], reverse=True)
    n_edges = len(model.cpdag_.directed) + len(model.cpdag_.undirected)
    assert n_edges == len(model.arcs_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["categorical", "mixed"])
def test_order_of_columns_and_rows_and_threads(method, kind):
    if kind == "mixed":
        data = random_mixed_table(3, (2, 3), 3, 80)
    else:
        data = random_table(3, (2, 2, 2, 3, 2), 120)
    first = learn(data, method=method)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        order = rng.permutation(data.n_columns)
        moved = permute_columns(data, order).take(rng.permutation(data.n_rows))
        again = learn(moved, method=method, n_jobs=1 + seed % 2)
        assert again.cpdag_ == first.cpdag_
        assert again.score_ == first.score_


def test_weights_are_repeated_rows():
    data = random_table(4, (2, 3, 2, 2, 3), 100, "whole")
    repeated = data.take(np.repeat(np.arange(100), data.weights.astype(int))).with_weights(None)
    one, other = learn(data), learn(repeated)
    assert one.network_ == other.network_
    assert one.score_ == other.score_


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_states_that_do_not_occur_are_not_counted():
    data = random_table(5, (2, 3, 2, 2), 200)
    declared = Dataset(
        [Variable(v.name, (*v.states, "never", "neither")) for v in data.variables], data.columns
    )
    one, other = learn(data), learn(declared)
    assert other.score_ == one.score_
    assert other.bic_ == pytest.approx(one.bic_)
    assert other.n_parameters_ == one.n_parameters_
    assert other.network_.structure.states("x0") == ("0", "1", "never", "neither")
    assert other.cpdag_ == one.cpdag_


def test_constant_columns_stay_alone():
    structure = learn(random_table(1, (2, 1, 2), 50)).network_.structure
    assert structure.neighbours("x1") == ()


@pytest.mark.parametrize("method", METHODS)
def test_tiers_that_fix_the_order(method):
    data = random_table(6, (2, 3, 2, 2), 300)
    model = learn(data, method=method, tiers=["x3", "x2", "x1", "x0"], max_parents=2)
    for name in data.names:
        parents = model.network_.structure.parents(name)
        assert all(parent > name for parent in parents)
        assert len(parents) <= 2


@pytest.mark.parametrize("start", ["empty", "chow-liu", "random"])
@pytest.mark.parametrize("method", HEURISTICS)
def test_starts(method, start):
    data = random_table(7, (2, 3, 2, 2, 2), 200)
    model = learn(data, method=method, start=start, n_restarts=0)
    assert model.gap_ >= 0
    assert model.history_["start"][0] == "the start"


def test_a_given_start_is_never_left_for_something_worse():
    data = random_table(8, (2, 3, 2, 2, 2), 200)
    best = learn(data, method="exact")
    again = learn(data, method="hill-climbing", start=best.network_, n_restarts=0)
    assert again.score_ == best.score_
    assert again.gap_ == 0


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_probabilities_of_arcs_change_what_is_found():
    data = random_table(2, (2, 3, 2, 2), 60)
    many, few = (learn(data, criterion="bdeu", arc_probabilities=p) for p in (0.9, 0.0001))
    assert len(many.arcs_) > len(few.arcs_)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_prior_network():
    data = random_table(2, (2, 3, 2, 2), 60)
    prior = Independence(prior=1).fit(data).network_
    model = learn(data, criterion="bde", prior_network=prior, equivalent_sample_size=5)
    assert model.is_optimal_


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_smoothing_changes_parameters_only():
    data = random_table(2, (2, 3, 2, 2), 60)
    plain, smooth = learn(data), learn(data, prior=1.0)
    assert smooth.network_.structure == plain.network_.structure
    assert smooth.score_ == plain.score_
    counts = data.counts("x0") + 1
    if not smooth.network_.structure.parents("x0"):
        assert smooth.network_.cpd("x0") == pytest.approx(counts / counts.sum())
    assert smooth.log_likelihood_ < plain.log_likelihood_


def test_continuous_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = 2 * x + rng.normal(size=500)
    z = rng.normal(size=500)
    data = Dataset([Variable(name) for name in "xyz"], [x, y, z])
    for criterion in ("bic", "aic", "bge"):
        model = learn(data, criterion=criterion)
        assert ("x", "y") in model.cpdag_.undirected
    expected = np.polyfit(x, y, 1)
    predicted = learn(data).predict_column(data, "y")
    np.testing.assert_allclose(predicted, np.polyval(expected, x), rtol=1e-6)


def test_a_categorical_column_has_no_continuous_parent():
    data = random_mixed_table(3, (2, 3), 3, 200)
    structure = learn(data).network_.structure
    for name in data.names:
        if name not in structure.continuous:
            assert not structure.continuous_parents(name)


def test_predicting_a_column_from_the_others():
    data = random_table(2, (2, 3, 2, 2), 300)
    model = learn(data)
    shares = model.predict_column_proba(data, "x1")
    row = {name: int(data.column(name)[5]) for name in ("x0", "x2", "x3")}
    np.testing.assert_allclose(shares[5], model.network_.query(["x1"], row), atol=1e-12)
    labels = model.predict_column(data, "x1")
    assert labels[5] == str(shares[5].argmax())
    frame = {name: data.decode(name) for name in ("x0", "x2", "x3")}  # without the column
    assert model.predict_column(frame, "x1").tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "greedy"}, "method must be one of 'order', .*, got 'greedy'"),
        ({"criterion": "bick"}, "criterion must be one of 'likelihood', .*, got 'bick'"),
        ({"criterion": "bge"}, "'bge' is for continuous columns"),
        ({"criterion": "bde"}, "'bde' needs prior_network"),
        ({"n_restarts": -1}, "n_restarts must be a whole number from 0, got -1"),
        ({"start": "full"}, "start must be a network, a structure or one of 'empty'"),
        ({"required": [("x0", "x1"), ("x1", "x0")]}, "required arcs form a cycle among x0, x1"),
        ({"required": [("x0", "q")]}, "there is no column 'q'"),
        ({"prior_network": "none"}, "prior_network must be a Network, got str"),
        ({"max_parents": "two"}, "max_parents must be a whole number"),
        ({"tiers": ["x0", "q"]}, "tiers: there is no column 'q'"),
        ({"tiers": 5}, "tiers must be lists of columns, got 5"),
        ({"required": None}, r"required must be pairs \(parent, child\), got None"),
        ({"forbidden": 5}, r"forbidden must be pairs \(parent, child\), got 5"),
        ({"required": [5]}, r"required arcs must be pairs \(parent, child\), got 5"),
        ({"arc_probabilities": "a"}, "must be a number or a mapping from arcs, got 'a'"),
        ({"start": 5}, "start must be a network, a structure or one of 'empty', .*, got 5"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ParameterError, match=message):
        learn(random_table(0, (2, 2, 2), 50), **settings)


def test_starts_that_break_constraints():
    data = random_table(0, (2, 2, 2), 50)
    start = Structure(data.variables, {"x1": ["x0"]})
    with pytest.raises(ParameterError, match=r"start has the forbidden arc \('x0', 'x1'\)"):
        learn(data, start=start, forbidden=[("x0", "x1")])
    with pytest.raises(ParameterError, match=r"start lacks the required arc \('x2', 'x0'\)"):
        learn(data, start=start, required=[("x2", "x0")])


def test_too_many_columns_for_exact_search():
    data = random_table(0, (2,) * 23, 10)
    with pytest.raises(ParameterError, match="up to 22 columns, got 23; use method 'order'"):
        learn(data, method="exact")


def test_missing_values_are_for_another_learner():
    data = Dataset([Variable(n, ("x", "y")) for n in "ab"], [[0, 1, 1], [0, -1, 1]])
    with pytest.raises(DataError, match=r"1 missing values .* StructuralEM takes"):
        learn(data)


def test_the_time_limit_keeps_the_best_so_far():
    data = random_table(9, (2,) * 14, 400)
    model = learn(data, time_limit=1e-9)
    assert model.stopped_ == "the time limit was reached"
    assert model.gap_ is None
    assert model.score_ >= learn(data, max_parents=0).score_


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_exact_search_beyond_the_default():
    """Twelve columns are compared with the optimum, thirteen are not."""
    assert learn(random_table(9, (2,) * 13, 100)).gap_ is None
    exact = learn(random_table(9, (2,) * 13, 100), method="exact")
    assert exact.is_optimal_
    assert exact.gap_ == 0


def test_required_arcs_that_kinds_rule_out():
    data = random_mixed_table(3, (2,), 1, 50)
    number, states = data.names[1], data.names[0]
    with pytest.raises(ParameterError, match="a categorical column has no continuous parent"):
        learn(data, required=[(number, states)])


@pytest.mark.filterwarnings("ignore:the weights of")
@pytest.mark.parametrize("method", METHODS)
def test_weights_that_make_parameters_cost_less_than_nothing(method):
    """BIC's price of a parameter is negative, sums are no longer exact, and searches end."""
    data = random_table(3, (2, 2, 2, 3, 2, 2), 200)
    model = learn(data.with_weights(np.full(200, 2.5e-3)), method=method)
    assert model.n_parameters_ > 20


def test_lists_of_good_networks():
    data = random_table(2, (2, 3, 2, 2), 200)
    found = BayesianNetworkSearch().best_networks(data, 3)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert len({each.structure.cpdag() for each in found}) == 3
    every = sorted(score_all(data, all_dags(4)), reverse=True)
    np.testing.assert_allclose(scores, every[: len(scores)], atol=1e-6)
    wide = BayesianNetworkSearch(random_state=0).best_networks(random_table(9, (2,) * 13, 200), 3)
    assert 1 <= len(wide) <= 3
    with pytest.raises(ParameterError, match="n_networks must be a whole number from 1, got -1"):
        BayesianNetworkSearch().best_networks(data, -1)
