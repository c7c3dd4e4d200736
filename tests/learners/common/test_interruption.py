"""Ctrl-C at any point of any learner leaves a model, and says so."""

from __future__ import annotations

import inspect
import math
import sys
import warnings

import pytest

import latentforest as lf
from latentforest.errors import InterruptedWarning
from latentforest.learners.common import base, interruption
from latentforest.learners.registry import LEARNERS

DATA = lf.datasets.load("hiv-tests")
SHARES = (0.02, 0.2, 0.45, 0.7, 0.9, 0.99)  # of the calls of a fit


class CallCounter:
    """Counts the calls of the library's functions in a fit; one of them is hit by Ctrl-C."""

    def __init__(self, fatal: int = -1) -> None:
        self.n_calls, self.has_struck, self._fatal = 0, False, fatal

    def __call__(self, frame, event, argument):
        is_ours = frame.f_globals.get("__name__", "").startswith("latentforest.")
        if event == "call" and is_ours and frame.f_code.co_name != "<genexpr>":
            self.n_calls += 1
            if self.n_calls == self._fatal:
                self.has_struck = True
                raise KeyboardInterrupt


def watch(monkeypatch, counter):
    """Let a counter see what happens within ``_learn``, and nothing else."""
    learn = interruption.learn_in_any_case

    def learn_watched(learner, simplest, work):
        def watched(work):
            sys.setprofile(counter)
            try:
                return learner(work)
            finally:
                sys.setprofile(None)

        return learn(watched, simplest, work)

    monkeypatch.setattr(base, "learn_in_any_case", learn_watched)


def make(entry):
    learner = entry.load()
    has_seed = "random_state" in inspect.signature(learner).parameters
    return learner(**entry.quick, **({"random_state": 0} if has_seed else {}))


def fit_quietly(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return learner.fit(DATA)
        except KeyboardInterrupt:  # pytest would stop
            pytest.fail("it was lost")


@pytest.mark.parametrize("entry", LEARNERS, ids=lambda entry: entry.command)
def test_a_model_is_left_whenever_it_is_interrupted(entry, monkeypatch):
    fit_quietly(make(entry))  # what is computed once is computed now
    counter = CallCounter()
    with monkeypatch.context() as patch:
        watch(patch, counter)
        whole = fit_quietly(make(entry))
    assert whole.interrupted_ is False
    attributes = {name for name in vars(whole) if name.endswith("_")}
    for share in SHARES:
        one = CallCounter(max(1, int(share * counter.n_calls)))
        with monkeypatch.context() as patch:
            watch(patch, one)
            model = fit_quietly(make(entry))
        assert one.has_struck
        assert model.interrupted_ is True, share
        assert math.isfinite(model.score(DATA)), share
        assert attributes <= set(vars(model)), share


@pytest.mark.parametrize("entry", LEARNERS, ids=lambda entry: entry.command)
@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_message_of_progress_that_interrupts(entry, number):
    messages: list[str] = []

    def interrupt(message):
        messages.append(message)
        if len(messages) == number:
            raise KeyboardInterrupt

    model = fit_quietly(make(entry).set_params(progress=interrupt))
    assert model.interrupted_ is (len(messages) >= number)
    assert math.isfinite(model.score(DATA))


def test_what_takes_the_place_of_a_model_is_said():
    def interrupt(message):
        interrupts.append(message)
        if len(interrupts) == 1:
            raise KeyboardInterrupt

    interrupts: list[str] = []
    with pytest.warns(InterruptedWarning, match="interrupted before a model was found"):
        model = lf.EAST(random_state=0, progress=interrupt).fit(DATA)
    assert model.network_.latents == ()


def test_an_interruption_while_new_rows_are_prepared_for(monkeypatch):
    estimate, hurried = base.estimate_predictive, []

    def interrupt_once(network, data, smoothing, ties, is_late):
        hurried.append(is_late)
        if len(hurried) == 1:
            raise KeyboardInterrupt
        return estimate(network, data, smoothing, ties, is_late)

    monkeypatch.setattr(base, "estimate_predictive", interrupt_once)
    model = lf.LatentClass(2, random_state=0).fit(DATA)
    assert hurried == [False, True]
    assert model.interrupted_
    assert model.predictive_network_ != model.network_


def test_a_second_interruption_ends_it():
    def interrupt(message):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lf.LatentClass(3, progress=interrupt).fit(DATA)


def test_a_start_that_is_interrupted_is_kept(monkeypatch):
    """The search over it does not go on."""
    fit = lf.BinaryForest.fit

    def fit_interrupted(self, X, y=None, sample_weight=None):
        model = fit(self, X, y, sample_weight)
        model.interrupted_ = True
        return model

    monkeypatch.setattr(lf.BinaryForest, "fit", fit_interrupted)
    data = lf.datasets.load("coleman-panel")
    model = lf.EAST(start="bin", random_state=0).fit(data)
    assert model.interrupted_
    assert len(model.history_) == 1
    assert model.network_.latents
