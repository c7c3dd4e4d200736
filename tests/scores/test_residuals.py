import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Independence, LatentClass, Network, Variable, datasets
from latentforest.scores import compute_bivariate_residuals, compute_cell_residuals
from latentforest.scores.residuals import _expect_pairs
from reference.joint import marginal_table
from reference.latent_class import compare_cells, count_cells
from reference.random_networks import networks, tables_for

QUICK = settings(deadline=None, max_examples=60)
ROLE = datasets.load("role-conflict")


# Cells


def test_cell_residuals():
    network = LatentClass(2, random_state=0).fit(ROLE).network_
    table = compute_cell_residuals(network, ROLE)
    assert table.columns == ("A", "B", "C", "D", "observed", "expected", "residual")
    counts, expected = count_cells(ROLE), 216 * marginal_table(network, network.observed)
    for row in table.rows():
        cell = tuple(ROLE.variable(name).states.index(row[name]) for name in "ABCD")
        assert row["observed"] == counts[cell]
        assert row["expected"] == pytest.approx(expected[cell])
        residual = (counts[cell] - expected[cell]) / np.sqrt(expected[cell])
        assert row["residual"] == pytest.approx(residual)
    sizes = np.abs(table["residual"])
    assert np.all(np.diff(sizes) <= 1e-9)
    assert np.sum(sizes**2) == pytest.approx(2.72, abs=0.005)  # X²


def test_cells_that_do_not_occur_are_listed():
    hiv = datasets.load("hiv-tests")
    table = compute_cell_residuals(Independence().fit(hiv).network_, hiv)
    assert len(table) == 16
    empty = [row for row in table.rows() if row["observed"] == 0]
    assert len(empty) == 7
    assert all(row["residual"] == pytest.approx(-np.sqrt(row["expected"])) for row in empty)


def test_cells_of_some_columns():
    coleman = datasets.load("coleman-panel")
    network = LatentClass(2, random_state=0).fit(coleman).network_
    table = compute_cell_residuals(network, coleman, ["B", "D"])
    assert sum(r**2 for r in table["residual"]) == pytest.approx(228.68, abs=0.01)
    same = [row["residual"] for row in table.rows() if row["B"] == row["D"]]
    assert min(same) > 0
    assert sum(table["observed"]) == pytest.approx(sum(table["expected"])) == coleman.total_weight


def test_cells_of_a_table_with_missing_values():
    variables = [Variable("a", ("x", "y")), Variable("b", ("u", "v"))]
    data = Dataset(variables, [[0, 1, -1], [0, 1, 0]], [6, 2, 4])
    network = Network.from_tables(variables, {}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    table = compute_cell_residuals(network, data)
    observed = {(row["a"], row["b"]): row["observed"] for row in table.rows()}
    assert observed == pytest.approx(
        {("x", "u"): 10, ("y", "v"): 2, ("x", "v"): 0, ("y", "u"): 0}, abs=1e-3
    )


def test_columns_with_the_names_of_results():
    variables = [Variable("observed", ("x", "y")), Variable("residual", ("u", "v"))]
    data = Dataset(variables, [[0, 1], [0, 1]])
    table = compute_cell_residuals(Independence().fit(data).network_, data)
    assert table.columns == ("observed", "residual", "observed_", "expected", "residual_")


def test_only_cells_that_occur_in_a_table_of_very_many():
    data = Dataset(
        [Variable(f"x{i}", ("0", "1")) for i in range(30)],
        np.random.default_rng(0).integers(0, 2, (30, 20)),
    )
    assert len(compute_cell_residuals(Independence().fit(data).network_, data)) == 20


# Pairs of columns


@QUICK
@given(network=networks(max_parents=2))
def test_pair_marginals_in_any_network(network):
    names = network.observed
    if len(names) < 2:
        return
    edges = np.cumsum([0, *(network.structure.shape(name)[-1] for name in names)])
    found = _expect_pairs(network, names, edges)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                block = found[edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
                expected = marginal_table(network, [first, second])
                np.testing.assert_allclose(block, expected, atol=1e-12)


def direct_residual(network, table, first, second):
    joint = marginal_table(network, [first, second])
    counts = np.zeros(joint.shape)
    for a, b, w in zip(table.column(first), table.column(second), table.weights, strict=True):
        if a >= 0 and b >= 0:
            counts[a, b] += w
    freedom = (joint.shape[0] - 1) * (joint.shape[1] - 1)
    return compare_cells(counts, counts.sum() * joint)[1] / freedom if freedom else 0.0


@QUICK
@given(network=networks(max_parents=2), data=st.data())
def test_residuals_in_any_network(network, data):
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
    assert len(table) == 0
    assert table.columns[:4] == ("first", "second", "residual", "sign")


def test_pairs_that_are_never_both_observed_have_no_residual():
    variables = [Variable("a", ("x", "y")), Variable("b", ("u", "v"))]
    data = Dataset(variables, [[0, 1, -1, -1], [-1, -1, 0, 1]])
    assert compute_bivariate_residuals(Independence().fit(data).network_, data)["residual"] == [0.0]


@pytest.mark.parametrize(("counts", "sign"), [([9, 1, 1, 9], 1), ([1, 9, 9, 1], -1), ([5] * 4, 0)])
def test_signs(counts, sign):
    variables = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    data = Dataset(variables, [[0, 0, 1, 1], [0, 1, 0, 1]], counts)
    assert compute_bivariate_residuals(Independence().fit(data).network_, data)["sign"] == [sign]


@pytest.mark.filterwarnings("ignore::latentforest.errors.UnobservedStatesWarning")
def test_expected_counts_of_pairs():
    data = Dataset([Variable(name, ("0", "1", "2")) for name in "ab"], [[0, 0, 1], [0, 1, 1]])
    data = data.with_weights([16.0, 4.0, 20.0])  # nobody has the state 2
    table = compute_bivariate_residuals(Independence().fit(data).network_, data)
    assert table["smallest_expected"] == pytest.approx([40 * 0.5 * 0.4])
    few = data.with_weights([4.0, 1.0, 5.0])
    table = compute_bivariate_residuals(Independence().fit(few).network_, few)
    assert (table["smallest_expected"], table["small_cells"]) == (pytest.approx([2.0]), [1.0])


def test_a_column_without_categories_has_no_pairs():
    data = Dataset.from_table({"a": list("xyxy"), "b": list("uuvv"), "c": [0.5, 1.5, 2.25, 4.75]})
    table = compute_bivariate_residuals(Independence().fit(data).network_, data)
    assert (table["first"], table["second"]) == (["a"], ["b"])
