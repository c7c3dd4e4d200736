import warnings

import numpy as np
import pytest

from latentforest import (
    ConfirmatoryModel,
    Dataset,
    Independence,
    LatentClass,
    Variable,
    cross_validate,
    datasets,
)
from latentforest.datasets.generate import random_latent_class
from latentforest.errors import LatentForestWarning, ParameterError
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.learners.registry import LEARNERS
from latentforest.scores import hold_out
from latentforest.scores.validation import ValidationResult, split_weights

ROWS = random_latent_class(4, 2, random_state=0).sample(40, random_state=0)
SMOOTH = Independence(smoothing=1)


def test_hold_out_by_hand():
    a = Variable("a", ("x", "y"))
    train, test = Dataset([a], [[0, 0, 1]]), Dataset([a], [[0, 1]], [2.0, 3.0])
    expected = 2 * np.log(2 / 3) + 3 * np.log(1 / 3)
    assert hold_out(Independence(smoothing=0), train, test) == pytest.approx(expected)


def test_hold_out_leaves_the_learner_alone():
    learner = Independence(smoothing=1)
    hold_out(learner, ROWS, ROWS)
    assert not hasattr(learner, "network_")


def test_a_pattern_that_training_never_saw_is_impossible_without_smoothing():
    a = Variable("a", ("x", "y"))
    train, test = Dataset([a], [[0, 0]]), Dataset([a], [[1]])
    assert hold_out(Independence(smoothing=0), train, test) == -np.inf
    assert hold_out(SMOOTH, train, test) == pytest.approx(np.log(1 / 4))


def test_an_impossible_row_of_weight_zero_does_not_count():
    a = Variable("a", ("x", "y"))
    train, test = Dataset([a], [[0, 0]]), Dataset([a], [[0, 1]], [1.0, 0.0])
    assert hold_out(Independence(smoothing=0), train, test) == 0.0


def test_rows_are_predicted_with_the_predictive_parameters():
    labels = np.arange(40) % 2
    result = cross_validate(LatentClass(2, random_state=0), ROWS, labels)
    for fold, value in enumerate(result.log_likelihoods):
        model = LatentClass(2, random_state=0).fit(ROWS.take(labels != fold))
        rows = PatternedData(ROWS.take(labels == fold))
        assert value == pytest.approx(Rows(model.predictive_network_, rows).log_likelihood())
        assert value != pytest.approx(Rows(model.network_, rows).log_likelihood(), abs=0.01)


def test_folds_given_as_labels():
    labels = np.array(["b", "a", "c", "a"] * 10)
    result = cross_validate(SMOOTH, ROWS, labels)
    assert result.fold_names == ("b", "a", "c")
    assert result.weights.tolist() == [10.0, 20.0, 10.0]
    for name, value in zip(result.fold_names, result.log_likelihoods, strict=True):
        test = labels == name
        assert value == pytest.approx(hold_out(SMOOTH, ROWS.take(~test), ROWS.take(test)))


def test_folds_by_number_are_even():
    result = cross_validate(SMOOTH, ROWS, 3)
    assert result.fold_names == (0, 1, 2)
    assert sorted(result.weights) == [13.0, 13.0, 14.0]


def test_ten_folds_unless_told_otherwise():
    assert cross_validate(SMOOTH, ROWS).weights.tolist() == [4.0] * 10


def test_leaving_one_row_out():
    result = cross_validate(SMOOTH, ROWS, 40)
    assert result.weights.tolist() == [1.0] * 40


