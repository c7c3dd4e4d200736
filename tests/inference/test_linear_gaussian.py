"""Conditional linear Gaussian networks in the junction tree, against all states one by one."""

import itertools

import numpy as np
import pytest

from latentforest import Dataset, Network, Predictor, Structure, Variable, load
from latentforest.errors import ModelError
from latentforest.estimation.complete import estimate_complete
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.families import extend_prior, free_families
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.junction.junction_tree import JunctionTree
from latentforest.kernels.forest.em import update
from reference.cases import by_code
from reference.linear_gaussian import em_step, join, row_log_likelihood, row_posterior
from reference.mixed_networks import draw_mixed

LATENT = Variable.hidden("Y", 2)
A, B, C = (Variable(name, states) for name, states in zip("ABC", ("ab", "abc", "ab"), strict=True))
U, V, W, X = (Variable(name) for name in "uvwx")
STRUCTURES = {
    "observed": Structure(
        [A, B, U, V, W, X],
        {"B": "A", "u": "A", "v": ("u", "B"), "w": ("A", "u", "v", "B"), "x": ("w", "B")},
    ),
    "latent": Structure(
        [LATENT, A, B, C, U, V, W, X],
        {
            "A": "Y",
            "C": ("A", "B"),
            "u": ("A", "Y"),
            "v": ("u", "B"),
            "w": ("v", "u", "C"),
            "x": "Y",
        },
    ),
    "pouch": Structure(
        [LATENT, A, B, U, V, W],
        {"A": "Y", "u": ("A", "Y"), "v": ("A", "Y"), "w": ("u", "B")},
        [("u", "v")],
    ),
    "two classes": Structure(
        [LATENT, Variable.hidden("Z", 3), U, V, W],
        {"u": "Y", "v": ("Z", "u"), "w": ("v", "Y", "u")},
    ),
}
# Which columns have gaps: none, categorical ones, one continuous one, all.
GAPS = {"none": (), "states": ("A", "B"), "one": ("u",), "all": ("A", "B", "C", *"uvwx")}


def make_table(network, seed, gaps, n_rows=30):
    rng = np.random.default_rng(seed)
    table = network.sample(n_rows, random_state=seed)
    columns = []
    for name, column in zip(table.names, table.columns, strict=True):
        values = column.copy()
        absent = (rng.random(n_rows) < 0.3) & (name in gaps)
        values[absent] = np.nan if values.dtype.kind == "f" else -1
        columns.append(values)
    return Dataset(table.variables, columns, rng.choice([0.5, 1.0, 2.0], n_rows))


@pytest.fixture(params=itertools.product(STRUCTURES, GAPS), ids="-".join)
def case(request):
    kind, gaps = request.param
    network = draw_mixed(STRUCTURES[kind], 1)
    return network, make_table(network, 2, GAPS[gaps])


def test_likelihoods_of_rows(case):
    network, table = case
    engine = make_engine(network.structure, PatternedData(table))
    expected = [row_log_likelihood(network, table, row) for row in range(table.n_rows)]
    theta = network.parameters
    np.testing.assert_allclose(engine.row_log_likelihoods(theta), expected, atol=1e-10)
    value, impossible = engine.log_likelihood(theta)
    assert value == pytest.approx(table.weights @ expected, abs=1e-8)
    assert impossible == 0.0


def test_posteriors(case):
    network, table = case
    engine = make_engine(network.structure, PatternedData(table))
    names = [n for n in network.names if network.structure.variable(n).is_categorical]
    for name, found in zip(names, engine.posteriors(network.parameters, names), strict=True):
        for row in range(table.n_rows):
            np.testing.assert_allclose(
                found[row], row_posterior(network, table, row, name), atol=1e-10
            )


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("kind", ["observed", "latent", "two classes"])
def test_an_iteration_of_em(kind, gaps):
    network = draw_mixed(STRUCTURES[kind], 1)
    structure, table = network.structure, make_table(network, 2, GAPS[gaps])
    engine = make_engine(structure, PatternedData(table))
    families, counts = free_families(engine), np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    theta = np.array(network.parameters)
    update(families, extend_prior(engine, np.zeros(len(theta))), counts, theta)
    for name, expected in em_step(network, table).items():
        bound = engine.data.summary(name).least_variance
        if (expected[..., -1] > bound).all() and not _is_thin(network, table, name):
            found = structure.table_view(theta, name)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def _is_thin(network, table, name):
    """Whether some states have too few rows for a line."""
    above = [n for n in network.structure.categorical_parents(name) if n in table.names]
    n_slopes = len(network.structure.continuous_parents(name))
    cells = [range(len(network.structure.states(n))) for n in above]
    for cell in itertools.product(*cells):
        here = [table.column(n) == code for n, code in zip(above, cell, strict=True)]
        if above and np.all(here, axis=0).sum() <= n_slopes + 1:
            return True
    return False


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("kind", ["observed", "latent", "pouch"])
def test_em_never_falls(kind, gaps):
    network = draw_mixed(STRUCTURES[kind], 3)
    table = make_table(network, 4, GAPS[gaps], 60)
    engine = make_engine(network.structure, PatternedData(table))
    result = fit(engine, network.parameters, settings=EMSettings(30), names_bounded=False)
    assert (np.diff(result.monitor.trajectory) >= -1e-9).all()


