"""Tables that are small, incomplete, weighted, constant, or not what the learner takes."""

import numpy as np
import pytest

from latentforest import Dataset, LatentClass, Variable, datasets
from latentforest.errors import DataError, DataWarning
from reference.latent_class import fit_latent_class
from reference.reported import reported

ROLE = datasets.load("role-conflict")


def learn(data, n_states=2, sample_weight=None, **settings):
    model = LatentClass(n_states, **{"random_state": 0, **settings})
    return model.fit(data, sample_weight=sample_weight)


def with_holes(dataset, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    columns = [np.where(rng.random(dataset.n_rows) < share, -1, c) for c in dataset.columns]
    return Dataset(dataset.variables, columns, dataset.weights)


# Missing values


def test_missing_values_agree_with_plain_em():
    data = with_holes(ROLE.take(np.repeat(np.arange(16), 4)))
    best, *_ = fit_latent_class(data, 2, n_starts=4, n_iterations=1500)
    model = learn(data, tolerance=1e-12)
    assert model.log_likelihood_ == pytest.approx(best, abs=1e-3)
    assert model.log_likelihood_ == pytest.approx(
        data.weights @ reported(model).score_samples(data)
    )


def test_rows_without_any_value_change_nothing():
    empty = Dataset(ROLE.variables, [np.full(5, -1)] * 4)
    columns = [np.append(a, b) for a, b in zip(ROLE.columns, empty.columns, strict=True)]
    both = Dataset(ROLE.variables, columns, np.append(ROLE.weights, empty.weights))
    a, b = learn(ROLE, tolerance=1e-13), learn(both, tolerance=1e-13)
    assert b.log_likelihood_ == pytest.approx(a.log_likelihood_, abs=1e-6)
    np.testing.assert_allclose(a.network_.parameters, b.network_.parameters, atol=1e-3)


def test_a_row_without_any_value_belongs_to_the_classes_by_size():
    model = learn(ROLE)
    empty = Dataset(ROLE.variables, [[-1]] * 4)
    np.testing.assert_allclose(model.predict_proba(empty)[0], model.class_sizes_)
    assert model.score_samples(empty).tolist() == pytest.approx([0.0], abs=1e-12)


def test_only_rows_without_any_value():
    data = Dataset(ROLE.variables, [np.full(3, -1)] * 4)
    with pytest.raises(DataError, match="no column of the table has anything to model in 3 samp"):
        learn(data)


def test_a_column_without_any_value_is_named():
    with pytest.warns(DataWarning, match="columns without any value are left out: 'b'"):
        model = learn({"a": ["x", "y"], "b": [None, None]})
    assert model.left_out_ == {"b": "no value at all"}


# Weights


def test_weights_are_repeated_rows():
    repeats = np.arange(1, 17)
    rows = ROLE.with_weights(None)
    a = learn(rows, sample_weight=repeats)
    b = learn(rows.take(np.repeat(np.arange(16), repeats)))
    assert a.network_ == b.network_
    assert a.bic_ == b.bic_


def test_sample_weight_multiplies_the_weights_of_a_dataset():
    model = learn(ROLE, sample_weight=np.full(16, 2.0))
    assert model.log_likelihood_ == pytest.approx(2 * learn(ROLE).log_likelihood_)
    assert learn(ROLE, sample_weight=2).network_ == model.network_


@pytest.mark.parametrize("dropped", [[0], [3, 7, 15]])
def test_rows_of_weight_zero_are_not_there(dropped):
    weights = np.ones(16)
    weights[dropped] = 0.0
    a = learn(ROLE, sample_weight=weights, tolerance=1e-13)
    b = learn(ROLE.take(weights > 0), tolerance=1e-13)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, abs=1e-6)
    for name in ("bic", "g_squared", "x_squared", "largest_residual", "entropy_r2", "icl"):
        assert a.fit_table_[name] == pytest.approx(b.fit_table_[name], abs=1e-3)


