import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from latentforest import (
    Dataset,
    Independence,
    Network,
    Structure,
    Variable,
    empirical_kl,
    log_score,
    tree_distance,
)
from latentforest.datasets import random_latent_tree
from latentforest.datasets.generate import with_missing
from latentforest.errors import DataError, ModelError
from latentforest.scores import hold_out
from reference.joint import marginal_table
from reference.random_networks import fill_randomly, networks, tables_for

QUICK = settings(deadline=None, max_examples=60)
MANY = settings(deadline=None, max_examples=300)
COIN = Variable("coin", ("heads", "tails"))
TREE = random_latent_tree(6, width=2, n_states=(2, 3), random_state=0)
RIVAL = random_latent_tree(6, depth=1, random_state=1)


def coin(heads):
    return Network.from_tables([COIN], {}, {"coin": [heads, 1 - heads]})


def log_probabilities(network, table):
    """Ask a network for the probability of one row after another."""
    codes = np.stack([table.column(name) for name in network.observed], axis=1)
    rows = [dict(zip(network.observed, map(int, row), strict=True)) for row in codes]
    seen = [{name: code for name, code in row.items() if code >= 0} for row in rows]
    return np.array([network.log_probability(row) for row in seen])


def all_rows(network):
    """List every combination of observed states, weighted by its probability."""
    table = marginal_table(network, network.observed)
    variables = [network.structure.variable(name) for name in network.observed]
    return Dataset(variables, np.indices(table.shape).reshape(table.ndim, -1), table.ravel())


@st.composite
def forests_over(draw, observed, max_latents=3):
    """Draw a forest in which both observed and latent variables are anywhere."""
    latents = [Variable.hidden(f"H{i}", 2) for i in range(draw(st.integers(0, max_latents)))]
    variables = draw(st.permutations([*observed, *latents]))
    parents = {}
    for position, variable in enumerate(variables):
        place = draw(st.integers(-1, position - 1))
        parents[variable.name] = variables[place].name if place >= 0 else ()
    return Structure(variables, parents)


@st.composite
def pairs_of_networks(draw, share_of_zeros=0.15):
    """Draw two networks with the same observed variables."""
    true = draw(networks(max_variables=5, share_of_zeros=share_of_zeros))
    assume(true.observed)
    observed = [variable for variable in true.variables if not variable.latent]
    structure = draw(forests_over(observed, max_latents=2))
    return true, fill_randomly(structure, draw(st.integers(0, 2**32 - 1)), share_of_zeros)


# Logarithmic score


@QUICK
@given(network=networks(), data=st.data())
def test_log_score_of_one_row_after_another(network, data):
    assume(network.observed)
    table = data.draw(tables_for(network))
    used = table.weights > 0
    expected = np.sum(table.weights[used] * log_probabilities(network, table)[used])
    assert log_score(network, table) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_log_score_is_what_hold_out_gives():
    train, test = (TREE.sample(100, random_state=seed) for seed in (0, 1))
    learner = Independence(smoothing=1)
    expected = hold_out(learner, train, test)
    assert log_score(learner.fit(train).network_, test) == pytest.approx(expected)


def test_log_score_of_an_impossible_row():
    assert log_score(coin(1.0), Dataset([COIN], [[0, 1]])) == -math.inf


def test_log_score_of_an_impossible_row_without_weight():
    assert log_score(coin(1.0), Dataset([COIN], [[0, 1]], [2.0, 0.0])) == 0.0


def test_log_score_of_a_row_that_is_impossible_in_one_tree_only():
    other = Variable("other", ("a", "b"))
    network = Network.from_tables([COIN, other], {}, {"coin": [1, 0], "other": [0.5, 0.5]})
    assert log_score(network, Dataset([COIN, other], [[0, 1], [0, 0]])) == -math.inf


def test_columns_that_the_network_lacks_may_be_continuous():
    wide = Dataset([Variable("height"), COIN], [[1.5, 1.7], [0, 1]])
    assert log_score(coin(0.5), wide) == pytest.approx(2 * math.log(0.5))
    assert empirical_kl(coin(0.5), coin(0.5), wide) == 0.0


# Empirical divergence


@QUICK
@given(pair=pairs_of_networks(), data=st.data())
def test_divergence_of_one_row_after_another(pair, data):
    true, model = pair
    table = data.draw(tables_for(true))
    log_true, log_model = log_probabilities(true, table), log_probabilities(model, table)
    used = table.weights > 0
    assume(np.all(log_true[used] > -np.inf))
    expected = np.average(log_true[used] - log_model[used], weights=table.weights[used])
    assert empirical_kl(true, model, table) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@QUICK
