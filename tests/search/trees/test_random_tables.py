"""Random tables around a latent variable."""

import numpy as np
import pytest

from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.search.trees.random_tables import draw_tables
from reference.restricted_mixed import draw_mixed_rows, draw_mixed_tree


@pytest.fixture(scope="module")
def messages():
    network = draw_mixed_tree(1, 3)
    return Messages(network, PatternedData(draw_mixed_rows(network, 30, 1, missing=0.0)))


@pytest.mark.parametrize("card", [2, 4])
def test_tables_are_distributions_and_gaussians_of_rows(messages, card):
    continuous = messages.network.structure.continuous
    for hub in messages.hubs:
        names = messages.neighbours(hub)
        tables = draw_tables(messages, hub, names, np.random.default_rng(0), 5, card)
        assert set(tables) == set(names)
        for z, table in tables.items():
            if z in continuous:
                assert table.shape == (5, card, 2)
                rows = messages.data.dataset.column(z)
                assert np.abs(table[..., 0, None] - rows).min(axis=-1).max() < 1e-9
                assert np.all(table[..., 1] > 0)
            else:
                assert table.shape == (5, card, messages.card(z))
                np.testing.assert_allclose(table.sum(axis=2), 1.0)
                least = np.full(messages.card(z), 1 / messages.card(z))
                if z not in messages.number:
                    least = messages.table(hub) @ messages.table(hub, z)
                assert np.all(table >= 0.5 * least - 1e-12)


def test_the_same_numbers_give_the_same_tables(messages):
    hub = messages.hubs[0]
    first, second = (
        draw_tables(messages, hub, messages.neighbours(hub), np.random.default_rng(7), 2, 3)
        for _ in range(2)
    )
    assert all(np.array_equal(first[z], second[z]) for z in first)
