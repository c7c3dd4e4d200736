import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from latentforest import Dataset, Independence, LatentClass, Network, Variable, datasets
from latentforest.errors import DataError
from latentforest.inference.forest import PatternedData
from latentforest.scores import compute_bivariate_residuals, compute_goodness_of_fit
from latentforest.scores.goodness import (
    compute_entropy,
    compute_entropy_r2,
    compute_pair_marginals,
)
from reference.joint import marginal_table
from reference.latent_class import compare_cells, count_cells
from reference.random_networks import networks, tables_for

QUICK = settings(deadline=None, max_examples=60)
ROLE = datasets.load("role-conflict")


# G² and X²


@QUICK
@given(network=networks(max_variables=5), data=st.data())
def test_g_squared_and_x_squared_over_all_cells(network, data):
    assume(network.observed)
    table = data.draw(tables_for(network, missing=False))
    counts = count_cells(table.select(network.observed))
    expected = counts.sum() * marginal_table(network, network.observed)
    g_squared, x_squared = compare_cells(counts, expected)
    fit = compute_goodness_of_fit(network, table)
    assert fit.g_squared == pytest.approx(g_squared, abs=1e-9)
    assert fit.x_squared == pytest.approx(x_squared, rel=1e-8, abs=1e-8)
    assert fit.n_cells == counts.size
    assert fit.degrees_of_freedom == counts.size - 1 - network.dimension


def test_empty_cells_count_in_x_squared():
    variable = Variable("a", ("x", "y", "z"))
    network = Network.from_tables([variable], {}, {"a": [0.5, 0.25, 0.25]})
    fit = compute_goodness_of_fit(network, Dataset([variable], [[0, 1]], [6.0, 2.0]))
    assert fit.x_squared == pytest.approx(4 / 4 + 0 / 2 + 4 / 2)
    assert fit.g_squared == pytest.approx(2 * 6 * math.log(6 / 4))


def test_p_values_are_tails_of_chi_square():
    network = LatentClass(2, random_state=0).fit(ROLE).network_
    fit = compute_goodness_of_fit(network, ROLE)
    assert fit.degrees_of_freedom == 6
    assert fit.p_g_squared == pytest.approx(chi2.sf(fit.g_squared, 6))
    assert fit.p_x_squared == pytest.approx(chi2.sf(fit.x_squared, 6))


def test_a_network_that_fits_exactly():
    tables = {name: ROLE.counts(name) / 216 for name in "ABCD"}
    one = ROLE.select(["A"])
    network = Network.from_tables(one.variables, {}, {"A": tables["A"]})
    fit = compute_goodness_of_fit(network, one)
    assert fit.g_squared == pytest.approx(0.0, abs=1e-10)
    assert math.isnan(fit.p_g_squared)  # no degrees of freedom are left


@pytest.mark.parametrize(("total", "is_given"), [(79.0, False), (80.0, True)])
def test_no_p_values_for_a_sparse_table(total, is_given):
    weights = ROLE.weights * total / 216
    network = Independence().fit(ROLE).network_
    fit = compute_goodness_of_fit(network, ROLE.with_weights(weights))
    assert math.isfinite(fit.p_g_squared) == math.isfinite(fit.p_x_squared) == is_given


def test_no_p_values_without_degrees_of_freedom():
    fit = compute_goodness_of_fit(LatentClass(4, random_state=0).fit(ROLE).network_, ROLE)
    assert fit.degrees_of_freedom == -4
    assert math.isnan(fit.p_g_squared)
    assert math.isnan(fit.p_x_squared)


def test_missing_values_are_refused():
    holes = Dataset(ROLE.variables, [np.where(c == 0, -1, c) for c in ROLE.columns])
    network = Independence().fit(ROLE).network_
    with pytest.raises(DataError, match="need complete rows; this table has missing values"):
        compute_goodness_of_fit(network, holes)


def test_missing_values_in_a_column_that_the_network_lacks():
    network = Independence().fit(ROLE.select(["A", "B"])).network_
    holes = Dataset(
        ROLE.variables, [*ROLE.columns[:2], np.full(16, -1), ROLE.columns[3]], ROLE.weights
    )
    assert compute_goodness_of_fit(network, holes) == compute_goodness_of_fit(network, ROLE)


def test_a_prepared_table_gives_the_same():
    network = Independence().fit(ROLE).network_
    prepared = PatternedData(ROLE)
    assert compute_goodness_of_fit(network, prepared) == compute_goodness_of_fit(network, ROLE)


def test_an_impossible_row_has_infinite_distance():
    variable = Variable("a", ("x", "y"))
    network = Network.from_tables([variable], {}, {"a": [1.0, 0.0]})
    fit = compute_goodness_of_fit(network, Dataset([variable], [[0, 1]]))
    assert fit.g_squared == fit.x_squared == math.inf


