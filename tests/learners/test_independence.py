import numpy as np
import pytest
from scipy.stats import norm

from latentforest import Dataset, Independence, Variable, datasets
from latentforest.errors import ParameterError
from reference.reported import reported

TABLE = Dataset(
    [Variable("a", ("x", "y")), Variable("b", ("u", "v", "w"))],
    [[0, 0, 1, -1], [0, 1, 1, 1]],
    [1.0, 2.0, 1.0, 4.0],
)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_probabilities_are_weighted_frequencies_of_observed_values():
    model = Independence().fit(TABLE)
    np.testing.assert_allclose(model.network_.cpd("a"), [0.75, 0.25])
    np.testing.assert_allclose(model.network_.cpd("b"), [0.125, 0.875, 0.0])


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_row_has_the_product_of_its_frequencies():
    rows = Independence(smoothing=0).fit(TABLE).score_samples(TABLE)
    expected = np.log([0.75 * 0.125, 0.75 * 0.875, 0.25 * 0.875, 0.875])
    np.testing.assert_allclose(rows, expected)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_log_likelihood_is_the_weighted_sum_of_the_rows():
    model = Independence().fit(TABLE)
    assert model.log_likelihood_ == pytest.approx(
        TABLE.weights @ reported(model).score_samples(TABLE)
    )
    assert model.bic_ == pytest.approx(model.log_likelihood_ - 2 / 2 * np.log(8.0))
    assert model.history_["log_likelihood"] == [model.log_likelihood_]


@pytest.mark.filterwarnings("ignore:states that no row has")
@pytest.mark.parametrize("smoothing", [1, 1.0, "laplace", {"a": 1, "b": [1, 1, 1]}])
def test_smoothing_adds_to_every_cell(smoothing):
    network = Independence(prior=smoothing).fit(TABLE).network_
    np.testing.assert_allclose(network.cpd("a"), [4 / 6, 2 / 6])
    stated = isinstance(smoothing, dict)  # of all states that are declared
    expected = [2 / 11, 8 / 11, 1 / 11] if stated else [2 / 10, 8 / 10, 0]
    np.testing.assert_allclose(network.cpd("b"), expected)


def test_a_column_never_observed_is_left_out():
    data = Dataset([Variable("a", ("x", "y", "z")), Variable("b", ("u", "v"))], [[-1, -1], [0, 1]])
    with pytest.warns(match="without any value are left out: 'a'"):
        network = Independence().fit(data).network_
    assert network.observed == ("b",)


def test_columns_have_no_arcs():
    structure = Independence().fit(datasets.load("hiv-tests")).network_.structure
    assert structure.roots == ("A", "B", "C", "D")
    assert structure.latents == ()


def test_it_has_no_latent_variable_to_predict():
    assert not hasattr(Independence(), "predict_proba")
    assert not hasattr(Independence(), "transform")


@pytest.mark.filterwarnings("ignore:states that no row has")
@pytest.mark.parametrize(
    ("smoothing", "error", "message"),
    [
        (-1, ParameterError, "prior must be finite and not negative, got -1"),
        ("much", ParameterError, "prior must be a number.*got 'much'"),
        ({"a": [1, 2, 3]}, ParameterError, r"'a' have shape \(3,\), expected \(2,\)"),
        ({"a": [-1, 2]}, ParameterError, "pseudo-counts of 'a' must be finite"),
        ({"c": 1}, ValueError, "'c'"),
    ],
)
def test_smoothing_that_makes_no_sense(smoothing, error, message):
    with pytest.raises(error, match=message):
        Independence(prior=smoothing).fit(TABLE)


@pytest.mark.parametrize("smoothing", [0, 1, {"income": 3}])
def test_continuous_columns_are_gaussian(smoothing):
    income = np.array([1000.5, 2000.25, np.nan, 1500.0])
    data = Dataset.from_table({"income": income, "sex": list("fmff")}, weights=[1, 2, 1, 1])
    model = Independence(prior=smoothing).fit(data)
    mean = np.average(income[[0, 1, 3]], weights=[1, 2, 1])
    variance = np.average((income[[0, 1, 3]] - mean) ** 2, weights=[1, 2, 1])
    np.testing.assert_allclose(model.network_.cpd("income"), [mean, variance], rtol=1e-12)
    assert model.n_parameters_ == 3
    logs = norm.logpdf(income, mean, np.sqrt(variance))
    sex = np.log(model.network_.cpd("sex"))[data.column("sex")]
    np.testing.assert_allclose(
        reported(model).score_samples(data), np.nan_to_num(logs) + sex, rtol=1e-12
    )
    assert model.log_likelihood_ == pytest.approx(
        data.weights @ reported(model).score_samples(data)
    )


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_time_limit_is_checked():
    with pytest.raises(ParameterError, match="time_limit must be positive seconds, got 0"):
        Independence(time_limit=0).fit(TABLE)
