import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import latentforest as lf
from latentforest import Dataset, Independence, LatentClass, Network, Variable, datasets
from latentforest.errors import DataError, DimensionWarning, ParameterError
from latentforest.inference.forest import PatternedData
from latentforest.scores import goodness_of_fit
from latentforest.scores.goodness import compute_entropy, compute_entropy_r2, measure_goodness
from reference.goodness import saturated_by_em
from reference.joint import marginal_table
from reference.latent_class import compare_cells, count_cells
from reference.random_networks import networks, tables_for

QUICK = settings(deadline=None, max_examples=60)
ROLE = datasets.load("role-conflict")


def fit_classes(name, n_states, **settings):
    table = datasets.load(name)
    return LatentClass(n_states, random_state=0, **settings).fit(table).network_, table


def with_holes(table, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(table.n_rows), table.weights.astype(int))
    columns = [np.where(rng.random(len(rows)) < share, -1, c[rows]) for c in table.columns]
    return Dataset(table.variables, columns)


# Statistics


@QUICK
@given(network=networks(max_variables=5, max_parents=2), data=st.data())
def test_statistics_over_all_cells(network, data):
    assume(network.observed)
    table = data.draw(tables_for(network, missing=False)).select(network.observed)
    counts = count_cells(table)
    expected = counts.sum() * marginal_table(network, network.observed)
    g_squared, x_squared = compare_cells(counts, expected)
    fit = measure_goodness(network, table)
    assert fit.g_squared == pytest.approx(g_squared, abs=1e-9)
    assert fit.x_squared == pytest.approx(x_squared, rel=1e-8, abs=1e-8)
    assert fit.dissimilarity == pytest.approx(
        np.abs(counts - expected).sum() / 2 / counts.sum(), abs=1e-12
    )
    with np.errstate(divide="ignore"):
        terms = counts * ((counts / np.where(counts > 0, expected, 1.0)) ** (2 / 3) - 1)
    assert fit.cressie_read == pytest.approx(1.8 * terms.sum(), rel=1e-8, abs=1e-8)
    assert fit.n_cells == counts.size
    assert fit.df_nominal == counts.size - 1 - network.structure.dimension
    assert fit.df >= max(fit.df_nominal, 0)


def test_empty_cells_count_in_x_squared():
    variable = Variable("a", ("x", "y", "z"))
    network = Network.from_tables([variable], {}, {"a": [0.5, 0.25, 0.25]})
    fit = goodness_of_fit(network, Dataset([variable], [[0, 1]], [6.0, 2.0]))
    assert fit.x_squared == pytest.approx(4 / 4 + 0 / 2 + 4 / 2)
    assert fit.g_squared == pytest.approx(2 * 6 * math.log(6 / 4))
    assert fit.dissimilarity == pytest.approx(2 / 8)


@pytest.mark.parametrize(
    ("name", "n_states", "g_squared", "df", "df_nominal"),
    [
        ("role-conflict", 2, 2.7199, 6, 6),
        ("role-conflict", 3, 0.387, 2, 1),
        ("coleman-panel", 2, 249.50, 6, 6),
        ("hiv-tests", 2, 16.227, 6, 6),
        ("house-building", 3, 15.96, 2, 1),
    ],
)
def test_latent_class_models_of_the_published_tables(name, n_states, g_squared, df, df_nominal):
    fit = measure_goodness(*fit_classes(name, n_states, tolerance=1e-12))
    assert fit.g_squared == pytest.approx(g_squared, abs=0.005)
    assert (fit.df, fit.df_nominal) == (df, df_nominal)
    assert fit.p == pytest.approx(chi2.sf(fit.g_squared, df))


def test_three_classes_of_the_house_building_table():
    model = LatentClass(3, random_state=0).fit(datasets.load("house-building"))
    assert model.bic_ == pytest.approx(-2962.07, abs=0.005)
    with pytest.warns(DimensionWarning):
        assert model.goodness_["p"][0] == pytest.approx(chi2.sf(15.962, 2), rel=1e-3)


