import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Network, Structure, Variable
from latentforest.scores import compute_effective_dimension, effective_dimension
from latentforest.scores.effective_dimension import compute_jacobian, draw_parameters
from reference.goodness import jacobian_by_differences
from reference.random_networks import networks

QUICK = settings(deadline=None, max_examples=40)


def latent_class(n_classes, *cards):
    names = [f"x{i}" for i in range(len(cards))]
    columns = [Variable(n, tuple("abcdef"[:k])) for n, k in zip(names, cards, strict=True)]
    return Structure([Variable.hidden("class", n_classes), *columns], dict.fromkeys(names, "class"))


def every_cell(structure):
    variables = [structure.variable(name) for name in structure.observed]
    cards = [variable.n_states for variable in variables]
    return Dataset(variables, [c.ravel() for c in np.indices(cards)])


@QUICK
@given(network=networks(max_variables=5, max_parents=2), seed=st.integers(0, 1000))
def test_jacobian_agrees_with_finite_differences(network, seed):
    structure = network.structure
    if not structure.observed or structure.dimension == 0:
        return
    theta = draw_parameters(structure, seed)
    found = compute_jacobian(structure, theta, every_cell(structure))
    expected = jacobian_by_differences(Network(structure, theta))
    np.testing.assert_allclose(found, expected, atol=1e-8)


@QUICK
@given(network=networks(max_variables=5, max_parents=2))
def test_the_rank_agrees_with_that_of_finite_differences(network):
    structure = network.structure
    if not structure.observed or structure.dimension == 0:
        return
    ranks = []
    for draw in range(3):
        jacobian = jacobian_by_differences(Network(structure, draw_parameters(structure, draw)))
        values = np.linalg.svd(jacobian, compute_uv=False)
        ranks.append(np.count_nonzero(values > 1e-6 * max(values[0], 1e-3)))
    assert compute_effective_dimension(structure) == max(ranks)


@pytest.mark.parametrize(
    ("n_classes", "cards", "dimension"),
    [
        (2, (2, 2, 2), 7),
        (2, (2, 2, 2, 2), 9),
        (3, (2, 2, 2, 2), 13),  # of 14 (Goodman 1974)
        (4, (2, 2, 2, 2), 15),  # of 19: all that the table has
        (2, (2, 2), 3),
        (2, (3, 3), 7),  # 3 x 3 tables of rank two
        (3, (2, 2, 2, 2, 2), 17),
        (1, (3, 2), 3),
    ],
)
def test_latent_class_models(n_classes, cards, dimension):
    assert compute_effective_dimension(latent_class(n_classes, *cards)) == dimension


def test_networks_without_latent_variables_lose_nothing():
    variables = [Variable(name, ("0", "1")) for name in "abcd"]
    structure = Structure(variables, {"b": "a", "c": ("a", "b"), "d": ("b", "c")})
    assert compute_effective_dimension(structure) == structure.dimension == 11


def test_a_latent_leaf_tells_nothing():
    parts = [Variable("a", ("0", "1")), Variable.hidden("h", 3)]
    structure = Structure(parts, {"h": "a"})
    assert (structure.dimension, compute_effective_dimension(structure)) == (5, 1)


def test_margins_determine_less():
    structure, pairs = latent_class(2, 2, 2, 2), (("x0", "x1"), ("x1", "x2"), ("x0", "x2"))
    assert compute_effective_dimension(structure, pairs) == 6
    assert compute_effective_dimension(structure, pairs[:1]) == 3


def test_many_cells_are_sampled():
    structure = latent_class(2, *[2] * 40)
    assert compute_effective_dimension(structure) == structure.dimension == 81


def test_a_sample_is_completed_where_it_falls_short(monkeypatch):
    structure = latent_class(3, *[2] * 4, 3, 3)
    whole = compute_effective_dimension(structure)
    compute_effective_dimension.cache_clear()
    monkeypatch.setattr(effective_dimension, "SAMPLED", (5, 0))
    assert compute_effective_dimension(structure) == whole == structure.dimension
    compute_effective_dimension.cache_clear()


def test_very_many_parameters_are_counted_as_they_are():
    structure = latent_class(3, *[6] * 150)
    assert compute_effective_dimension(structure) == structure.dimension == 2252


def test_there_is_a_wide_gap_in_the_singular_values():
    for structure in (
        latent_class(3, 2, 2, 2, 2),
        latent_class(4, 5, 5),
        latent_class(8, *[2] * 8),
    ):
        jacobian = compute_jacobian(structure, draw_parameters(structure, 0), every_cell(structure))
        values = np.linalg.svd(jacobian / np.linalg.norm(jacobian, axis=0), compute_uv=False)
        rank = compute_effective_dimension(structure)
        assert values[rank - 1] > 1e-5 * values[0]
        assert np.all(values[rank:] < 1e-13 * values[0])


@QUICK
@given(network=networks(max_variables=6, max_parents=2))
def test_taking_a_structure_apart_changes_nothing(network):
    structure = network.structure
    if structure.observed:
        whole = effective_dimension._compute_whole(structure, (structure.observed,))
        assert compute_effective_dimension(structure) == whole


def test_tables_without_latent_parents_are_set_aside():
    variables = [Variable(name, ("0", "1")) for name in "ABCD"]
    parents = {"A": "X", "B": "X", "C": "X", "D": ("A", "C")}
    structure = Structure([Variable.hidden("X", 2), *variables], parents)
    n_plain, (rest,) = effective_dimension._take_apart(structure)
    assert (n_plain, rest.names) == (4, ("X", "A", "B", "C"))


def test_separate_trees_are_counted_by_themselves():
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(60)]
    hidden = [Variable.hidden(f"h{i}", 3) for i in range(15)]
    parents = {f"x{i}": f"h{i // 4}" for i in range(60)}
    assert compute_effective_dimension(Structure([*hidden, *variables], parents)) == 15 * 13
