"""The older searches: single and double hill climbing."""

from __future__ import annotations

import json
from dataclasses import astuple, replace

import numpy as np
import pytest

from latentforest import DoubleHillClimbing, HillClimbing, Network, datasets, tree_distance
from latentforest.data import Variable
from latentforest.datasets.generate import random_latent_tree
from latentforest.errors import ParameterError
from latentforest.learners.hill_climbing import NearRelocation
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees import model as search_model
from latentforest.search.trees.model import LEAST_GAIN
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.tree import LatentTree, Rules

SEARCHES = [HillClimbing, DoubleHillClimbing]


HIV = datasets.load("hiv-tests")


@pytest.fixture(scope="module")
def tree():
    """Three latent variables below a fourth, nine observed ones, all with three states."""
    return random_latent_tree(n_states=3, n_latent_states=3, strength=0.85, random_state=0)


@pytest.fixture(scope="module")
def table(tree):
    return tree.sample(1500, random_state=0)


@pytest.fixture(scope="module")
def found(table):
    return {search: search(random_state=0).fit(table) for search in SEARCHES}


@pytest.fixture(scope="module")
def small():
    """A table that is quickly searched, for tests that do so again and again."""
    network = random_latent_tree(strength=0.85, random_state=1)
    return network.sample(500, random_state=1)


@pytest.fixture(scope="module")
def steps(small, tmp_path_factory):
    """Models of the small table and the lines of their checkpoints."""
    done = {}
    for search in SEARCHES:
        path = tmp_path_factory.mktemp("steps") / "steps.jsonl"
        model = search(random_state=0, checkpoint=path).fit(small)
        done[search] = model, path.read_text().splitlines(keepends=True)
    return done


def without_seconds(history):
    columns = history.to_dict()
    del columns["seconds"]
    return columns


@pytest.mark.parametrize("search", SEARCHES)
def test_a_clear_tree_is_found(search, tree, found):
    network = found[search].network_
    assert tree_distance(tree, network) == 0
    assert [network.structure.shape(name)[-1] for name in network.latents] == [3, 3, 3, 3]


@pytest.mark.parametrize("search", SEARCHES)
def test_models_are_regular(search, found):
    assert find_irregular(found[search].network_.structure) == []


@pytest.mark.parametrize("search", SEARCHES)
def test_accepted_steps_lead_up_to_the_model(search, found):
    model = found[search]
    way = [row for row in model.history_.rows() if row["accepted"]]
    assert way[0]["phase"] == "start"
    assert way[-1]["bic"] == pytest.approx(max(model.history_["bic"]), abs=LEAST_GAIN)
    assert way[-1]["n_latents"] == len(model.network_.latents)
    assert model.bic_ >= way[-1]["bic"]


def test_two_phases_of_single_hill_climbing(found):
    model = found[HillClimbing]
    phases = {"start": set(), "expand": set(), "simplify": set()}
    for row in model.history_.rows():
        phases[row["phase"]].add(row["operator"])
    assert phases["expand"] <= {"NI", "SI", "NR"}
    assert phases["simplify"] <= {"SD", "ND"}
    assert "NR" in phases["expand"]
    way = [row["bic"] for row in model.history_.rows() if row["accepted"]]
    assert way == sorted(way)


def test_both_hill_climbings_have_operators_of_their_own(found):
    rows = list(found[DoubleHillClimbing].history_.rows())
    assert {row["operator"] for row in rows if row["phase"] == "states"} <= {"SI", "SD"}
    assert {row["operator"] for row in rows if row["phase"] == "structure"} <= {"NI", "ND", "NR"}


@pytest.fixture
def chain():
    """Y1 - Y2 - Y3, each with two observed variables of its own."""
    latents = [Variable.hidden(f"Y{i}", 2) for i in (1, 2, 3)]
    leaves = [Variable(f"X{i}", ("0", "1")) for i in range(6)]
    parents = {"Y2": "Y1", "Y3": "Y2", **{f"X{i}": f"Y{1 + i // 2}" for i in range(6)}}
    return LatentTree(Structure([*latents, *leaves], parents))


def test_relocation_goes_to_a_neighbour_only(chain):
    near = list(NearRelocation.propose(chain, Rules()))
    assert near
    assert all(each.target in chain.neighbours[each.origin] for each in near)
    assert ("X0", "Y1", "Y2") in {(each.moved, each.origin, each.target) for each in near}