def test_a_network_that_is_not_a_forest():
    variables = [Variable.hidden("X", 2), *ROLE.variables]
    parents = {"A": "X", "B": "X", "C": "X", "D": ("A", "C")}
    structure = lf.Structure(variables, parents)
    rng = np.random.default_rng(0)
    tables = {n: rng.dirichlet(np.ones(2), structure.shape(n)[:-1]) for n in structure.names}
    network = Network.from_tables(variables, parents, tables)
    fit = goodness_of_fit(network, ROLE)
    expected = 216 * marginal_table(network, network.observed)
    assert fit.g_squared == pytest.approx(compare_cells(count_cells(ROLE), expected)[0])
    assert fit.df == fit.df_nominal == 15 - 11
    assert len(fit.bivariate) == 6


def test_p_values_are_tails_of_chi_square():
    fit = goodness_of_fit(*fit_classes("role-conflict", 2))
    assert fit.p == pytest.approx(chi2.sf(fit.g_squared, 6))
    assert fit.p_x_squared == pytest.approx(chi2.sf(fit.x_squared, 6))
    assert fit.p_cressie_read == pytest.approx(chi2.sf(fit.cressie_read, 6))
    assert fit.p_by == "chi-square"


def test_a_network_that_fits_exactly():
    one = ROLE.select(["A"])
    network = Network.from_tables(one.variables, {}, {"A": ROLE.counts("A") / 216})
    fit = goodness_of_fit(network, one)
    assert fit.g_squared == pytest.approx(0.0, abs=1e-10)
    assert math.isnan(fit.p)  # no degrees of freedom are left


@pytest.mark.parametrize(("total", "is_given"), [(79.0, False), (80.0, True)])
def test_no_chi_square_for_a_sparse_table(total, is_given):
    weights = ROLE.weights * total / 216
    network = Independence().fit(ROLE).network_
    fit = goodness_of_fit(network, ROLE.with_weights(weights))
    assert math.isfinite(fit.p) == math.isfinite(fit.p_x_squared) == is_given


def test_no_p_values_without_degrees_of_freedom():
    network, table = fit_classes("role-conflict", 4)
    with pytest.warns(DimensionWarning, match="has 19 parameters, but .* can determine 15 of them"):
        fit = goodness_of_fit(network, table)
    assert (fit.df, fit.df_nominal) == (0, -4)
    assert math.isnan(fit.p)
    assert math.isnan(fit.p_x_squared)


def test_estimates_on_the_boundary_are_counted():
    variables = [Variable.hidden("h", 2), Variable("a", ("x", "y")), Variable("b", ("x", "y"))]
    tables = {"h": [0.5, 0.5], "a": [[1, 0], [1e-6, 1 - 1e-6]], "b": [[0.9, 0.1], [0.2, 0.8]]}
    network = Network.from_tables(variables, {"a": "h", "b": "h"}, tables)
    data = Dataset(variables[1:], [[0, 0, 1, 1], [0, 1, 0, 1]], [40, 10, 10, 40])
    assert measure_goodness(network, data).n_boundary == 2
    assert measure_goodness(network, data.with_weights(data.weights * 1000)).n_boundary == 1


def test_a_prepared_table_gives_the_same():
    network = Independence().fit(ROLE).network_
    assert goodness_of_fit(network, PatternedData(ROLE)) == goodness_of_fit(network, ROLE)


def test_any_table_is_read():
    frame = {name: ROLE.decode(name) for name in reversed(ROLE.names)}
    network = Independence().fit(ROLE).network_
    assert goodness_of_fit(network, frame) == goodness_of_fit(network, ROLE.with_weights(None))


def test_other_columns_are_ignored():
    network = Independence().fit(ROLE.select(["A", "B"])).network_
    holes = Dataset(
        ROLE.variables, [*ROLE.columns[:2], np.full(16, -1), ROLE.columns[3]], ROLE.weights
    )
    assert goodness_of_fit(network, holes) == goodness_of_fit(network, ROLE)


def test_an_impossible_row_has_infinite_distance():
    variable = Variable("a", ("x", "y"))
    network = Network.from_tables([variable], {}, {"a": [1.0, 0.0]})
    fit = goodness_of_fit(network, Dataset([variable], [[0, 1]]))
    assert fit.g_squared == fit.x_squared == fit.cressie_read == math.inf
    assert fit.dissimilarity == 0.5


