"""Averages over models: predictions against ratios of evidences, weights, edges."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from latentforest import (
    EAST,
    BayesianNetworkSearch,
    ChowLiu,
    IncrementalForest,
    LatentClass,
    Network,
    Structure,
    datasets,
)
from latentforest.data import Dataset, Variable
from latentforest.data.results.table import Table
from latentforest.errors import DataError, ParameterError
from latentforest.learners.common.base import Learned, NetworkLearner
from latentforest.learners.model_average import ModelAverage
from latentforest.search.averaging.best import RankedNetwork
from reference.dags import all_dags, log_marginal_likelihood, random_table


class AllNetworks(NetworkLearner):
    """Lists all networks over the columns with their BDeu scores."""

    def __init__(self, size=1.0):
        self.size = size

    def best_networks(self, data, n_networks):
        found = []
        for dag in all_dags(data.n_columns):
            parents = {
                name: tuple(data.names[p] for p in family)
                for name, family in zip(data.names, dag, strict=True)
            }
            score = log_marginal_likelihood(data, dag, self.size)
            found.append(RankedNetwork(Structure(data.variables, parents), score))
        return sorted(found, key=lambda each: -each.score)[:n_networks]


class Cycling(NetworkLearner):
    """Finds one of a few structures, by its seed."""

    n_jobs, time_limit, progress = None, None, False

    def __init__(self, structures, scores, random_state=None, interrupts=False):
        self.structures, self.scores = structures, scores
        self.random_state, self.interrupts = random_state, interrupts

    def _learn(self, work):
        place = work.seed % len(self.structures)
        structure = self.structures[place]
        network = Network(structure, np.full(structure.n_values, 0.5))
        found = {"score": self.scores[place], "interrupted": self.interrupts}
        return Learned(network, 0.0, Table({}), found)


def append(data, row):
    columns = [np.append(column, state) for column, state in zip(data.columns, row, strict=True)]
    return Dataset(data.variables, columns)


def evidence(data, size):
    values = [log_marginal_likelihood(data, dag, size) for dag in all_dags(data.n_columns)]
    return logsumexp(values)


@pytest.mark.parametrize(("cards", "size"), [((2, 3, 2), 1.0), ((2, 2, 3, 2), 4.0)])
def test_the_next_row_is_a_ratio_of_evidences(cards, size):
    data = random_table(1, cards, 40)
    model = ModelAverage(AllNetworks(size), 10_000, equivalent_sample_size=size).fit(data)
    rows = np.array([[0] * len(cards), [1] * len(cards), [card - 1 for card in cards]])
    expected = [evidence(append(data, row), size) - evidence(data, size) for row in rows]
    found = model.score_samples(Dataset(data.variables, rows.T))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_column_given_the_others():
    data = random_table(2, (2, 3, 2), 30)
    model = ModelAverage(AllNetworks(), 25).fit(data)
    states = np.array([[1, 1, 1], [0, 1, 2], [0, 0, 0]])
    joint = np.exp(model.score_samples(Dataset(data.variables, states)))
    row = Dataset(data.variables, [[1], [2], [0]])
    found = model.predict_column(row, "x1")
    np.testing.assert_allclose(found, [joint / joint.sum()], rtol=0, atol=1e-12)
    with pytest.raises(DataError, match="there is no column 'x9'"):
        model.predict_column(row, "x9")


def test_equivalent_networks_are_one_model_with_their_weights_added():
    data = random_table(3, (2, 2), 50)
    model = ModelAverage(AllNetworks(), 3).fit(data)
    scores = [log_marginal_likelihood(data, dag) for dag in all_dags(2)]
    shares = np.exp(scores - logsumexp(scores))
    assert len(model.models_) == 2
    edge = sum(share for share, dag in zip(shares, all_dags(2), strict=True) if any(dag))
    assert model.edges_["probability"] == [pytest.approx(edge)]
    assert model.edges_["forward"] == [pytest.approx(edge / 2)]
    assert sorted(model.weights_) == pytest.approx(sorted([edge, 1 - edge]))


@pytest.fixture
def structures():
    variables = [Variable(name, ("0", "1")) for name in "abc"]
    return [
        Structure(variables, {}),
        Structure(variables, {"b": "a"}),
        Structure(variables, {"a": "b"}),
        Structure(variables, {"c": ("a", "b")}),
    ]


@pytest.fixture
def abc():
    return random_table(4, (2, 2, 2), 60).select(["x0", "x1", "x2"])


def rename(data):
    return Dataset([Variable(name, ("0", "1")) for name in "abc"], data.columns)


def test_what_runs_find_again_counts_once(structures, abc):
    learner = Cycling(structures, [0.0, 1.0, 1.0, 2.0])
    model = ModelAverage(learner, 40, random_state=1).fit(rename(abc))
    expected = np.exp([2.0, 1.0, 0.0])
    np.testing.assert_allclose(model.weights_, expected / expected.sum())
    assert len(model.history_) == 40
    assert set(model.history_["model"]) == {0, 1, 2}
    assert model.network_ == model.models_[0]
    arcs = dict(
        zip(
            zip(model.edges_["left"], model.edges_["right"], strict=True),
            model.edges_["forward"],
            strict=True,
        )
    )
    assert arcs["a", "c"] == pytest.approx(model.weights_[0])
    assert arcs["a", "b"] == pytest.approx(model.weights_[1] / 2)


def test_bootstrap_samples_count_the_same(structures, abc):
    learner = Cycling(structures, [0.0, 1.0, 1.0, 2.0])
    model = ModelAverage(learner, 40, "bootstrap", random_state=1).fit(rename(abc))
    shares = np.bincount(model.history_["model"]) / 40
    np.testing.assert_allclose(model.weights_, shares)
    assert model.weights_.sum() == pytest.approx(1)


def test_ctrl_c_keeps_the_models_so_far(structures, abc):
    learner = Cycling(structures, [0.0] * 4, interrupts=True)
    model = ModelAverage(learner, 40, random_state=1).fit(rename(abc))
    assert model.interrupted_
    assert len(model.history_) == 1


def test_when_the_time_is_up_the_models_so_far_are_averaged(structures, abc):
    learner = Cycling(structures, [0.0] * 4)
    model = ModelAverage(learner, 40, random_state=1, time_limit=1e-9).fit(rename(abc))
    assert len(model.history_) == 1
    assert not model.interrupted_


def test_bootstrap_parameters_are_those_of_all_rows():
    data = datasets.load("role-conflict")
    model = ModelAverage(ChowLiu(), 5, "bootstrap", prior=1.0, random_state=0).fit(data)
    for network in model.models_:
        (root,) = network.structure.roots
        expected = (data.counts(root) + 1) / (data.total_weight + 2)
        np.testing.assert_allclose(network.cpd(root), expected)


def test_the_same_seed_gives_the_same_models():
    data = datasets.load("role-conflict")
    one, two = (
        ModelAverage(ChowLiu(), 8, "bootstrap", random_state=3).fit(data).models_ for _ in range(2)
    )
    assert one == two


def test_bootstrap_in_any_order_of_rows_and_columns():
    data = datasets.load("role-conflict")
    other = data.take(np.arange(data.n_rows)[::-1]).select(["C", "A", "D", "B"])
    one, two = (
        ModelAverage(ChowLiu(), 8, "bootstrap", random_state=3).fit(each) for each in (data, other)
    )
    assert one.score(data) == pytest.approx(two.score(data), abs=1e-12)
    broken = data.with_weights(data.weights * np.pi)
    assert ModelAverage(ChowLiu(), 3, "bootstrap", random_state=3).fit(broken).models_


def test_latent_trees_share_parents():
    data = datasets.load("coleman-panel")
    model = ModelAverage(EAST(max_steps=4), 2, random_state=0).fit(data)
    pairs = zip(model.edges_["left"], model.edges_["right"], strict=True)
    together = dict(zip(pairs, model.edges_["together"], strict=True))
    assert together["A", "C"] == together["B", "D"] == 1.0
    assert together["A", "B"] == 0.0
    assert np.isfinite(model.score(data))
    assert "style=dashed" in model.to_dot()


def test_missing_and_continuous_values():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(80) < 0.5, rng.normal(0, 1, 80), rng.normal(4, 1, 80))
    a = (x + rng.normal(0, 1, 80) > 2).astype(int)
    data = Dataset(
        [Variable("x"), Variable("a", ("0", "1"))],
        [np.where(rng.random(80) < 0.1, np.nan, x), np.where(rng.random(80) < 0.1, -1, a)],
    )
    for learner in (LatentClass(2), IncrementalForest()):
        model = ModelAverage(learner, 3, "bootstrap", random_state=0).fit(data)
        assert np.isfinite(model.score_samples(data)).all()
        with pytest.raises(ParameterError, match="predicts categorical columns; 'x' is not"):
            model.predict_column(data, "x")


def test_rows_are_drawn_from_all_models():
    data = random_table(5, (2, 2), 100)
    model = ModelAverage(AllNetworks(), 3).fit(data)
    drawn, rows = model.sample(20_000, random_state=0), np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    shares = np.bincount(drawn.column("x0") * 2 + drawn.column("x1"), minlength=4) / 20_000
    expected = np.exp(model.score_samples(Dataset(data.variables, rows)))
    np.testing.assert_allclose(shares, expected, atol=0.02)


def test_settings_reach_the_learner():
    model = ModelAverage(ChowLiu(), n_models=3).set_params(learner__criterion="bic")
    assert clone(model).learner.criterion == "bic"
    assert str(model).startswith("ModelAverage(learner=ChowLiu(")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_models": 0}, "n_models must be a whole number from 1, got 0"),
        ({"weights": "bic"}, "weights must be one of 'score', 'bootstrap', got 'bic'"),
        ({"prior": "cv"}, "prior must be a number, 'none', 'laplace' or a mapping"),
        ({"equivalent_sample_size": 0}, "equivalent_sample_size must be positive, got 0"),
        ({"learner": ChowLiu}, "learner must be a learner of networks, got"),
    ],
)
def test_bad_settings(settings, message):
    model = ModelAverage(ChowLiu()).set_params(**settings)
    with pytest.raises(ParameterError, match=message):
        model.fit(datasets.load("hiv-tests"))


@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
@parametrize_with_checks(
    [ModelAverage(ChowLiu(), 2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_sparse_data": "has fractions: sparse means counts"
    },
)
def test_common_checks(estimator, check):
    check(estimator)


def test_networks_with_continuous_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    data = Dataset([Variable("x"), Variable("y")], [x, x + rng.normal(size=200)])
    model = ModelAverage(BayesianNetworkSearch(), 2, random_state=0).fit(data)
    assert model.edges_["probability"][0] > 0.99
    assert np.isfinite(model.score(data))
