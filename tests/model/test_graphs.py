"""Questions to the graph, against slow answers and against the numbers of random networks."""

from itertools import product

import numpy as np
import pytest

from latentforest import Network, Structure, Variable
from latentforest.errors import ModelError
from latentforest.model.graphs import ancestors, barren, cpdag, d_separated
from reference.graphs import (
    ancestral_set,
    complete_by_enumeration,
    moralize,
    separated_by_moralization,
    separated_by_paths,
)
from reference.random_networks import fill_randomly

SEEDS = range(150)


def draw_structure(seed, n_names=None):
    """A random structure of categorical variables, some of them latent, in random order."""
    rng = np.random.default_rng(seed)
    n_names = rng.integers(2, 8) if n_names is None else n_names
    share = rng.uniform(0.1, 0.8)
    names = [f"v{k}" for k in rng.permutation(n_names)]
    parents = {
        name: [each for each in names[:k] if rng.random() < share] for k, name in enumerate(names)
    }
    variables = [Variable(name, ("a", "b", "c"), rng.random() < 0.3) for name in sorted(names)]
    return Structure(variables, parents)


def draw_sets(rng, names):
    """Two sets of names that are not empty, and a third, all without common names."""
    labels = rng.integers(4, size=len(names))
    labels[rng.permutation(len(names))[:2]] = 0, 1
    return [
        [name for name, label in zip(names, labels, strict=True) if label == k] for k in (0, 1, 2)
    ]


def parents_of(structure):
    return {name: structure.parents(name) for name in structure.names}


@pytest.mark.parametrize("seed", SEEDS)
def test_d_separation_against_slow_answers(seed):
    structure, rng = draw_structure(seed), np.random.default_rng(seed)
    parents = parents_of(structure)
    for _ in range(20):
        x, y, given = draw_sets(rng, structure.names)
        expected = separated_by_moralization(parents, x, y, given)
        assert separated_by_paths(parents, x, y, given) == expected
        assert structure.d_separated(x, y, given) == expected
        assert structure.d_separated(y, x, given) == expected


def test_the_random_graphs_give_both_answers():
    found = set()
    for seed in SEEDS:
        structure = draw_structure(seed)
        x, y, given = draw_sets(np.random.default_rng(seed), structure.names)
        found.add((d_separated(structure, x, y, given), bool(given)))
    assert found == {(False, False), (False, True), (True, False), (True, True)}


@pytest.mark.parametrize("seed", range(40))
def test_d_separation_is_independence_under_random_parameters(seed):
    structure = draw_structure(seed, n_names=5)
    network = fill_randomly(structure, seed, share_of_zeros=0)
    for x in structure.names:
        for y in structure.names:
            others = [name for name in structure.names if name not in (x, y)]
            if x >= y:
                continue
            for given in ([], others[:1], others[1:], others):
                joint = network.query([x, y, *given]).reshape(3, 3, -1)
                weight = joint.sum(axis=(0, 1))
                expected = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None] / weight
                is_independent = np.abs(joint - expected).max() < 1e-12
                assert network.d_separated(x, y, given) == is_independent


@pytest.mark.parametrize("seed", SEEDS)
def test_the_moral_graph_and_the_blanket(seed):
    structure = draw_structure(seed)
    edges = moralize(parents_of(structure), structure.names)
    graph = structure.moral_graph()
    assert {frozenset((a, b)) for a, found in graph.items() for b in found} == edges
    assert list(graph) == list(structure.names)
    for name, found in graph.items():
        assert found == tuple(sorted(found, key=structure.names.index))
        assert structure.markov_blanket(name) == found


@pytest.mark.parametrize("seed", range(40))
def test_the_blanket_separates_and_is_the_smallest_set_that_does(seed):
    structure = draw_structure(seed, n_names=6)
    for name in structure.names:
        blanket = structure.markov_blanket(name)
        others = [each for each in structure.names if each != name and each not in blanket]
        assert not others or structure.d_separated(name, others, blanket)
        for member in blanket:
            rest = [each for each in structure.names if each not in (name, member)]
            assert not structure.d_separated(name, member, rest)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_equivalence_class_against_enumeration(seed):
    structure = draw_structure(seed, n_names=2 + seed % 4)
    directed, undirected = complete_by_enumeration(parents_of(structure))
    found = structure.cpdag()
    assert list(found.directed) == directed
    assert list(found.undirected) == undirected