def test_near_relocations_are_those_of_the_operator(chain):
    anywhere = [
        each
        for each in NodeRelocation.propose(chain, Rules())
        if each.target in chain.neighbours[each.origin]
    ]
    near = NearRelocation.propose(chain, Rules())
    assert {*map(astuple, near)} == {*map(astuple, anywhere)}
    assert len(anywhere) < len(list(NodeRelocation.propose(chain, Rules())))


@pytest.mark.parametrize("search", SEARCHES)
def test_threads_do_not_change_a_bit(search, small, steps):
    model, expected = search(random_state=0, n_jobs=2).fit(small), steps[search][0]
    assert model.network_ == expected.network_
    assert without_seconds(model.history_) == without_seconds(expected.history_)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_lines", [1, 2, 4, 8])
def test_a_resumed_search_ends_at_the_same_model(search, small, steps, tmp_path, n_lines):
    path = tmp_path / "steps.jsonl"
    expected, whole = steps[search]
    path.write_text("".join(whole[:n_lines]) + whole[n_lines][:50])  # the last line is cut short
    model = search(random_state=0, checkpoint=path, resume=True).fit(small)
    assert model.network_ == expected.network_
    assert without_seconds(model.history_) == without_seconds(expected.history_)
    numbers = [json.loads(line).get("step") for line in path.read_text().splitlines()]
    assert numbers == [None, *range(len(whole) - 1)]


@pytest.mark.parametrize("search", SEARCHES)
def test_steps_are_limited_and_can_go_on(search, small, steps, tmp_path):
    path = tmp_path / "steps.jsonl"
    few = search(random_state=0, max_steps=3, checkpoint=path).fit(small)
    assert few.stopped_ == "the limit of 3 steps was reached"
    assert few.history_["step"][-1] == 3
    model = search(random_state=0, checkpoint=path, resume=True).fit(small)
    assert model.network_ == steps[search][0].network_
    assert model.stopped_ is None


@pytest.mark.parametrize("search", SEARCHES)
def test_a_tiny_time_limit_gives_a_model(search, small, tmp_path):
    path = tmp_path / "steps.jsonl"
    model = search(random_state=0, time_limit=1e-9, checkpoint=path, prior=1).fit(small)
    assert model.stopped_ == "the time limit was reached"
    assert len(model.history_) == 1
    assert model.network_.parameters.min() > 0  # smoothed all the same
    assert len(path.read_text().splitlines()) == 1  # EM had no time to end


@pytest.mark.parametrize("search", SEARCHES)
def test_an_interrupt_keeps_the_best_model(search, small, steps, monkeypatch):
    monkeypatch.setattr("latentforest.search.trees.search.SECONDS_BETWEEN_MESSAGES", -1.0)

    def interrupt(message):
        if "step 4," in message:
            raise KeyboardInterrupt

    model = search(random_state=0, progress=interrupt).fit(small)
    assert model.interrupted_
    assert model.history_["step"][-1] == 3
    assert not steps[search][0].interrupted_


def test_an_interrupt_of_full_em_ends_the_search(small, monkeypatch):
    fit, n_calls = search_model.fit, []

    def fit_interrupted(*arguments, **settings):
        n_calls.append(1)
        result = fit(*arguments, **settings)
        if len(n_calls) == 6:
            monitor = replace(result.monitor, was_interrupted=True)
            result = replace(result, monitor=monitor)
        return result

    monkeypatch.setattr(search_model, "fit", fit_interrupted)
    model = HillClimbing(random_state=0, n_winners=2).fit(small)
    assert model.interrupted_
    assert len(n_calls) == 6
    assert model.history_["step"] == [0, 1, 2]


@pytest.mark.parametrize("search", SEARCHES)
def test_fixed_variables_stay(search, table, tree):
    fixed = tree.latents[1]
    start = Network(tree.structure, tree.parameters)
    model = search(random_state=0, start=start, fixed=fixed).fit(table)
    after = model.network_.structure
    assert set(after.neighbours(fixed)) == set(tree.structure.neighbours(fixed))
    assert after.shape(fixed)[-1] == 3


@pytest.mark.parametrize("search", SEARCHES)
def test_fixed_variables_must_exist(search):
    with pytest.raises(ParameterError, match="fixed names 'Q', which the initial model does not"):
        search(fixed=["A", "Q"]).fit(HIV)


@pytest.mark.parametrize("search", SEARCHES)
def test_states_are_limited(search, table):
    model = search(random_state=0, max_states=2, max_steps=8).fit(table)
    shapes = [model.network_.structure.shape(name)[-1] for name in model.network_.latents]
    assert max(shapes) == 2
    assert np.isfinite(model.bic_)
