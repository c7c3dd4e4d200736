import itertools
import math

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular, is_regular, most_states
from reference import restricted


def star(card, neighbours, latents):
    """A latent variable with ``card`` states among others, of which the first are latent."""
    variables, parents = [Variable.hidden("Y", card)], {}
    for i, n_states in enumerate(neighbours):
        name = f"Z{i}"
        variables.append(Variable(name, tuple("abcdefghi"[:n_states]), latent=i < latents))
        parents[name] = "Y"
    return Structure(variables, parents)


@pytest.mark.parametrize("n_neighbours", range(1, 5))
def test_regularity_is_zhangs_definition(n_neighbours):
    for neighbours in itertools.product((1, 2, 3, 5), repeat=n_neighbours):
        for card, latents in itertools.product(range(1, 9), (0, 1)):
            structure = star(card, neighbours, latents)
            expected = restricted.is_regular(card, neighbours, latents > 0)
            assert is_regular(structure, "Y") == expected, (card, neighbours, latents)


@pytest.mark.parametrize("neighbours", list(itertools.product((2, 3, 6), repeat=3)))
def test_the_bound_is_the_number_of_states_that_the_others_can_tell_apart(neighbours):
    assert most_states(neighbours) == math.prod(sorted(neighbours)[:-1])


def test_the_bound_does_not_round():
    assert most_states([2] * 60 + [3]) == 2**60


@pytest.mark.parametrize("neighbours", [[], [5]])
def test_a_variable_with_one_neighbour_is_never_regular(neighbours):
    assert most_states(neighbours) == 0


def test_more_neighbours_never_lower_the_bound():
    for neighbours in itertools.combinations_with_replacement((2, 3, 5), 4):
        for more in (2, 3, 5):
            assert most_states([*neighbours, more]) >= most_states(neighbours)


def test_all_irregular_variables_are_found_wherever_the_root_is():
    variables = [Variable.hidden("Y", 3), Variable.hidden("Z", 5)]
    variables += [Variable(name, ("0", "1")) for name in "ABCD"]
    structure = Structure(variables, {"Z": "Y", "A": "Y", "B": "Y", "C": "Z", "D": "Z"})
    network = restricted.draw_tables(structure, np.random.default_rng(0))
    for root in network.names:
        assert find_irregular(network.rooted_at(root).structure) == ["Z"]
    assert find_irregular(structure.remove(["B"])) == ["Y", "Z"]
