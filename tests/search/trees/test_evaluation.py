"""How winners are picked."""

import pytest

from latentforest.datasets import (
    generate,
    load,
    random_latent_tree,
)
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.learners.common.latent_tree import make_start
from latentforest.learners.east import EAST
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.evaluation import EVALUATIONS, pick_by_data_completion
from latentforest.search.trees.model import fit_fully
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.search import Selection, by_bic
from latentforest.search.trees.tree import Rules
from reference.completion_cases import NETWORKS, Case
from reference.operators import OPERATORS
from reference.random_networks import fill_randomly

EFFORT = LocalEffort(mu=4, nu=10, seed=0)


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


def pick(case, candidates, n_jobs=1):
    case.model.data.n_jobs = n_jobs
    told = []
    winners = pick_by_data_completion(
        Selection(case.model, candidates, EFFORT, by_bic, 3, told.extend)
    )
    assert told == winners
    return winners


@pytest.fixture(scope="module")
def plain_case():
    return Case(NETWORKS["caterpillar"], 300, 0.1)


def test_each_operator_has_one_winner(plain_case):
    candidates = [each for operator in OPERATORS for each in plain_case.propose(operator)]
    winners = pick(plain_case, candidates)
    assert [type(each.candidate) for each in winners] == OPERATORS
    for winner in winners:
        group = plain_case.propose(type(winner.candidate))
        scores = plain_case.score(group)
        assert winner.candidate == group[scores.index(max(scores))]
        network = winner.realise(plain_case.network)
        assert network.dimension == plain_case.network.dimension + winner.candidate.change


def test_winners_do_not_depend_on_threads(plain_case):
    candidates = [each for operator in OPERATORS for each in plain_case.propose(operator)]
    one, two = pick(plain_case, candidates), pick(plain_case, candidates, n_jobs=2)
    assert [each.candidate for each in one] == [each.candidate for each in two]
    assert [each.log_likelihood for each in one] == [each.log_likelihood for each in two]


def test_a_search_can_be_ended_while_rows_are_completed(plain_case):
    def tell(proposals):
        raise TimeoutError

    candidates = plain_case.propose(NodeRelocation)
    with pytest.raises(TimeoutError):
        pick_by_data_completion(Selection(plain_case.model, candidates, EFFORT, by_bic, 1, tell))


def learn(dataset, n_jobs=1):
    model = EAST(evaluation="dc", random_state=0, n_jobs=n_jobs).fit(dataset)
    assert find_irregular(model.network_.structure) == []
    return model


def test_east_finds_a_second_variable_behind_hiv_tests():
    model = learn(load("hiv-tests"))
    assert len(model.network_.latents) == 2
    assert model.bic_ > -657.0  # -657.1 with one latent variable


def test_east_recovers_a_tree_whatever_the_threads():
    truth = random_latent_tree(12, depth=2, width=3, strength=0.8, random_state=0)
    dataset = generate(truth, 2000, random_state=0)
    one, two = learn(dataset), learn(dataset, n_jobs=2)
    assert one.network_ == two.network_
    assert one.history_["variables"] == two.history_["variables"]
    known = fit_fully(truth, PatternedData(dataset), EMSettings())
    assert one.bic_ == pytest.approx(known.bic, abs=0.01)
    assert len(one.network_.latents) == 4


TABLE = generate(random_latent_tree(16, depth=2, width=4, random_state=2), 3000, random_state=0)


DATA = PatternedData(TABLE)


def fit_classes():
    """The latent class model that a search begins with."""
    network = fill_randomly(make_start(TABLE), 0, share_of_zeros=0.0)
    return fit_fully(network, DATA, EMSettings(200, 1e-6))


def propose(model, *operators):
    return [each for one in operators for each in one.propose(model.tree, Rules())]


def test_evaluation_obeys_the_limit():
    model, seen = fit_classes(), []
    effort = LocalEffort(2, 3, seed=0, max_candidates=6)
    candidates = propose(model, NodeIntroduction)
    EVALUATIONS["rl"](Selection(model, candidates, effort, by_bic, 2, seen.extend))
    assert len(seen) == 6
