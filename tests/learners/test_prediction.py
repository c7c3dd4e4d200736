"""Scores, posteriors and samples of fitted learners, for tables of all kinds."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from latentforest import Dataset, Independence, LatentClass, Variable, datasets
from latentforest.errors import DataError, UnobservedStatesWarning, UnseenStatesWarning
from reference.reported import reported

COLUMNS = {
    "party": ["left", "right", "left", "none", "right", "left", "none", "right"],
    "vote": ["yes", "no", "yes", "no", "no", "yes", "yes", "no"],
    "news": ["tv", "web", "web", "web", "tv", "tv", "web", "web"],
}
FRAME = pd.DataFrame(COLUMNS)


@pytest.fixture(scope="module")
def model():
    return LatentClass(2, prior=0.5, random_state=0).fit(FRAME)


def as_dict(row):
    return {name: value for name, value in row.items() if value is not None}


def test_posteriors_are_those_of_the_network(model):
    for row, posterior in zip(FRAME.to_dict("records"), model.predict_proba(FRAME), strict=True):
        np.testing.assert_allclose(posterior, model.network_.query("class", row))


def test_log_likelihoods_are_those_of_the_network(model):
    expected = [model.network_.log_probability(row) for row in FRAME.to_dict("records")]
    np.testing.assert_allclose(reported(model).score_samples(FRAME), expected)


def test_values_that_are_missing_are_summed_over(model):
    row = {"party": None, "vote": "yes", "news": None}
    table = {name: [value] for name, value in row.items()}
    np.testing.assert_allclose(
        model.predict_proba(table)[0], model.network_.query("class", as_dict(row))
    )
    assert reported(model).score_samples(table)[0] == pytest.approx(
        model.network_.log_probability(as_dict(row))
    )


def test_every_row_has_a_posterior():
    holes = FRAME.mask(np.random.default_rng(0).random(FRAME.shape) < 0.5)
    holes.iloc[3] = None
    posterior = LatentClass(3, random_state=0).fit(holes).predict_proba(holes)
    assert posterior.shape == (8, 3)
    assert np.all(posterior >= 0)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_row_that_the_model_holds_impossible_has_a_posterior():
    variables = [Variable("a", ("x", "y", "z")), Variable("b", ("u", "v"))]
    model = LatentClass(2, random_state=0).fit(Dataset(variables, [[0, 1, 0], [0, 1, 0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = model.predict_proba(Dataset(variables, [[2], [0]]))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)


def test_predictions_are_the_most_probable_classes(model):
    np.testing.assert_array_equal(model.predict(FRAME), model.predict_proba(FRAME).argmax(axis=1))


def test_predictions_are_codes_of_shape_n_rows(model):
    predicted = model.predict(FRAME)
    assert predicted.shape == (8,)
    assert predicted.dtype.kind == "i"


def test_score_is_the_weighted_mean(model):
    values, weights = model.score_samples(FRAME), np.arange(1.0, 9.0)
    assert model.score(FRAME) == pytest.approx(values.mean())
    expected = np.average(values, weights=weights)
    assert model.score(FRAME, sample_weight=weights) == pytest.approx(expected)
    dataset = Dataset.from_table(FRAME).with_weights(weights)
    assert model.score(dataset) == pytest.approx(expected)


def test_score_of_the_training_rows_is_the_likelihood():
    hiv = datasets.load("hiv-tests")
    model = LatentClass(2, random_state=0).fit(hiv)
    assert reported(model).score(hiv) * 428 == pytest.approx(model.log_likelihood_)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_impossible_rows_have_minus_infinity():
    variables = [Variable("a", ("x", "y"))]
    with pytest.warns(UnobservedStatesWarning):
        model = Independence(smoothing=0).fit(Dataset(variables, [[0, 0]]))
    both = Dataset(variables, [[0, 1]])
    assert model.score_samples(both).tolist() == [0.0, -np.inf]
    assert model.score(both) == -np.inf
    assert model.score(both, sample_weight=[1, 0]) == 0.0


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan])
def test_weights_of_a_score_that_make_no_sense(model, weight):
    with pytest.raises(ValueError, match="weight"):
        model.score(FRAME, sample_weight=np.full(8, weight))


def test_weights_of_a_score_must_fit_the_rows(model):
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\), expected \(8,\)"):
        model.score(FRAME, sample_weight=[1, 2])


# Tables of all kinds


@pytest.mark.parametrize(
    "convert",
    [
        pl.DataFrame,
        lambda columns: pl.DataFrame(columns).lazy(),
        lambda columns: pl.DataFrame(columns).to_arrow(),
        lambda columns: pd.DataFrame(columns).astype("category"),
        Dataset.from_table,
        dict,
        lambda columns: pd.DataFrame(columns).to_numpy(),
        lambda columns: pd.DataFrame(columns).to_numpy().tolist(),
    ],
    ids=["polars", "lazy", "arrow", "category", "dataset", "dict", "array", "list"],
)
def test_the_kind_of_table_does_not_matter(model, convert):
    table = convert(COLUMNS)
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(FRAME))
    again = LatentClass(2, prior=0.5, random_state=0).fit(table)
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(FRAME))


def test_columns_are_found_by_name(model):
    turned = FRAME[["news", "vote", "party"]].assign(age=[33.5] * 8)
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(FRAME))


def test_a_dataset_with_states_in_another_order(model):
    turned = Dataset.from_table(
        FRAME, states={"party": ["right", "none", "left"], "vote": ["yes", "no"]}
    )
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(FRAME))


def test_a_missing_column_is_named(model):
    with pytest.raises(DataError, match="the table lacks the column 'news'; it has 'party'"):
        model.predict(FRAME[["party", "vote"]])


def test_an_array_of_another_width(model):
    with pytest.raises(ValueError, match="X has 2 features, but LatentClass is expecting 3"):
        model.predict(FRAME.to_numpy()[:, :2])


def test_states_never_seen_count_as_missing(model):
    row = pd.DataFrame({"party": ["green"], "vote": ["yes"], "news": ["tv"]})
    with pytest.warns(UnseenStatesWarning, match="column 'party': 'green'"):
        posterior = model.predict_proba(row)
    np.testing.assert_allclose(posterior, model.predict_proba(row.assign(party=None)))


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "transform", "score", "score_samples"]
)
def test_fit_comes_first(method):
    with pytest.raises(NotFittedError, match="LatentClass instance is not fitted yet"):
        getattr(LatentClass(2), method)(FRAME)


@pytest.mark.parametrize("method", ["sample", "get_feature_names_out"])
def test_fit_comes_first_without_rows_too(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(LatentClass(2), method)()


# Samples


@pytest.mark.parametrize("learner", [LatentClass(2, random_state=0), Independence()])
def test_samples_look_like_the_table(learner):
    sample = learner.fit(FRAME).sample(50, random_state=1)
    assert sample.n_rows == 50
    assert sample.variables == Dataset.from_table(FRAME).variables
    assert not sample.has_missing
    assert np.isfinite(learner.score_samples(sample)).all()


def test_samples_follow_the_seed(model):
    a, b, c = (model.sample(30, random_state=s).columns for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_one_row_unless_told_otherwise(model):
    assert model.sample().n_rows == 1


@pytest.mark.parametrize("n_samples", [0, -1, 1.5])
def test_samples_are_counted(model, n_samples):
    with pytest.raises(ValueError, match=f"whole number of at least 1, got {n_samples}"):
        model.sample(n_samples)
