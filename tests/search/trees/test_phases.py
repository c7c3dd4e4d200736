"""Hill climbing with some operators."""

from types import SimpleNamespace

import pytest

from latentforest.datasets import load
from latentforest.inference.forest import PatternedData
from latentforest.search.trees.model import Model
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.phases import climb, propose
from latentforest.search.trees.tree import Rules
from reference.operators import OPERATORS, propose_in
from reference.restricted import draw_latent_tree

NETWORK = draw_latent_tree(3, 4, (2, 3))
DATA = PatternedData(load("hiv-tests"))


class Stairs:
    """A search whose steps raise the likelihood by so much each."""

    def __init__(self, *gains):
        self.rules, self.settled = Rules(), set()
        self.gains, self.taken = list(gains), []

    def step(self, phase, m, candidates, rank, has_reserves=True):
        self.taken.append(SimpleNamespace(phase=phase, candidates=candidates))
        return Model(NETWORK, m.log_likelihood + self.gains.pop(0), DATA) if self.gains else None


@pytest.fixture
def start():
    return Model(NETWORK, -1000.0, DATA)


def test_candidates_of_all_operators_are_proposed_in_their_order(start):
    found = propose(start, Rules(any_mediator=True), OPERATORS)
    assert [str(each) for each in found] == [str(each) for each in propose_in(NETWORK)]
    assert {type(each) for each in found} == set(OPERATORS)


def test_steps_are_taken_as_long_as_bic_rises(start):
    search = Stairs(5.0, 3.0, 0.001, 7.0)
    end = climb(search, "adjust", start, NodeRelocation)
    assert end.log_likelihood == -992.0
    assert [each.phase for each in search.taken] == ["adjust"] * 3
    assert all(isinstance(each, NodeRelocation) for each in search.taken[0].candidates)


def test_a_model_that_led_nowhere_is_not_tried_again(start):
    search = Stairs(-1.0, 5.0)
    assert climb(search, "adjust", start, NodeRelocation) is start
    assert climb(search, "adjust", start, NodeRelocation) is start
    assert len(search.taken) == 1
    assert climb(search, "simplify", start, StateDeletion) is not start


def test_without_candidates_nothing_happens(start):
    assert climb(Stairs(), "adjust", start, NodeRelocation) is start