def test_a_pouch_below_two_columns():
    """On complete rows, EM arrives at means and covariances of each joint state at once."""
    structure = Structure([A, C, U, V], {"u": ("A", "C"), "v": ("A", "C")}, [("u", "v")])
    network = draw_mixed(structure, 1)
    table = make_table(network, 2, (), 200)
    engine = make_engine(structure, PatternedData(table))
    found = fit(engine, network.parameters, settings=EMSettings(3)).parameters
    a, c, u, v = table.columns
    for states in itertools.product(range(2), range(2)):
        here = (a == states[0]) & (c == states[1])
        values, w = np.stack([u[here], v[here]]), table.weights[here]
        matrix = np.cov(values, aweights=w, bias=True)
        for i, name in enumerate("uv"):
            expected = [values[i] @ w / w.sum(), *matrix[i]]
            np.testing.assert_allclose(structure.table_view(found, name)[states], expected)


@pytest.mark.parametrize("kind", ["latent", "pouch"])
def test_chunks_and_threads_change_nothing(kind):
    network = draw_mixed(STRUCTURES[kind], 5)
    table = make_table(network, 6, GAPS["all"], 80)
    results = []
    for options in ({}, {"n_jobs": 2, "chunk_rows": 17}, {"chunk_rows": 17}):
        engine = JunctionTree(network.structure, PatternedData(table, **options))
        counts = np.zeros(engine.n_counts)
        value, _ = engine.expected_counts(network.parameters, counts)
        results.append((value, counts))
    assert results[1][0] == results[2][0]
    np.testing.assert_array_equal(results[1][1], results[2][1])
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-9, atol=1e-10)


def test_a_narrow_limit_changes_nothing_but_the_way(monkeypatch):
    network = draw_mixed(STRUCTURES["latent"], 1)
    table = make_table(network, 2, GAPS["all"])
    engine = JunctionTree(network.structure, PatternedData(table))
    expected = engine.row_log_likelihoods(network.parameters)
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    monkeypatch.setattr("latentforest.inference.junction.dense_gaussians.MOST_DENSE", 60)
    narrow = JunctionTree(network.structure, PatternedData(table))
    np.testing.assert_allclose(narrow.row_log_likelihoods(network.parameters), expected, atol=1e-10)
    assert len(narrow._parts) > 10
    others = np.zeros(engine.n_counts)
    narrow.expected_counts(network.parameters, others)
    n = network.structure.n_values
    np.testing.assert_allclose(others[:n], counts[:n], atol=1e-9)


def test_too_many_states_above_missing_numbers_are_refused(monkeypatch):
    monkeypatch.setattr("latentforest.inference.junction.dense_gaussians.MOST_DENSE", 5)
    structure = STRUCTURES["two classes"]
    data = PatternedData(Dataset([U, V, W], [[1.0, np.nan], [1.0, 2.0], [0.0, 3.0]]))
    with pytest.raises(
        ModelError, match=r"'u', 'v', 'w' depend on 6 joint states of 'Y', 'Z'.*at most 5 are"
    ):
        JunctionTree(structure, data).cost  # noqa: B018
    data = PatternedData(Dataset([U, V, W], [[1.0, 2.0, 3.0]] * 3))
    with pytest.raises(ModelError, match=r"'u' depend on 2 .* in each of 3 rows; at most 5 such"):
        JunctionTree(structure, data).cost  # noqa: B018


def wide_network(n_each, seed):
    """As many categorical as continuous columns, each with several parents of either kind."""
    rng = np.random.default_rng(seed)
    states = [Variable(f"c{j}", ("a", "b", "c")) for j in range(n_each)]
    numbers = [Variable(f"x{j}") for j in range(n_each)]
    parents = {}
    for j in range(n_each):
        above = [f"c{i}" for i in rng.choice(j, min(j, 2), replace=False)] if j else []
        parents[f"c{j}"] = above
        beside = [f"c{i}" for i in rng.choice(n_each, min(n_each, 2), replace=False)]
        slopes = [f"x{i}" for i in rng.choice(j, min(j, 3), replace=False)] if j else []
        parents[f"x{j}"] = beside + slopes
    network = draw_mixed(Structure([*states, *numbers], parents), seed)
    theta = np.array(network.parameters)
    for name in (each.name for each in numbers):
        network.structure.table_view(theta, name)[..., 1:-1] *= 0.1
    return network.with_parameters(theta)


