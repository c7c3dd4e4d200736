"""SI: its score by data completion."""

import numpy as np
import pytest

from latentforest.search.trees.operators.state_introduction import StateIntroduction
from reference import completion as oracle
from reference.completion_cases import NETWORKS, Case, close


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


def test_new_states_are_scored_by_the_mean_divergence_of_pairs(case):
    candidates = case.propose(StateIntroduction)
    if not candidates:
        return
    expected = [
        np.mean(
            [
                oracle.divergence(
                    oracle.count(case.completed, case.names, pair),
                    case.model_joint(pair),
                )
                for pair in case.pairs_of(each.hub)
            ]
        )
        for each in candidates
    ]
    assert case.score(candidates) == close(expected)