@given(pair=pairs_of_networks(share_of_zeros=0.0))
def test_divergence_over_all_rows_is_exact_and_not_negative(pair):
    true, model = pair
    p, q = (marginal_table(network, true.observed) for network in pair)
    exact = float(np.sum(p * np.log(p / q)))
    assert empirical_kl(true, model, all_rows(true)) == pytest.approx(exact, abs=1e-9)
    assert empirical_kl(true, model, all_rows(true)) >= -1e-12


def test_divergence_on_many_rows_is_near_the_exact_one():
    true, model = (random_latent_tree(5, width=2, random_state=seed) for seed in (3, 4))
    exact = empirical_kl(true, model, all_rows(true))
    assert exact > 0.1
    rows = true.sample(50_000, random_state=0)
    assert empirical_kl(true, model, rows) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("missing_rate", [0.0, 0.3, 1.0])
def test_divergence_from_itself_is_zero(missing_rate):
    rows = with_missing(TREE.sample(200, random_state=0), missing_rate, random_state=0)
    assert empirical_kl(TREE, TREE, rows) == 0.0


@pytest.mark.parametrize("root", TREE.names)
def test_roots_and_labels_do_not_change_the_distribution(root):
    rows = with_missing(TREE.sample(200, random_state=0), 0.2, random_state=0)
    turned = TREE.rooted_at(root).relabelled("Y2", [1, 0]).renamed({"Y2": "H"})
    assert empirical_kl(TREE, turned, rows) == pytest.approx(0.0, abs=1e-12)
    assert log_score(turned, rows) == pytest.approx(log_score(TREE, rows))


def test_a_weight_counts_like_repeated_rows():
    true, model = coin(0.7), coin(0.4)
    weighted = Dataset([COIN], [[0, 1]], [3.0, 2.0])
    repeated = Dataset([COIN], [[0, 1, 0, 1, 0]])
    expected = 0.6 * math.log(0.7 / 0.4) + 0.4 * math.log(0.3 / 0.6)
    assert empirical_kl(true, model, weighted) == pytest.approx(expected)
    assert empirical_kl(true, model, repeated) == pytest.approx(expected)
    assert log_score(true, weighted) == pytest.approx(log_score(true, repeated))


def test_a_row_that_the_model_excludes():
    assert empirical_kl(coin(0.5), coin(1.0), Dataset([COIN], [[0, 1]])) == math.inf


def test_excluded_rows_without_weight_do_not_count():
    rows = Dataset([COIN], [[0, 1]], [1.0, 0.0])
    assert empirical_kl(coin(1.0), coin(1.0), rows) == 0.0


def test_a_row_that_the_reference_excludes():
    rows = Dataset([COIN], [[0, -1, 1]])
    with pytest.raises(DataError, match=r"row 2 \(counted from 0\) has probability zero"):
        empirical_kl(coin(1.0), coin(1.0), rows)


# Networks and tables that do not belong together


def test_different_observed_variables():
    rows = TREE.sample(10, random_state=0)
    with pytest.raises(ModelError, match="same observed variables; only the first has 'X6'"):
        empirical_kl(TREE, random_latent_tree(5, depth=1, random_state=0), rows)
    with pytest.raises(ModelError, match="only the second has 'X7', 'X8'"):
        tree_distance(TREE, random_latent_tree(8, depth=1, random_state=0))


def test_different_states():
    rows = Dataset([COIN], [[0, 1]])
    turned = Variable("coin", ("tails", "heads"))
    other = Network.from_tables([turned], {}, {"coin": [0.5, 0.5]})
    with pytest.raises(ModelError, match=r"'coin' has states \('heads', 'tails'\) in the first"):
        empirical_kl(coin(0.5), other, rows)
    with pytest.raises(DataError, match=r"column 'coin' has states .*, but the network has"):
        log_score(other, rows)
    assert tree_distance(coin(0.5), other) == 0


def test_a_table_without_a_column():
    rows = TREE.sample(10, random_state=0).select(["X1", "X2", "X3", "X4", "X5"])
    with pytest.raises(DataError, match="there is no column 'X6'"):
        log_score(TREE, rows)
    with pytest.raises(DataError, match="there is no column 'X6'"):
        empirical_kl(TREE, TREE, rows)