def test_wide_tables_that_are_complete():
    """Twenty columns of either kind have far too many joint states for one Gaussian each."""
    network = wide_network(20, 5)
    table = network.sample(400, random_state=6)
    engine = make_engine(network.structure, PatternedData(table))
    rows = engine.row_log_likelihoods(network.parameters)
    for row in range(3):
        evidence = {n: c[row].item() for n, c in zip(table.names, table.columns, strict=True)}
        expected = network.log_probability(by_code(network, evidence))
        assert rows[row] == pytest.approx(expected, abs=1e-9)
    fitted = estimate_complete(network.structure, table)
    result = fit(engine, fitted.parameters, settings=EMSettings(2), names_bounded=False)
    value = engine.log_likelihood(fitted.parameters)[0]
    assert result.log_likelihood >= value - 1e-6
    assert value > table.weights @ rows


def test_wide_tables_with_some_gaps():
    network = wide_network(20, 5)
    table = network.sample(20, random_state=6)
    columns = [column.copy() for column in table.columns]
    columns[25][:5] = np.nan
    columns[3][3:8] = -1
    table = Dataset(table.variables, columns)
    engine = make_engine(network.structure, PatternedData(table))
    rows = engine.row_log_likelihoods(network.parameters)
    for row in (0, 4, 7):
        values = {n: c[row].item() for n, c in zip(table.names, table.columns, strict=True)}
        evidence = {n: x for n, x in values.items() if x == x and x != -1}
        expected = network.log_probability(by_code(network, evidence))
        assert rows[row] == pytest.approx(expected, abs=1e-9)


def test_all_continuous_columns():
    rng = np.random.default_rng(7)
    variables = [Variable(f"x{j}") for j in range(50)]
    parents = {f"x{j}": [f"x{i}" for i in rng.choice(j, min(j, 4), False)] for j in range(1, 50)}
    values = rng.normal(size=(300, 50)) @ (np.eye(50) + 0.1 * rng.normal(size=(50, 50)))
    table = Dataset(variables, list(values.T))
    network = estimate_complete(Structure(variables, parents), table)
    mean, matrix = join(network, {})
    engine = make_engine(network.structure, PatternedData(table))
    away = values - mean
    square = np.einsum("ri,ij,rj->r", away, np.linalg.inv(matrix), away)
    expected = -0.5 * (square + np.linalg.slogdet(2.0 * np.pi * matrix)[1])
    np.testing.assert_allclose(engine.row_log_likelihoods(network.parameters), expected, rtol=1e-9)
    value = engine.log_likelihood(network.parameters)[0]
    result = fit(engine, network.parameters, settings=EMSettings(3), names_bounded=False)
    assert result.log_likelihood == pytest.approx(value, rel=1e-9)  # nothing to gain


def test_networks_do_all_that_networks_do(tmp_path):
    network = draw_mixed(STRUCTURES["latent"], 8)
    table = make_table(network, 9, GAPS["all"])
    network.save(tmp_path / "network.json")
    again = load(tmp_path / "network.json")
    assert isinstance(again, Network)
    predictor = Predictor(again)
    expected = [row_log_likelihood(network, table, row) for row in range(table.n_rows)]
    np.testing.assert_allclose(predictor.score_samples(table), expected, atol=1e-10)
    assert not predictor.explain(table).has_missing
    drawn = predictor.impute(table, random_state=0)
    assert not drawn.has_missing
    for column, filled in zip(table.columns, drawn.columns, strict=True):
        there = ~np.isnan(column) if column.dtype.kind == "f" else column >= 0
        np.testing.assert_array_equal(column[there], filled[there])
    assert "w" in str(again)


def test_imputed_numbers_have_the_right_distribution():
    network = draw_mixed(STRUCTURES["observed"], 10)
    complete = network.sample(4000, random_state=11)
    columns = [column.copy() for column in complete.columns]
    columns[3][:] = np.nan  # v, which w and x depend on
    drawn = Predictor(network).impute(Dataset(complete.variables, columns), random_state=12)
    for other in (2, 4, 5):
        pairs = [np.corrcoef(t.columns[3], t.columns[other])[0, 1] for t in (complete, drawn)]
        assert pairs[0] == pytest.approx(pairs[1], abs=0.05)
