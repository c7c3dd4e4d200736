"""The steps of a search: what it keeps in mind."""

import gc
import weakref

from latentforest.inference.forest import PatternedData
from latentforest.search.trees.model import Model
from latentforest.search.trees.search import Settled
from reference.restricted import draw_latent_tree, draw_rows, measure


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
    settled.forget(sum)
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
