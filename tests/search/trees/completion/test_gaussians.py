"""Data completion of continuous and mixed tables, against completed data that are written out."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import latentforest as lf
from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.inference.forest import PatternedData
from latentforest.model import Network
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.completion import gaussians as module
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.evaluation import pick_by_data_completion
from latentforest.search.trees.model import Model
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.search import Selection, by_bic
from latentforest.search.trees.tree import Rules
from reference import completion as counts_oracle
from reference import mixed_completion as oracle
from reference.mixed_trees import make_mixed_tree
from reference.operators import OPERATORS
from reference.reported import reported
from reference.restricted_mixed import draw_mixed_rows, draw_mixed_tree

RULES = Rules(any_mediator=True)
SEEDS = range(8)


class Case:
    """A model with its completed data, fast and written out."""

    def __init__(self, seed, missing):
        share = 1.0 if seed % 3 == 2 else 0.6
        self.network = draw_mixed_tree(seed, 1 + seed % 4, share, n_leaves=(2, 3))
        weights = (0.0, 0.5, 1.0, 2.0)
        dataset = draw_mixed_rows(self.network, 25, seed, missing, weights)
        self.structure = self.network.structure
        self.model = Model(self.network, 0.0, PatternedData(dataset))
        self.completed = oracle.complete(self.network, dataset)
        self.penalty = 0.5 * math.log(dataset.total_weight)

    def propose(self, operator):
        return list(operator.propose(self.model.tree, RULES))

    def score(self, candidates):
        return type(candidates[0]).score(Completion(self.model.messages), candidates)

    def gain(self, candidate):
        """By how much a candidate's expected BIC is higher."""
        change = candidate.change
        if isinstance(candidate, NodeRelocation):
            candidate = replace(candidate, dissolved=None)
        after = candidate.edit(self.network).structure
        if isinstance(candidate, StateDeletion):
            value = oracle.best_merging(after, self.completed, candidate.hub)
        else:
            value = oracle.expected_log_likelihood(after, self.completed)
        value -= oracle.expected_log_likelihood(self.structure, self.completed)
        return value - self.penalty * change

    def measure(self, hub, left, right):
        if not {left, right}.isdisjoint(self.structure.continuous):
            g2 = oracle.g2(self.completed, self.structure, left, right, hub)
            return g2, oracle.divergence(self.completed, self.network, left, right, hub)
        counts = np.zeros([self.structure.shape(name)[-1] for name in (left, right, hub)])
        codes = tuple(self.completed.columns[name] for name in (left, right, hub))
        np.add.at(counts, codes, self.completed.weights)
        joint = self.network.query([left, right])
        return counts_oracle.g2(counts), counts_oracle.divergence(counts.sum(axis=2), joint)


@pytest.fixture(scope="module", params=[0.0, 0.15], ids=["complete", "missing"])
def missing(request):
    return request.param


@pytest.fixture(scope="module", params=SEEDS)
def case(request, missing):
    return Case(request.param, missing)


