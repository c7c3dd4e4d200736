"""How winners are picked on trees with pouches."""

import pytest

from latentforest.inference.forest import PatternedData
from latentforest.search.pouches.evaluation import PouchEvaluation
from latentforest.search.pouches.operators.limb_relocation import LimbRelocation
from latentforest.search.pouches.operators.pouching import Pouching
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.model import Model
from latentforest.search.trees.phases import propose
from latentforest.search.trees.search import Selection, by_bic
from latentforest.search.trees.tree import Rules
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows


@pytest.fixture(scope="module", params=sorted(SHAPES))
def model(request):
    network = draw_pouch_network(request.param, seed=3)
    return Model(network, -1000.0, PatternedData(draw_rows(network)))


def select(model, n_winners, max_candidates=None):
    candidates, told = propose(model, Rules(), [Pouching, LimbRelocation]), []
    effort = LocalEffort(2, 3, 0, max_candidates)
    asked = Selection(model, candidates, effort, by_bic, n_winners, told.extend)
    return PouchEvaluation(model.data)(asked), told, candidates


def test_the_best_come_first_and_all_are_told(model):
    found, told, candidates = select(model, 3)
    assert [each.candidate for each in told] == candidates
    ranks = [by_bic(model, each.log_likelihood, each.candidate.change) for each in told]
    best = [by_bic(model, each.log_likelihood, each.candidate.change) for each in found]
    assert best == sorted(ranks, reverse=True)[:3]


def test_few_candidates_of_each_operator_are_fitted_if_there_is_a_limit(model):
    _, told, candidates = select(model, 1, max_candidates=2)
    for operator in (Pouching, LimbRelocation):
        n_proposed = sum(isinstance(each, operator) for each in candidates)
        n_fitted = sum(isinstance(each.candidate, operator) for each in told)
        assert n_fitted == min(n_proposed, 2)
