"""Candidates put their tables where they belong."""

import numpy as np
import pytest

from latentforest.search.tables import soften
from latentforest.search.trees.candidate import Proposal
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from reference.candidates import SEEDS, draw_model, evaluate, propose


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_in_the_region_stays_as_it_is(seed):
    model = draw_model(seed)
    for proposal in evaluate(model, propose(model), mu=1, nu=2):
        candidate = proposal.candidate
        before = model.network.rooted_at(candidate.root)
        after = proposal.realise(model.network).rooted_at(candidate.root)
        tied = getattr(candidate, "dissolved", None) or ()
        for name in set(before.names) & set(after.names) - {*candidate.region, *tied}:
            assert after.structure.parents(name) == before.structure.parents(name)
            np.testing.assert_allclose(after.cpd(name), before.cpd(name), rtol=1e-12)


def test_a_proposal_puts_its_tables_in_the_order_of_the_region():
    model = draw_model(2)
    (candidate, *_) = propose(model, [NodeIntroduction])
    edited = candidate.edit(model.network)
    sizes = [edited.cpd(name).size for name in candidate.region]
    tables = [soften(edited.cpd(name)) for name in candidate.region]
    flat = np.concatenate([*(table.ravel() for table in tables), np.full(7, np.nan)])
    realised = Proposal(candidate, 0.0, flat).realise(model.network)
    assert sum(sizes) + 7 == len(flat)
    for name, table in zip(candidate.region, tables, strict=True):
        np.testing.assert_array_equal(realised.cpd(name), table)
