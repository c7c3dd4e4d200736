"""Parameters for new rows: how they are chosen, and where they are used."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.data import Dataset, Variable
from latentforest.errors import ParameterError, UnobservedStatesWarning
from reference.searches import clear_tree, learn


@pytest.fixture(scope="module")
def table():
    """A table that is quickly searched."""
    return clear_tree(
        {"Y1": (2, None), "Y2": (2, "Y1")}, {"Y1": 4, "Y2": 3}, n_states=2, strength=0.85
    ).sample(600, random_state=0)


def with_levels(data, n):
    """The same table, its first columns declared with a state that no row has."""
    variables = [
        Variable(v.name, (*v.states, "never") if j < n else v.states)
        for j, v in enumerate(data.variables)
    ]
    return Dataset(variables, data.columns, data.weights)


@pytest.mark.parametrize("smoothing", ["auto", "cv", "none", 0.1, 1])
def test_what_is_reported_is_maximum_likelihood_whatever_the_smoothing(table, smoothing):
    plain = lf.LatentClass(2, random_state=0, smoothing=0).fit(table)
    model = lf.LatentClass(2, random_state=0, smoothing=smoothing).fit(table)
    np.testing.assert_array_equal(model.network_.parameters, plain.network_.parameters)
    assert (model.log_likelihood_, model.bic_) == (plain.log_likelihood_, plain.bic_)
    is_equal = np.array_equal(model.predictive_network_.parameters, model.network_.parameters)
    assert is_equal == (smoothing == "none")
    assert is_equal or model.predictive_network_.parameters.min() > 0


def test_a_number_is_so_many_pseudo_counts_in_each_cell():
    model = lf.Independence(smoothing=2).fit({"a": ["x", "x", "x", "y"]})
    np.testing.assert_allclose(model.network_.cpd("a"), [0.75, 0.25])
    np.testing.assert_allclose(model.predictive_network_.cpd("a"), [5 / 8, 3 / 8])


def test_folds_do_not_depend_on_the_order_of_rows(table):
    order = np.lexsort(table.columns)
    models = [lf.ChowLiu(smoothing="cv").fit(each) for each in (table, table.take(order))]
    first, second = (model.predictive_network_.parameters for model in models)
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_a_search_has_both(table):
    model = learn(table, smoothing="cv")
    assert model.predictive_network_.structure == model.network_.structure
    assert model.predictive_network_.parameters.min() > 0


@pytest.mark.parametrize("smoothing", ["much", -1, [1]])
def test_other_words_are_refused(table, smoothing):
    with pytest.raises(ParameterError, match="smoothing must be"):
        lf.ChowLiu(smoothing=smoothing).fit(table)


def test_impossible_rows_are_scored_predicted_and_noted():
    data = {"a": ["x"] * 20 + ["y"] * 20, "b": ["u"] * 20 + ["v"] * 20}
    with pytest.warns(lf.errors.DataWarning, match="copies"):
        model = lf.LatentClass(2, random_state=0).fit(data)
    odd = {"a": ["x", "x"], "b": ["u", "v"]}
    assert model.row_notes(odd).tolist() == ["", "impossible"]
    assert np.isfinite(model.score_samples(odd)).all()
    with pytest.warns(lf.errors.DataWarning, match="1 rows have probability zero"):
        shares = model.predict_proba(odd)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    reported = lf.Predictor(model.network_.with_predictive(None))
    assert np.isneginf(reported.score_samples(odd)).tolist() == [False, True]


def test_a_saved_model_meets_new_rows_as_the_learner_does(table, tmp_path):
    model = lf.LatentClass(2, random_state=0).fit(table)
    model.network_.save(tmp_path / "model.json")
    again = lf.Predictor(lf.load(tmp_path / "model.json"))
    assert again.network_ == model.network_
    assert again.predictive_network_ == model.predictive_network_
    assert again.score(table) == model.score(table) != model.log_likelihood_ / 600


def test_states_that_no_row_has_do_not_count():
    data = lf.datasets.load("hiv-tests")
    more = with_levels(data, 2)
    with pytest.warns(UnobservedStatesWarning, match="column 'A': 'never'; column 'B': 'never'"):
        model = lf.LatentClass(2, random_state=0).fit(more)
    plain = lf.LatentClass(2, random_state=0).fit(data)
    assert model.n_parameters_ == model.network_.dimension == 9
    assert model.bic_ == plain.bic_
    for fit in (model.goodness_, lf.goodness_of_fit(model.network_, more).to_table()):
        assert fit["df"][0] == 6
        assert round(fit["p"][0], 3) == 0.013
    assert model.fit_table_["df"][0] == 6
    assert model.network_.structure.states("A") == more.variables[0].states
    assert np.all(model.network_.cpd("A")[:, -1] == 0)
    assert np.all(model.predictive_network_.cpd("A") > 0)


@pytest.mark.parametrize(
    "learner",
    [
        lf.Independence(),
        lf.ChowLiu(),
        lf.BayesianNetworkSearch(),
        lf.BridgedIslands(random_state=0),
        lf.StructuralEM(),
        lf.GeneralizedLatentClass(random_state=0),
        lf.EAST(random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_declared_states_change_no_learner(learner):
    data = lf.datasets.load("hiv-tests")
    more = with_levels(data, 2)
    row = {name: ["never" if name in "AB" else "0"] for name in data.names}
    row |= {v.name: [v.states[0]] for v in data.variables[2:]}
    plain = learner.fit(data)
    expected = (plain.n_parameters_, plain.bic_)
    with pytest.warns(UnobservedStatesWarning):
        model = learner.fit(more)
    assert (model.n_parameters_, model.network_.dimension) == (expected[0], expected[0])
    np.testing.assert_allclose(model.bic_, expected[1], rtol=1e-12)
    assert np.isfinite(model.score_samples(row)).all()


def test_states_of_which_the_prior_has_a_share_are_named():
    more = with_levels(lf.datasets.load("hiv-tests"), 2)
    with pytest.warns(UnobservedStatesWarning, match="count as parameters, .* 'A': 'never'"):
        lf.IncrementalForest(random_state=0).fit(more)


def test_a_fold_without_a_state_is_no_trouble():
    data = Dataset([Variable("a", ("x", "y", "z"))], [[0] * 6 + [1] * 5 + [2]])
    result = lf.cross_validate(lf.Independence(), data, folds=12)
    assert np.isfinite(result.log_likelihoods).all()


def test_a_sorted_file_does_not_mislead_folds():
    data = lf.datasets.load("role-conflict")
    order = np.lexsort(data.columns)[::-1]
    first, second = (
        lf.LatentClass(2, random_state=0, smoothing="cv").fit(each).predictive_network_
        for each in (data, data.take(order))
    )
    np.testing.assert_allclose(first.parameters, second.parameters, rtol=1e-6)


@pytest.mark.parametrize("learner", [lf.ChowLiu(), lf.BayesianNetworkSearch()])
def test_scores_do_not_depend_on_the_order_of_rows_and_columns(learner):
    rng = np.random.default_rng(3)
    kind = rng.integers(3, size=60)
    table = {"k": kind.astype(str), "x": kind + rng.normal(size=60), "y": rng.normal(size=60)}
    order = rng.permutation(60)
    turned = {name: table[name][order] for name in reversed(table)}
    expected = learner.fit(table).score_samples(table)[order]
    np.testing.assert_allclose(learner.fit(turned).score_samples(turned), expected, rtol=1e-8)


def test_what_is_shown_and_drawn_is_reported():
    data = {"a": ["x"] * 5 + ["y"] * 5, "b": ["u"] * 5 + ["v"] * 5}
    model = lf.ChowLiu(smoothing=1).fit(data)
    drawn = model.sample(200, random_state=0)
    assert np.array_equal(drawn.column("a"), drawn.column("b"))
    assert model.network_.query("b", {"a": "x"}).values.tolist() == [1.0, 0.0]
    assert model.predictive_network_.query("b", {"a": "x"}).values[1] > 0


def test_a_prior_is_maximum_a_posteriori():
    model = lf.Independence(prior=2, smoothing=0).fit({"a": ["x", "x", "x", "y"]})
    np.testing.assert_allclose(model.network_.cpd("a"), [5 / 8, 3 / 8])


def test_values_that_were_never_declared_count_as_missing_and_are_noted():
    model = lf.Independence().fit({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    rows = {"a": ["z", "x"], "b": ["u", "u"]}
    with pytest.warns(lf.errors.UnseenStatesWarning):
        notes, scores = model.row_notes(rows), model.score_samples(rows)
    assert notes.tolist() == ["unseen", ""]
    assert np.exp(scores[0]) == pytest.approx(0.5)


def test_a_column_without_any_value_is_left_out():
    table = {"a": ["x", "y"] * 5, "b": [None] * 10}
    with pytest.warns(lf.errors.DataWarning, match="'b'"):
        model = lf.Independence().fit(table)
    assert list(model.left_out_) == ["b"]
    assert model.network_.names == ("a",)