def test_a_network_without_observed_variables():
    network = Network.from_tables([Variable.hidden("H", 2)], {}, {"H": [0.5, 0.5]})
    with pytest.raises(ModelError, match="no observed variable"):
        log_score(network, Dataset([COIN], [[0]]))


def test_a_network_that_is_no_forest():
    a, b, c = (Variable(name, ("0", "1")) for name in "abc")
    network = fill_randomly(Structure([a, b, c], {"c": ["a", "b"]}), 0)
    rows = network.sample(5, random_state=0)
    codes = [
        dict(zip("abc", map(int, row), strict=True)) for row in zip(*rows.columns, strict=True)
    ]
    expected = sum(network.log_probability(row) for row in codes)
    assert log_score(network, rows) == pytest.approx(expected)
    assert empirical_kl(network, network, rows) == pytest.approx(0.0)
    with pytest.raises(ModelError, match="a forest is needed, but variable 'c' has parents"):
        tree_distance(network, network)


# Distance of shapes


def shape(observed, arcs=""):
    """Build a structure from ``"parent>child"`` pairs; capital letters are latent."""
    pairs = [arc.split(">") for arc in arcs.split()]
    names = sorted({*observed, *(name for pair in pairs for name in pair)})
    variables = [Variable(name, ("0", "1"), latent=name.isupper()) for name in names]
    return Structure(variables, {child: parent for parent, child in pairs})


def draw_edges(structure):
    """Map each node to its neighbours, without latents that have less than three of them."""
    edges = {name: set(structure.neighbours(name)) for name in structure.names}
    while thin := [name for name in structure.latents if len(edges.get(name, "many")) < 3]:
        gone = thin[0]
        neighbours = edges.pop(gone)
        for name in neighbours:
            edges[name] = (edges[name] | neighbours) - {gone, name}
    return edges


def describe(edges, latents, name, origin=None):
    """Write the tree that hangs from a node in a way that only depends on its shape."""
    parts = sorted(describe(edges, latents, each, name) for each in edges[name] - {origin})
    return f"{'' if name in latents else name}({','.join(parts)})"


def describe_forest(structure):
    """Write every tree from each of its observed variables: equal if and only if the shapes are."""
    edges = draw_edges(structure)
    return {describe(edges, structure.latents, name) for name in structure.observed}


def walk(edges, start, closed):
    """Collect the nodes on one side of an edge."""
    found, waiting = set(), [(start, closed)]
    while waiting:
        name, origin = waiting.pop()
        found.add(name)
        waiting += [(each, name) for each in edges[name] - {origin}]
    return found


def cut_edges(structure):
    """List the observed variables on both sides of every edge of the reduced forest."""
    edges, observed = draw_edges(structure), set(structure.observed)
    return [
        frozenset(frozenset(walk(edges, *end) & observed) for end in ((a, b), (b, a)))
        for a in edges
        for b in edges[a]
        if a < b
    ]


OBSERVED = [Variable(name, ("0", "1")) for name in "abcde"]
forests = forests_over(OBSERVED)
small_forests = forests_over(OBSERVED[:3], max_latents=1)

AB_CD = shape("abcd", "H>a H>b H>G G>c G>d")
AC_BD = shape("abcd", "H>a H>c H>G G>b G>d")
STAR = shape("abcd", "H>a H>b H>c H>d")
CATERPILLAR = shape("abcde", "F>a F>b F>G G>c G>H H>d H>e")


@pytest.mark.parametrize(
    ("first", "second", "expected", "normalized"),
    [
        (AB_CD, AC_BD, 2, 1.0),
        (AB_CD, STAR, 1, 1.0),
        (STAR, STAR, 0, 0.0),
        (CATERPILLAR, shape("abcde", "F>a F>b F>G G>d G>H H>c H>e"), 2, 0.5),
        (CATERPILLAR, shape("abcde", "F>a F>b F>c F>H H>d H>e"), 1, 1 / 3),
        # Observed inner nodes.
        (shape("abc", "a>b b>c"), shape("abc", "H>a H>b H>c"), 1, 1.0),
        (shape("abc", "a>b b>c"), shape("abc", "b>a a>c"), 2, 1.0),
        (shape("abcd", "a>b b>c c>d"), shape("abcd", "H>a H>b H>G G>c G>d"), 2, 2 / 4),
        (shape("abcd", "a>b b>c c>d"), shape("abcd", "b>a a>c c>d"), 2, 0.5),
        (shape("abcd", "a>b a>c a>d"), STAR, 1, 1.0),
        # Several trees.
        (shape("ab"), shape("ab"), 0, 0.0),
        (shape("ab"), shape("ab", "a>b"), 1, 1.0),
        (shape("abcd"), STAR, 4, 1.0),
        (shape("abcd", "a>b c>d"), AB_CD, 7, 1.0),
        (shape("abcd", "a>b c>d"), shape("abcd", "a>b"), 1, 1.0),
        (shape("abcd", "a>b c>d"), shape("abcd", "a>c b>d"), 4, 1.0),
        (shape("abcd", "H>a H>b H>c"), STAR, 7, 1.0),
    ],
)
def test_distances_by_hand(first, second, expected, normalized):
    assert tree_distance(first, second) == expected
    assert tree_distance(first, second, normalized=True) == pytest.approx(normalized)


