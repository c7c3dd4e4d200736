"""Mutual information of pairs with continuous and latent variables."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from latentforest.data import Dataset
from latentforest.errors import ParameterError
from latentforest.inference.association.information import mutual_information
from latentforest.inference.association.mixed_information import (
    InformationSettings,
    gaussian_gain,
    information_about,
    information_matrix,
    kraskov_information,
    mixture_information,
    ross_information,
)
from latentforest.model.gaussian import information_of_mixtures

GAUSSIAN = InformationSettings("gaussian")


@pytest.fixture(scope="module")
def table() -> Dataset:
    """Two categorical and three continuous columns, with ties and missing values."""
    rng = np.random.default_rng(3)
    n = 400
    group = rng.integers(3, size=n)
    x = group + rng.normal(size=n)
    y = 5e3 + 1e2 * (x + rng.normal(size=n))
    ties = np.round(x) + 0.5
    x[:40] = np.nan
    y[30:60] = np.nan
    sex = np.array(["f", "m"])[rng.integers(2, size=n)]
    return Dataset.from_table({"group": group.astype(str), "sex": sex, "x": x, "y": y, "t": ties})


@pytest.fixture(scope="module")
def posteriors(table: Dataset) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(2), size=table.n_rows)
    rows[:, 0] += 2.0 * (table.column("group") == 1)
    return {"H": rows / rows.sum(axis=1, keepdims=True)}


def test_estimates_by_neighbours_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = x + rng.normal(size=500)
    codes = (y > 0).astype(int) + (y > 1.5)
    w = np.full(500, 2.5)
    for k in (3, 7):
        expected = mutual_info_regression(x[:, None], y, n_neighbors=k, random_state=0)[0]
        found = kraskov_information(x / x.std(), y / y.std(), w, k)
        assert found == pytest.approx(expected, abs=1e-6)
        expected = mutual_info_classif(x[:, None], codes, n_neighbors=k, random_state=0)[0]
        assert ross_information(x, codes, w, k) == pytest.approx(expected, abs=1e-6)


def test_states_with_a_single_row_do_not_count() -> None:
    x = np.array([0.1, 0.2, 5.0, 5.3, 9.0])
    codes = np.array([0, 0, 1, 1, 2])
    expected = 1 / 2 + 1 / 3  # digamma of four rows, less digamma of two
    assert ross_information(x, codes, np.ones(5), 3) == pytest.approx(expected)
    assert ross_information(x[:2], np.array([0, 1]), np.ones(2), 3) == 0.0


def test_weights_shift_the_densities() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 4000))
    rho = 0.6
    w = np.exp(
        -(x**2 - 2 * rho * x * y + y**2) / (2 * (1 - rho**2)) + (x**2 + y**2) / 2
    )  # the density of correlated variables over that of independent ones
    assert kraskov_information(x, y, np.ones(4000), 5) < 0.03
    expected = -0.5 * np.log(1 - rho**2)
    assert kraskov_information(x, y, w, 5) == pytest.approx(expected, abs=0.03)
    codes = rng.integers(2, size=4000)
    w = np.exp(codes * x - codes / 2)
    moved = rng.normal(size=4000) + codes
    same = ross_information(moved, codes, np.ones(4000), 5)
    assert ross_information(x, codes, w, 5) == pytest.approx(same, abs=0.03)


def test_gaussian_estimates_are_exact_sums(table: Dataset) -> None:
    found = information_matrix(table, settings=GAUSSIAN)
    x, y, group = table.column("x"), table.column("y"), table.column("group")
    both = ~np.isnan(x) & ~np.isnan(y)
    rho = np.corrcoef(x[both], y[both])[0, 1]
    assert found[2, 3] == pytest.approx(-0.5 * np.log(1 - rho**2))
    seen = ~np.isnan(x)
    alone = norm.logpdf(x[seen], x[seen].mean(), x[seen].std()).mean()
    given = 0.0
    for k in range(3):
        part = x[seen & (group == k)]
        given += norm.logpdf(part, part.mean(), part.std()).sum() / seen.sum()
    assert found[0, 2] == pytest.approx(given - alone)
    doubled = Dataset(table.variables, table.columns, np.full(table.n_rows, 2.0))
    twice = table.take(np.repeat(np.arange(table.n_rows), 2))
    assert information_matrix(doubled, settings=GAUSSIAN) == pytest.approx(
        information_matrix(twice, settings=GAUSSIAN)
    )


def test_mixture_is_the_integral_of_its_definition() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(2, size=200_000)
    x = rng.normal(size=len(codes)) + 2.0 * codes

    def integrand(v: float) -> float:
        a, b = norm.pdf(v), norm.pdf(v - 2.0)
        mean = (a + b) / 2
        return float(0.5 * a * np.log(a / mean) + 0.5 * b * np.log(b / mean))

    expected, _ = quad(integrand, -10, 12)
    w = np.ones(len(codes))
    assert mixture_information(x, np.eye(2)[codes], w, 1e-3) == pytest.approx(expected, abs=5e-3)


def test_matrix_of_all_kinds(table: Dataset, posteriors: dict[str, np.ndarray]) -> None:
    for settings in (InformationSettings(), GAUSSIAN, InformationSettings(completion="map")):
        found = information_matrix(table, posteriors, settings)
        assert found == pytest.approx(found.T)
        names = [*table.names, "H"]
        for i, name in enumerate(names):
            row = information_about(name, table, posteriors, settings)
            assert row == pytest.approx(found[i])
        row = information_about(posteriors["H"], table, posteriors, settings)
        assert row[:5] == pytest.approx(found[5, :5])
        categorical = mutual_information(table.select(["group", "sex"]))
        assert found[:2, :2] == pytest.approx(categorical)
        assert np.isinf(np.diag(found)[2:5]).all()
        assert found[0, 2] > found[1, 2]  # the group moves x, the sex does not
        assert found[0, 5] > found[1, 5]


def test_latent_variable_that_is_certain_is_a_column(table: Dataset) -> None:
    known = {"copy": np.eye(3)[table.column("group")]}
    for settings in (GAUSSIAN, InformationSettings(completion="map")):
        found = information_matrix(table, known, settings)
        assert found[5, 1:5] == pytest.approx(found[0, 1:5])


def test_estimates_do_not_depend_on_units_order_or_threads(table: Dataset) -> None:
    found = information_matrix(table)
    scaled = {
        name: table.column(name) * 1000.3 if name in ("x", "y", "t") else table.decode(name)
        for name in reversed(table.names)
    }
    other = information_matrix(Dataset.from_table(scaled), settings=InformationSettings(n_jobs=2))
    assert other[::-1, ::-1] == pytest.approx(found, abs=1e-9)


def test_rows_without_weight_and_empty_pairs(table: Dataset) -> None:
    rows = np.arange(table.n_rows) >= 200
    weights = rows.astype(float)
    assert information_matrix(
        Dataset(table.variables, table.columns, weights), settings=GAUSSIAN
    ) == pytest.approx(information_matrix(table.take(rows), settings=GAUSSIAN))
    never = np.array([1.0, 2.0, np.nan, np.nan])
    apart = Dataset.from_table({"a": never, "b": never[::-1].copy(), "c": list("uvuv")})
    assert information_matrix(apart)[0, 1] == 0.0
    constant = Dataset.from_table({"a": np.full(9, 7.0), "b": np.arange(9.0)})
    assert information_matrix(constant, settings=GAUSSIAN)[0, 1] == 0.0


def test_gain_of_a_collapsed_state_is_bounded() -> None:
    x = np.array([0.0, 0.0, 1.0, -1.0])
    rows = np.eye(2)[[0, 0, 1, 1]]
    assert gaussian_gain(x, rows, np.ones(4), 1e-3) == pytest.approx(
        0.5 * (np.log(0.5) - 0.5 * np.log(1e-3))
    )


def test_bad_settings_are_refused(table: Dataset) -> None:
    with pytest.raises(ParameterError, match="estimator"):
        InformationSettings("kernel")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="completion"):
        InformationSettings(completion="none")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n_neighbors"):
        InformationSettings(n_neighbors=0)
    with pytest.raises(ParameterError, match="no variable 'z'"):
        information_about("z", table)
    with pytest.raises(ParameterError, match="shape"):
        information_matrix(table, {"H": np.ones(3)})


def integrate(sizes, weights, means, variances):
    """The information of a state and a mixture, piece by piece between and around the means."""
    deviations = np.sqrt(variances)

    def density(x):
        return weights @ norm.pdf(x, means, deviations)

    def term(x):
        given = density(x)
        some = given > 0
        return (sizes * given)[some] @ np.log(given[some] / (sizes @ given))

    edges = np.sort((means + deviations * np.arange(-8, 9)[:, None]).ravel())
    return sum(quad(term, low, high, epsabs=1e-13)[0] for low, high in itertools.pairwise(edges))


@pytest.mark.parametrize(
    ("weights", "means", "variances"),
    [
        (np.eye(2), [0.0, 1.0], [1.0, 1.0]),
        (np.eye(2), [0.0, 0.1], [1.0, 1e-4]),  # a narrow one inside a wide one
        ([[0.9, 0.1], [0.3, 0.7]], [1e6, 1e6 + 2.0], [1.0, 3.0]),
        ([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]], [0.0, 1e3, -5.0], [1.0, 2.0, 0.25]),
    ],
)
def test_information_of_mixtures_is_an_integral(weights, means, variances):
    sizes, weights = np.array([0.3, 0.7]), np.array(weights)
    means, variances = np.array(means), np.array(variances)
    found = information_of_mixtures(sizes, weights, means, variances)
    expected = integrate(sizes, weights, means - means[0], variances)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)
    assert found > 0
    scaled = information_of_mixtures(sizes, weights, 1e3 * means + 7.0, 1e6 * variances)
    assert scaled == pytest.approx(found, rel=1e-8)


def test_components_far_apart_tell_the_state_and_equal_ones_nothing():
    sizes, means = np.array([0.3, 0.7]), np.array([0.0, 100.0])
    entropy = -sizes @ np.log(sizes)
    found = information_of_mixtures(sizes, np.eye(2), means, np.ones(2))
    assert found == pytest.approx(entropy, rel=1e-12)
    same = np.array([[0.4, 0.6], [0.4, 0.6]])
    assert information_of_mixtures(sizes, same, means, np.ones(2)) == pytest.approx(0, abs=1e-12)
