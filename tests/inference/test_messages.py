"""Messages toward every latent variable, against enumeration."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.messages import Messages, check_latent_forest, find_marginals
from latentforest.kernels.regions.arms import measure_trees
from latentforest.kernels.regions.types import EACH_ROW
from latentforest.kernels.vector import LANES
from latentforest.model import Network, Structure
from reference.cases import by_code
from reference.log_domain import propagate_logs
from reference.restricted import draw_latent_tree, draw_rows, draw_tables, measure

SEEDS = range(12)


def draw_case(seed, n_rows=25):
    states = [(2, 3), (5, 7), (2, 4), (3, 9)][seed % 4]
    network = draw_latent_tree(seed, 1 + seed % 5, states, (2, 3, 4))
    dataset = draw_rows(network, n_rows, seed)
    return network, PatternedData(dataset)


def read_arm(messages, hub, neighbour):
    """Beliefs (none of a leaf) and messages of an arm, a vector for each row."""
    arms, values, a = messages.arms, messages.values, messages.arm(hub, neighbour)
    n, column = arms.n_patterns[a], arms.column[a]
    codes = np.arange(n) if column == EACH_ROW else values.codes[column]

    def read(source, place, n_states):
        padded = -(-n_states // LANES) * LANES
        vectors = source[place : place + n * padded].reshape(n, padded)
        assert not vectors[:, n_states:].any()
        return vectors[codes, :n_states]

    beliefs = None
    if arms.belief[a] >= 0:
        beliefs = read(values.beliefs, arms.belief[a], arms.card[a])
    return beliefs, read(values.messages, arms.message[a], arms.width[a])


def find_behind(network, hub, neighbour):
    """The observed variables behind a neighbour."""
    rooted, found, stack = network.rooted_at(hub).structure, [], [neighbour]
    while stack:
        name = stack.pop()
        stack += rooted.children(name)
        found += [name] if name in network.observed else []
    return found


def enumerate_behind(network, dataset, given, behind):
    """P(what is observed of some variables | each state of one), a vector for each row."""
    rows = np.empty((dataset.n_rows, network.structure.shape(given)[-1]))
    rooted = network.rooted_at(given)
    marginal = rooted.cpd(given)
    for r in range(dataset.n_rows):
        evidence = {x: int(dataset.column(x)[r]) for x in behind if dataset.column(x)[r] >= 0}
        for y in range(len(marginal)):
            codes = by_code(network, {given: y, **evidence})
            rows[r, y] = np.exp(rooted.log_probability(codes)) / marginal[y]
    return rows


def proportional(vectors):
    return vectors / vectors.max(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_are_probabilities_of_what_is_behind(seed):
    network, data = draw_case(seed, n_rows=8)
    messages = Messages(network, data)
    for hub in network.latents:
        assert messages.neighbours(hub) == network.structure.neighbours(hub)
        for neighbour in messages.neighbours(hub):
            behind = find_behind(network, hub, neighbour)
            beliefs, found = read_arm(messages, hub, neighbour)
            expected = enumerate_behind(network, data.dataset, hub, behind)
            np.testing.assert_allclose(proportional(found), proportional(expected), rtol=1e-9)
            assert (beliefs is None) == (neighbour in network.observed)
            if beliefs is not None:
                expected = enumerate_behind(network, data.dataset, neighbour, behind)
                np.testing.assert_allclose(beliefs, proportional(expected), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_hub_knows_the_likelihood_of_its_tree(seed):
    network, data = draw_case(seed)
    messages = Messages(network, data)
    exact = measure(network, data.dataset)
    for h in range(len(messages.hubs)):
        assert measure_trees(messages.arms, messages.values)[h] == pytest.approx(exact, rel=1e-12)
    assert all(messages.rest(hub, exact) == 0.0 for hub in messages.hubs)


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_are_those_of_the_network_rooted_at_the_hub(seed):
    network, data = draw_case(seed, n_rows=2)
    messages = Messages(network, data)
    for hub in network.latents:
        rooted = network.rooted_at(hub)
        np.testing.assert_allclose(messages.table(hub), rooted.cpd(hub), rtol=1e-12)
        for z in messages.neighbours(hub):
            np.testing.assert_allclose(messages.table(hub, z), rooted.cpd(z), rtol=1e-12)


def test_marginals():
    network, _ = draw_case(4)
    for name, marginal in find_marginals(network).items():
        np.testing.assert_allclose(marginal, network.marginal(name), rtol=1e-12)


def test_trees_of_a_forest_have_likelihoods_of_their_own():
    first, second = draw_latent_tree(3, 2), draw_latent_tree(8, 3)
    second = second.renamed({name: f"{name}'" for name in second.names})
    alone = [Variable("alone", ("a", "b")), Variable("constant", ("a",))]
    parents = {n: each.structure.parents(n) for each in (first, second) for n in each.names}
    variables = [alone[0], *first.variables, *second.variables, alone[1]]
    network = draw_tables(Structure(variables, parents), np.random.default_rng(0))
    dataset = draw_rows(network, 30, 0)
    messages = Messages(network, PatternedData(dataset))
    exact = measure(network, dataset)
    values, _ = propagate_logs(network.structure, network.parameters, dataset)
    trees = dict(zip(network.structure.roots, dataset.weights @ values, strict=True))
    assert messages.hubs == network.latents
    for hub in messages.hubs:
        (root,) = (
            r for r in trees if r in network.latents and (r in first.names) == (hub in first.names)
        )
        tree = measure_trees(messages.arms, messages.values)[messages.number[hub]]
        assert tree == pytest.approx(trees[root], rel=1e-12)
        assert messages.rest(hub, exact) == pytest.approx(exact - trees[root], rel=1e-12)


def test_agreement_is_checked_in_every_tree_of_a_forest():
    """Leaves that contradict each other make underflow remove a state, in one tree of three."""
    n, low = 40, 1e-20
    half, rest, others = [f"X{j}" for j in range(n)], ["A", "B", "C"], ["D", "E", "F"]
    latents = [Variable.hidden(name, 2) for name in ("W", "Y", "Z")]
    leaves = [Variable(name, ("0", "1")) for name in (*half, *rest, *others)]
    tables = {"W": [0.5, 0.5], "Y": [0.5, 0.5], "Z": [[0.7, 0.3], [0.3, 0.7]], "alone": [0.0, 1.0]}
    tables |= {x: [[1 - low, low], [low, 1 - low]] for x in half} | {"value": [0.0, 2.0]}
    tables |= {x: [[0.8, 0.2], [0.1, 0.9]] for x in (*rest, *others)}
    parents = dict.fromkeys(half, "Y") | dict.fromkeys(rest, "Z") | dict.fromkeys(others, "W")
    alone = [Variable("alone", ("0", "1")), Variable("value")]
    network = Network.from_tables([*latents, *leaves, *alone], parents | {"Z": "Y"}, tables)

    def agree(first):
        """With or without the row of contradictions."""
        columns = [np.array([first * (2 * j >= n), 0, 1]) for j in range(n)] + [[0, 0, 1]] * 6
        columns += [[1, 1, -1], [0.5, np.nan, 3.0]]
        data = PatternedData(Dataset([*leaves, *alone], columns))
        exact, _ = Forest(network.structure, data).log_likelihood(network.parameters)
        return Messages(network, data).agree_with(exact)

    assert not agree(first=1)
    assert agree(first=0)


@pytest.mark.parametrize("concentration", [0.02, 1.0])
@pytest.mark.parametrize("n_leaves", [7, 8, 9, 17, 101, 900])
def test_many_leaves_do_not_underflow(n_leaves, concentration):
    names = [f"X{i}" for i in range(n_leaves)]
    variables = [Variable.hidden("Y", 3), Variable.hidden("Z", 2)]
    variables += [Variable(name, tuple("abcd")) for name in (*names, "A", "B")]
    parents = dict.fromkeys(names, "Y") | {"Z": "Y", "A": "Z", "B": "Z"}
    structure = Structure(variables, parents)
    network = draw_tables(structure, np.random.default_rng(1), concentration)
    dataset = draw_rows(network, 10, 1)
    messages = Messages(network, PatternedData(dataset))
    values, _ = propagate_logs(structure, network.parameters, dataset)
    exact = float(dataset.weights @ values[:, 0])
    for h in range(2):
        assert measure_trees(messages.arms, messages.values)[h] == pytest.approx(exact, rel=1e-12)


def test_a_row_that_is_impossible_makes_the_likelihood_minus_infinity():
    variables = [Variable.hidden("Y", 2), *(Variable(name, ("0", "1")) for name in "ABC")]
    tables = {"Y": [0.5, 0.5], **{x: [[1.0, 0.0], [0.0, 1.0]] for x in "ABC"}}
    network = Network.from_tables(variables, dict.fromkeys("ABC", "Y"), tables)
    columns = [[0, 1, 0], [0, 1, 1], [0, 1, -1]]
    for weight, expected in [(1.0, -np.inf), (0.0, 2 * np.log(0.5))]:
        dataset = Dataset(variables[1:], columns, [1.0, 1.0, weight])
        messages = Messages(network, PatternedData(dataset))
        assert measure_trees(messages.arms, messages.values)[0] == pytest.approx(expected)


def test_a_row_without_weight_may_be_impossible_behind_a_neighbour():
    """Its belief vanishes, which must not make the constants anything but numbers."""
    variables = [Variable.hidden("Y", 2), Variable.hidden("Z", 2)]
    variables += [Variable(name, ("0", "1")) for name in "ABCDEF"]
    parents = dict.fromkeys("ABC", "Y") | dict.fromkeys("DEF", "Z") | {"Z": "Y"}
    exact = [[1.0, 0.0], [0.0, 1.0]]
    tables = {"Y": [0.5, 0.5], "Z": exact, **dict.fromkeys("ABCDEF", exact)}
    network = Network.from_tables(variables, parents, tables)
    columns = [[0, 1, 0]] * 5 + [[0, 1, 1]]
    dataset = Dataset(variables[2:], columns, [1.0, 2.0, 0.0])
    messages = Messages(network, PatternedData(dataset))
    assert not np.isnan(messages.values.constant).any()
    for h in range(2):
        value = measure_trees(messages.arms, messages.values)[h]
        assert value == pytest.approx(3 * np.log(0.5))


def hidden_and_leaves(parents, latents="YZ", leaves="ABC"):
    variables = [Variable.hidden(name, 2) for name in latents]
    variables += [Variable(name, ("0", "1")) for name in leaves]
    return Structure(variables, parents)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"A": ["Y", "Z"], "B": "Y", "C": "Z"}, "a latent forest is needed"),
        ({"A": "Y", "B": "A", "C": "Z"}, "observed variables must be leaves, but 'A'"),
        ({"A": "Y", "B": "Y", "C": "Y"}, "latent variable 'Z' has no neighbour"),
    ],
)
def test_other_networks_are_refused(parents, message):
    with pytest.raises(ModelError, match=message):
        check_latent_forest(hidden_and_leaves(parents))


def test_a_likelihood_of_minus_infinity_agrees_with_nothing():
    variables = [Variable.hidden("Y", 2), *(Variable(name, ("0", "1")) for name in "ABCD")]
    tables = {"Y": [0.5, 0.5], "D": [0.5, 0.5], **{x: np.eye(2) for x in "ABC"}}
    network = Network.from_tables(variables, dict.fromkeys("ABC", "Y"), tables)
    dataset = Dataset(variables[1:], [[0, 1, 0], [0, 1, 1], [0, 1, -1], [0, 0, 1]])
    assert not Messages(network, PatternedData(dataset)).agree_with(3 * np.log(0.5))