def test_more_cells_than_a_float_can_count():
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(1100)]
    data = Dataset(variables, np.random.default_rng(0).integers(0, 2, (1100, 20)))
    tables = {variable.name: [0.5, 0.5] for variable in variables}
    fit = goodness_of_fit(Network.from_tables(variables, {}, tables), data)
    assert fit.n_cells == 2**1100
    assert math.isnan(fit.p)


def test_a_missing_column():
    network = Independence().fit(ROLE).network_
    with pytest.raises(DataError, match="the table has no column 'D'"):
        goodness_of_fit(network, ROLE.select(["A", "B", "C"]))


def test_continuous_columns_are_refused():
    data = Dataset.from_table({"a": ["x", "y", "x"], "b": [0.5, 0.25, 1.75]})
    network = Independence().fit(data).network_
    with pytest.raises(DataError, match="column 'b' is continuous"):
        goodness_of_fit(network, data)


@pytest.mark.parametrize("setting", [{"bootstrap": -1}, {"bootstrap": 2.5}, {"n_starts": -1}])
def test_settings_that_make_no_sense(setting):
    network = Independence().fit(ROLE).network_
    with pytest.raises(ParameterError, match="must be a whole number"):
        goodness_of_fit(network, ROLE, **setting)


# Missing values


def test_missing_values_are_compared_with_the_saturated_model():
    holes = with_holes(ROLE)
    network = LatentClass(2, random_state=0).fit(holes).network_
    fit = goodness_of_fit(network, holes)
    table = holes.merged()[0]
    start = marginal_table(network, network.observed)
    p, best = saturated_by_em(table, start, 3000)
    log_likelihood = table.weights @ lf.Predictor(network.with_predictive(None)).score_samples(
        table
    )
    assert fit.g_squared == pytest.approx(2 * (best - log_likelihood), abs=1e-5)
    n_rows = table.weights.sum()
    expected = n_rows * start
    assert fit.x_squared == pytest.approx(compare_cells(n_rows * p, expected)[1], rel=1e-3)
    assert fit.df == 6
    assert fit.p == pytest.approx(chi2.sf(fit.g_squared, 6))
    assert math.isnan(fit.p_x_squared)  # the counts of cells are no sample


def test_few_missing_values_change_little():
    network, _ = fit_classes("coleman-panel", 2)
    coleman = datasets.load("coleman-panel")
    holes = Dataset(
        coleman.variables,
        [
            np.append(column, -1 if name == "A" else 0)
            for name, column in zip("ABCD", coleman.columns, strict=True)
        ],
        np.append(coleman.weights, 0.001),
    )
    found, expected = goodness_of_fit(network, holes), goodness_of_fit(network, coleman)
    assert found.g_squared == pytest.approx(expected.g_squared, abs=0.01)
    assert found.x_squared == pytest.approx(expected.x_squared, abs=0.01)


def test_columns_that_are_never_seen_together():
    variables = [Variable("a", ("x", "y")), Variable("b", ("u", "v"))]
    data = Dataset(variables, [[0, 1, -1, -1], [-1, -1, 0, 1]], [30, 10, 25, 15])
    fit = goodness_of_fit(Independence().fit(data).network_, data)
    assert fit.df == 0  # the pair would be the only one
    assert fit.g_squared == pytest.approx(0.0, abs=1e-5)


# Bootstrap


def test_bootstrap_agrees_with_chi_square_where_that_holds():
    network, table = fit_classes("role-conflict", 2)
    fit = goodness_of_fit(network, table, bootstrap=100)
    assert fit.p_by == "bootstrap"
    assert abs(fit.p - chi2.sf(fit.g_squared, 6)) < 0.15
    assert 0 < min(fit.bivariate["p"]) <= max(fit.bivariate["p"]) <= 1


def test_bootstrap_rejects_what_does_not_fit():
    network, table = fit_classes("coleman-panel", 2)
    fit = goodness_of_fit(network, table, bootstrap=39)
    assert fit.p == fit.p_x_squared == fit.p_cressie_read == 1 / 40
    worst = next(fit.bivariate.rows())
    assert (worst["first"], worst["second"], worst["sign"], worst["p"]) == ("B", "D", 1, 1 / 40)


