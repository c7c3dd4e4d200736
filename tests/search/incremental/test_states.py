"""SI and SR while trees are joined."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.states import introduce_state, remove_state
from latentforest.search.incremental.tree import (
    make_single_tree,
)
from reference.growth import make_context, make_table


def test_states_that_come_and_go():
    context = make_context(make_table())
    candidate = add_node(
        context, (make_single_tree(context, "c0").top, make_single_tree(context, "x0").top)
    )
    (name,) = candidate.involved
    more = introduce_state(context, candidate, name)
    less = remove_state(context, more, name)
    assert more.structure.shape(name) == (3,)
    assert less.structure == candidate.structure
    assert less.bound == pytest.approx(candidate.bound, abs=1e-2)


def test_a_third_state_is_found():
    generator = np.random.default_rng(3)
    z = generator.integers(0, 3, 400)
    values = [4.0 * z + generator.normal(size=400), -3.0 * z + generator.normal(size=400)]
    context = make_context(Dataset([Variable("x"), Variable("y")], values))
    candidate = add_node(
        context, (make_single_tree(context, "x").top, make_single_tree(context, "y").top)
    )
    (name,) = candidate.involved
    more = introduce_state(context, candidate, name)
    means = np.sort(more.structure.table_view(more.posterior, "x")[:, 0])
    assert more.gain > candidate.gain + 50
    assert np.allclose(means, [0, 4, 8], atol=0.5)
