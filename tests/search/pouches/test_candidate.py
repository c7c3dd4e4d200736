"""Local fits of candidates with pouches: restricted likelihoods."""

import numpy as np
import pytest

from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.region import fit_region, make_region
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.pouches.candidate import fit_locally, name_rests
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.operators.limb_relocation import LimbRelocation
from latentforest.search.pouches.operators.pouching import Pouching
from latentforest.search.pouches.operators.unpouching import Unpouching
from latentforest.search.trees.candidate import LocalEffort
from reference.pouch_candidates import OPERATORS, propose
from reference.pouch_networks import SHAPES, draw_pouch_network, draw_rows

EFFORT = LocalEffort(mu=3, nu=4, seed=1)


@pytest.fixture(scope="module", params=sorted(SHAPES))
def case(request):
    network = draw_pouch_network(request.param, seed=3)
    data = PatternedData(draw_rows(network))
    return network, data, Evidence(network, data)


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
