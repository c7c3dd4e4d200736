"""Local fits of several tables around a latent variable: how their arms are grouped."""

import numpy as np
import pytest

from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.search.trees.star import bundle_around, bundle_moved
from reference.restricted import draw_latent_tree, draw_rows


@pytest.fixture(scope="module", params=range(4))
def messages(request):
    network = draw_latent_tree(request.param, 3, n_more=3)
    return Messages(network, PatternedData(draw_rows(network, 30, 0)))


def members_below(region, top):
    """The arms that a product node stands above; arms are numbered first."""
    if top < len(region.arms):
        return [top]
    left, right = region.groups[top - len(region.arms)]
    return members_below(region, left) + members_below(region, right)


def assert_all_are_covered_once(region):
    members = [arm for top in region.tops for arm in members_below(region, top)]
    assert sorted(members) == list(range(len(region.arms)))


def test_every_arm_but_the_root_is_below_one_top(messages):
    for hub in messages.hubs:
        tasks = bundle_around(messages, hub, 3, np.empty(0), 2)
        region, around = tasks.common.region, messages.neighbours(hub)
        assert_all_are_covered_once(region)
        arms = {messages.arm(hub, z) for z in around}
        latents = {messages.arm(hub, z) for z in around if z in messages.number}
        (root,) = arms - {*region.arms.tolist()}
        assert root in latents
        assert tasks.common.hub == messages.number[hub]


def test_arms_that_move_come_together_where_they_meet_the_rest(messages):
    for node in messages.hubs:
        for into in messages.neighbours(node):
            if into in messages.number:
                moved = [z for z in messages.neighbours(node) if z != into]
                region = bundle_moved(messages, node, into, np.empty((1, 0))).common.region
                assert region.arms.tolist() == [messages.arm(node, z) for z in moved]
                assert_all_are_covered_once(region)
                assert len(region.tops) == 1


def test_groups_are_found_once_for_a_table(messages, monkeypatch):
    hub = messages.hubs[0]
    first = bundle_around(messages, hub, 3, np.empty(0), 2).common.region
    monkeypatch.setattr("latentforest.search.trees.star._find_groups", None)
    again = bundle_around(messages, hub, 4, np.empty(0), 2).common.region
    assert again.groups is first.groups