def close(expected):
    return pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_numbers_are_summed_anywhere_in_the_tree(case):
    tree, completion = case.model.tree, Completion(case.model.messages)
    wanted = [
        (hub, z, target)
        for hub in tree.latents
        for z in tree.neighbours[hub]
        for target in tree.side_of(hub, z)
        if z in case.structure.continuous
    ]
    found = completion.sum_pairs(wanted)
    assert set(found) == set(wanted)
    for (_, z, target), (weight, first, second) in ((k, v.T) for k, v in found.items()):
        about = case.model.data.summary(z)
        unit = math.sqrt(about.variance)
        expected = oracle.sum_powers(case.completed, z, target).T
        np.testing.assert_allclose(weight, expected[0], rtol=1e-9, atol=1e-9)
        sums = unit * first + about.mean * weight
        np.testing.assert_allclose(sums, expected[1], rtol=1e-9, atol=1e-9)
        squares = unit**2 * second + 2 * about.mean * unit * first + about.mean**2 * weight
        np.testing.assert_allclose(squares, expected[2], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("operator", [NodeRelocation, NodeDeletion, StateDeletion])
def test_scores_are_gains_of_expected_bic(case, operator):
    candidates = case.propose(operator)
    if candidates:
        assert case.score(candidates) == close([case.gain(each) for each in candidates])


def test_dependence_of_neighbours_is_measured(case):
    measures = Completion(case.model.messages).measure_dependence(case.network.latents)
    for hub in case.network.latents:
        around = case.model.messages.neighbours(hub)
        assert list(measures[hub]) == list(itertools.combinations(around, 2))
        for (left, right), found in measures[hub].items():
            assert found == close(case.measure(hub, left, right)), (hub, left, right)


def test_introductions_are_scored_by_what_is_measured(case):
    for each in case.propose(NodeIntroduction):
        (score,) = case.score([each])
        assert score == close(case.measure(each.hub, each.left, each.right)[0])
    for each in case.propose(StateIntroduction):
        around = case.model.messages.neighbours(each.hub)
        pairs = itertools.combinations(around, 2)
        expected = np.mean([case.measure(each.hub, *pair)[1] for pair in pairs])
        assert case.score([each]) == close([expected])


def test_all_kinds_of_candidates_and_pairs_were_compared():
    cases = [Case(seed, 0.0) for seed in SEEDS]
    kinds = {
        type(each) for case in cases for operator in OPERATORS for each in case.propose(operator)
    }
    assert kinds == set(OPERATORS)
    pairs = set()
    for case in cases:
        kind = dict.fromkeys(case.structure.continuous, "number")
        kind |= dict.fromkeys(case.network.latents, "latent")
        for hub in case.network.latents:
            around = sorted(kind.get(z, "state") for z in case.model.messages.neighbours(hub))
            pairs.update(itertools.combinations(around, 2))
    assert {pair for pair in pairs if "number" in pair} == {
        ("number", "number"),
        ("latent", "number"),
        ("number", "state"),
    }


def test_rows_in_chunks_are_the_same(monkeypatch):
    case = Case(1, 0.15)
    whole = Completion(case.model.messages).measure_dependence(case.network.latents)
    monkeypatch.setattr(module, "CHUNK_ROWS", 7)
    parts = Completion(case.model.messages).measure_dependence(case.network.latents)
    for hub, measures in whole.items():
        for pair, found in measures.items():
            assert parts[hub][pair] == close(found)


def scale(data, factor, shift):
    columns = [
        factor * column + shift if not variable.is_categorical else column
        for variable, column in zip(data.variables, data.columns, strict=True)
    ]
    return Dataset(data.variables, columns, data.weights)


def test_units_change_no_score():
    case = Case(3, 0.15)
    tables = {name: np.array(case.network.cpd(name)) for name in case.network.names}
    for name in case.structure.continuous:
        tables[name] = tables[name] * [1e3, 1e6] + [1e5, 0.0]
    parents = {name: case.structure.parents(name) for name in case.network.names}
    network = Network.from_tables(case.structure.variables, parents, tables)
    data = PatternedData(scale(case.model.data.dataset, 1e3, 1e5))
    other = Completion(Model(network, 0.0, data).messages)
    for operator in OPERATORS:
        candidates = case.propose(operator)
        scores = operator.score(other, candidates)
        assert scores == pytest.approx(case.score(candidates), rel=1e-6, abs=1e-6)


def test_columns_that_are_the_same_have_finite_scores():
    """Also where a state has no row at all."""
    x = np.random.default_rng(0).normal(size=30)
    leaves = [Variable(name) for name in "abcd"]
    table = np.array([[-1.0, 1.0], [1.0, 1.0], [1e4, 1.0]])
    tables = {"Y": [0.5, 0.5, 0.0], **dict.fromkeys("abcd", table)}
    network = Network.from_tables(
        [Variable.hidden("Y", 3), *leaves], dict.fromkeys("abcd", "Y"), tables
    )
    model = Model(network, 0.0, PatternedData(Dataset(leaves, [x, x, -x, x**2])))
    completion = Completion(model.messages)
    for operator in (StateDeletion, NodeIntroduction, StateIntroduction):
        candidates = list(operator.propose(model.tree, Rules()))
        assert np.all(np.isfinite(operator.score(completion, candidates)))


def test_winners_do_not_depend_on_threads():
    case = Case(3, 0.15)
    candidates = [each for operator in OPERATORS for each in case.propose(operator)]

    def pick(n_jobs):
        case.model.data.n_jobs = n_jobs
        effort = LocalEffort(mu=4, nu=10, seed=0)
        return pick_by_data_completion(
            Selection(case.model, candidates, effort, by_bic, 1, lambda _: None)
        )

    one, two = pick(1), pick(2)
    assert len({type(each.candidate) for each in one}) == len(one) > 2
    assert [each.candidate for each in one] == [each.candidate for each in two]
    assert [each.log_likelihood for each in one] == [each.log_likelihood for each in two]


@pytest.mark.parametrize("learner", [lf.EAST, lf.HillClimbing])
@pytest.mark.parametrize("kinds", ["nnn", "nsns"])
def test_clear_trees_are_recovered(learner, kinds):
    truth = make_mixed_tree(kinds)
    data = with_missing(truth.sample(2000, random_state=1), 0.05, random_state=2)
    data = data.with_weights(np.random.default_rng(3).choice([0.5, 1.0, 2.0], 2000))
    model = learner(evaluation="dc", random_state=0).fit(data)
    assert lf.tree_distance(model.network_, truth) == 0
    cards = [model.network_.structure.shape(name)[-1] for name in model.network_.latents]
    assert sorted(cards) == [2, 3]
    assert model.log_likelihood_ == pytest.approx(
        data.weights @ reported(model).score_samples(data)
    )
