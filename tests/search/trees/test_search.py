"""The steps of a search: ranks, winners, reserves."""

from __future__ import annotations

import gc
import itertools
import weakref
from types import SimpleNamespace

import pytest

from latentforest import EAST
from latentforest.datasets.generate import random_latent_tree
from latentforest.inference.forest import PatternedData
from latentforest.search.trees.model import LEAST_GAIN, Model, is_better
from latentforest.search.trees.search import Search, Settled, by_improvement_ratio
from reference.restricted import draw_latent_tree, draw_rows, measure


def test_what_costs_nothing_comes_first_by_its_gain():
    model = SimpleNamespace(bic=-100.0, score=lambda value, change: value - change)
    gains = {
        "dear": (-50.0, 10),
        "cheap": (-60.0, 1),
        "free, large": (-80.0, 0),
        "free, small": (-95.0, -2),
        "free, none": (-101.0, 0),
        "loss": (-99.0, 5),
    }
    ranked = sorted(gains, key=lambda name: -by_improvement_ratio(model, *gains[name]))
    assert ranked[:4] == ["free, large", "free, small", "cheap", "dear"]


DATA = random_latent_tree(12, n_states=3, n_latent_states=3, random_state=1).sample(
    500, random_state=1
)


@pytest.mark.parametrize("n_reserves", [0, 5])
def test_reserves_are_called_where_no_winner_is_better(monkeypatch, n_reserves):
    fit_all, batches = Search._fit_all, []

    def watch(search, choice, proposals):
        found = fit_all(search, choice, proposals)
        gains = [is_better(each.model, choice.model) for each in found]
        batches.append((choice.number, choice.phase, len(proposals), any(gains)))
        return found

    monkeypatch.setattr(Search, "_fit_all", watch)
    EAST(n_winners=2, n_reserves=n_reserves, random_state=0).fit(DATA)
    second = [(batch, last) for last, batch in itertools.pairwise(batches) if last[0] == batch[0]]
    assert bool(second) == bool(n_reserves)
    for (_, phase, n_fitted, _), (_, _, n_before, was_better) in second:
        assert phase in ("expand", "adjust")
        assert n_before == 2
        assert 1 <= n_fitted <= n_reserves
        assert not was_better
    numbers = {batch[0] for batch, _ in second}
    failed = [b for b in batches if not b[3] and b[2] == 2 and b[1] in ("expand", "adjust")]
    if n_reserves:
        assert {b[0] for b in failed} >= numbers


def test_reserves_that_fell_short_are_left_out_until_their_score_rises(monkeypatch):
    fit_reserves, fit_all = Search._fit_reserves, Search._fit_all
    lifts, fitted, n_left_out = {}, [], 0

    def watch_reserves(search, choice, proposals):
        nonlocal n_left_out
        fitted.clear()
        found = fit_reserves(search, choice, proposals)
        model = choice.model
        for proposal in proposals:
            candidate = proposal.candidate
            key = (candidate.operator, str(candidate), candidate.change)
            score = model.score(proposal.log_likelihood, proposal.candidate.change)
            is_fitted = any(proposal is each for each, _ in fitted)
            assert is_fitted == (key not in lifts or score + lifts[key] > model.bic + LEAST_GAIN)
            n_left_out += not is_fitted
            for each, network in fitted:
                if each is proposal:
                    lifts[key] = network.bic - score
        return found

    def watch(search, choice, proposals):
        found = fit_all(search, choice, proposals)
        fitted.extend((p, each.model) for p, each in zip(proposals, found, strict=True))
        return found

    monkeypatch.setattr(Search, "_fit_reserves", watch_reserves)
    monkeypatch.setattr(Search, "_fit_all", watch)
    EAST(n_winners=2, n_reserves=5, random_state=0).fit(DATA)
    assert n_left_out


def draw_model():
    network = draw_latent_tree(1, 2)
    dataset = draw_rows(network, 20, 1)
    return Model(network, measure(network, dataset), PatternedData(dataset))


def test_settled_pairs_are_known_until_they_are_forgotten():
    settled, model, other = Settled(), draw_model(), draw_model()
    settled.add((model, (min,)))
    settled.add((model, (max, sum)))
    assert (model, (min,)) in settled
    assert (model, (max, sum)) in settled
    assert (model, (sum,)) not in settled
    assert (other, (min,)) not in settled
    settled.forget(lambda operator: operator is sum)
    assert (model, (min,)) in settled
    assert (model, (max, sum)) not in settled


def test_a_settled_model_does_not_stay_in_memory():
    settled, model = Settled(), draw_model()
    assert model.messages is not None
    alive = weakref.ref(model)
    settled.add((model, (min,)))
    del model
    gc.collect()
    assert alive() is None
