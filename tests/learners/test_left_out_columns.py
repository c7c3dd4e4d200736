"""Columns that fitting leaves out, and recipes on their way into model files."""

import inspect
import pickle

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import DataError, DataWarning, FileFormatWarning
from latentforest.learners.registry import LEARNERS

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 80))
each = pytest.mark.parametrize("entry", LEARNERS, ids=lambda entry: entry.name)


def make(entry):
    learner = entry.load()
    has_seed = "random_state" in inspect.signature(learner).parameters
    return learner(**entry.quick, **({"random_state": 0} if has_seed else {}))


@each
def test_constant_numbers_are_left_out(entry):
    learner = make(entry)
    table = {"a": A, "same": np.full(80, 2.5), "b": B}
    with pytest.warns(DataWarning, match=r"no density and are left out: 'same' \(2.5\)"):
        model = learner.fit(table)
    assert model.left_out_ == {"same": "one number only: 2.5"}
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "same", "b"]
    bic = model.bic_
    assert learner.fit({"a": A, "b": B}).bic_ == bic


def test_whole_numbers_that_floats_do_not_tell_apart():
    table = {"a": A, "key": np.arange(80) + 2**60, "b": B}
    with pytest.warns(DataWarning, match=r"same 64-bit float .*'key'.*'categorical'"):
        model = lf.Independence().fit(table)
    assert model.left_out_ == {"key": "one number only as 64-bit floats: 1.152921505e+18"}
    data = lf.Dataset.from_table(table, kinds={"key": "categorical"})
    assert data.variable("key").n_states == 80


def test_arrays_by_position_keep_their_columns():
    X = np.column_stack([A, np.full(80, 2.5), B])
    with pytest.warns(DataWarning, match="'x1'"):
        model = lf.ChowLiu().fit(X)
    plain = lf.ChowLiu().fit(X[:, [0, 2]])
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.score_samples(X), plain.score_samples(X[:, [0, 2]]))
    np.testing.assert_array_equal(
        model.predict_column(X, "x2"), plain.predict_column(X[:, [0, 2]], "x1")
    )
    with pytest.raises(ValueError, match="X has 2 features, but ChowLiu is expecting 3"):
        model.score_samples(X[:, [0, 2]])


def test_rows_of_positive_weight_decide():
    table = {"a": A, "b": np.where(np.arange(80) < 40, 1.5, B), "k": ["x", "y"] * 40}
    with pytest.warns(DataWarning, match="'b'"):
        model = lf.Independence().fit(table, sample_weight=np.arange(80) < 40)
    assert model.network_.observed == ("a", "k")


@pytest.mark.filterwarnings("ignore::latentforest.errors.DataWarning")
def test_folds_in_which_a_column_is_constant():
    table = {"a": A, "b": np.where(np.arange(80) < 40, 1.5, B)}
    result = lf.cross_validate(lf.Independence(), table, np.repeat([0, 1], 40))
    assert np.isfinite(result.log_likelihoods).all()


def test_nothing_is_left():
    with pytest.raises(DataError, match="no column of the table has anything to model in 2 sampl"):
        lf.Independence().fit({"a": [1.5, 1.5], "b": [2.5, 2.5]})


@each
@pytest.mark.filterwarnings("ignore::latentforest.errors.VarianceWarning")
def test_linear_functions_are_named_by_every_learner(entry):
    expected = r"linear functions of others, .*: 'total' \(of 'a', 'b'\); .*exclude=\['total'\]"
    with pytest.warns(DataWarning, match=expected):
        make(entry).fit({"a": A, "b": B, "total": A + B})


def test_recipes_travel_with_the_network(tmp_path):
    recipe = lf.Recipe(labels={"k": {"1": "one", "2": "two"}}, missing=["-99"], weight="wt")
    table = {"k": [1, 2] * 20, "x": [*np.arange(39) / 7, -99.0], "wt": [1.5] * 40}
    model = lf.LatentClass(2, n_starts=2, random_state=0)
    model.fit(lf.Dataset.from_table(table, recipe=recipe))
    assert model.network_.recipe == recipe
    rows = model.score_samples(table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).score_samples(table), rows)
    path = tmp_path / "model.json"
    model.network_.save(path)
    again = lf.load(path)
    assert again.recipe == recipe
    assert again == model.network_
    np.testing.assert_array_equal(lf.Predictor(again).score_samples(table), rows)
    forest = lf.IncrementalForest(random_state=0).fit({"k": ["a", "b"] * 9}).network_
    assert type(forest.with_recipe(recipe)) is type(forest)
    coin = lf.Independence().fit(lf.Dataset.from_table({"k": [1, 2, -9]}, missing=[-9])).network_
    with pytest.warns(FileFormatWarning, match="does not keep .*how tables are to be read"):
        lf.save(coin, tmp_path / "coin.bif")


def test_damaged_recipes(tmp_path):
    path = tmp_path / "model.json"
    lf.Independence().fit({"k": ["a", "b"]}).network_.save(path)
    text = path.read_text().rstrip()[:-1]
    for entry, message in (("3", "recipe: expected an object"), ('{"x": 1}', "no entry 'x'")):
        path.write_text(f'{text}, "recipe": {entry}}}')
        with pytest.raises(lf.errors.FileFormatError, match=message):
            lf.load(path)