def test_the_seed_decides_the_folds():
    a, b, c = (cross_validate(SMOOTH, ROWS, 4, random_state=s).log_likelihoods for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_weights_count():
    weighted = ROWS.with_weights(np.full(40, 2.5))
    result = cross_validate(Independence(smoothing=2.5), weighted, 4)
    plain = cross_validate(SMOOTH, ROWS, 4)
    np.testing.assert_allclose(result.log_likelihoods, 2.5 * plain.log_likelihoods)
    assert result.mean_per_row == pytest.approx(plain.mean_per_row)


def test_means():
    result = ValidationResult((0, 1), np.array([-10.0, -30.0]), np.array([5.0, 15.0]))
    assert result.mean_per_row == -2.0
    assert result.mean_per_fold == -20.0


def test_frames_are_taken_too():
    columns = ROWS.to_columns()
    assert cross_validate(SMOOTH, columns, 4).mean_per_row == pytest.approx(
        cross_validate(SMOOTH, ROWS, 4).mean_per_row
    )


def test_states_of_the_whole_table_are_known_in_every_fold():
    data = {"a": ["x"] * 5 + ["y"] * 5, "b": ["u", "v"] * 5}
    with pytest.warns(match="single observed value"):
        result = cross_validate(SMOOTH, data, [0] * 5 + [1] * 5)
    assert np.isfinite(result.log_likelihoods).all()


def test_cross_validation_prefers_the_true_number_of_classes():
    rows = random_latent_class(6, 2, strength=0.8, random_state=1).sample(300, random_state=1)
    one, two, five = (
        cross_validate(LatentClass(k, smoothing=0.5, n_starts=4, random_state=0), rows, 3)
        for k in (1, 2, 5)
    )
    assert two.mean_per_row > max(one.mean_per_row, five.mean_per_row)


def test_a_published_table_has_one_row_for_each_pattern():
    hiv = datasets.load("hiv-tests")
    assert cross_validate(SMOOTH, hiv, 9, random_state=3).weights.sum() == 428


@pytest.mark.parametrize("folds", [0, 1, -3, 41])
def test_numbers_of_folds_that_make_no_sense(folds):
    with pytest.raises(ParameterError, match=f"between 2 and the 40 rows, got {folds}"):
        cross_validate(SMOOTH, ROWS, folds)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([0, 1], r"folds has shape \(2,\), expected one label for 40 rows"),
        (np.zeros((40, 1)), r"folds has shape \(40, 1\)"),
        (5.0, r"folds has shape \(\)"),
        ("fold", r"folds has shape \(\)"),
        ([1] * 40, "folds must have at least two different labels"),
    ],
)
def test_labels_of_folds_that_make_no_sense(folds, message):
    with pytest.raises(ParameterError, match=message):
        cross_validate(SMOOTH, ROWS, folds)


def test_rows_without_a_label():
    with pytest.raises(ParameterError, match="folds"):
        cross_validate(SMOOTH, ROWS, [1.0] * 20 + [2.0] * 10 + [np.nan] * 10)


@pytest.mark.parametrize("n_folds", [2, 3, 7])
def test_rows_are_dealt_out_evenly(n_folds):
    _, parts = split_weights(ROWS, n_folds, 1)
    sizes = [part.sum() for part in parts]
    assert sum(sizes) == 40
    assert max(sizes) - min(sizes) <= 1


def test_counts_are_dealt_out_as_observations():
    a = Variable("a", ("x", "y"))
    _, parts = split_weights(Dataset([a], [[0, 1]], [30.0, 6.0]), 3, 0)
    np.testing.assert_array_equal(sum(parts), [30, 6])
    assert [part.sum() for part in parts] == [12, 12, 12]


def test_counted_rows_score_like_repeated_rows():
    table = datasets.load("coleman-panel")
    codes = [np.repeat(column, table.weights.astype(int)) for column in table.columns]
    people = Dataset(table.variables, codes)
    counted = cross_validate(SMOOTH, table, 5).mean_per_row
    assert counted == pytest.approx(cross_validate(SMOOTH, people, 5).mean_per_row, abs=5e-3)


def test_an_interrupted_fold_ends_the_validation(monkeypatch):
    fit = Independence.fit

    def fit_interrupted(self, X, y=None, sample_weight=None):
        model = fit(self, X, y, sample_weight)
        model.interrupted_ = True
        return model

    monkeypatch.setattr(Independence, "fit", fit_interrupted)
    with pytest.raises(KeyboardInterrupt):
        cross_validate(SMOOTH, ROWS, 2)


@pytest.mark.parametrize("entry", LEARNERS, ids=lambda entry: entry.name)
def test_every_learner_can_be_validated(entry):
    learner = entry.load()(**entry.quick)
    known = learner.get_params()
    settings = {"random_state": 0, "smoothing": 1.0}
    learner.set_params(**{name: settings[name] for name in settings if name in known})
    rows = random_latent_class(5, 2, random_state=2).sample(60, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LatentForestWarning)
        result = cross_validate(learner, rows, 2)
    assert np.isfinite(result.log_likelihoods).all()
    assert result.weights.sum() == 60


@pytest.mark.parametrize("text", ["X[2] -> X1, X2, X3, X4", "X1 -> X2; X1, X2 -> X3; X4"])
def test_a_given_structure_can_be_validated(text):
    learner = ConfirmatoryModel(text, smoothing=1, n_starts=4, random_state=0)
    result = cross_validate(learner, ROWS, 4)
    assert np.isfinite(result.log_likelihoods).all()
    train, test = ROWS.take(np.arange(30)), ROWS.take(np.arange(30, 40))
    fitted = ConfirmatoryModel(text, smoothing=1, n_starts=4, random_state=0).fit(train)
    assert hold_out(learner, train, test) == pytest.approx(10 * fitted.score(test))


def test_a_warning_of_the_table_is_given_once():
    data = {"a": ["x", "y"] * 6, "b": ["u"] * 12}
    with pytest.warns(LatentForestWarning, match="single observed value") as said:
        cross_validate(SMOOTH, data, 3)
    assert len(said) == 1
