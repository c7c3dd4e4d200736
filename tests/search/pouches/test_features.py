"""Rows as points."""

import numpy as np
import pytest

from latentforest.inference.forest import PatternedData
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.features import average, cluster, collect_features
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_limbs_are_described_by_as_many_numbers_as_tell_them_apart(kind):
    network = draw_pouch_network(kind, seed=3)
    evidence = Evidence(network, PatternedData(draw_rows(network)))
    tree = evidence.tree
    for limbs in tree.limbs.values():
        for limb in limbs:
            features = collect_features(evidence, [limb])
            n = len(limb)
            if tree.is_latent(limb):
                n = tree.cards[limb[0]] - 1
            elif not tree.is_pouch(limb):
                n = tree.variables[limb[0]].n_states - 1
            assert features.shape == (evidence.data.n_rows, n)
            assert np.all(np.isfinite(features))
        together = collect_features(evidence, limbs)
        assert np.array_equal(together[:, -n:], features)


def test_means_are_weighted_by_shares_and_weights():
    features, shares = np.array([[1.0], [2.0], [6.0]]), np.array([[1.0, 0], [0.5, 0.5], [0, 1.0]])
    assert average(features, shares)[:, 0] == pytest.approx([2 / 1.5, 7 / 1.5])
    weighted = average(features, shares, np.array([1.0, 2.0, 3.0]))
    assert weighted[:, 0] == pytest.approx([1.5, 5.0])


def test_clusters_that_lie_apart_are_found_whatever_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 90)
    rows = rng.normal(size=(90, 2)) + 20.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    weights, order = rng.choice([0.5, 1.0, 2.0], 90), rng.permutation(90)
    shares = cluster(rows, weights, 3, np.random.default_rng(1))
    again = cluster(rows[order], weights[order], 3, np.random.default_rng(1))
    np.testing.assert_allclose(shares[order], again)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert len({(int(a), int(b)) for a, b in zip(truth, shares.argmax(axis=1), strict=True)}) == 3
