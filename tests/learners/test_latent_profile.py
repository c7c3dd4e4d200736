"""Latent class analysis of continuous and mixed tables."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture

from latentforest import Dataset, LatentClass, Network, Variable, cross_validate, load
from latentforest.datasets.generate import with_missing
from latentforest.errors import DataWarning, VarianceWarning
from reference.mixed_em import enumerate_mixed, mixed_em_step
from reference.reported import reported


@pytest.fixture(scope="module")
def truth():
    """Three classes over three measurements and two questions."""
    variables = [
        Variable.hidden("kind", 3),
        Variable("length"),
        Variable("colour", ("red", "green", "blue")),
        Variable("width"),
        Variable("weight"),
        Variable("wild", ("no", "yes")),
    ]
    tables = {
        "kind": [0.5, 0.3, 0.2],
        "length": [[1.0, 0.1], [2.0, 0.2], [4.0, 0.1]],
        "width": [[0.0, 1.0], [4.0, 1.0], [2.0, 4.0]],
        "weight": [[50.0, 100.0], [40.0, 400.0], [90.0, 25.0]],
        "colour": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
        "wild": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]],
    }
    parents = {variable.name: "kind" for variable in variables[1:]}
    return Network.from_tables(variables, parents, tables)


@pytest.fixture(scope="module")
def table(truth):
    return truth.sample(600, random_state=1)


@pytest.fixture(scope="module")
def model(table):
    return LatentClass(3, random_state=0).fit(table)


def learn(data, n_states=2, **settings):
    return LatentClass(n_states, **{"random_state": 0, **settings}).fit(data)


# Recovery


def test_classes_are_recovered(truth, table):
    model = learn(table, "greedy")
    assert model.n_states_ == 3
    np.testing.assert_allclose(model.class_sizes_, [0.5, 0.3, 0.2], atol=0.05)
    for name in truth.structure.continuous:
        found, expected = model.network_.cpd(name), truth.cpd(name)
        error = np.abs(found[:, 0] - expected[:, 0]) / np.sqrt(expected[:, 1])
        assert error.max() < 0.4
        np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=0.4)
    np.testing.assert_allclose(model.network_.cpd("colour"), truth.cpd("colour"), atol=0.1)


def test_missing_values_do_not_prevent_recovery(truth, table):
    model = learn(with_missing(table, 0.2, random_state=0), 3)
    means = model.network_.cpd("length")[:, 0]
    np.testing.assert_allclose(means, [1.0, 2.0, 4.0], atol=0.15)


def test_the_result_is_a_fixed_point_of_em(table):
    data = with_missing(table.take(np.arange(100)), 0.1, random_state=1)
    model = learn(data, 2, tolerance=1e-13)
    again = mixed_em_step(model.network_, data)
    np.testing.assert_allclose(again.parameters, model.network_.parameters, rtol=1e-4, atol=1e-5)
    values, _ = enumerate_mixed(model.network_, data)
    assert model.log_likelihood_ == pytest.approx(values.sum(), rel=1e-10)


@pytest.mark.parametrize("n_states", [1, 2, 3])
def test_at_least_as_good_as_scikit_learn(truth, table, n_states):
    data = table.select(truth.structure.continuous)
    x = np.stack(data.columns, axis=1)
    peer = GaussianMixture(n_states, covariance_type="diag", n_init=5, random_state=0, tol=1e-8)
    expected = 600 * peer.fit(x).score(x)
    found = learn(data, n_states).log_likelihood_
    assert found >= expected - 1e-3
    if n_states == 1:
        assert found == pytest.approx(expected, rel=1e-6)


# The interface


def test_the_fit_table(table):
    model = learn(table, (1, 3))
    d = [3 * 2 + 2 + 1, 2 * 9 + 1, 3 * 9 + 2]
    assert model.fit_table_["n_parameters"] == d
    for k in range(3):
        expected = model.fit_table_["log_likelihood"][k] - d[k] / 2 * math.log(600)
        assert model.fit_table_["bic"][k] == pytest.approx(expected)
        assert math.isnan(model.fit_table_["g_squared"][k])
    assert model.fit_table_["largest_residual"][0] > model.fit_table_["largest_residual"][2]
    assert list(model.bivariate_residuals_["first"]) == ["colour"]


def test_one_class_is_the_independence_of_the_columns(table):
    model = learn(table, 1)
    for name in ("length", "width", "weight"):
        x = table.column(name)
        np.testing.assert_allclose(model.network_.cpd(name), [[x.mean(), x.var()]], rtol=1e-9)


def test_prediction(truth, table, model):
    posterior = model.predict_proba(table)
    expected = np.array(
        [
            model.network_.query("class", {n: table.decode(n)[i] for n in table.names})
            for i in range(40)
        ]
    )
    np.testing.assert_allclose(posterior[:40], expected, atol=1e-10)
    assert np.array_equal(model.predict(table), posterior.argmax(axis=1))
    drawn = truth.sample(600, random_state=1, latents=True).column("kind")
    assert np.mean(model.predict(table) == drawn) > 0.9
    assert reported(model).score(table) == pytest.approx(model.log_likelihood_ / 600, rel=1e-10)


def test_rows_are_scored_one_by_one_as_together(table, model):
    together = model.score_samples(table)
    for row in (0, 17, 599):
        assert model.score_samples(table.take([row]))[0] == pytest.approx(together[row], rel=1e-12)


def test_missing_values_are_left_out_of_scores(table, model):
    row = {name: table.decode(name)[:1] for name in table.names}
    row["weight"] = [None]
    row["colour"] = [None]
    seen = {n: table.decode(n)[0] for n in ("length", "width", "wild")}
    expected = model.network_.log_probability(seen)
    assert reported(model).score_samples(row)[0] == pytest.approx(expected)


def test_samples_look_like_the_table(table, model):
    drawn = model.sample(2000, random_state=0)
    assert drawn.variables == table.variables
    for name in ("length", "width", "weight"):
        x, y = table.column(name), drawn.column(name)
        assert abs(x.mean() - y.mean()) < 0.15 * x.std()
        assert y.std() == pytest.approx(x.std(), rel=0.1)


def test_frames_and_arrays(table):
    frame = pd.DataFrame(table.to_columns())
    by_frame = learn(frame, 2)
    assert by_frame.log_likelihood_ == pytest.approx(learn(table, 2).log_likelihood_, abs=1e-6)
    assert by_frame.predict(frame[frame.columns[::-1]]).tolist() == by_frame.predict(frame).tolist()
    numbers = frame[["length", "width"]].to_numpy()
    model = learn(numbers, 2)
    assert model.predict_proba(numbers).shape == (600, 2)
    with pytest.raises(ValueError, match="X has 1 features, but LatentClass is expecting 2"):
        model.predict(numbers[:, :1])


def test_saved_and_printed(model, tmp_path):
    model.network_.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == model.network_
    assert json.loads((tmp_path / "model.json").read_text())["version"] == 2
    assert "length (continuous), colour (3)" in str(model)


def test_cross_validation_chooses_the_number_of_classes(table):
    model = learn(table, (1, 4), criterion="cv", folds=3, n_starts=8)
    assert model.n_states_ == 3
    result = cross_validate(LatentClass(3, prior=1, random_state=0), table, 3, 0)
    assert np.all(np.isfinite(result.log_likelihoods))


# What must not matter


def test_threads_do_not_matter(table):
    one, two = (learn(table, 3, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.network_ == two.network_


def test_the_order_of_rows_does_not_matter(table):
    order = np.random.default_rng(0).permutation(600)
    assert learn(table.take(order), 3).log_likelihood_ == pytest.approx(
        learn(table, 3).log_likelihood_, abs=1e-5
    )


def test_units_change_nothing_but_the_log_likelihood(table):
    columns = [
        1000.0 * table.column(n) if n in ("length", "width") else table.column(n)
        for n in table.names
    ]
    other = Dataset(table.variables, columns)
    plain, scaled = (learn(each, (1, 4)) for each in (table, other))
    assert plain.n_states_ == scaled.n_states_
    shift = 2 * 600 * math.log(1000.0)
    np.testing.assert_allclose(
        scaled.fit_table_["log_likelihood"],
        np.array(plain.fit_table_["log_likelihood"]) - shift,
        atol=1e-4,
    )
    assert np.array_equal(plain.predict(table), scaled.predict(other))


def test_weights_count_like_repeated_rows(table):
    small = table.take(np.arange(80))
    weights = np.random.default_rng(1).integers(0, 4, 80)
    weighted = LatentClass(2, random_state=0).fit(small, sample_weight=weights)
    repeated = learn(small.take(np.repeat(np.arange(80), weights)), 2)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, abs=1e-6)
    assert weighted.bic_ == pytest.approx(repeated.bic_, abs=1e-6)


# Difficult tables


def test_a_class_of_equal_values_is_warned_of():
    rng = np.random.default_rng(0)
    spike = np.r_[np.full(60, 3.0), rng.normal(size=140)]
    other = np.r_[rng.normal(4.0, 1.0, 60), rng.normal(size=140)]
    with pytest.warns(VarianceWarning, match=r"the columns spike; their variances were kept"):
        model = learn({"spike": spike, "other": other})
    assert np.isfinite(model.log_likelihood_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", VarianceWarning)
        smooth = learn({"spike": spike, "other": other}, prior=5)
    assert smooth.network_.cpd("spike")[:, 1].min() > model.network_.cpd("spike")[:, 1].min()


def test_constant_columns_are_warned_of_and_change_nothing(table):
    data = table.select(["length", "width"])
    more = Dataset(
        [*data.variables, Variable("same"), Variable("empty")],
        [*data.columns, np.full(600, 7.0), np.full(600, np.nan)],
    )
    with (
        pytest.warns(DataWarning, match=r"single number have no density .* left out: 'same' \(7\)"),
        pytest.warns(DataWarning, match="without any value are left out: 'empty'"),
    ):
        model = learn(more, 3)
    assert list(model.left_out_) == ["same", "empty"]
    plain = learn(data, 3)
    assert np.array_equal(model.predict(more), plain.predict(data))


def test_repeated_values_and_few_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VarianceWarning)
        for rows in ([1.5, 2.5, 2.5], [0.0, 0.0, 1e-9, 1.0]):
            model = learn({"x": rows, "y": rows[::-1]}, 3)
            assert np.isfinite(model.log_likelihood_)
            assert np.all(np.isfinite(model.score_samples({"x": [9.9, 1e6], "y": [0.0, -1e6]})))


def test_many_classes_on_few_rows_stay_finite(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VarianceWarning)
        model = learn(table.take(np.arange(20)), 15, n_starts=4)
    assert np.isfinite(model.log_likelihood_)
    assert np.all(np.isfinite(model.network_.parameters))


def test_a_tiny_class_far_away(truth):
    data = truth.sample(300, random_state=2).select(["length", "width"])
    far = [np.r_[column, [1e5, 1e5 + 1, 1e5 + 2]] for column in data.columns]
    model = learn(Dataset(data.variables, far), (1, 5))
    sizes = np.bincount(model.predict(Dataset(data.variables, far)))
    assert 3 in sizes.tolist()
    assert model.n_states_ >= 3