def test_more_cells_than_a_float_can_count():
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(1100)]
    data = Dataset(variables, np.random.default_rng(0).integers(0, 2, (1100, 20)))
    tables = {variable.name: [0.5, 0.5] for variable in variables}
    fit = compute_goodness_of_fit(Network.from_tables(variables, {}, tables), data)
    assert fit.n_cells == 2**1100
    assert math.isnan(fit.p_g_squared)


# Pairs of columns


@QUICK
@given(network=networks(), data=st.data())
def test_pair_marginals_in_any_forest(network, data):
    first = data.draw(st.sampled_from(network.names))
    others = [name for name in network.names if name != first]
    joints = compute_pair_marginals(network, first, others)
    for other, joint in zip(others, joints, strict=True):
        np.testing.assert_allclose(joint, marginal_table(network, [first, other]), atol=1e-12)


def direct_residual(network, table, first, second):
    joint = marginal_table(network, [first, second])
    counts = np.zeros(joint.shape)
    for a, b, w in zip(table.column(first), table.column(second), table.weights, strict=True):
        if a >= 0 and b >= 0:
            counts[a, b] += w
    freedom = (joint.shape[0] - 1) * (joint.shape[1] - 1)
    return compare_cells(counts, counts.sum() * joint)[1] / freedom if freedom else 0.0


@QUICK
@given(network=networks(), data=st.data())
def test_residuals_in_any_forest(network, data):
    table = data.draw(tables_for(network))
    found = list(compute_bivariate_residuals(network, table).rows())
    n = len(network.observed)
    assert len(found) == n * (n - 1) // 2
    for row in found:
        expected = direct_residual(network, table, row["first"], row["second"])
        assert row["residual"] == pytest.approx(expected, rel=1e-8, abs=1e-8)
    values = [row["residual"] for row in found]
    assert values == sorted(values, reverse=True)


def test_residuals_of_a_latent_class_model():
    coleman = datasets.load("coleman-panel")
    network = LatentClass(2, random_state=0).fit(coleman).network_
    table = compute_bivariate_residuals(network, coleman)
    for row in table.rows():
        expected = direct_residual(network, coleman, row["first"], row["second"])
        assert row["residual"] == pytest.approx(expected)
    assert (table["first"][0], table["second"][0]) == ("B", "D")


def test_residuals_of_independent_columns_are_pearson_statistics():
    from scipy.stats import chi2_contingency

    pair = datasets.load("coleman-panel").select(["A", "C"])
    residual = compute_bivariate_residuals(Independence().fit(pair).network_, pair)["residual"]
    statistic = chi2_contingency(count_cells(pair), correction=False).statistic
    assert residual == pytest.approx([statistic])


def test_no_pairs():
    one = ROLE.select(["A"])
    table = compute_bivariate_residuals(Independence().fit(one).network_, one)
    assert table.to_dict() == {"first": [], "second": [], "residual": []}


def test_pairs_that_are_never_both_observed_have_no_residual():
    variables = [Variable("a", ("x", "y")), Variable("b", ("u", "v"))]
    data = Dataset(variables, [[0, 1, -1, -1], [-1, -1, 0, 1]])
    assert compute_bivariate_residuals(Independence().fit(data).network_, data)["residual"] == [0.0]


# Entropy


def test_entropy_of_certain_rows_is_zero():
    assert compute_entropy([np.eye(3)], np.ones(3)) == 0.0


def test_entropy_is_summed_over_weighted_rows_and_variables():
    even, certain = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[1.0], [1.0]])
    assert compute_entropy([even, certain], np.array([3.0, 7.0])) == pytest.approx(3 * math.log(2))


def test_rows_without_a_posterior_add_no_entropy():
    rows = np.array([[0.5, 0.5], [np.nan, np.nan]])
    assert compute_entropy([rows], np.ones(2)) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("posterior", "expected"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], 1.0),
        ([[0.7, 0.3], [0.7, 0.3]], 0.0),
        ([[1.0], [1.0]], 1.0),
        ([[1.0, 0.0], [1.0, 0.0]], 1.0),
        ([[1.0, 0.0], [0.5, 0.5]], 1 - 0.5 * math.log(2) / (2 * math.log(2) - 0.75 * math.log(3))),
    ],
)
def test_entropy_r2(posterior, expected):
    assert compute_entropy_r2(np.array(posterior), np.ones(2)) == pytest.approx(expected, abs=1e-12)


@QUICK
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_entropy_r2_lies_between_zero_and_one(seed, n_classes):
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(n_classes, 0.3), size=6)
    assert -1e-12 <= compute_entropy_r2(posterior, rng.random(6) + 0.1) <= 1 + 1e-12
