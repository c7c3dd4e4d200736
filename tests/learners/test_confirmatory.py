"""Structures that the user states, fitted by EM; forests."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import latentforest as lf
from latentforest.errors import DataError, LatentForestWarning, ModelError, ParameterError
from reference.reported import reported

ROLE = lf.datasets.load("role-conflict")
HIV = lf.datasets.load("hiv-tests")
TEXT = "X[2] -> A, B, C, D"


@pytest.fixture(scope="module")
def classes():
    return lf.LatentClass(2, random_state=0).fit(ROLE)


def test_text_of_a_latent_class_model(classes):
    model = lf.fit(TEXT, ROLE, random_state=0)
    assert isinstance(model, lf.ConfirmatoryModel)
    assert model.log_likelihood_ == pytest.approx(classes.log_likelihood_, abs=1e-6)
    assert model.bic_ == pytest.approx(classes.bic_, abs=1e-6)
    assert model.n_parameters_ == classes.n_parameters_ == 9
    assert model.monitor_.converged
    assert not model.interrupted_
    expected = classes.network_.renamed({"class": "X"})
    for name in expected.names:
        np.testing.assert_allclose(model.network_.cpd(name), expected.cpd(name), atol=1e-4)
    assert np.array_equal(model.predict(ROLE), classes.predict(ROLE))


def test_all_that_a_learners_result_has():
    model = lf.fit(TEXT, ROLE, random_state=0)
    assert model.history_["bic"] == [model.bic_]
    assert model.predict_proba(ROLE).shape == (ROLE.n_rows, 2)
    assert model.transform(ROLE).shape == (ROLE.n_rows, 2)
    assert model.get_feature_names_out().tolist() == ["X=1", "X=2"]
    assert reported(model).score(ROLE) == pytest.approx(model.log_likelihood_ / ROLE.total_weight)
    assert model.sample(3, random_state=0).names == ("A", "B", "C", "D")
    assert str(model).startswith("ConfirmatoryModel: log-likelihood -504.47, 9 parameters")
    assert not hasattr(clone(model), "network_")


def test_a_structure_a_network_and_files_give_the_same(tmp_path):
    by_text = lf.fit(TEXT, ROLE, random_state=0)
    structure = lf.parse_structure(TEXT, ROLE.variables)
    text, saved = tmp_path / "model.txt", tmp_path / "model.json"
    text.write_text(TEXT)
    by_text.network_.save(saved)
    for stated in (structure, text, str(text)):
        assert lf.fit(stated, ROLE, random_state=0).network_ == by_text.network_
    for stated in (by_text.network_, saved, str(saved)):
        again = lf.fit(stated, ROLE, random_state=0)
        assert again.log_likelihood_ == pytest.approx(by_text.log_likelihood_, abs=1e-6)


def test_a_network_is_a_start_and_keeps_its_states():
    found = lf.fit(TEXT, ROLE, random_state=0).network_
    turned = found.relabelled("X", [1, 0])
    again = lf.fit(turned, ROLE, n_starts=1, random_state=0)
    np.testing.assert_allclose(again.network_.cpd("X"), turned.cpd("X"), atol=1e-4)


def test_states_are_sorted_by_size():
    structure = "Y[3] -> X[2], A, B; X -> C, D"
    network = lf.fit(structure, ROLE, random_state=0).network_
    for name in ("X", "Y"):
        assert np.all(np.diff(network.marginal(name)) <= 1e-12)


def test_a_forest_with_observed_parents():
    model = lf.fit("X[2] -> A, B, C; C -> D", HIV, random_state=0)
    assert model.network_.structure.parents("D") == ("C",)
    table = np.zeros((2, 2))
    np.add.at(table, (HIV.column("C"), HIV.column("D")), HIV.weights)
    expected = table / table.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.network_.cpd("D"), expected, atol=1e-8)


def test_a_structure_without_latent_variables_is_counted():
    model = lf.fit("A -> B; C", HIV.select(["A", "B", "C"]), random_state=0)
    assert model.predict(HIV).shape == (HIV.n_rows, 0)
    assert model.network_.cpd("C") == pytest.approx(HIV.counts("C") / HIV.total_weight)


def test_columns_that_are_not_named_are_left_out_with_a_warning():
    with pytest.warns(LatentForestWarning, match="does not name are left out: 'D'"):
        model = lf.fit("X[2] -> A, B, C", HIV, random_state=0)
    assert model.network_.observed == ("A", "B", "C")
    assert model.variables_ == HIV.select(["A", "B", "C"]).variables
    expected = lf.fit("X[2] -> A, B, C", HIV.select(["A", "B", "C"]), random_state=0)
    assert model.network_ == expected.network_
    assert np.array_equal(model.predict(HIV.select(["C", "A", "B"])), model.predict(HIV))


def test_the_columns_of_a_structure_are_found_in_any_table():
    structure = lf.fit("X[2] -> A, B, C", HIV.select(["A", "B", "C"]), random_state=0)
    structure = structure.network_.structure
    frame = pd.DataFrame(HIV.to_columns())
    with pytest.warns(LatentForestWarning, match="left out: 'D'"):
        model = lf.fit(structure, frame, sample_weight=HIV.weights, random_state=0)
    with pytest.warns(LatentForestWarning, match="left out: 'D'"):
        same = lf.fit(structure, HIV, random_state=0)
    assert model.log_likelihood_ == pytest.approx(same.log_likelihood_, abs=1e-8)
    with pytest.raises(DataError, match="the table lacks the column 'C'"):
        lf.fit(structure, {"A": ["positive"], "B": ["positive"]})
    other = {"A": ["maybe"], "B": ["positive"], "C": ["negative"]}
    with pytest.raises(DataError, match="states that are not known: column 'A': 'maybe'"):
        lf.fit(structure, other)


def test_arrays_keep_their_columns():
    array = np.random.default_rng(0).integers(0, 2, (60, 4))
    names = lf.Dataset.from_table(array).names
    model = lf.fit(f"X[2] -> {names[0]}, {names[1]}, {names[2]}", array, random_state=0)
    assert model.n_features_in_ == 4
    assert model.predict(array).shape == (60,)


def test_continuous_columns():
    parts = [lf.Variable.hidden("kind", 2), lf.Variable("length"), lf.Variable("width")]
    tables = {"kind": [0.7, 0.3], "length": [[2, 1], [8, 1]], "width": [[0, 1, 1], [3, -0.5, 1]]}
    parents = {"length": "kind", "width": ["kind", "length"]}
    truth = lf.Network.from_tables(parts, parents, tables)
    data = truth.sample(2000, random_state=0)
    model = lf.fit("kind[2] -> length, width; length -> width", data, random_state=0)
    np.testing.assert_allclose(model.network_.cpd("width"), truth.cpd("width"), atol=0.4)
    assert model.log_likelihood_ >= truth_log_likelihood(truth, data)


def truth_log_likelihood(network, data):
    return lf.Predictor(network).score(data) * data.total_weight


def test_missing_values_and_weights():
    frame = pd.DataFrame(HIV.to_columns())
    frame.loc[0, "A"] = None
    frame.loc[3, "D"] = None
    model = lf.fit(TEXT, frame, sample_weight=HIV.weights, random_state=0)
    twice = lf.fit(TEXT, pd.concat([frame] * 2), random_state=0, sample_weight=[*HIV.weights] * 2)
    assert twice.log_likelihood_ == pytest.approx(2 * model.log_likelihood_, rel=1e-7)


@pytest.mark.parametrize("smoothing", [1, "laplace", {"A": 2.0}])
def test_smoothing(smoothing):
    model = lf.fit(TEXT, HIV, prior=smoothing, random_state=0)
    assert model.log_likelihood_ < lf.fit(TEXT, HIV, random_state=0).log_likelihood_
    assert np.all(model.network_.cpd("A") > 0)


def test_the_result_depends_on_the_seed_alone():
    first = lf.fit("X[3] -> A, B, C, D", HIV, random_state=1)
    second = lf.fit("X[3] -> A, B, C, D", HIV.take(np.arange(9)[::-1]), random_state=1, n_jobs=2)
    assert first.log_likelihood_ == pytest.approx(second.log_likelihood_, abs=1e-9)
    assert first.network_ == lf.fit("X[3] -> A, B, C, D", HIV, random_state=1).network_


def test_progress_and_time_limit():
    said = []
    model = lf.fit(TEXT, ROLE, random_state=0, progress=said.append, time_limit=60)
    assert "fit: 128 starts" in said
    assert model.monitor_.converged


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_starts": 0}, "n_starts must be at least 1, got 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"tolerance": -1}, "tolerance must not be negative"),
        ({"smoothing": "x"}, "smoothing must be a number"),
        ({"time_limit": 0}, "time_limit must be positive"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        lf.fit(TEXT, ROLE, **settings)


def test_structures_that_make_no_sense():
    with pytest.raises(ParameterError, match=r"structure must be text, a Structure.*got int"):
        lf.fit(2, ROLE)
    with pytest.raises(ModelError, match="line 1, column 15: there is no column 'Q'"):
        lf.fit("X[2] -> A, B, Q", ROLE)
    with pytest.raises(FileNotFoundError):
        lf.fit("nowhere.json", ROLE)
    numbers = np.random.default_rng(0).random((50, 2))
    shared = lf.LatentClass(2, covariance="shared", random_state=0).fit(numbers)
    with pytest.raises(ModelError, match="parameters of the network are equal to others by design"):
        lf.fit(shared.network_, numbers)
