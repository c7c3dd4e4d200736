"""NI: which mediators are proposed, and how they begin."""

import math

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.inference.forest import Forest
from latentforest.kernels.regions.mediator_starts import start_mediators
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.tables import soften
from latentforest.search.trees.operators.node_introduction import NodeIntroduction, introduce
from latentforest.search.trees.tree import LatentTree, Rules
from reference import completion as oracle
from reference.candidates import SEEDS, draw_model, propose
from reference.completion_cases import NETWORKS, Case, close
from reference.operators import ANY_MEDIATOR, TREE_SEEDS, card, draw_tree, propose_in
from reference.restricted import (
    draw_tables,
    put_tables,
)


@pytest.mark.parametrize("seed", TREE_SEEDS[::2])
def test_all_regular_mediators_are_proposed(seed):
    """NI with every number of states up to the hub's, against trying everything."""
    network = draw_tree(seed)
    tree = LatentTree(network.structure)
    proposed = {
        (c.hub, frozenset((c.left, c.right)), c.card)
        for c in propose_in(network, operators=[NodeIntroduction])
    }
    for hub in network.latents:
        rooted = network.rooted_at(hub).structure
        for i, left in enumerate(tree.neighbours[hub]):
            for right in tree.neighbours[hub][:i]:
                for n_states in range(2, card(network, hub) + 1):
                    edited = rooted.add(
                        [Variable.hidden("new", n_states)],
                        {"new": hub, left: "new", right: "new"},
                    )
                    is_regular = not find_irregular(edited) and len(tree.neighbours[hub]) > 3
                    key = (hub, frozenset((left, right)), n_states)
                    assert (key in proposed) == is_regular


def test_a_new_variable_has_as_many_states_as_its_hub_unless_fewer_are_regular():
    leaves = [Variable(f"X{i}", ("0", "1")) for i in range(5)]
    parents = {leaf.name: "Y" for leaf in leaves}
    network = draw_tables(
        Structure([Variable.hidden("Y", 7), *leaves], parents), np.random.default_rng(0)
    )
    assert {each.card for each in propose_in(network, Rules(), [NodeIntroduction])} == {4}
    assert {each.card for each in propose_in(network, ANY_MEDIATOR, [NodeIntroduction])} == {
        2,
        3,
        4,
    }
    smaller = draw_tables(
        Structure([Variable.hidden("Y", 4), *leaves], parents), np.random.default_rng(0)
    )
    assert {each.card for each in propose_in(smaller, Rules(), [NodeIntroduction])} == {4}
    assert {each.card for each in propose_in(smaller, ANY_MEDIATOR, [NodeIntroduction])} == {
        2,
        3,
        4,
    }


def test_a_hub_of_three_gets_no_mediator():
    leaves = [Variable(name, ("0", "1")) for name in "ABC"]
    structure = Structure([Variable.hidden("Y", 2), *leaves], dict.fromkeys("ABC", "Y"))
    assert list(NodeIntroduction.propose(LatentTree(structure), ANY_MEDIATOR)) == []


def test_a_mediator_may_not_make_a_latent_neighbour_irregular():
    """Y has four states, so that its neighbour Z may have three between Y and five-state X."""
    variables = [Variable.hidden("Y", 4), Variable.hidden("Z", 3), Variable("X", tuple("abcde"))]
    variables += [Variable(name, ("0", "1")) for name in "ABCD"]
    structure = Structure(variables, {"Z": "Y", "X": "Z", **dict.fromkeys("ABCD", "Y")})
    assert not find_irregular(structure)
    found = [
        each.card
        for each in NodeIntroduction.propose(LatentTree(structure), ANY_MEDIATOR)
        if "Z" in (each.left, each.right)
    ]
    assert set(found) == {4}


