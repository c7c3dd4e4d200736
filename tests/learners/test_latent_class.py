"""Choosing the number of classes, the fit table, order of classes, recovery, smoothing."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from latentforest import Dataset, LatentClass, Network, Variable, cross_validate, datasets
from latentforest.estimation.priors import pseudo_counts
from reference.cases import by_code
from reference.expectation_maximization import em_step
from reference.latent_class import compare_cells, count_cells, fit_latent_class
from reference.reported import reported

ROLE = datasets.load("role-conflict")
CRITERIA = ("bic", "aic", "aic3", "caic", "sabic", "mdl", "icl")
COLUMNS = (
    *("n_states", "log_likelihood", "n_parameters", *CRITERIA, "entropy_r2", "smallest_class"),
    *("g_squared", "x_squared", "df", "df_nominal", "p", "cressie_read", "dissimilarity"),
    *("p_x_squared", "p_cressie_read", "n_boundary", "largest_residual"),
    *("iterations", "converged"),
)


def learn(n_states=2, data=ROLE, **settings):
    return LatentClass(n_states, **{"random_state": 0, **settings}).fit(data)


@pytest.fixture(scope="module")
def truth():
    """Three well separated classes over eight questions of two or three answers."""
    latent = Variable.hidden("Y", 3)
    items = [Variable(f"q{i}", tuple("abc"[: 2 + i % 2])) for i in range(8)]
    rng = np.random.default_rng(7)
    tables = {"Y": [0.5, 0.3, 0.2]}
    for i, item in enumerate(items):
        table = 0.1 + 0.1 * rng.random((3, item.n_states))
        for y in range(3):
            table[y, (y * (i + 1) + i) % item.n_states] += 1.0
        tables[item.name] = table / table.sum(axis=1, keepdims=True)
    return Network.from_tables([latent, *items], {item.name: "Y" for item in items}, tables)


@pytest.fixture(scope="module")
def easy(truth):
    return truth.sample(600, random_state=5)


# How many classes


@pytest.mark.parametrize(
    ("n_states", "tried"),
    [
        (2, [2]),
        (np.int64(2), [2]),
        ((1, 3), [1, 2, 3]),
        ((2, 2), [2]),
        (range(1, 4), [1, 2, 3]),
        ([3, 1, 3], [1, 3]),
        ((4, 1, 2), [1, 2, 4]),
        ("greedy", [1, 2, 3]),
    ],
)
def test_which_numbers_of_classes_are_tried(n_states, tried):
    assert learn(n_states).fit_table_["n_states"] == tried


def test_greedy_finds_the_number_of_classes(easy):
    model = learn("greedy", easy)
    assert model.n_states_ == 3
    assert model.fit_table_["n_states"] == [1, 2, 3, 4]
    assert model.predict_proba(easy).shape == (600, 3)


@pytest.mark.parametrize(("max_states", "tried"), [(1, [1]), (2, [1, 2]), (9, [1, 2, 3])])
def test_greedy_stops_at_max_states(max_states, tried):
    assert learn("greedy", max_states=max_states).fit_table_["n_states"] == tried


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_best_value_of_the_criterion_is_chosen(criterion):
    model = learn((1, 4), criterion=criterion)
    values = model.fit_table_[criterion]
    best = np.argmin(values) if criterion == "mdl" else np.argmax(values)
    assert model.n_states_ == best + 1
    assert model.network_.cpd("class").shape == (model.n_states_,)
    assert model.log_likelihood_ == model.fit_table_["log_likelihood"][best]


def test_criteria_may_disagree():
    assert learn((1, 4), criterion="aic").n_states_ == 2
    assert learn((1, 4), criterion="icl").n_states_ == 1


@pytest.mark.parametrize("n_folds", [2, 3])
def test_cross_validation_uses_the_folds_given(easy, n_folds):
    folds = np.random.default_rng(1).integers(n_folds, size=easy.n_rows)
    chosen = learn([2, 3], easy, criterion="cv", folds=folds)
    again = [
        cross_validate(LatentClass(k, random_state=9), easy, folds).mean_per_row for k in (2, 3)
    ]
    np.testing.assert_allclose(chosen.fit_table_["cv"], again, rtol=1e-5)
    assert chosen.n_states_ == 3


def test_cross_validation_by_number_of_folds_chooses_well(easy):
    assert learn((1, 4), easy, criterion="cv", folds=4, n_starts=8).n_states_ == 3


def test_labels_of_folds_may_be_words(easy):
    labels = np.array(["north", "south"])[np.arange(600) % 2]
    numbers = np.arange(600) % 2
    words = learn(2, easy, criterion="cv", folds=labels).fit_table_["cv"]
    assert words == learn(2, easy, criterion="cv", folds=numbers).fit_table_["cv"]


@pytest.mark.parametrize("smoothing", [0, None])
def test_cross_validation_smooths_even_if_the_model_is_not_smoothed(easy, smoothing):
    value = learn(2, easy, criterion="cv", folds=3, smoothing=smoothing).fit_table_["cv"]
    assert value == learn(2, easy, criterion="cv", folds=3).fit_table_["cv"]


def test_cross_validation_treats_none_as_zero():
    none, zero = (
        learn(2, datasets.load("hiv-tests"), criterion="cv", folds=3, prior=smoothing)
        for smoothing in ("none", 0)
    )
    assert none.fit_table_["cv"] == zero.fit_table_["cv"]


# The fit table


def test_columns_of_the_fit_table():
    model = learn((1, 2))
    assert model.fit_table_.columns == COLUMNS
    goodness = model.goodness_.columns
    history = [name for name in COLUMNS if name not in goodness]
    assert model.history_.columns == (*history, "seconds")
    assert learn(2, criterion="cv", folds=2, n_starts=2).fit_table_.columns == (*COLUMNS, "cv")


@pytest.mark.parametrize("n_states", [1, 2, 3])
def test_every_value_of_the_fit_table_by_hand(n_states):
    model = learn(n_states)
    row, network = next(model.fit_table_.rows()), model.network_
    cells = [
        by_code(network, dict(zip(ROLE.names, row, strict=True)))
        for row in np.transpose(ROLE.columns)
    ]
    log_l = sum(w * network.log_probability(c) for w, c in zip(ROLE.weights, cells, strict=True))
    posterior = np.array([network.query("class", cell) for cell in cells])
    entropy = -ROLE.weights @ np.sum(posterior * np.log(posterior), axis=1)
    d, n = n_states - 1 + 4 * n_states, 216.0
    bic = log_l - d / 2 * math.log(n)
    sizes = ROLE.weights @ posterior / n
    prior = -np.sum(sizes * np.log(sizes))
    joint = np.einsum("y,ya,yb,yc,yd->abcd", network.cpd("class"), *map(network.cpd, "ABCD"))
    g_squared, x_squared = compare_cells(count_cells(ROLE), n * joint)
    freedom = 15 - min(d, 13)  # of three classes, the table determines 13 parameters of 14
    expected = {
        "n_states": n_states,
        "log_likelihood": log_l,
        "n_parameters": d,
        "bic": bic,
        "aic": log_l - d,
        "aic3": log_l - 1.5 * d,
        "caic": log_l - d / 2 * (math.log(n) + 1),
        "sabic": log_l - d / 2 * math.log((n + 2) / 24),
        "mdl": -bic,
        "icl": bic - entropy,
        "entropy_r2": 1 - entropy / n / prior if n_states > 1 else math.nan,
        "smallest_class": network.cpd("class").min(),
        "g_squared": g_squared,
        "x_squared": x_squared,
        "df": freedom,
        "df_nominal": 15 - d,
        "p": chi2.sf(g_squared, freedom),
        "p_x_squared": chi2.sf(x_squared, freedom),
        "iterations": model.monitor_.n_iterations,
        "converged": True,
    }
    found = {name: row[name] for name in expected}
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8, nan_ok=True)


def test_fitted_attributes_agree_with_the_fit_table():
    model = learn((1, 3))
    assert model.bic_ == model.fit_table_["bic"][1]
    assert model.n_parameters_ == model.network_.dimension == 9
    assert model.class_sizes_.tolist() == model.network_.cpd("class").tolist()
    assert model.log_likelihood_ == pytest.approx(
        ROLE.weights @ reported(model).score_samples(ROLE)
    )


def test_test_statistics_with_missing_values():
    row = next(learn(2, {"a": ["x", "y", None, "x"], "b": list("uvuv")}).fit_table_.rows())
    assert row["g_squared"] == pytest.approx(0.0, abs=1e-5)
    assert (row["df"], row["df_nominal"]) == (0, -2)
    assert math.isnan(row["p"])
    assert math.isfinite(row["largest_residual"])


def test_residuals_of_the_chosen_model():
    model = learn(2)
    assert model.bivariate_residuals_["residual"][0] == model.fit_table_["largest_residual"][0]


def test_no_residual_with_one_column():
    table = learn(1, {"a": ["x", "y", "x"]}).fit_table_
    assert math.isnan(table["largest_residual"][0])


# The order of classes


def test_classes_are_sorted_by_size():
    for n_states in (2, 3, 4):
        sizes = learn(n_states).class_sizes_
        assert np.all(np.diff(sizes) <= 0)
        assert sizes.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_find_the_same_model(easy, seed):
    a, b = (learn(3, easy, random_state=s, tolerance=1e-13) for s in (0, seed))
    np.testing.assert_allclose(a.network_.parameters, b.network_.parameters, atol=1e-4)


def test_row_order_does_not_matter(easy):
    shuffled = easy.take(np.random.default_rng(2).permutation(easy.n_rows))
    a, b = (learn(3, data, tolerance=1e-13) for data in (easy, shuffled))
    np.testing.assert_allclose(a.network_.parameters, b.network_.parameters, atol=1e-4)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, abs=1e-6)


def test_column_order_does_not_matter(easy):
    turned = easy.select(easy.names[::-1])
    a, b = (learn(3, data, tolerance=1e-13).network_ for data in (easy, turned))
    for name in a.names:
        np.testing.assert_allclose(a.cpd(name), b.cpd(name), atol=1e-4)


def test_names_and_order_of_states_do_not_matter(easy):
    first = easy.variables[0]
    renamed = Variable("q0", tuple(f"new {state}" for state in first.states))
    codes = first.n_states - 1 - easy.columns[0]
    other = Dataset([renamed, *easy.variables[1:]], [codes, *easy.columns[1:]])
    a, b = (learn(3, data, tolerance=1e-13).network_ for data in (easy, other))
    np.testing.assert_allclose(a.cpd("q0")[:, ::-1], b.cpd("q0"), atol=1e-4)
    np.testing.assert_allclose(a.cpd("class"), b.cpd("class"), atol=1e-4)


def test_known_parameters_are_recovered(truth):
    network = learn(3, truth.sample(20_000, random_state=1)).network_
    np.testing.assert_allclose(network.cpd("class"), truth.cpd("Y"), atol=0.015)
    for name in truth.observed:
        np.testing.assert_allclose(network.cpd(name), truth.cpd(name), atol=0.03)


def test_classes_of_generated_rows_are_recovered(truth):
    drawn = truth.sample(2000, random_state=2, latents=True)
    model = learn(3, drawn.select(truth.observed))
    assert np.mean(model.predict(drawn) == drawn.column("Y")) > 0.9


# Smoothing


@pytest.mark.parametrize("smoothing", [0.5, "laplace", {"class": 7, "A": [[1, 3], [0, 0]]}])
def test_smoothed_parameters_are_a_fixed_point_of_the_update(smoothing):
    model = learn(2, prior=smoothing, tolerance=1e-14)
    structure, theta = model.network_.structure, model.network_.parameters
    prior = pseudo_counts(structure, smoothing)
    if isinstance(smoothing, dict):  # the pseudo-counts may have met the classes the other way
        turned = model.network_.relabelled("class", [1, 0])
        steps = [em_step(structure, t, ROLE, prior) - t for t in (theta, turned.parameters)]
        assert min(np.abs(step).max() for step in steps) < 1e-5
    else:
        np.testing.assert_allclose(em_step(structure, theta, ROLE, prior), theta, atol=1e-5)


def test_smoothing_agrees_with_plain_em():
    model = learn(2, prior=2.0, tolerance=1e-14)
    runs = [fit_latent_class(ROLE, 2, 1, 1500, prior=2.0, seed=s) for s in range(4)]
    assert any(abs(run[0] - model.log_likelihood_) < 1e-3 for run in runs)


@pytest.mark.parametrize(
    ("one", "other"), [(None, 0.0), ("none", 0.0), ("laplace", 1.0), ({}, 0.0), (1, 1.0)]
)
def test_words_for_smoothing(one, other):
    a, b = (learn(2, prior=smoothing).network_ for smoothing in (one, other))
    assert a == b


def test_smoothing_leaves_no_zeros():
    hiv = datasets.load("hiv-tests")
    assert learn(2, hiv, tolerance=1e-13).network_.parameters.min() < 1e-6
    assert learn(2, hiv, prior=1).network_.parameters.min() > 1e-4


def test_smoothing_lowers_the_likelihood():
    assert learn(2, prior=5).log_likelihood_ < learn(2).log_likelihood_


def test_greedy_with_smoothing_and_acceleration_off():
    model = learn("greedy", prior="laplace", accelerate=False)
    assert model.n_states_ == 2
