"""Fitted models of a search: BIC, roots, full EM."""

import math

import pytest

from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.search.trees.model import LEAST_GAIN, Model, fit_fully, is_better
from reference.restricted import draw_latent_tree, draw_rows, measure


@pytest.fixture(scope="module")
def model():
    network = draw_latent_tree(5, 3)
    data = PatternedData(draw_rows(network, 40, 0))
    return fit_fully(network, data, EMSettings(200, 1e-9))


def test_bic_is_the_likelihood_less_its_price(model):
    price = 0.5 * math.log(model.data.total_weight)
    assert model.bic == pytest.approx(model.log_likelihood - model.dimension * price)
    assert model.score(model.log_likelihood + 1.0, 2) == pytest.approx(model.bic + 1.0 - 2 * price)


def test_full_em_gives_the_likelihood_of_its_parameters(model):
    assert model.log_likelihood == pytest.approx(measure(model.network, model.data.dataset))


def test_full_em_goes_on_from_any_root(model):
    for root in model.network.latents:
        again = fit_fully(model.network, model.data, EMSettings(50, 1e-9), root=root)
        assert again.network.structure.roots == (root,)
        assert again.log_likelihood >= model.log_likelihood - 1e-9
    assert model.rerooted().bic == model.bic


def test_better_is_by_more_than_the_precision_of_em(model):
    near = Model(model.network, model.log_likelihood + 0.5 * LEAST_GAIN, model.data)
    above = Model(model.network, model.log_likelihood + 2.0 * LEAST_GAIN, model.data)
    assert not is_better(near, model)
    assert is_better(above, model)
    assert not is_better(model, above)
