import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets import (
    generate,
    load,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
)
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import Messages
from latentforest.learners.east import EAST
from latentforest.model import Network, Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.evaluation import pick_by_data_completion
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.search import Selection, by_bic
from latentforest.search.trees.tree import Rules
from reference import completion as oracle
from reference.enumeration import tree_joint
from reference.operators import OPERATORS
from reference.random_networks import fill_randomly

RULES = Rules(any_mediator=True)
EFFORT = LocalEffort(mu=4, nu=10, seed=0)


def make_caterpillar(seed):
    """Three latent variables in a row; one that loses its leaf is dissolved."""
    latents = [Variable.hidden(f"Y{i}", n) for i, n in enumerate((3, 2, 2, 2))]
    leaves = [Variable(f"X{i}", "abc"[: 2 + i % 2]) for i in range(8)]
    parents = {"Y0": "Y1", "Y2": "Y1", "Y3": "Y2"}
    parents |= {f"X{i}": f"Y{h}" for i, h in enumerate((0, 0, 0, 1, 2, 3, 3, 3))}
    return fill_randomly(Structure([*latents, *leaves], parents), seed, share_of_zeros=0.1)


def make_networks():
    """Some networks small enough to write their completed data out."""
    tree = random_latent_tree(
        6, depth=2, width=3, n_states=(2, 3), n_latent_states=(2, 3), random_state=1
    )
    return {
        "class": random_latent_class(6, 5, n_states=(2, 3), random_state=0),
        "tree": tree,
        "rooted at the side": tree.rooted_at("Y3"),
        "deep": random_latent_tree(9, depth=3, width=2, random_state=2).rooted_at("Y4"),
        "forest": random_latent_forest(
            2, 8, depth=2, width=2, n_latent_states=(2, 3), random_state=3
        ),
        "caterpillar": make_caterpillar(4),
        "caterpillar, rooted at its end": make_caterpillar(5).rooted_at("Y3"),
    }


NETWORKS = make_networks()


class Case:
    """A model with its completed data, fast and written out."""

    def __init__(self, network, n_rows, missing_rate):
        rng = np.random.default_rng(7)
        dataset = generate(network, n_rows, missing_rate, random_state=rng)
        dataset = dataset.with_weights(rng.choice([0.0, 0.5, 1.0, 2.0], n_rows))
        self.network, self.names = network, network.names
        self.model = Model(network, 0.0, PatternedData(dataset))
        self.completed = oracle.complete(network, dataset)
        self.joint = tree_joint(network.structure, network.parameters, list(network.names))
        self.penalty = 0.5 * math.log(dataset.total_weight)

    def propose(self, operator):
        return list(operator.propose(self.model.tree, RULES))

    def score(self, candidates):
        return type(candidates[0]).score(Completion(self.model.messages), candidates)

    def gain(self, candidate):
        """By how much a candidate's expected BIC is higher, families counted in completed data.

        An origin that a relocation dissolves is kept: summing it out changes no probability.
        """
        before, change = self.network.structure, candidate.change
        if isinstance(candidate, NodeRelocation):
            candidate = replace(candidate, dissolved=None)
        after = candidate.edit(self.network).structure
        if isinstance(candidate, StateDeletion):
            value = oracle.best_merging(after, self.completed, self.names, candidate.hub)
        else:
            value = oracle.expected_log_likelihood(after, self.completed, self.names)
        value -= oracle.expected_log_likelihood(before, self.completed, self.names)
        return value - self.penalty * change

    def triple(self, hub, left, right):
        return oracle.count(self.completed, self.names, (left, right, hub))

    def model_joint(self, wanted):
        return oracle.count(self.joint, self.names, wanted)

    def pairs_of(self, hub):
        return list(itertools.combinations(self.model.messages.neighbours(hub), 2))


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "missing"])
def missing_rate(request):
    return request.param


@pytest.fixture(scope="module", params=NETWORKS)
def case(request, missing_rate):
    return Case(NETWORKS[request.param], 150, missing_rate)


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_pairs_are_counted_anywhere_in_the_tree(case):
    tree = case.model.tree
    wanted = [
        (hub, z, target)
        for hub in tree.latents
        for z in tree.neighbours[hub]
        for target in tree.side_of(hub, z)
    ]
    counts = Completion(case.model.messages).count_pairs(wanted)
    assert set(counts) == set(wanted)
    for (_, z, target), table in counts.items():
        expected = oracle.count(case.completed, case.names, (z, target))
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


def test_some_pairs_are_the_same_as_all(case):
    tree, completion = case.model.tree, Completion(case.model.messages)
    for hub in tree.latents:
        z = tree.neighbours[hub][-1]
        target = sorted(tree.side_of(hub, z))[-1]
        table = completion.count_pairs([(hub, z, target)])[hub, z, target]
        expected = oracle.count(case.completed, case.names, (z, target))
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


def test_triples_are_counted_around_every_hub(case):
    completion = Completion(case.model.messages)
    for hub in case.network.latents:
        around = case.model.messages.neighbours(hub)
        for i, left in enumerate(around[:-1]):
            counts = completion.count_triples(hub, left)
            for table, right in zip(counts, around[i + 1 :], strict=True):
                expected = case.triple(hub, left, right)
                found = table[:, : expected.shape[1]]
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
                assert not table[:, expected.shape[1] :].any()


def test_dependence_of_neighbours_is_measured(case):
    measures = Completion(case.model.messages).measure_dependence(case.network.latents)
    for hub in case.network.latents:
        assert list(measures[hub]) == case.pairs_of(hub)
        for (left, right), (g2, divergence) in measures[hub].items():
            counts = case.triple(hub, left, right)
            model = case.model_joint((left, right))
            assert g2 == close(oracle.g2(counts))
            assert divergence == close(oracle.divergence(counts.sum(axis=2), model))


def test_rows_that_the_model_rules_out_count_nothing():
    sure = np.eye(2)
    hidden, leaves = Variable.hidden("Y", 2), [Variable(f"X{i}", "ab") for i in range(3)]
    tables = {"Y": [0.5, 0.5], "X0": sure, "X1": sure, "X2": [[0.7, 0.3], [0.2, 0.8]]}
    network = Network.from_tables([hidden, *leaves], dict.fromkeys(("X0", "X1", "X2"), "Y"), tables)
    dataset = Dataset(leaves, [[0, 0, 1], [0, 1, 1], [1, 0, -1]], [1.0, 2.0, 4.0])
    completion = Completion(Messages(network, PatternedData(dataset)))
    completed = oracle.complete(network, dataset)
    for leaf in leaves:
        place = "Y", leaf.name, "Y"
        expected = oracle.count(completed, network.names, (leaf.name, "Y"))
        np.testing.assert_allclose(completion.count_pairs([place])[place], expected, rtol=1e-12)
    assert completed.sum() == 5.0


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


def test_mediators_are_scored_by_g2_and_only_the_largest_counts(case):
    candidates = case.propose(NodeIntroduction)
    if not candidates:
        return
    largest = {}
    for each in candidates:
        pair = each.hub, each.left, each.right
        largest[pair] = max(largest.get(pair, 0), each.card)
    expected = [
        oracle.g2(case.triple(each.hub, each.left, each.right))
        if each.card == largest[each.hub, each.left, each.right]
        else -math.inf
        for each in candidates
    ]
    assert case.score(candidates) == close(expected)


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
    assert one.history_["where"] == two.history_["where"]
    known = fit_fully(truth, PatternedData(dataset), EMSettings())
    assert one.bic_ == pytest.approx(known.bic, abs=0.01)
    assert len(one.network_.latents) == 4
