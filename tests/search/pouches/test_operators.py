"""Operators on latent trees with pouches: dimensions, inverses, restricted likelihoods."""

import numpy as np
import pytest

from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.region import fit_region, make_region
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.pouches.candidate import fit_locally, name_rests
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.operators.limbs import (
    LimbDeletion,
    LimbIntroduction,
    LimbRelocation,
    LimbStateDeletion,
    LimbStateIntroduction,
)
from latentforest.search.pouches.operators.pouching import Pouching, merge_pouches
from latentforest.search.pouches.operators.unpouching import Unpouching, split_pouch
from latentforest.search.pouches.tree import PouchTree
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.tree import Rules
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows, make_pouch_structure

OPERATORS = [
    Pouching,
    Unpouching,
    LimbIntroduction,
    LimbStateIntroduction,
    LimbStateDeletion,
    LimbRelocation,
    LimbDeletion,
]
RULES = Rules(any_mediator=True)
EFFORT = LocalEffort(mu=3, nu=4, seed=1)


def propose(tree, rules=RULES, operators=OPERATORS):
    return [candidate for each in operators for candidate in each.propose_in(tree, rules)]


def as_sets(tree):
    return {name: set(limbs) for name, limbs in tree.limbs.items()}, dict(tree.cards)


@pytest.fixture(scope="module", params=sorted(SHAPES))
def case(request):
    network = draw_pouch_network(request.param, seed=3)
    data = PatternedData(draw_rows(network))
    return network, data, Evidence(network, data)


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_the_view_has_the_dimension_of_the_structure(kind):
    structure = make_pouch_structure(kind)
    tree = PouchTree.of(structure)
    assert tree.dimension == structure.dimension
    for name in tree.cards:
        again = tree.structure(name)
        assert again.dimension == structure.dimension
        assert as_sets(PouchTree.of(again)) == as_sets(tree)


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_candidates_are_regular_and_know_their_dimension(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in propose(tree):
        structure = candidate.after.structure(candidate.root)
        assert candidate.change == structure.dimension - tree.dimension, candidate
        assert as_sets(PouchTree.of(structure)) == as_sets(candidate.after)
        assert all(candidate.after.is_regular(name) for name in candidate.after.cards)
        assert set(structure.observed) == set(tree.variables)


def test_all_operators_have_candidates():
    found = {
        c.operator for kind in SHAPES for c in propose(PouchTree.of(make_pouch_structure(kind)))
    }
    assert found == {"PO", "UP", "NI", "SI", "SD", "NR", "ND"}


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_pouching_and_unpouching_are_inverses(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in Pouching.propose_in(tree, RULES):
        (merged,) = candidate.limbs
        back = split_pouch(candidate.after, candidate.hub, merged, candidate.right)
        assert as_sets(back.after) == as_sets(tree)
        assert back.change == -candidate.change
    for candidate in Unpouching.propose_in(tree, RULES):
        back = merge_pouches(candidate.after, candidate.hub, *candidate.limbs)
        assert as_sets(back.after) == as_sets(tree)
        assert back.change == -candidate.change


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_other_operators_have_inverses(kind):
    tree = PouchTree.of(make_pouch_structure(kind))
    for candidate in propose(tree, operators=[LimbIntroduction, LimbRelocation]):
        if isinstance(candidate, LimbIntroduction):
            inverses = LimbDeletion.propose_in(candidate.after, RULES)
        else:
            (limb,) = candidate.limbs
            inverses = LimbRelocation.between(
                candidate.after, RULES, limb, candidate.hub, [candidate.old]
            )
        assert any(as_sets(each.after) == as_sets(tree) for each in inverses), candidate
    for candidate in LimbStateIntroduction.propose_in(tree, RULES):
        inverses = LimbStateDeletion.propose_in(candidate.after, RULES)
        assert any(as_sets(each.after) == as_sets(tree) for each in inverses)


def test_fixed_variables_and_numbers_of_states_are_respected():
    tree = PouchTree.of(make_pouch_structure("chain"))
    rules = Rules(max_states=3, fixed=frozenset({"Y2", "a"}))
    for candidate in propose(tree, rules):
        assert candidate.after.cards["Y2"] == 2
        assert set(candidate.after.limbs["Y2"]) == set(tree.limbs["Y2"])
        assert ("a",) in candidate.after.limbs["Y1"]
        assert max(candidate.after.cards.values()) <= 3


# Restricted likelihood


def local_fits(case, operators):
    _, data, evidence = case
    local = data.with_rows(name_rests(10))
    for candidate in propose(evidence.tree, operators=operators)[:25]:
        yield candidate, fit_locally(evidence, local, candidate, EFFORT)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_restricted_likelihood_is_that_of_the_network_it_leads_to(case, operator):
    network, data, _ = case
    for candidate, proposal in local_fits(case, [operator]):
        edited = proposal.realise(network)
        value, impossible = Forest(edited.structure, data).log_likelihood(edited.parameters)
        assert impossible == 0
        assert proposal.log_likelihood == pytest.approx(value, rel=1e-9), candidate
        before = network.rooted_at(candidate.root)
        for name in set(edited.names) - set(candidate.region):
            assert np.array_equal(edited.cpd(name), before.cpd(name))


@pytest.mark.parametrize("operator", OPERATORS)
def test_local_fits_equal_those_by_the_general_way(case, operator):
    network, data, evidence = case
    for candidate, proposal in local_fits(case, [operator]):
        edited = proposal.realise(network)
        guesses = candidate.guess(evidence, EFFORT)
        region = make_region(edited, data, candidate.region)
        structure = region.network.structure
        starts = np.tile(region.network.parameters, (len(guesses), 1))
        for start, guess in zip(starts, guesses, strict=True):
            for name, table in guess.items():
                structure.table_view(start, name)[...] = table
        settings = EMSettings(EFFORT.nu, 1e-6, accelerate=False)
        slow = fit_region(region, starts, settings=settings)
        assert proposal.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-9), candidate


def test_restricted_likelihood_is_at_most_the_full_one(case):
    network, data, _ = case
    for candidate, proposal in local_fits(case, [Pouching, Unpouching, LimbRelocation]):
        edited = proposal.realise(network)
        full = fit(Forest(edited.structure, data), edited.parameters)
        assert proposal.log_likelihood <= full.log_likelihood + 1e-9, candidate


def test_posteriors_are_those_of_the_engine(case):
    network, data, evidence = case
    forest = Forest(network.structure, data)
    for name in network.latents:
        (expected,) = forest.posteriors(network.parameters, [name])
        np.testing.assert_allclose(evidence.posteriors[name], expected, atol=1e-9)


def test_evidence_from_everywhere_is_the_likelihood(case):
    network, data, evidence = case
    for name in network.latents:
        rooted = network.rooted_at(name)
        rests = evidence.send_up(rooted, evidence.tree, name, ())
        logs = rests[name] + np.log(rooted.cpd(name))
        total = data.dataset.weights @ np.logaddexp.reduce(logs, axis=1)
        expected, _ = Forest(network.structure, data).log_likelihood(network.parameters)
        assert total == pytest.approx(expected, rel=1e-9)


def test_estimates_of_pouching_are_gains_of_completed_rows():
    network = draw_pouch_network("star", seed=1)
    data = PatternedData(draw_rows(network, 400, missing=0.0))
    evidence = Evidence(network, data)
    shares = evidence.posteriors["Y1"] * evidence.weights[:, None]
    for candidate in Pouching.propose_in(evidence.tree, RULES):
        if len(candidate.left) + len(candidate.right) > 2:
            continue
        x, y = (data.dataset.column(name) for name in candidate.limbs[0])
        expected = 0.0
        for weights in shares.T:
            r = np.cov(x, y, aweights=weights)
            expected -= 0.5 * weights.sum() * np.log(1 - r[0, 1] ** 2 / (r[0, 0] * r[1, 1]))
        assert candidate.estimate(evidence) == pytest.approx(expected, rel=0.1, abs=2.0)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    network = draw_pouch_network("two latents", seed=3)
    rows = draw_rows(network, 120)
    results = []
    for size in (forest_module.CHUNK_ROWS, 32):
        monkeypatch.setattr(forest_module, "CHUNK_ROWS", size)
        data = PatternedData(rows)
        evidence = Evidence(network, data)
        local = data.with_rows(name_rests(10))
        candidates = propose(evidence.tree)[::7]
        results.append(
            [fit_locally(evidence, local, each, EFFORT).log_likelihood for each in candidates]
        )
    np.testing.assert_allclose(*results, rtol=1e-9)
