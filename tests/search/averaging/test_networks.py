"""Averages over networks of a table, against all networks of five columns; chains beside them."""

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.search.averaging.families import score_all_families, score_candidates
from latentforest.search.averaging.networks import (
    ChainSettings,
    average_networks,
    draw_parents,
    sample_networks,
)
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.dags.family_scores import FamilyScores
from reference.dags import all_dags, permute_columns, random_table, score_all
from reference.network_sums import find_arcs, list_masks


@pytest.mark.parametrize("n_rows", [60, 20_000])
def test_equals_all_networks_of_five_columns(n_rows):
    data = random_table(4, (2, 3, 2, 2, 3), n_rows)
    values = np.array(score_all(data.merged()[0], all_dags(5)))
    weights = np.exp(values - values.max())
    expected = find_arcs(list_masks(5), weights / weights.sum())
    found = average_networks(data)
    assert found.is_exact
    assert found.is_converged
    np.testing.assert_allclose(found.arcs, expected, rtol=0, atol=1e-9)


def test_the_order_of_columns_does_not_matter():
    data = random_table(5, (2, 3, 2, 2), 100)
    found = average_networks(data)
    again = average_networks(permute_columns(data, [2, 0, 3, 1]))
    back = [again.names.index(name) for name in found.names]
    np.testing.assert_allclose(again.arcs[np.ix_(back, back)], found.arcs, atol=1e-12)
    np.testing.assert_allclose(again.paths[np.ix_(back, back)], found.paths, atol=1e-12)


def test_constraints():
    data = random_table(6, (2, 2, 2, 2), 200)
    given = {"required": [("x3", "x0")], "forbidden": [("x1", "x2")], "max_parents": 2}
    short = ChainSettings(n_steps=4000, n_states=200)
    for found in (
        average_networks(data, **given),
        average_networks(data, **given, exact_columns=0, chains=short),
    ):
        assert found.arcs[3, 0] == pytest.approx(1, abs=1e-12)
        assert found.arcs[1, 2] == found.arcs[0, 3] == 0
        assert found.arcs.sum(axis=0).max() <= 2 + 1e-9


@pytest.mark.parametrize("prior", ["networks", "orders"])
def test_chains_and_networks_drawn_from_them(prior):
    data = random_table(1, (2, 3, 2, 2, 2), 200)
    exact = average_networks(data, prior=prior)
    settings = ChainSettings(n_chains=3, n_steps=60_000, n_states=2000)
    found = average_networks(
        data, prior=prior, exact_columns=0, max_parents=4, chains=settings, random_state=3
    )
    assert not found.is_exact
    assert found.prior == prior
    assert found.is_converged
    np.testing.assert_allclose(found.arcs, exact.arcs, atol=0.03)
    table = CountingTable(data.with_seen_states())
    scores, limits = FamilyScores(table, "bic"), read_constraints(table.names)
    families = score_candidates(scores, limits, 10)
    chains = sample_networks(families, limits, settings, prior, seed=1)
    drawn = np.array(list(draw_parents(families, chains, prior == "orders", 2000, seed=2)))
    known = {tuple(masks) for masks in list_masks(5).tolist()}
    assert {tuple(masks) for masks in drawn.tolist()} <= known
    shares = find_arcs(drawn, np.full(len(drawn), 1 / len(drawn)))
    np.testing.assert_allclose(shares, exact.arcs, atol=0.06)


def test_candidates_have_the_scores_of_their_families():
    table = CountingTable(random_table(2, (2, 3, 2, 2, 2), 150))
    scores, limits = FamilyScores(table, "bic"), read_constraints(table.names, max_parents=2)
    local, families = score_all_families(scores, limits), score_candidates(scores, limits, 3)
    for v in range(5):
        for chosen, score in enumerate(families.scores[v]):
            parents = sum(1 << u for u in families.list_parents(v, chosen))
            assert score == local[v, parents]
            assert np.isfinite(score) == (parents.bit_count() <= 2)
            if np.isfinite(score):
                assert score == scores.score(v, parents)


def test_tables_of_edges():
    table = average_networks(random_table(2, (2, 2, 2), 50)).to_table()
    assert table.columns == ("left", "right", "probability", "forward", "backward")
    assert table["probability"] == sorted(table["probability"], reverse=True)
    for row in table.rows():
        assert row["probability"] == pytest.approx(row["forward"] + row["backward"])


def test_bad_settings():
    data = random_table(0, (2, 2), 10)
    with pytest.raises(ParameterError, match="prior must be one of 'networks', 'orders'"):
        average_networks(data, prior="graphs")
    with pytest.raises(ParameterError, match="n_chains must be a whole number from 2, got 1"):
        ChainSettings(n_chains=1)
    with pytest.raises(ParameterError, match="n_candidates must be at most 20, got 30"):
        ChainSettings(n_candidates=30)
    data, few = random_table(0, (2, 2, 2), 10), ChainSettings(n_candidates=1)
    with pytest.raises(ParameterError, match="'x0' has 2 required parents, but n_candidates is 1"):
        average_networks(data, required=[("x1", "x0"), ("x2", "x0")], exact_columns=0, chains=few)
