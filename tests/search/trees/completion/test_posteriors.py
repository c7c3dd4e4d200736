"""What rows tell of variables where there are continuous columns."""

import numpy as np
import pytest

from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.inference.rows import Rows
from latentforest.search.trees.completion.posteriors import Posteriors
from reference.restricted_mixed import draw_mixed_rows, draw_mixed_tree


@pytest.fixture(scope="module")
def known():
    network = draw_mixed_tree(1, 3)
    data = PatternedData(draw_mixed_rows(network, 60, 1))
    return Posteriors(Messages(network, data), lambda: None)


def test_latent_variables_are_known_by_their_posteriors(known):
    network, data = known.messages.network, known.messages.data
    expected = Rows(network, data).posteriors(network.latents)
    for name, rows in zip(network.latents, expected, strict=True):
        np.testing.assert_allclose(known.of(name), rows, rtol=1e-9, atol=1e-12)


def test_what_is_unexplained_has_no_order_and_is_not_negative(known):
    for hub in known.messages.hubs:
        names = known.messages.neighbours(hub)
        for left in names:
            for right in names:
                gain = known.unexplained(hub, left, right)
                assert gain >= 0
                assert gain == pytest.approx(known.unexplained(hub, right, left))


def test_latent_variables_tell_as_much_of_each_other(known):
    hubs = known.messages.hubs
    for one in hubs:
        for other in hubs:
            gain = known.information(one, other)
            assert gain == pytest.approx(known.information(other, one))
            assert gain >= -1e-12


def test_a_column_is_told_most_of_by_its_own_latent_variable():
    network = draw_mixed_tree(1, 3)
    data = PatternedData(draw_mixed_rows(network, 5000, 1))
    known = Posteriors(Messages(network, data), lambda: None)
    for name in network.structure.continuous:
        (home,) = network.structure.parents(name)
        gains = {latent: known.information(name, latent) for latent in network.latents}
        assert gains[home] == max(gains.values())


def test_work_can_be_ended(known):
    def check():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Posteriors(known.messages, check).of(known.messages.hubs[0])
