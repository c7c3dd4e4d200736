"""NR: which relocations are proposed, their inverses, dissolved origins."""

import numpy as np
import pytest

from latentforest.search.regularity import find_irregular
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.tree import LatentTree, Rules
from reference.candidates import SEEDS, draw_model, propose
from reference.operators import TREE_SEEDS, draw_tree, neighbours, propose_in, same_shape
from reference.restricted import (
    enumerate_latents,
)


@pytest.mark.parametrize("seed", TREE_SEEDS[::2])
def test_all_regular_relocations_are_proposed(seed):
    network = draw_tree(seed)
    tree = LatentTree(network.structure)
    plain = {
        (c.moved, c.origin, c.target)
        for c in propose_in(network, operators=[NodeRelocation])
        if c.dissolved is None
    }
    for origin in network.latents:
        for moved in tree.neighbours[origin]:
            for target in tree.side_of(origin, moved) - {origin}:
                rooted = network.rooted_at(target).structure
                if rooted.parents(moved) == (origin,):
                    edited = rooted.with_parents({moved: target})
                    is_regular = not find_irregular(edited)
                    assert ((moved, origin, target) in plain) == is_regular


@pytest.mark.parametrize("seed", TREE_SEEDS[::3])
def test_relocating_back_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for candidate in propose_in(network, operators=[NodeRelocation]):
        if candidate.dissolved is not None:
            continue
        edited = candidate.edit(network)
        tree, target = LatentTree(edited.structure), candidate.origin
        moved, origin = candidate.moved, candidate.target
        back = list(NodeRelocation.between(tree, Rules(), moved, origin, {target}))
        plain = [each for each in back if each.dissolved is None]
        assert len(plain) == len(back) == 1
        assert plain[0].change == -candidate.change
        assert same_shape(plain[0].edit(edited), network)


@pytest.mark.parametrize("seed", TREE_SEEDS[::3])
def test_a_dissolved_variable_ties_its_two_neighbours(seed):
    network = draw_tree(seed)
    for candidate in propose_in(network, operators=[NodeRelocation]):
        if candidate.dissolved is not None:
            first, second = candidate.dissolved
            edited = candidate.edit(network)
            assert candidate.origin not in edited.names
            assert second in neighbours(edited, first)
            assert candidate.moved in neighbours(edited, candidate.target)


@pytest.mark.parametrize("seed", SEEDS)
def test_dissolving_a_variable_changes_no_probability(seed):
    model = draw_model(seed)
    dataset = model.data.dataset
    for candidate in propose(model, [NodeRelocation]):
        if candidate.dissolved is not None:
            kept = NodeRelocation(0, candidate.moved, candidate.origin, candidate.target, None)
            np.testing.assert_allclose(
                enumerate_latents(candidate.edit(model.network), dataset),
                enumerate_latents(kept.edit(model.network), dataset),
                rtol=1e-12,
            )
