"""The trace of a search: the way to the best model is accepted."""

import numpy as np

from latentforest.datasets import load
from latentforest.inference.forest import PatternedData
from latentforest.search.changes import Change
from latentforest.search.trees.model import Model
from latentforest.search.trees.trace import Trace
from reference.restricted import draw_latent_tree


def make_models(*log_likelihoods):
    network, data = draw_latent_tree(0, 1), PatternedData(load("hiv-tests"))
    return [Model(network, value, data) for value in log_likelihoods]


def add(trace, model, origin, step):
    about = {"step": step, "phase": "adjust", "candidates": 1, "seconds": 0.0}
    trace.add(model, origin, about | Change("NR").to_columns())


def accepted(trace):
    return [row["accepted"] for row in trace.rows]


def test_steps_on_the_way_to_the_best_model_are_accepted():
    start, worse, better, best = make_models(-100.0, -110.0, -90.0, -80.0)
    trace = Trace()
    assert trace.n_steps == 0
    add(trace, start, None, 0)
    add(trace, worse, start, 1)
    add(trace, better, start, 1)
    add(trace, best, better, 2)
    assert trace.best is best
    assert trace.n_steps == 3
    assert accepted(trace) == [True, False, True, True]
    assert np.diff([row["bic"] for row in trace.rows if row["accepted"]]).min() > 0


def test_another_model_may_be_accepted():
    start, better = make_models(-100.0, -90.0)
    trace = Trace()
    add(trace, start, None, 0)
    add(trace, better, start, 1)
    trace.accept(start)
    assert trace.best is start
    assert accepted(trace) == [True, False]
