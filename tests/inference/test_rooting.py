import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Network, Structure, Variable
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.rooting import choose_roots, reroot
from reference.enumeration import trees_of
from reference.joint import joint_table
from reference.random_networks import fill_randomly, networks, tables_for

QUICK = settings(deadline=None, max_examples=80)


def count_patterns(structure, data):
    """Patterns of all variables: of the values at and below each."""
    masks, total = {}, 0
    for name in reversed(structure.order):
        masks[name] = data.bits.get(name, 0)
        for child in structure.children(name):
            masks[name] |= masks[child]
        total += data.sample.column(masks[name]).n_patterns
    return total


@QUICK
@given(network=networks(max_variables=7), data=st.data())
def test_never_more_patterns_than_before(network, data):
    table = PatternedData(data.draw(tables_for(network, max_rows=15)))
    better = reroot(network, table).structure
    assert count_patterns(better, table) <= count_patterns(network.structure, table)


@QUICK
@given(network=networks(), data=st.data())
def test_the_distribution_stays(network, data):
    table = PatternedData(data.draw(tables_for(network)))
    rerooted = reroot(network, table)
    assert rerooted.names == network.names
    np.testing.assert_allclose(joint_table(rerooted), joint_table(network), atol=1e-12)


@QUICK
@given(network=networks(share_of_zeros=0.0), data=st.data())
def test_rows_stay_as_likely(network, data):
    table = PatternedData(data.draw(tables_for(network)))
    rerooted = reroot(network, table)
    before = Forest(network.structure, table).row_log_likelihoods(network.parameters)
    after = Forest(rerooted.structure, table).row_log_likelihoods(rerooted.parameters)
    np.testing.assert_allclose(after, before, atol=1e-9)


@QUICK
@given(network=networks(), data=st.data())
def test_one_root_for_each_tree(network, data):
    table = PatternedData(data.draw(tables_for(network)))
    roots = choose_roots(network.structure, table)
    for root, tree in zip(roots, trees_of(network.structure), strict=True):
        assert root in tree
    assert set(reroot(network, table).structure.roots) == set(roots)


@QUICK
@given(network=networks(), data=st.data())
def test_a_second_time_changes_nothing(network, data):
    table = PatternedData(data.draw(tables_for(network)))
    once = reroot(network, table)
    again = reroot(once, table).structure
    assert count_patterns(again, table) == count_patterns(once.structure, table)


def chain_with_leaves(n_leaves):
    """Latents Y0, Y1, … in a chain; Yi has ``n_leaves[i]`` binary leaves."""
    latents = [Variable.hidden(f"Y{i}", 2) for i in range(len(n_leaves))]
    parents = {f"Y{i}": f"Y{i - 1}" for i in range(1, len(n_leaves))}
    leaves = []
    for i, n in enumerate(n_leaves):
        for j in range(n):
            leaves.append(Variable(f"X{i}{j}", ("0", "1")))
            parents[f"X{i}{j}"] = f"Y{i}"
    return Structure([*latents, *leaves], parents), leaves


@pytest.mark.parametrize(
    ("n_leaves", "root"),
    [([2, 1, 6], "Y2"), ([6, 1, 2], "Y0"), ([2, 6, 2], "Y1"), ([1, 1, 1, 6], "Y3"), ([3], "Y0")],
)
def test_the_root_goes_where_most_columns_are(n_leaves, root):
    structure, leaves = chain_with_leaves(n_leaves)
    rows = np.random.default_rng(0).integers(0, 2, (len(leaves), 500))
    assert choose_roots(structure, PatternedData(Dataset(leaves, list(rows)))) == [root]


@pytest.mark.parametrize("start", ["Y0", "Y1", "Y2"])
def test_the_first_root_does_not_matter(start):
    structure, leaves = chain_with_leaves([2, 1, 6])
    rows = np.random.default_rng(0).integers(0, 2, (len(leaves), 500))
    network: Network = fill_randomly(structure, seed=1).rooted_at(start)
    data = PatternedData(Dataset(leaves, list(rows)))
    assert reroot(network, data).structure.roots == ("Y2",)


def test_leaves_are_no_roots():
    structure, leaves = chain_with_leaves([1])
    data = PatternedData(Dataset(leaves, [[0, 1]]))
    assert choose_roots(structure, data) == ["Y0"]