@pytest.mark.parametrize(
    "same",
    [
        shape("abcd", "c>G G>d G>H H>a H>b"),  # another root
        shape("abcd", "P>c P>d P>Q Q>a Q>b"),  # other names
        shape("abcd", "R>H R>G H>a H>b G>c G>d"),  # latents with two neighbours
        shape("abcd", "H>a H>b H>G G>P P>c Q>d G>Q"),
        shape("abcd", "H>a H>b H>G G>c G>d H>P P>Q"),  # latent leaves
        shape("abcd", "H>a H>b H>G G>c G>d P>Q"),  # a tree of latents only
    ],
)
def test_what_does_not_matter(same):
    assert tree_distance(AB_CD, same) == 0
    assert tree_distance(same, AC_BD) == 2


@MANY
@given(first=forests, second=forests)
def test_distance_counts_edges_without_a_twin(first, second):
    ours, theirs = cut_edges(first), cut_edges(second)
    assert len(set(ours)) == len(ours)  # no two edges of a reduced forest have the same sides
    only = [split for split in ours if split not in theirs]
    only += [split for split in theirs if split not in ours]
    assert tree_distance(first, second) == len(only)
    shared = [split for split in ours if split in theirs]
    is_leaf = [any(len(side) == 1 for side in split) for split in shared]
    total = len(ours) + len(theirs) - 2 * sum(is_leaf)
    expected = len(only) / total if total else 0.0
    assert tree_distance(first, second, normalized=True) == pytest.approx(expected)


@MANY
@given(first=small_forests, second=small_forests)
def test_zero_if_and_only_if_the_shapes_are_the_same(first, second):
    is_same = describe_forest(first) == describe_forest(second)
    assert (tree_distance(first, second) == 0) == is_same
    assert (tree_distance(first, second, normalized=True) == 0) == is_same


def assert_metric(first, second, third):
    there = tree_distance(first, second)
    assert tree_distance(first, first) == 0
    assert there == tree_distance(second, first)
    assert there <= tree_distance(first, third) + tree_distance(third, second)
    assert 0 <= tree_distance(first, second, normalized=True) <= 1


@MANY
@given(first=forests, second=forests, third=forests)
def test_a_metric_on_forests_with_observed_inner_nodes(first, second, third):
    assert_metric(first, second, third)


@st.composite
def shuffled_trees(draw):
    """Draw a random latent tree over X1 to X8 with its leaves shuffled."""
    depth, seed = draw(st.integers(1, 3)), draw(st.integers(0, 100))
    network = random_latent_tree(8, depth=depth, width=2, random_state=seed)
    return network.renamed(
        dict(zip(network.observed, draw(st.permutations(network.observed)), strict=True))
    )


@QUICK
@given(first=shuffled_trees(), second=shuffled_trees(), third=shuffled_trees())
def test_a_metric_on_random_latent_trees(first, second, third):
    assert_metric(first, second, third)
    assert tree_distance(first, second) <= 2 * (8 - 3)  # inner edges of two binary trees


@QUICK
@given(first=shuffled_trees(), second=shuffled_trees(), data=st.data())
def test_distance_after_rerooting_and_renaming(first, second, data):
    turned = first.rooted_at(data.draw(st.sampled_from(first.names)))
    turned = turned.renamed({name: f"new {name}" for name in turned.latents})
    assert tree_distance(first, turned) == 0
    assert tree_distance(turned, second) == tree_distance(first, second)
    order = dict(zip(first.observed, data.draw(st.permutations(first.observed)), strict=True))
    both = (network.renamed(order) for network in (first, second))
    assert tree_distance(*both) == tree_distance(first, second)


def test_networks_and_structures_mix():
    assert tree_distance(TREE, RIVAL.structure) == tree_distance(TREE.structure, RIVAL) == 1
