"""The learners as scikit-learn estimators."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from latentforest import (
    BinaryForest,
    IncrementalForest,
    Independence,
    IndependentClusterings,
    LatentClass,
    RecursiveGrouping,
    StructuralEM,
    datasets,
)
from latentforest.datasets.generate import random_latent_class
from latentforest.learners.registry import LEARNERS

SEVERAL = (
    BinaryForest | RecursiveGrouping | IncrementalForest | IndependentClusterings | StructuralEM
)


def find_expected_failures(estimator):
    """Checks that are not for a list of posteriors, for neighbours, or for sparse counts."""
    failures = {
        "check_sample_weight_equivalence_on_sparse_data": "has fractions: sparse means counts"
    }
    if isinstance(estimator, SEVERAL):
        reason = "wants one array: posteriors of a forest are a list"
        failures["check_methods_sample_order_invariance"] = reason
    if hasattr(estimator, "predict_proba"):
        for kind in ("array", "matrix"):
            failures[f"check_estimator_sparse_{kind}"] = (
                "takes posteriors for those of a classifier"
            )
    if getattr(estimator, "candidate_pairs", None) and isinstance(estimator, IncrementalForest):
        reason = "nearest neighbours of repeated rows are these rows, whatever their weights"
        failures["check_sample_weight_equivalence_on_dense_data"] = reason
    return failures


@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
@parametrize_with_checks(
    [*(entry.load()(**entry.quick) for entry in LEARNERS), IncrementalForest(max_states=2)],
    expected_failed_checks=find_expected_failures,
)
def test_common_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def answers():
    """Answers of 300 people, and the class that each belongs to."""
    network = random_latent_class(6, 2, n_states=3, strength=0.8, random_state=3)
    drawn = network.sample(300, random_state=3, latents=True)
    frame = pd.DataFrame(drawn.select(network.observed).to_columns())
    return frame, drawn.column("Y1").astype(int)


def test_before_a_classifier(answers):
    frame, y = answers
    pipeline = make_pipeline(LatentClass(2, random_state=0), LogisticRegression())
    assert pipeline.fit(frame, y).score(frame, y) > 0.9


def test_grid_search_over_the_number_of_classes(answers):
    frame, _ = answers
    learner = LatentClass(2, smoothing=1, n_starts=8, random_state=0)
    search = GridSearchCV(learner, {"n_states": [1, 2, 3]}, cv=3).fit(frame)
    assert search.best_params_ == {"n_states": 2}
    assert search.best_estimator_.n_states_ == 2


def test_cross_val_score_is_a_mean_per_row(answers):
    frame, _ = answers
    scores = cross_val_score(Independence(prior=1), frame, cv=3)
    assert np.all((scores > -7) & (scores < -3))


def test_a_clone_has_the_settings_but_is_not_fitted():
    model = LatentClass((2, 3), criterion="aic", prior={"A": 1}, random_state=4)
    fitted = model.fit(datasets.load("role-conflict"))
    copy = clone(fitted)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "network_")


def test_settings_can_be_set():
    model = LatentClass().set_params(n_states=3, n_starts=2)
    assert (model.n_states, model.n_starts) == (3, 2)


@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_a_saved_estimator_predicts_the_same(answers, how, tmp_path):
    frame, _ = answers
    model = LatentClass(2, random_state=0).fit(frame)
    if how == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.network_ == model.network_
    assert str(again.fit_table_) == str(model.fit_table_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_transform_to_a_frame(answers, library):
    frame, _ = answers
    model = LatentClass(2, random_state=0).set_output(transform=library).fit(frame)
    result = model.transform(frame)
    assert type(result).__module__.startswith(library)
    assert list(result.columns) == ["class=1", "class=2"] == list(model.get_feature_names_out())
    np.testing.assert_array_equal(result.to_numpy(), model.predict_proba(frame))


def test_transform_keeps_the_index_of_a_pandas_frame(answers):
    frame = answers[0].set_axis([f"person {i}" for i in range(300)])
    model = LatentClass(2, random_state=0).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).index.tolist() == frame.index.tolist()


def test_fit_transform_and_fit_predict(answers):
    frame, _ = answers
    model = LatentClass(2, random_state=0)
    posteriors = model.fit_transform(frame)
    np.testing.assert_array_equal(posteriors, model.predict_proba(frame))
    np.testing.assert_array_equal(model.fit_predict(frame), posteriors.argmax(axis=1))


def test_names_are_forgotten_with_the_table_that_had_them(answers):
    frame, _ = answers
    model = LatentClass(2, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 6
    model.fit(frame.to_numpy())
    assert not hasattr(model, "feature_names_in_")


def test_refitting_does_not_remember(answers):
    frame, _ = answers
    role = datasets.load("role-conflict")
    once = LatentClass(2, random_state=0).fit(role)
    twice = LatentClass(2, random_state=0).fit(frame).fit(role)
    assert once.network_ == twice.network_
    assert set(vars(once)) == set(vars(twice))


def test_printing():
    model = LatentClass(2, random_state=0)
    assert str(model) == repr(model) == "LatentClass(n_states=2, random_state=0)"
    text = str(model.fit(datasets.load("role-conflict")))
    assert text.startswith("LatentClass: log-likelihood -504.47, 9 parameters, BIC -528.66\n")
    assert "class (latent, 2 states: 0.72 0.28)" in text
