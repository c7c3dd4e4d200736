"""Sums over all networks, against all of them one by one."""

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.structures.network_sums import add_up_networks
from reference.network_sums import (
    count_orders,
    find_arcs,
    find_descendants,
    list_masks,
    sum_networks,
)


@pytest.fixture(scope="module")
def five():
    return list_masks(5)


@pytest.fixture(scope="module")
def four():
    return list_masks(4)


def random_scores(seed, n, scale):
    return np.random.default_rng(seed).normal(size=(n, 1 << n)) * scale


def test_numbers_of_networks():
    """Robinson's counts of labelled networks."""
    for n, count in enumerate([1, 3, 25, 543, 29281, 3781503, 1138779265], 1):
        found = add_up_networks(np.zeros((n, 1 << n)))
        assert np.exp(found.log_total) == pytest.approx(count, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
def test_equals_all_29281_networks(five, scale):
    scores = random_scores(1, 5, scale)
    total, probabilities = sum_networks(scores, five)
    found = add_up_networks(scores)
    assert found.log_total == pytest.approx(total, abs=1e-10)
    np.testing.assert_allclose(found.arcs, find_arcs(five, probabilities), rtol=0, atol=1e-10)
    assert found.error < 1e-10


def test_families_and_paths(four):
    scores = random_scores(2, 4, 2.0)
    _, probabilities = sum_networks(scores, four)
    found = add_up_networks(scores)
    paths = sum(p * find_descendants(masks) for p, masks in zip(probabilities, four, strict=True))
    np.testing.assert_allclose(found.paths, paths, rtol=0, atol=1e-12)
    for v in range(4):
        expected = np.bincount(four[:, v], probabilities, 16)
        np.testing.assert_allclose(found.families[v], expected, rtol=0, atol=1e-12)


def test_the_prior_over_orders(four):
    scores = random_scores(3, 4, 1.0)
    copies = [count_orders(masks) for masks in four]
    total, probabilities = sum_networks(scores, four, copies)
    found = add_up_networks(scores, "orders")
    assert found.log_total == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(found.arcs, find_arcs(four, probabilities), rtol=0, atol=1e-12)
    assert found.paths is None


@pytest.mark.parametrize("prior", ["networks", "orders"])
def test_families_that_are_ruled_out(four, prior):
    scores = random_scores(4, 4, 1.0)
    scores[0, :8] = -np.inf  # variable 3 is a parent of 0
    scores[1, [0b0001, 0b0101, 0b1001, 0b1101]] = -np.inf  # and 0 not one of 1
    copies = [count_orders(masks) if prior == "orders" else 1 for masks in four]
    total, probabilities = sum_networks(scores, four, copies)
    found = add_up_networks(scores, prior)
    assert found.log_total == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(found.arcs, find_arcs(four, probabilities), rtol=0, atol=1e-12)
    assert found.arcs[3, 0] == pytest.approx(1.0, abs=1e-12)
    assert found.arcs[0, 1] == 0.0


def test_independent_variables_lose_few_digits():
    """The worst case of inclusion and exclusion: nearly all weight on the empty network."""
    scores = np.full((12, 1 << 12), -40.0)
    scores[:, 0] = 0.0
    found = add_up_networks(scores)
    assert found.error < 1e-11
    assert found.arcs.max() < 1e-10


@pytest.mark.parametrize(
    ("scores", "prior", "message"),
    [
        (np.zeros((2, 5)), "networks", r"shape \(2, 4\), got \(2, 5\)"),
        (np.zeros((21, 4)), "networks", "up to 20 columns, got 21"),
        (np.zeros((2, 4)), "flat", "prior must be one of 'networks', 'orders', got 'flat'"),
        (np.full((2, 4), -np.inf), "networks", "no set of parents"),
        (np.array([[-np.inf, 0, 0, 0], [-np.inf, 0, 0, 0]]), "networks", "no network"),
    ],
)
def test_bad_scores(scores, prior, message):
    with pytest.raises(ParameterError, match=message):
        add_up_networks(scores, prior)
