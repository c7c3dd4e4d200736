"""Candidates that data completion picks when there are too many for local EM."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets import generate, random_latent_tree
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest, PatternedData
from latentforest.learners.common.latent_tree import make_start
from latentforest.learners.east import EAST
from latentforest.model import Network, Structure
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.screening import screen
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.search import by_bic, by_improvement_ratio
from latentforest.search.trees.tree import Rules
from reference.random_networks import fill_randomly

TABLE = generate(random_latent_tree(16, depth=2, width=4, random_state=2), 3000, random_state=0)


DATA = PatternedData(TABLE)


def ignore(*_):
    pass


def fit_classes():
    """The latent class model that a search begins with."""
    network = fill_randomly(make_start(TABLE), 0, share_of_zeros=0.0)
    return fit_fully(network, DATA, EMSettings(200, 1e-6))


def fit_wrong_tree():
    """A tree in which one column hangs on the wrong latent variable."""
    true = EAST(random_state=0, mu=4, nu=10).fit(TABLE).network_
    leaf = next(name for name in true.observed if len(true.structure.neighbours(name)) == 1)
    (home,) = true.structure.parents(leaf)
    other = next(name for name in true.latents if name != home)
    parents = {name: true.structure.parents(name) for name in true.names} | {leaf: other}
    network = Network.from_tables(
        true.variables, parents, {name: true.cpd(name) for name in true.names}
    )
    return fit_fully(network, DATA, EMSettings(200, 1e-6)), leaf, home


def propose(model, *operators):
    return [each for one in operators for each in one.propose(model.tree, Rules())]


def test_few_candidates_are_left_alone():
    model = fit_classes()
    candidates = propose(model, NodeIntroduction, StateIntroduction)
    assert screen(model, candidates, by_bic, len(candidates), ignore) == candidates
    assert screen(model, candidates, by_bic, None, ignore) == candidates


def test_each_operator_has_its_limit_and_state_introductions_have_none():
    model = fit_classes()
    candidates = propose(model, NodeIntroduction, StateIntroduction)
    kept = screen(model, candidates, by_bic, 5, ignore)
    assert sum(isinstance(each, NodeIntroduction) for each in kept) == 5
    rest = [each for each in kept if not isinstance(each, NodeIntroduction)]
    assert rest == propose(model, StateIntroduction)
    assert len(set(kept)) == len(kept)
    assert set(kept) <= set(candidates)


def test_introductions_with_the_most_dependence_are_kept():
    model = fit_classes()
    candidates = propose(model, NodeIntroduction)
    kept = set(screen(model, candidates, by_improvement_ratio, 7, ignore))
    completion = Completion(model.messages)
    completion.measure_dependence([model.tree.latents[0]])

    def promise(each):
        gain = 0.5 * completion.measure_pair(each.hub, each.left, each.right)[0]
        return by_improvement_ratio(model, model.log_likelihood + gain, each.change)

    least = min(map(promise, kept))
    assert all(promise(each) <= least for each in candidates if each not in kept)


def test_the_best_introduction_passes_the_screen():
    model, effort = fit_classes(), LocalEffort(8, 20, seed=0)
    candidates = propose(model, NodeIntroduction)
    proposals = evaluate_restricted(model, candidates, effort, ignore)
    best = max(proposals, key=lambda p: by_bic(model, p.log_likelihood, p.candidate.change))
    assert best.candidate in screen(model, candidates, by_bic, 20, ignore)


def test_the_relocation_that_is_needed_passes_the_screen():
    model, leaf, home = fit_wrong_tree()
    candidates = propose(model, NodeRelocation)
    (needed,) = (
        each
        for each in candidates
        if isinstance(each, NodeRelocation) and (each.moved, each.target) == (leaf, home)
    )
    assert needed in screen(model, candidates, by_bic, 3, ignore)


def test_a_screened_search_finds_the_tree():
    free = EAST(random_state=0).fit(TABLE)
    screened = EAST(random_state=0, max_candidates=12).fit(TABLE)
    assert screened.bic_ == pytest.approx(free.bic_, abs=1.0)


def test_the_limit_is_checked():
    with pytest.raises(ParameterError, match="max_candidates"):
        EAST(max_candidates=0).fit(TABLE)


@pytest.fixture(scope="module")
def mixed_model():
    """A latent class model of columns that have two latent variables, with missing values."""
    rng = np.random.default_rng(3)
    n = 400
    first = rng.integers(2, size=n)
    second = np.where(rng.random(n) < 0.7, first, 1 - first)
    variables, columns = [], []
    for i in range(10):
        own = first if i < 5 else second
        if i % 3 == 2:
            variables.append(Variable(f"X{i}", ("a", "b", "c")))
            columns.append(np.where(rng.random(n) < 0.8, own, rng.integers(3, size=n)))
        else:
            values = 2.5 * own + rng.normal(size=n)
            values[rng.random(n) < 0.05] = np.nan
            variables.append(Variable(f"X{i}"))
            columns.append(values)
    data = PatternedData(Dataset(variables, columns))
    structure = Structure(
        [Variable.hidden("Y1", 2), Variable.hidden("Y2", 2), *variables],
        {"Y2": "Y1", **{f"X{i}": "Y2" if i in (7, 8, 9) else "Y1" for i in range(10)}},
    )
    starts = random_starts(structure, data.dataset, 16, 0)
    result = fit(Forest(structure, data), starts)
    return Model(Network(structure, result.parameters), result.log_likelihood, data)


@pytest.mark.parametrize("operator", [NodeIntroduction, NodeRelocation])
def test_the_best_mixed_candidates_are_among_those_that_are_kept(operator, mixed_model):
    candidates = list(operator.propose(mixed_model.tree, Rules()))
    kept = screen(mixed_model, candidates, by_bic, len(candidates) // 4, lambda: None)
    assert len(kept) == len(candidates) // 4
    effort = LocalEffort(4, 10, 0)
    proposals = evaluate_restricted(mixed_model, candidates, effort, lambda proposals: None)
    proposals.sort(key=lambda each: -mixed_model.score(each.log_likelihood, each.candidate.change))
    assert proposals[0].candidate in kept
    assert screen(mixed_model, candidates, by_bic, None, lambda: None) == candidates
