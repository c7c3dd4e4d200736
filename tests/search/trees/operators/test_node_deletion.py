"""ND undoes NI."""

import pytest

from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.tree import LatentTree, Rules
from reference.operators import TREE_SEEDS, draw_tree, propose_in, same_shape


@pytest.mark.parametrize("seed", TREE_SEEDS[::3])
def test_deleting_a_new_variable_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for candidate in propose_in(network, operators=[NodeIntroduction]):
        edited = candidate.edit(network)
        back = [
            each
            for each in NodeDeletion.propose(LatentTree(edited.structure), Rules())
            if (each.node, each.into) == (candidate.name, candidate.hub)
        ]
        assert len(back) == 1
        assert back[0].change == -candidate.change
        assert same_shape(back[0].edit(edited), network)