def test_new_names_avoid_columns():
    leaves = [Variable(name, ("0", "1")) for name in ("Y1", "Y2", "Y4", "A")]
    parents = {leaf.name: "Y" for leaf in leaves}
    tree = LatentTree(Structure([Variable.hidden("Y", 2), *leaves], parents))
    assert {each.name for each in NodeIntroduction.propose(tree, Rules())} == {"Y3"}


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_mediators_start_as_copies_of_the_hub_then_drawn(seed):
    model, n_random = draw_model(seed), 2
    messages, structure = model.messages, model.network.structure
    rng = np.random.default_rng(seed)
    for hub in model.network.latents:
        names, width = messages.neighbours(hub), messages.card(hub)
        above = structure.parents(hub)
        for n_states in range(2, width + 1):
            copy = introduce(width, n_states)
            shapes = [copy.shape, (n_states, sum(map(messages.card, names)))]
            shapes += [(messages.card(z), n_states) for z in above] + [
                (n_states, width) for _ in above
            ]
            noise = [rng.exponential(size=(n_random, *shape)) for shape in shapes]
            flat = np.concatenate([each.ravel() for each in noise])
            found, places = start_mediators(
                messages.arms,
                messages.values,
                messages.number[hub],
                n_states,
                n_random,
                flat,
                flat[:0],
            )
            expected = [[soften(copy), *normalised(noise[0])]]
            for z, drawn in zip(above, noise[2:3], strict=True):
                expected.append([soften(messages.table(z, hub) @ copy), *normalised(drawn)])
                shared = copy.T / copy.sum(axis=0)[:, None]
                expected.append([soften(shared), *normalised(noise[3])])
            taken = 0
            for z in names:
                drawn = normalised(noise[1][:, :, taken : taken + messages.card(z)])
                taken += messages.card(z)
                base = messages.table(hub) @ messages.table(hub, z)
                if z in model.network.latents:
                    base = np.full(messages.card(z), 1 / messages.card(z))
                expected.append(
                    [soften(messages.table(hub, z)[:n_states]), *(0.5 * (base + drawn))]
                )
            parts = [np.array(tables).ravel() for tables in expected]
            np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-12)
            sizes = [0, *np.cumsum([part.size for part in parts])[:-1]]
            if not above:
                sizes[1:1] = [sizes[1], sizes[1]]
            assert places.tolist() == sizes


def normalised(tables):
    return tables / tables.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_a_copy_of_the_hub_changes_no_probability(seed):
    """NI with P(new | hub) the identity is the model that it was applied to."""
    model = draw_model(seed)
    network = model.network
    forest = Forest(network.structure, model.data).row_log_likelihoods(network.parameters)
    for candidate in propose(model, [NodeIntroduction]):
        hub_card = network.structure.shape(candidate.hub)[-1]
        if candidate.card == hub_card:
            edited, rooted = candidate.edit(network), network.rooted_at(candidate.root)
            below = candidate.hub if candidate.is_upper else candidate.left
            tables = {
                z: network.rooted_at(candidate.hub).cpd(z)
                for z in candidate.region[1:]
                if z != candidate.hub
            }
            tables[candidate.name] = np.eye(hub_card)
            if candidate.is_upper:
                tables[candidate.name] = rooted.cpd(below)
                tables[below] = np.eye(hub_card)
            copied = put_tables(edited, tables)
            rows = Forest(copied.structure, model.data).row_log_likelihoods(copied.parameters)
            np.testing.assert_allclose(rows, forest, rtol=1e-12)


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


def test_mediators_are_scored_by_g2_and_only_the_largest_counts(case):
    candidates = case.propose(NodeIntroduction)
    if not candidates:
        return
    largest = {}
    for each in candidates:
        pair = each.hub, each.left, each.right
        largest[pair] = max(largest.get(pair, 0), each.card)
    expected = [
        oracle.g2(case.triple(each.hub, each.left, each.right))
        if each.card == largest[each.hub, each.left, each.right]
        else -math.inf
        for each in candidates
    ]
    assert case.score(candidates) == close(expected)