def test_bootstrap_of_a_sparse_table_with_missing_values():
    rng = np.random.default_rng(1)
    variables = [Variable.hidden("h", 2), *(Variable(f"x{i}", ("a", "b")) for i in range(8))]
    names = [variable.name for variable in variables[1:]]
    tables = {"h": [0.4, 0.6]} | {name: rng.dirichlet([1, 1], 2) for name in names}
    truth = Network.from_tables(variables, dict.fromkeys(names, "h"), tables)
    holes = with_holes(truth.sample(200, 2), 0.1)
    network = LatentClass(2, random_state=0).fit(holes).network_
    assert math.isnan(goodness_of_fit(network, holes).p)
    assert goodness_of_fit(network, holes, bootstrap=19).p > 0.05


def test_bootstrap_does_not_depend_on_threads_and_follows_the_seed():
    network, table = fit_classes("role-conflict", 2)
    one = goodness_of_fit(network, table, bootstrap=30, random_state=1)
    two = goodness_of_fit(network, table, bootstrap=30, random_state=1, n_jobs=2)
    other = goodness_of_fit(network, table, bootstrap=30, random_state=2)
    assert one == two
    assert one.bivariate.to_dict() == two.bivariate.to_dict()
    assert one.bivariate["p"] != other.bivariate["p"]


# Of a learner


def test_goodness_of_a_learner():
    model = LatentClass(2, random_state=0).fit(ROLE)
    table = model.goodness_
    assert table.columns[:5] == ("g_squared", "x_squared", "df", "df_nominal", "p")
    expected = goodness_of_fit(model.network_, ROLE).to_table()
    assert table.to_dict() == expected.to_dict()
    assert model.goodness_ is table


def test_goodness_has_the_names_of_the_fit_table():
    model = LatentClass(2, random_state=0).fit(ROLE)
    row = next(model.fit_table_.rows())
    goodness = next(model.goodness_.rows())
    common = [name for name in row if name in goodness]
    assert len(common) == 10
    assert [row[name] for name in common] == [goodness[name] for name in common]


def test_the_table_is_kept_until_it_is_not_needed():
    model = Independence().fit(ROLE)
    assert model._training is not None
    again = pickle.loads(pickle.dumps(model))
    assert model.goodness_.to_dict() == again.goodness_.to_dict()
    assert model._training is None
    assert pickle.loads(pickle.dumps(model)).goodness_.to_dict() == model.goodness_.to_dict()


@pytest.mark.parametrize("first", ["goodness_", "fit_table_"])
def test_a_latent_class_model_keeps_it_for_both_tables(first):
    model = LatentClass((1, 2), random_state=0).fit(ROLE)
    second = {"goodness_": "fit_table_", "fit_table_": "goodness_"}[first]
    assert len(getattr(model, first)) > 0
    model = pickle.loads(pickle.dumps(model))
    assert math.isfinite(getattr(model, second)["g_squared"][0])
    assert model._training is None
    assert model.fit_table_["df"] == [11, 6]


def test_goodness_follows_a_second_fit():
    model = LatentClass(2, random_state=0).fit(ROLE)
    before = model.goodness_["g_squared"], model.fit_table_["g_squared"]
    model.fit(datasets.load("coleman-panel"))
    assert model.goodness_["g_squared"] == pytest.approx([249.5], abs=0.01)
    assert model.fit_table_["g_squared"] == model.goodness_["g_squared"] != before[0]


def test_goodness_before_fitting():
    assert not hasattr(LatentClass(), "goodness_")
    assert not hasattr(LatentClass(), "fit_table_")


def test_goodness_of_continuous_columns():
    model = Independence().fit(Dataset.from_table({"a": [0.5, 0.25, 1.5]}))
    with pytest.raises(
        DataError, match="the training table has continuous columns or is too large"
    ):
        model.goodness_  # noqa: B018


def test_the_fit_table_does_not_warn():
    model = LatentClass((2, 4), random_state=0).fit(ROLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit_table_["df"] == [6, 2, 0]
    assert model.fit_table_["df_nominal"] == [6, 1, -4]


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


def test_a_learner_is_no_network():
    table = datasets.load("hiv-tests")
    with pytest.raises(ParameterError, match="network must be a Network, got LatentClass"):
        goodness_of_fit(LatentClass(2), table)
