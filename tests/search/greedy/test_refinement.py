"""Rounds of refinement."""

import numpy as np
import pytest

from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.estimation.em import EMSettings
from latentforest.estimation.starts import random_starts
from latentforest.inference.association.information import posterior_information
from latentforest.inference.forest import PatternedData
from latentforest.model import Network
from latentforest.search.greedy import refinement
from latentforest.search.greedy.refinement import (
    Refinement,
    apply_all,
    find_targets,
    inform,
    propose,
    relocate,
)
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.model import fit_fully
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.tree import Rules

SETTINGS = EMSettings(200, 1e-7)


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(15, depth=2, width=3, strength=0.85, random_state=2)


@pytest.fixture(scope="module")
def misplaced(truth):
    """The true tree with three columns below the wrong latent variable."""
    data = PatternedData(generate(truth, 1000, random_state=2))
    wrong = truth.structure.with_parents({"X1": "Y4", "X7": "Y2", "X12": "Y3"})
    start = random_starts(wrong, data.dataset, 1, 3)[0]
    for name in set(wrong.names) - {"X1", "X7", "X12"}:
        wrong.table_view(start, name)[...] = truth.cpd(name)
    return fit_fully(Network(wrong, start), data, SETTINGS)


def homes(network):
    return {name: set(network.structure.neighbours(name)) for name in ("X1", "X7", "X12")}


RIGHT = {"X1": {"Y2"}, "X7": {"Y3"}, "X12": {"Y4"}}


def refine(model, max_rounds=5):
    refinement = Refinement(Rules(), LocalEffort(2, 10, 0), SETTINGS, max_rounds, None)
    return list(refinement.rounds(model))


def test_columns_come_home(misplaced):
    models = refine(misplaced)
    assert models[0][1] >= 3
    assert homes(models[-1][0].network) == RIGHT


def test_bic_rises_in_every_round(misplaced):
    values = [misplaced.bic, *(model.bic for model, _ in refine(misplaced))]
    assert np.all(np.diff(values) > 0)
    assert not find_irregular(refine(misplaced)[-1][0].network.structure)


def test_no_rounds(misplaced):
    assert refine(misplaced, 0) == []


def test_wide_tables_move_columns_at_once(misplaced, monkeypatch):
    monkeypatch.setattr(refinement, "MOST_COLUMNS", 5)
    models = refine(misplaced)
    assert models[-1][0].bic > misplaced.bic
    assert homes(models[-1][0].network) == RIGHT


def test_a_latent_variable_keeps_two_columns(misplaced):
    model, n_moves = relocate(misplaced, SETTINGS, None)
    assert n_moves >= 1
    for latent in model.network.latents[1:]:
        columns = set(model.network.structure.neighbours(latent)) & set(model.network.observed)
        assert len(columns) >= 2


def test_targets_hold_the_right_home(misplaced):
    targets = find_targets(misplaced)
    assert all(RIGHT[name] <= targets[name] for name in RIGHT)


def test_proposals_that_exclude_each_other_are_not_both_applied(misplaced):
    rules = Rules()
    candidates = propose(misplaced, rules)
    proposals = evaluate_restricted(misplaced, candidates, LocalEffort(1, 2, 0), lambda _: None)
    network, applied = apply_all(misplaced.network, proposals, rules)
    assert 1 < len(applied) < len(proposals)
    assert set(network.observed) == set(misplaced.network.observed)
    np.testing.assert_allclose(
        [network.cpd(name).sum(axis=-1).max() for name in network.names], 1.0
    )
    assert not find_irregular(network.structure)


def test_a_round_ends_at_the_time_limit(misplaced, monkeypatch):
    clock = iter([0.0, 0.0])  # before the candidates, and before the first fit of some

    monkeypatch.setattr(refinement.time, "monotonic", lambda: next(clock, 2.0))
    late = Refinement(Rules(), LocalEffort(2, 10, 0), SETTINGS, 5, deadline=1.0)
    assert list(late.rounds(misplaced)) == []


def test_columns_are_compared_in_parts_of_bounded_size(misplaced, monkeypatch):
    whole, _ = inform(misplaced)
    sizes = []

    def measure(left, right, weights):
        sizes.append(sum(each.size for each in left))
        return posterior_information(left, right, weights)

    monkeypatch.setattr(refinement, "posterior_information", measure)
    monkeypatch.setattr(refinement, "VALUES_AT_ONCE", 5000)
    parts, _ = inform(misplaced)
    assert len(sizes) > 1
    assert max(sizes) <= 5000
    np.testing.assert_allclose(parts, whole, atol=1e-12)
