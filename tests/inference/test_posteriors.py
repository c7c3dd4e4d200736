"""Posteriors of every row against the joint distribution, elimination and logarithms."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Network, Variable
from latentforest.datasets.generate import random_latent_forest
from latentforest.errors import ModelError
from latentforest.inference import forest as forest_module
from latentforest.inference import posteriors as posteriors_module
from latentforest.inference.forest import Forest, PatternedData
from reference.cases import by_code
from reference.joint import joint_table
from reference.random_networks import networks, tables_for

QUICK = settings(deadline=None, max_examples=80)


def lay_out(network, table):
    return Forest(network.structure, PatternedData(table))


def posterior_by_joint(network, table, targets):
    """P(targets | row) from the joint distribution; nan for impossible rows."""
    joint, names = joint_table(network), list(network.names)
    keep = [names.index(target) for target in targets]
    rest = tuple(axis for axis in range(joint.ndim) if axis not in keep)
    result = []
    for row in range(table.n_rows):
        here = joint.copy()
        for axis, name in enumerate(names):
            code = -1 if name in network.latents else int(table.column(name)[row])
            if code >= 0:
                states = np.arange(joint.shape[axis])
                shape = [-1 if a == axis else 1 for a in range(joint.ndim)]
                here = here * (states == code).reshape(shape)
        table_here = here.sum(axis=rest).transpose(np.argsort(np.argsort(keep)))
        total = table_here.sum()
        result.append(table_here / total if total > 0 else np.full(table_here.shape, np.nan))
    return np.array(result)


def without_unknown_states(network, table):
    """Whether every state of a column occurs, where the only column of a tree is concerned."""
    return all(
        len(set(table.column(name).tolist()) - {-1}) == network.structure.shape(name)[-1]
        for name in network.observed
    )


@QUICK
@given(network=networks(share_of_zeros=0.0), data=st.data())
def test_posteriors_in_any_forest(network, data):
    table = data.draw(tables_for(network))
    found = lay_out(network, table).posteriors(network.parameters, network.names)
    for name, posterior in zip(network.names, found, strict=True):
        expected = posterior_by_joint(network, table, [name])
        np.testing.assert_allclose(posterior, expected, rtol=1e-9, atol=1e-12)


@QUICK
@given(network=networks(share_of_zeros=0.0), data=st.data())
def test_edge_posteriors_in_any_forest(network, data):
    table = data.draw(tables_for(network))
    names = [name for name in network.names if network.structure.parents(name)]
    found = lay_out(network, table).family_posteriors(network.parameters, names)
    for name, posterior in zip(names, found, strict=True):
        family = [network.structure.parents(name)[0], name]
        expected = posterior_by_joint(network, table, family)
        np.testing.assert_allclose(posterior, expected, rtol=1e-9, atol=1e-12)


@QUICK
@given(network=networks(share_of_zeros=0.3), data=st.data())
def test_possible_rows_are_exact_among_impossible_ones(network, data):
    table = data.draw(tables_for(network, max_rows=12))
    assume(without_unknown_states(network, table))
    found = lay_out(network, table).posteriors(network.parameters, network.names)
    impossible = np.isneginf(lay_out(network, table).row_log_likelihoods(network.parameters))
    for name, posterior in zip(network.names, found, strict=True):
        expected = posterior_by_joint(network, table, [name])
        here = ~impossible
        np.testing.assert_allclose(posterior[here], expected[here], rtol=1e-9, atol=1e-12)


@QUICK
@given(network=networks(share_of_zeros=0.0), data=st.data())
def test_query_gives_the_same(network, data):
    table = data.draw(tables_for(network, max_rows=2))
    found = lay_out(network, table).posteriors(network.parameters, network.latents)
    evidence = {name: int(table.column(name)[0]) for name in network.observed}
    evidence = by_code(network, {n: code for n, code in evidence.items() if code >= 0})
    for name, posterior in zip(network.latents, found, strict=True):
        np.testing.assert_allclose(posterior[0], network.query(name, evidence), rtol=1e-9)


@QUICK
@given(network=networks(share_of_zeros=0.0), data=st.data())
def test_edges_add_up_to_both_ends(network, data):
    table = data.draw(tables_for(network))
    forest = lay_out(network, table)
    for name in network.names:
        for parent in network.structure.parents(name):
            (pair,) = forest.family_posteriors(network.parameters, [name])
            above, below = forest.posteriors(network.parameters, [parent, name])
            np.testing.assert_allclose(pair.sum(axis=2), above, atol=1e-12)
            np.testing.assert_allclose(pair.sum(axis=1), below, atol=1e-12)


@pytest.fixture(scope="module")
def wood():
    """Three trees with three layers and 24 columns, and a table with holes."""
    network = random_latent_forest(3, 24, depth=2, width=4, n_states=(2, 3), random_state=2)
    drawn = network.sample(400, random_state=2)
    rng = np.random.default_rng(0)
    columns = [np.where(rng.random(400) < 0.1, -1, column) for column in drawn.columns]
    return network, Dataset(drawn.variables, columns, rng.random(400))


def test_several_deep_trees(wood):
    network, table = wood
    found = lay_out(network, table).posteriors(network.parameters, network.latents)
    for row in range(0, 400, 80):
        evidence = {name: int(table.column(name)[row]) for name in network.observed}
        evidence = by_code(network, {n: code for n, code in evidence.items() if code >= 0})
        for name, posterior in zip(network.latents, found, strict=True):
            np.testing.assert_allclose(posterior[row], network.query(name, evidence), rtol=1e-9)


@QUICK
@given(network=networks(share_of_zeros=0.2), data=st.data())
def test_all_latent_variables_at_once(network, data):
    table = data.draw(tables_for(network))
    forest = lay_out(network, table)
    with mock.patch.object(posteriors_module, "FEW", -1):
        found = forest.posteriors(network.parameters, network.latents)
    for name, posterior in zip(network.latents, found, strict=True):
        (expected,) = forest.posteriors(network.parameters, [name])  # one by one: see above
        np.testing.assert_allclose(posterior, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("chunk_rows", [7, 150])
def test_all_latent_variables_at_once_in_chunks(wood, monkeypatch, chunk_rows):
    network, table = wood
    names = network.latents[:5]  # few enough to be followed one by one
    expected = lay_out(network, table).posteriors(network.parameters, names)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", chunk_rows)
    monkeypatch.setattr(posteriors_module, "FEW", -1)
    found = lay_out(network, table).posteriors(network.parameters, network.latents)
    for posterior, other in zip(expected, found[:5], strict=True):
        np.testing.assert_allclose(other, posterior, rtol=1e-9)


@pytest.mark.parametrize("chunk_rows", [7, 150])
def test_blocks_of_rows_give_the_same(wood, monkeypatch, chunk_rows):
    network, table = wood
    whole = lay_out(network, table).posteriors(network.parameters, network.names)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", chunk_rows)
    parts = lay_out(network, table).posteriors(network.parameters, network.names)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)


def test_blocks_of_rows_give_the_same_edges(wood, monkeypatch):
    network, table = wood
    names = [name for name in network.names if network.structure.parents(name)]
    whole = lay_out(network, table).family_posteriors(network.parameters, names)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 90)
    parts = lay_out(network, table).family_posteriors(network.parameters, names)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)


def test_repeated_rows_get_the_posterior_of_the_first(wood):
    network, table = wood
    rows = np.random.default_rng(1).integers(0, 20, 300)
    once = lay_out(network, table.take(range(20))).posteriors(network.parameters, network.latents)
    many = lay_out(network, table.take(rows)).posteriors(network.parameters, network.latents)
    for a, b in zip(once, many, strict=True):
        np.testing.assert_allclose(a[rows], b, rtol=1e-12)


# Impossible and vanishing rows


def pair_network(table):
    y, x = Variable.hidden("Y", 2), Variable("X", ("a", "b", "c"))
    z = Variable("Z", ("a", "b"))
    tables = {"Y": [0.5, 0.5], "X": table, "Z": [[0.9, 0.1], [0.2, 0.8]]}
    return Network.from_tables([y, x, z], {"X": "Y", "Z": "Y"}, tables)


def test_a_row_of_probability_zero_is_nan():
    network = pair_network([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])
    data = Dataset([network.variables[1], network.variables[2]], [[2, 0, 2, -1], [0, 1, -1, 1]])
    forest = lay_out(network, data)
    (posterior,) = forest.posteriors(network.parameters, ["Y"])
    assert np.isnan(posterior).all(axis=1).tolist() == [True, False, True, False]
    (pair,) = forest.family_posteriors(network.parameters, ["Z"])
    assert np.isnan(pair).all(axis=(1, 2)).tolist() == [True, False, True, False]


def test_an_impossible_state_that_no_row_has():
    y, x = Variable.hidden("Y", 2), Variable("X", ("a", "b", "c"))
    tables = {"Y": [0.5, 0.5], "X": [[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]}
    network = Network.from_tables([y, x], {"X": "Y"}, tables)
    (posterior,) = lay_out(network, Dataset([x], [[0, 1]])).posteriors(network.parameters, ["Y"])
    np.testing.assert_allclose(posterior, [[5 / 6, 1 / 6], [5 / 14, 9 / 14]])


def opposed_columns(n_columns, small, shift=0.0):
    """Columns half of which all but rule out one class, half the other."""
    y = Variable.hidden("Y", 2)
    items = [Variable(f"X{i}", ("a", "b")) for i in range(n_columns)]
    tables = {"Y": [0.4, 0.6]}
    for i, item in enumerate(items):
        rows = [[1 - small, small], [small + shift * small, 1 - small - shift * small]]
        tables[item.name] = rows if i < n_columns // 2 else rows[::-1]
    return Network.from_tables([y, *items], {item.name: "Y" for item in items}, tables)


def opposed_subtrees(flat):
    """The same distribution; each half of the columns has a copy of the class as its parent."""
    copies = [Variable.hidden("Y1", 2), Variable.hidden("Y2", 2)]
    tables = {name: flat.cpd(name) for name in flat.names} | dict.fromkeys(("Y1", "Y2"), np.eye(2))
    half = len(flat.observed) // 2
    parents = dict.fromkeys(("Y1", "Y2"), "Y")
    parents |= dict.fromkeys(flat.observed[:half], "Y1")
    parents |= dict.fromkeys(flat.observed[half:], "Y2")
    return Network.from_tables([*flat.variables, *copies], parents, tables)


def opposed_rows(n_columns):
    """All for both classes; all for the second; a mixture."""
    codes = np.zeros((n_columns, 3), int)
    codes[: n_columns // 2, 1] = 1
    codes[::3, 2] = 1
    return list(codes)


def posterior_by_logs(network, table):
    logs = np.log(network.cpd("Y")) + sum(
        np.where(codes[:, None] >= 0, np.log(network.cpd(name))[:, codes].T, 0.0)
        for name, codes in zip(table.names, table.columns, strict=True)
    )
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_columns", [100, 400, 800])
@pytest.mark.parametrize("small", [1e-2, 1e-9])
def test_rows_of_many_columns_are_exact(n_columns, small):
    network = opposed_columns(n_columns, small, shift=1e-3)
    table = Dataset(network.variables[1:], opposed_rows(n_columns))
    (posterior,) = lay_out(network, table).posteriors(network.parameters, ["Y"])
    np.testing.assert_allclose(posterior, posterior_by_logs(network, table), atol=1e-8)


@pytest.mark.parametrize("n_columns", [60, 100, 800])
@pytest.mark.parametrize("name", ["Y", "Y1", "Y2"])
def test_rows_whose_messages_vanish_are_repaired(n_columns, name):
    flat = opposed_columns(n_columns, 1e-12, shift=1e-3)
    network = opposed_subtrees(flat)
    table = Dataset(flat.variables[1:], opposed_rows(n_columns))
    (posterior,) = lay_out(network, table).posteriors(network.parameters, [name])
    np.testing.assert_allclose(posterior, posterior_by_logs(flat, table), atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_random_rows_of_many_columns_are_exact(seed):
    rng = np.random.default_rng(seed)
    network = opposed_columns(600, 10.0 ** -rng.uniform(1, 5))
    codes = (rng.random((600, 5)) < rng.random(5)).astype(int)
    table = Dataset(network.variables[1:], list(codes))
    (posterior,) = lay_out(network, table).posteriors(network.parameters, ["Y"])
    np.testing.assert_allclose(posterior, posterior_by_logs(network, table), atol=1e-9)


@pytest.mark.parametrize("first", [-1, 0])
def test_edges_of_vanishing_rows_are_repaired(first):
    flat = opposed_columns(100, 1e-12)
    codes = np.zeros((100, 1), int)
    codes[0] = first
    table = Dataset(flat.variables[1:], list(codes))
    network = opposed_subtrees(flat)
    pair, copies = lay_out(network, table).family_posteriors(network.parameters, ["X0", "Y1"])
    above = posterior_by_logs(flat, table)[0]
    share = flat.cpd("X0") if first < 0 else np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(pair[0], above[:, None] * share, atol=1e-8)
    np.testing.assert_allclose(copies[0], np.diag(above), atol=1e-8)


def test_vanishing_rows_in_several_blocks(monkeypatch):
    flat = opposed_columns(80, 1e-12, shift=1e-3)
    network = opposed_subtrees(flat)
    codes = (np.random.default_rng(0).random((80, 12)) < 0.02).astype(int)
    table = Dataset(flat.variables[1:], list(codes))
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 5)
    (posterior,) = lay_out(network, table).posteriors(network.parameters, ["Y"])
    np.testing.assert_allclose(posterior, posterior_by_logs(flat, table), atol=1e-8)


# Questions that cannot be answered


def test_the_family_of_a_root_is_itself():
    network = pair_network([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])
    forest = lay_out(network, Dataset(network.variables[1:], [[0], [1]]))
    (family,) = forest.family_posteriors(network.parameters, ["Y"])
    np.testing.assert_array_equal(family, forest.posteriors(network.parameters, ["Y"])[0])


def test_a_name_that_is_not_there():
    network = pair_network([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])
    forest = lay_out(network, Dataset(network.variables[1:], [[0], [1]]))
    with pytest.raises(ValueError, match="variable 'Q' is not in the forest"):
        forest.posteriors(network.parameters, ["Q"])
    with pytest.raises(ModelError, match="no variable named 'Q'"):
        forest.family_posteriors(network.parameters, ["Q"])


def test_no_names():
    network = pair_network([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])
    forest = lay_out(network, Dataset(network.variables[1:], [[0], [1]]))
    assert forest.posteriors(network.parameters, []) == []
