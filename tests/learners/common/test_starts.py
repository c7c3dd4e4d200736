"""What a search can begin with: networks, learners, names of learners."""

import numpy as np
import pytest
from sklearn.base import clone

import latentforest as lf
from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import (
    LatentForestError,
    ModelError,
    ParameterError,
)
from latentforest.model import Network
from latentforest.search.regularity import find_irregular
from reference.searches import assert_valid, clear_tree, learn


@pytest.fixture(scope="module")
def table():
    """A table that is quickly searched."""
    return clear_tree(
        {"Y1": (2, None), "Y2": (2, "Y1")}, {"Y1": 4, "Y2": 3}, n_states=2, strength=0.85
    ).sample(600, random_state=0)


@pytest.fixture(scope="module")
def found(table):
    return learn(table)


def test_the_search_goes_on_from_a_given_model(table, found):
    model = learn(table, start=found.network_)
    assert model.bic_ >= found.bic_ - 1e-6
    assert model.history_["bic"][0] == pytest.approx(found.bic_, abs=0.01)


def test_the_start_may_be_rooted_anywhere(table, found):
    start = found.network_.rooted_at(found.network_.latents[-1])
    assert learn(table, start=start, max_steps=3).bic_ >= found.bic_ - 1e-6


def make_start(table, n_states, parents, latents=("Y",)):
    variables = [Variable.hidden(name, n_states) for name in latents] + list(table.variables)
    arcs = {x.name: "Y" for x in table.variables} | parents
    structure = lf.Structure(variables, {a: b for a, b in arcs.items() if b})
    flat = np.concatenate(
        [np.full(structure.shape(n), 1 / structure.shape(n)[-1]).ravel() for n in structure.names]
    )
    return Network(structure, flat)


@pytest.mark.parametrize(
    ("n_states", "parents", "latents"),
    [(65, {}, ("Y",)), (2, {}, ("Y", "Z")), (2, {"X2": "X1"}, ("Y",))],
    ids=["irregular", "latent alone", "inner column"],
)
def test_a_start_is_made_regular(table, n_states, parents, latents):
    start = make_start(table, n_states, parents, latents)
    model = learn(table, start=start, max_steps=1)
    assert_valid(model, table)
    assert not find_irregular(model.network_.structure)


@pytest.mark.parametrize("start", ["bin", "chow-liu", "latent-class"])
def test_a_learner_by_name_gives_the_start(table, start):
    model = learn(table, start=start, max_steps=0)
    assert_valid(model, table)
    assert len(model.network_.structure.roots) == 1
    first = learn(table, max_steps=0).bic_
    assert start == "latent-class" or model.bic_ > first + 1


def test_a_learner_gives_the_start(table):
    learner = lf.BinaryForest(linkage="average", random_state=1)
    fresh = learn(table, start=learner, max_steps=2)
    assert not hasattr(learner, "network_")
    fitted = learn(table, start=learner.fit(table), max_steps=2)
    assert fresh.network_ == fitted.network_
    assert clone(fitted).get_params()["start__linkage"] == "average"


def test_a_learner_that_finds_nothing_leaves_two_classes():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 200) for _ in range(4)]
    noise = Dataset([Variable(f"x{i}", ("a", "b")) for i in range(4)], columns)
    model = learn(noise, start="bin", max_steps=0)
    assert len(model.network_.latents) == 1


def test_fixed_names_are_looked_for_in_the_start_of_a_learner(table):
    with pytest.raises(ParameterError, match="fixed names 'nobody'"):
        learn(table, start="bin", fixed="nobody")


def test_a_search_from_a_learner_can_be_resumed(table, tmp_path):
    path = tmp_path / "steps.jsonl"
    whole = learn(table, start="bin", max_steps=3)
    learn(table, start="bin", max_steps=1, checkpoint=path)
    again = learn(table, start="bin", max_steps=3, checkpoint=path, resume=True)
    assert again.network_ == whole.network_
    with pytest.raises(LatentForestError):
        learn(table, start="chow-liu", max_steps=3, checkpoint=path, resume=True)


def test_starts_that_do_not_fit_are_refused(table, found):
    with pytest.raises(ModelError, match=r"differ in \['X1', 'other'\]"):
        learn(table, start=found.network_.renamed({"X1": "other"}))
    with pytest.raises(ParameterError, match=r"no learner 'model\.json'; known are bin"):
        learn(table, start="model.json")
    with pytest.raises(ParameterError, match=r"a learner or .*, got int"):
        learn(table, start=3)


def test_a_start_with_other_states_is_refused(table, found):
    columns = [Variable(v.name, ("no", "yes")) for v in table.variables]
    with pytest.raises(LatentForestError, match="states"):
        learn(Dataset(columns, table.columns), start=found.network_)


def test_a_start_of_several_trees_is_searched_tree_by_tree(table):
    """Two trees: X1 to X4 below Y, X5 to X7 below Z."""
    arcs = {f"X{i}": "Z" for i in (5, 6, 7)}
    start = make_start(table, 2, arcs, ("Y", "Z"))
    rng = np.random.default_rng(0)
    noise = np.concatenate(
        [rng.dirichlet(np.ones(2), start.structure.shape(n)[:-1]).ravel() for n in start.names]
    )
    model = learn(table, start=start.with_parameters(noise), max_steps=6)
    assert_valid(model, table)
    assert len(model.network_.structure.roots) == 2