def test_weights_below_one():
    a = learn(ROLE, tolerance=1e-13)
    with pytest.warns(DataWarning, match="the weights of 16 rows sum to 0.216"):
        b = learn(ROLE, sample_weight=0.001, tolerance=1e-13)
    np.testing.assert_allclose(a.network_.parameters, b.network_.parameters, atol=1e-3)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\), expected \(16,\)"),
        (np.ones((16, 1)), r"sample_weight has shape \(16, 1\), expected \(16,\)"),
        (-np.ones(16), "the weight of row 0 .* expected a finite number that is not negative"),
        (np.full(16, np.nan), "the weight of row 0"),
        (np.zeros(16), "all weights are zero"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    with pytest.raises(ValueError, match=message):
        learn(ROLE, sample_weight=weights)


# Small and odd tables


def test_one_row():
    model = learn({"a": ["x"], "b": ["u"]})
    assert model.log_likelihood_ == pytest.approx(0.0, abs=1e-9)
    assert model.predict({"a": ["x"], "b": ["u"]}).shape == (1,)


def test_greedy_needs_one_class_for_one_row():
    assert learn({"a": ["x"], "b": ["u"]}, "greedy").n_states_ == 1


def test_one_column_is_fitted_exactly():
    data = {"a": ["x", "x", "y", "z"]}
    model = learn(data)
    expected = 2 * np.log(0.5) + 2 * np.log(0.25)
    assert model.log_likelihood_ == pytest.approx(expected)
    np.testing.assert_allclose(model.predict_proba(data).sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_state_that_no_row_has():
    a, b = Variable("a", ("x", "y", "z")), Variable("b", ("u", "v"))
    data = Dataset([a, b], [[0, 1, 0, 1, 1], [0, 1, 0, 1, 0]])
    model = learn(data)
    assert model.network_.cpd("a")[:, 2].tolist() == [0.0, 0.0]
    assert np.isfinite(model.predict_proba(data)).all()


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_state_that_no_row_has_in_the_only_column():
    data = Dataset([Variable("a", ("x", "y", "z"))], [[0, 1, 0, 1]])
    np.testing.assert_allclose(learn(data).predict_proba(data).sum(axis=1), 1.0)


def test_more_classes_than_rows():
    data = {"a": ["x", "y", "x"], "b": ["u", "v", "v"]}
    model = learn(data, 10)
    assert model.log_likelihood_ == pytest.approx(3 * np.log(1 / 3), abs=1e-4)
    np.testing.assert_allclose(model.predict_proba(data).sum(axis=1), 1.0)


def test_constant_columns_are_named_in_a_warning():
    data = {"a": ["x", "y"], "same": ["u", "u"], "never": [1, 1]}
    with pytest.warns(DataWarning, match="a single observed value tell nothing: 'same', 'never'$"):
        learn(data)


def test_the_warning_is_about_the_line_that_called_fit():
    with pytest.warns(DataWarning) as warned:
        LatentClass(2, random_state=0).fit({"a": ["x", "y"], "b": ["u", "u"]})
    assert warned[0].filename == __file__


def test_a_long_list_of_constant_columns_is_cut():
    data = {"a": ["x", "y"]} | {f"c{i}": ["u", "u"] for i in range(12)}
    with pytest.warns(DataWarning, match="'c7' and 4 more$"):
        learn(data)


def test_constant_columns_do_not_change_the_classes():
    more = Dataset(
        [*ROLE.variables, Variable("same", ("u",))],
        [*ROLE.columns, np.zeros(16, int)],
        ROLE.weights,
    )
    with pytest.warns(DataWarning, match="same"):
        model = learn(more)
    assert model.log_likelihood_ == pytest.approx(learn(ROLE).log_likelihood_, abs=1e-5)
    assert model.n_parameters_ == 9


def test_only_constant_columns():
    assert learn({"a": ["x", "x"], "b": ["u", "u"]}).log_likelihood_ == pytest.approx(0.0)


def test_a_column_called_class():
    model = learn({"class": ["x", "y"], "latent_class": ["u", "v"]})
    assert model.network_.latents == ("latent_class_2",)


@pytest.mark.filterwarnings("ignore::latentforest.errors.VarianceWarning")
def test_numbers_of_cases_are_named():
    with pytest.warns(DataWarning, match="look like numbers of cases, not measurements: 'id'"):
        model = learn({"id": list(range(100))[::-1], "vote": ["a", "b"] * 50})
    assert not model.network_.structure.variable("id").is_categorical


@pytest.mark.parametrize("table", [None, "survey.csv", 3])
def test_what_is_not_a_table(table):
    with pytest.raises(DataError, match="cannot read a table from"):
        learn(table)


@pytest.mark.parametrize("table", [[], [1, 2, 3], np.arange(3)])
def test_arrays_must_have_two_dimensions(table):
    with pytest.raises(ValueError, match="Expected 2D array"):
        learn(table)


def test_a_wide_table():
    rows = np.random.default_rng(0).integers(0, 2, (20, 200))
    model = learn(rows, n_starts=2)
    for name in ("g_squared", "x_squared", "df", "p"):  # the table is far too sparse
        assert np.isnan(model.fit_table_[name][0])
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
