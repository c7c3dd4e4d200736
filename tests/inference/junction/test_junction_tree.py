"""The junction tree against multiplying all tables out, and against the forest."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Network, Structure, Variable
from latentforest.datasets import load, random_latent_tree
from latentforest.errors import DataError
from latentforest.estimation.families import extend_prior, free_families
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.junction.clique_plan import TooWideError
from latentforest.inference.junction.junction_tree import JunctionTree
from latentforest.kernels.forest.em import update
from reference.cases import by_code
from reference.general import expected_counts, list_cells, row_likelihoods, row_posterior
from reference.mixed_networks import draw_mixed
from reference.random_networks import fill_randomly, networks, tables_for

QUICK = settings(deadline=None, max_examples=60)
GENERAL = networks(max_variables=6, max_parents=3, share_of_zeros=0.1)
POSITIVE = networks(max_variables=6, max_parents=3, share_of_zeros=0.0)


def lay_out(network, table, **options):
    return JunctionTree(network.structure, PatternedData(table), **options)


def log(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


@QUICK
@given(network=GENERAL, data=st.data(), missing=st.booleans())
def test_likelihoods_of_rows(network, data, missing):
    table = data.draw(tables_for(network, missing=missing))
    engine, expected = lay_out(network, table), log(row_likelihoods(network, table))
    np.testing.assert_allclose(
        engine.row_log_likelihoods(network.parameters), expected, atol=1e-10, rtol=0
    )
    value, impossible = engine.log_likelihood(network.parameters)
    possible = expected > -np.inf
    assert value == pytest.approx(table.weights[possible] @ expected[possible], abs=1e-9)
    assert impossible == pytest.approx(table.weights[~possible].sum(), abs=1e-12)


@QUICK
@given(network=GENERAL, data=st.data(), missing=st.booleans())
def test_posteriors_of_variables_and_families(network, data, missing):
    table = data.draw(tables_for(network, missing=missing))
    assume((row_likelihoods(network, table) > 0).all())
    engine, names = lay_out(network, table), network.names
    singles = engine.posteriors(network.parameters, names)
    families = engine.family_posteriors(network.parameters, names)
    for row, cell in enumerate(list_cells(network, table)):
        for name, single, family in zip(names, singles, families, strict=True):
            whole = (*network.structure.parents(name), name)
            np.testing.assert_allclose(
                single[row], row_posterior(network, cell, [name]), atol=1e-10
            )
            np.testing.assert_allclose(family[row], row_posterior(network, cell, whole), atol=1e-10)


@QUICK
@given(network=POSITIVE, data=st.data(), missing=st.booleans())
def test_expected_counts(network, data, missing):
    structure = network.structure
    below = {n: any(not structure.variable(c).latent for c in structure.children(n))
             for n in structure.names}  # fmt: skip
    assume(all(below[name] for name in structure.latents))  # others are left alone
    table = data.draw(tables_for(network, missing=missing))
    counts = np.zeros(structure.n_values)
    value, impossible = lay_out(network, table).expected_counts(network.parameters, counts)
    np.testing.assert_allclose(counts, expected_counts(network, table), atol=1e-9)
    assert value == pytest.approx(table.weights @ log(row_likelihoods(network, table)), abs=1e-9)
    assert impossible == 0.0


def test_a_narrow_limit_changes_nothing_but_the_way():
    """Rows are then taken together by what is missing in them, and what is barren is dropped."""
    generator = np.random.default_rng(0)
    columns = [Variable(f"X{i}", ("a", "b", "c")) for i in range(6)]
    parents = {"X4": ["X0", "X1", "X2", "X3"], "X5": ["X4"]}
    network = fill_randomly(Structure(columns, parents), 1, 0.0)
    codes = np.array(network.sample(60, random_state=2).columns)
    codes[:, :30][generator.random((6, 30)) < 0.2] = -1
    codes[4:, 30:] = -1
    codes[:4, 30:][generator.random((4, 30)) < 0.8] = -1
    table = Dataset(columns, list(codes))
    wide, narrow = lay_out(network, table), lay_out(network, table, max_cells=81)
    assert len(wide._parts) == 1
    assert len(narrow._parts) > 10
    theta, names = network.parameters, network.names[:4]
    np.testing.assert_allclose(
        narrow.row_log_likelihoods(theta), wide.row_log_likelihoods(theta), atol=1e-10
    )
    found, expected = narrow.posteriors(theta, names), wide.posteriors(theta, names)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_a_clique_that_is_too_wide_is_named():
    parts = [Variable.hidden(f"Y{i}", 4) for i in range(5)]
    x = Variable("X", ("a", "b"))
    structure = Structure([*parts, x], {"X": [v.name for v in parts]})
    with pytest.raises(
        TooWideError, match=r"largest clique has 1,024 cells \('Y0', 'Y1'.*at most 1,000"
    ):
        JunctionTree(structure, PatternedData(Dataset([x], [[0, 1]])), max_cells=1000).cost  # noqa: B018


def test_a_forest_gives_the_same_either_way():
    network = random_latent_tree(12, random_state=3)
    table = network.sample(300, random_state=4)
    data = PatternedData(table)
    forest, tree = Forest(network.structure, data), JunctionTree(network.structure, data)
    counts = np.zeros((2, network.structure.n_values))
    values = [
        each.expected_counts(network.parameters, row)
        for each, row in zip((forest, tree), counts, strict=True)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    np.testing.assert_allclose(counts[0], counts[1], atol=1e-9)


def test_the_engine_is_chosen_by_itself():
    table = load("hiv-tests")
    data, names = PatternedData(table), table.names
    tree = Structure(table.variables, {names[1]: names[0]})
    collider = Structure(table.variables, {names[2]: names[:2]})
    assert make_engine(tree, data).kind == "forest"
    assert make_engine(collider, data).kind == "junction tree"


def test_threads_and_chunks_change_nothing():
    network = fill_randomly(
        Structure(
            [Variable.hidden("Y", 2), Variable.hidden("Z", 2)]
            + [Variable(f"X{i}", ("a", "b", "c")) for i in range(4)],
            {"X0": ("Y", "Z"), "X1": ("Y",), "X2": ("Z", "X1"), "X3": ("X0",)},
        ),
        5,
        0.0,
    )
    table = network.sample(500, random_state=1)
    results = []
    for options in ({}, {"n_jobs": 2, "chunk_rows": 17}, {"chunk_rows": 17}):
        engine = JunctionTree(network.structure, PatternedData(table, **options))
        counts = np.zeros(engine.n_counts)
        value, _ = engine.expected_counts(network.parameters, counts)
        results.append((value, counts))
    assert results[1][0] == results[2][0]
    np.testing.assert_array_equal(results[1][1], results[2][1])
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def many_columns(n_columns, small):
    """Two causes of every column; half of the columns all but rule out each state."""
    causes = [Variable.hidden("Y", 2), Variable.hidden("Z", 2)]
    items = [Variable(f"X{i}", ("a", "b")) for i in range(n_columns)]
    tables = {"Y": [0.4, 0.6], "Z": [0.5, 0.5]}
    for i, item in enumerate(items):
        low, high = (small, 0.5) if i % 2 else (0.5, small)
        tables[item.name] = [
            [[low, 1 - low], [low / 2, 1 - low / 2]],
            [[high, 1 - high], [high / 3, 1 - high / 3]],
        ]
    parents = {item.name: ("Y", "Z") for item in items}
    return Network.from_tables([*causes, *items], parents, tables)


@pytest.mark.parametrize(("n_columns", "small"), [(40, 1e-3), (60, 1e-12), (300, 1e-9)])
def test_rows_of_tiny_probability(n_columns, small):
    network = many_columns(n_columns, small)
    table = Dataset(network.variables[2:], [[0, 1]] * n_columns)
    engine = lay_out(network, table)
    tables = np.array([network.cpd(name) for name in network.observed])
    prior = np.multiply.outer(network.cpd("Y"), network.cpd("Z"))
    for row, code in enumerate((0, 1)):
        logs = log(prior) + log(tables[..., code]).sum(axis=0)
        expected = logs.max() + np.log(np.exp(logs - logs.max()).sum())
        assert engine.row_log_likelihoods(network.parameters)[row] == pytest.approx(expected)
        posterior = np.exp(logs - expected)
        y, z = engine.posteriors(network.parameters, ["Y", "Z"])
        np.testing.assert_allclose(y[row], posterior.sum(axis=1), atol=1e-9)
        np.testing.assert_allclose(z[row], posterior.sum(axis=0), atol=1e-9)
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    assert counts.sum() == pytest.approx(2.0 * (n_columns + 2))


def test_an_impossible_row_has_no_posterior():
    x, z = Variable("X", ("a", "b")), Variable("Z", ("a", "b"))
    y = Variable.hidden("Y", 2)
    tables = {"Y": [0.5, 0.5], "X": [0.5, 0.5], "Z": [[[1, 0], [1, 0]], [[0, 1], [1, 0]]]}
    network = Network.from_tables([y, x, z], {"Z": ("X", "Y")}, tables)
    table = Dataset([x, z], [[0, 1], [1, 1]])
    engine = lay_out(network, table)
    (posterior,) = engine.posteriors(network.parameters, ["Y"])
    assert np.isnan(posterior[0]).all()
    np.testing.assert_allclose(posterior[1], [1.0, 0.0])
    assert engine.log_likelihood(network.parameters)[1] == 1.0


def test_columns_that_are_not_there():
    table = load("hiv-tests")
    structure = Structure([*table.variables, Variable("E", ("a", "b"))], {})
    with pytest.raises(DataError, match="no column 'E'"):
        JunctionTree(structure, PatternedData(table))


# Continuous columns


def mixed_table(network, seed, n_rows=40, missing=0.2):
    """Rows of a network with gaps in all columns."""
    generator = np.random.default_rng(seed)
    table = network.sample(n_rows, random_state=seed)
    columns = []
    for column in table.columns:
        values = column.copy()
        gaps = generator.random(n_rows) < missing
        values[gaps] = np.nan if values.dtype.kind == "f" else -1
        columns.append(values)
    return Dataset(table.variables, columns, generator.choice([0.5, 1.0, 2.0], n_rows))


LATENTS = [Variable.hidden("Y", 2), Variable.hidden("Z", 3)]
COLUMNS = [Variable("A", ("a", "b")), Variable("B", ("a", "b", "c"))]
NUMBERS = [Variable(name) for name in ("u", "v", "w")]
FORESTS = {
    "leaves": ({"A": "Y", "B": "A", "u": "Y", "v": "Y", "w": "A"}, ()),
    "a line": ({"A": "Y", "B": "A", "u": "Y", "v": ("Y", "u"), "w": "v"}, ()),
    "a pouch": ({"A": "Y", "B": "A", "u": "B", "v": "B", "w": "Y"}, (("u", "v"),)),
    "alone": ({"A": "Y", "B": "Y", "v": "u"}, ()),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_continuous_columns_as_in_the_forest(kind, missing):
    parents, pouches = FORESTS[kind]
    structure = Structure([*LATENTS[:1], *COLUMNS, *NUMBERS], parents, pouches)
    network = draw_mixed(structure, 1)
    table = mixed_table(network, 2, missing=missing)
    data, theta = PatternedData(table), network.parameters
    forest, tree = Forest(structure, data), JunctionTree(structure, data)
    np.testing.assert_allclose(
        tree.row_log_likelihoods(theta), forest.row_log_likelihoods(theta), atol=1e-10
    )
    counts, others = np.zeros(forest.n_counts), np.zeros(tree.n_counts)
    value, _ = forest.expected_counts(theta, counts)
    assert tree.expected_counts(theta, others)[0] == pytest.approx(value, abs=1e-9)
    n = structure.n_values
    np.testing.assert_allclose(others[:n], counts[:n], atol=1e-9)
    np.testing.assert_allclose(take_step(tree, theta), take_step(forest, theta), atol=1e-8)
    for one, other in zip(
        tree.posteriors(theta, ["Y", "A", "B"]),
        forest.posteriors(theta, ["Y", "A", "B"]),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-10)


def take_step(engine, theta):
    """Parameters after one M-step."""
    families, counts = free_families(engine), np.zeros(engine.n_counts)
    engine.expected_counts(theta, counts)
    new = np.array(theta)
    update(families, extend_prior(engine, np.zeros(len(theta))), counts, new)
    return new


def test_continuous_columns_with_several_parents():
    parents = {"A": "Y", "B": ("Y", "Z"), "u": ("Y", "Z"), "v": ("A", "Z"), "w": ("B", "A")}
    structure = Structure([*LATENTS, *COLUMNS, *NUMBERS], parents)
    network = draw_mixed(structure, 3)
    table = mixed_table(network, 4)
    engine, theta = make_engine(structure, PatternedData(table)), network.parameters
    found = engine.row_log_likelihoods(theta)
    posteriors = engine.posteriors(theta, ["Y", "Z", "A"])
    for row in range(table.n_rows):
        values = {name: table.column(name)[row] for name in table.names}
        seen = {name: x.item() for name, x in values.items() if x == x and x != -1}
        evidence = by_code(network, seen)
        assert found[row] == pytest.approx(network.log_probability(evidence), abs=1e-10)
        for name, posterior in zip(("Y", "Z", "A"), posteriors, strict=True):
            if name not in evidence:
                np.testing.assert_allclose(
                    posterior[row], network.query(name, evidence), atol=1e-10
                )


def test_sums_of_a_leaf_with_two_parents():
    structure = Structure([*COLUMNS, NUMBERS[0]], {"u": ("A", "B")})
    network = draw_mixed(structure, 5)
    table = mixed_table(network, 6, missing=0.0)
    engine = JunctionTree(structure, PatternedData(table))
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    a, b, u = table.columns
    sums = counts[structure.n_values :].reshape(2, 3, 3)
    for row in itertools.product(range(2), range(3)):
        mean, variance = network.cpd("u")[row]
        here = (a == row[0]) & (b == row[1])
        y, w = (u[here] - mean) / np.sqrt(2 * variance), table.weights[here]
        np.testing.assert_allclose(sums[row], [w.sum(), w @ y, w @ y**2], atol=1e-10)


def test_continuous_rows_that_contradict_the_rest():
    """Densities that differ by more than a double can tell go to the log domain."""
    columns = [Variable(f"X{i}", ("a", "b")) for i in range(12)]
    u = Variable("u")
    tables = {"Y": [0.5, 0.5], "Z": [0.2, 0.3, 0.5]}
    tables |= {c.name: [[1e-30, 1 - 1e-30], [0.5, 0.5]] for c in columns}
    tables["u"] = [[[0.0, 1.0]] * 3, [[40.0, 1.0]] * 3]
    parents = {c.name: "Y" for c in columns} | {"u": ("Y", "Z")}
    network = Network.from_tables([*LATENTS, *columns, u], parents, tables)
    table = Dataset([*columns, u], [[0]] * 12 + [[0.0]])
    engine = make_engine(network.structure, PatternedData(table))
    evidence = dict.fromkeys([c.name for c in columns], "a") | {"u": 0.0}
    assert engine.row_log_likelihoods(network.parameters)[0] == pytest.approx(
        network.log_probability(evidence)
    )