@pytest.mark.parametrize("seed", range(20))
def test_the_equivalence_class_of_larger_graphs(seed):
    """Seven variables, but few arcs, so that enumeration can follow."""
    rng = np.random.default_rng(seed)
    names = [f"v{k}" for k in rng.permutation(7)]
    arcs = [(a, b) for k, b in enumerate(names) for a in names[:k]]
    chosen = [arcs[k] for k in rng.permutation(len(arcs))[:9]]
    parents = {name: [a for a, b in chosen if b == name] for name in names}
    found = cpdag(Structure([Variable(name, ("a",)) for name in names], parents))
    assert (list(found.directed), list(found.undirected)) == complete_by_enumeration(parents)


def test_the_equivalence_class_does_not_depend_on_the_order_of_variables():
    structure = draw_structure(3, n_names=6)
    other = Structure(structure.variables[::-1], parents_of(structure))
    assert structure != other
    assert structure.cpdag() == other.cpdag()
    assert hash(structure.cpdag()) == hash(other.cpdag())


def test_rerooting_a_tree_keeps_its_class():
    tree = Structure(
        [Variable.hidden("y", 2), Variable("a", ("0", "1")), Variable("b", ("0", "1"))],
        {"a": "y", "b": "a"},
    )
    network = fill_randomly(tree, 0)
    assert network.cpdag() == network.rooted_at("b").cpdag()
    assert network.cpdag().directed == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_ancestors_and_barren_variables(seed):
    structure, rng = draw_structure(seed), np.random.default_rng(seed)
    parents = parents_of(structure)
    _, _, names = draw_sets(rng, structure.names)
    above = set().union(*(ancestral_set(parents, parents[name]) for name in names))
    assert ancestors(structure, names) == tuple(n for n in structure.names if n in above)
    left = ancestral_set(parents, names)
    assert barren(structure, names) == tuple(n for n in structure.names if n not in left)


@pytest.fixture
def pouched():
    """A latent variable over a pouch of three, of which one has a child of its own."""
    variables = [Variable.hidden("y", 2), *(Variable(name) for name in "pqrs")]
    parents = {**dict.fromkeys("pqr", "y"), "s": "q"}
    return Structure(variables, parents, [("p", "q", "r")])


def test_variables_of_a_pouch_are_linked(pouched):
    assert not pouched.d_separated("p", "r", "y")
    assert not pouched.d_separated("p", "r", ["y", "q", "s"])
    assert not pouched.d_separated("p", "s", "y")
    assert pouched.d_separated(["p", "r", "y"], "s", "q")
    assert pouched.with_pouches([]).d_separated("p", "r", "y")
    assert pouched.markov_blanket("p") == ("y", "q", "r")
    assert pouched.markov_blanket("q") == ("y", "p", "r", "s")
    assert pouched.moral_graph()["y"] == ("p", "q", "r")
    assert pouched.cpdag().directed == ()
    assert ("p", "r") in pouched.cpdag().undirected


def test_the_order_of_a_pouch_does_not_matter(pouched):
    y, p, q, r, s = pouched.variables
    other = Structure([y, s, r, q, p], parents_of(pouched), [("p", "q", "r")])
    assert pouched.cpdag() == other.cpdag()
    for x, given in product("pr", ([], ["q"], ["y"], ["y", "q"])):
        assert pouched.d_separated(x, "s", given) == other.d_separated(x, "s", given)
        assert pouched.d_separated(x, "s", given) == ("q" in given)


def test_the_rest_of_a_pouch_is_barren(pouched):
    assert barren(pouched, "q") == ("p", "r", "s")
    assert ancestors(pouched, "s") == ("y", "q")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "x"), "the network has no variable named 'x'"),
        (("x", "b"), "the network has no variable named 'x'"),
        (("a", "b", ["x"]), "the network has no variable named 'x'"),
        (("a", "a"), "variable 'a' is in two of the sets x, y and given"),
        (("a", "b", "b"), "variable 'b' is in two of the sets x, y and given"),
        (("a", []), "d-separation is between two sets of variables, got an empty one"),
    ],
)
def test_bad_questions(arguments, message):
    coins = [Variable(name, ("heads", "tails")) for name in ("a", "b")]
    network = Network.from_tables(coins, {}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    with pytest.raises(ModelError, match=message):
        network.d_separated(*arguments)


def test_unknown_names():
    structure = draw_structure(0)
    for question in (structure.markov_blanket, lambda name: ancestors(structure, [name])):
        with pytest.raises(ModelError, match="the network has no variable named 'x'"):
            question("x")
    with pytest.raises(ModelError, match="the network has no variable named 'x'"):
        barren(structure, "x")
