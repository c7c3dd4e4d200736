"""The unrooted view of a latent forest."""

from latentforest.data.variable import Variable
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.tree import LatentTree, Rules
from reference.restricted_mixed import (
    draw_mixed_tree,
)


def test_a_continuous_neighbour_bounds_no_number_of_states():
    network = draw_mixed_tree(0, 1, share=1.0)
    variables = [
        Variable.hidden("Y1", 9) if v.name == "Y1" else v for v in network.structure.variables
    ]

    structure = Structure(variables, dict.fromkeys(network.observed, "Y1"))
    assert not find_irregular(structure)
    tree = LatentTree(structure)
    assert [each.card for each in StateIntroduction.propose(tree, Rules())] == [10]
    assert tree.is_regular_with("Y1", 5, network.observed[:2])
    assert not tree.is_regular_with("Y1", 2, network.observed[:1])
