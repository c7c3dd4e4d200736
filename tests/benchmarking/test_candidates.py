"""Learners by name with settings, and what is refused."""

import pytest

from latentforest import EAST, Independence, LatentClass
from latentforest.benchmarking.candidates import BenchmarkedLearner, read_candidates, split_learners
from latentforest.errors import ParameterError


def test_a_list_of_learners_with_settings():
    found = read_candidates("lca:states=(1,3),criterion=aic, east:mu=4,bi", 7)
    assert [each.name for each in found] == [
        "independence",
        "latent-class:states=(1,3),criterion=aic",
        "east:mu=4",
        "bridged-islands",
    ]
    assert (found[1].learner.n_states, found[1].learner.criterion) == ((1, 3), "aic")
    assert (found[2].learner.mu, found[2].learner.random_state) == (4, 7)


def test_settings_go_with_the_learner_before_them():
    assert split_learners("east:mu=4,nu=10,il") == ["east:mu=4,nu=10", "il"]
    assert split_learners("a,,b, ") == ["a", "b"]


def test_a_variant_has_its_settings():
    assert read_candidates("cil", 0)[1].learner.candidate_pairs == 10


def test_learners_that_are_ready_made():
    found = read_candidates([LatentClass(2), LatentClass(3, random_state=1), "il"], 5)
    names = ["independence", "LatentClass 2", "LatentClass 3", "il"]
    assert [each.name for each in found] == names
    assert [each.learner.random_state for each in found[1:3]] == [5, 1]
    assert [each.name for each in read_candidates({"mine": EAST()}, 0)] == ["independence", "mine"]


def test_the_baseline_is_there_once():
    assert len(read_candidates({"alone": Independence()}, 0)) == 1
    assert len(read_candidates("independence,cl", 0)) == 2


def test_what_may_learn_something_else_has_another_identity():
    first, same, other = LatentClass(2), LatentClass(2, n_jobs=2, time_limit=3), LatentClass(3)
    assert BenchmarkedLearner("a", first).identity == BenchmarkedLearner("b", same).identity
    assert BenchmarkedLearner("a", first).identity != BenchmarkedLearner("a", other).identity


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ("easy", "there is no 'easy'; did you mean 'east'"),
        ("east:speed=2", "'east' has no setting 'speed'; known are"),
        ("east:fast", "expected settings as in"),
        ("cl,cl", "'chow-liu' is there twice"),
        ([], "got none"),
        (3, "got 3, expected names"),
        ([3], "got 3, expected a learner"),
    ],
)
def test_what_is_no_learner_is_refused(learners, message):
    with pytest.raises(ParameterError, match=message):
        read_candidates(learners, 0)
