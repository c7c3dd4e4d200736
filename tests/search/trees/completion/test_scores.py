"""Scores of data completion, against completing the rows one by one."""

import pytest

from latentforest.search.trees.model import Model
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from reference.completion_cases import NETWORKS, RULES, Case, close
from reference.operators import OPERATORS


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


@pytest.mark.parametrize("operator", [NodeRelocation, NodeDeletion, StateDeletion])
def test_scores_are_gains_of_expected_bic(case, operator):
    candidates = case.propose(operator)
    if candidates:
        assert case.score(candidates) == close([case.gain(each) for each in candidates])


def test_all_kinds_of_candidates_were_compared():
    proposed = [each for network in NETWORKS.values() for each in propose_all(network)]
    kinds = {type(each) for each in proposed}
    assert kinds == set(OPERATORS)
    relocations = [each for each in proposed if isinstance(each, NodeRelocation)]
    assert {each.dissolved is None for each in relocations} == {True, False}


def propose_all(network):
    tree = Model(network, 0.0, None).tree
    return [each for operator in OPERATORS for each in operator.propose(tree, RULES)]
