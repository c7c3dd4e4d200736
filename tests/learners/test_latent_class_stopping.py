"""Time limits, interruption, messages, threads and seeds."""

import math

import numpy as np
import pytest

from latentforest import LatentClass, datasets
from latentforest.datasets.generate import random_latent_class
from latentforest.errors import InterruptedWarning
from reference.reported import reported

ROLE = datasets.load("role-conflict")


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile first: that has a message of its own."""
    learn()


@pytest.fixture(scope="module")
def large():
    return random_latent_class(10, 3, n_states=3, random_state=1).sample(3000, random_state=1)


def learn(data=ROLE, n_states=2, **settings):
    return LatentClass(n_states, **{"random_state": 0, **settings}).fit(data)


def learn_interrupted(*arguments, **settings):
    try:
        return learn(*arguments, **settings)
    except KeyboardInterrupt:  # pytest would stop
        raise AssertionError("the interrupt came through") from None


def assert_valid(model, data):
    posterior = model.predict_proba(data)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    assert math.isfinite(model.log_likelihood_)
    assert model.log_likelihood_ == pytest.approx(
        data.weights @ reported(model).score_samples(data)
    )


# Time and iterations


@pytest.mark.parametrize("n_states", [2, (2, 9), "greedy"])
def test_a_tiny_time_limit_gives_a_model(large, n_states):
    model = learn(large, n_states, time_limit=1e-9)
    assert_valid(model, large)
    assert len(model.fit_table_) == 1


def test_time_that_is_up_is_told(large, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    model = learn(large, 3, time_limit=1e-9)
    assert model.monitor_.reason == "the time limit was reached"
    assert not model.monitor_.converged
    assert model.fit_table_["converged"] == [False]
    assert_valid(model, large)


def test_a_long_time_limit_changes_nothing():
    assert learn(time_limit=1e6).network_ == learn().network_


def test_few_iterations_are_told():
    model = learn(max_iterations=1, n_starts=1)
    assert not model.monitor_.converged
    assert "limit of 1 iterations" in model.monitor_.reason
    assert_valid(model, ROLE)


def test_one_start_and_no_tolerance():
    assert_valid(learn(n_starts=1, tolerance=0, max_iterations=30), ROLE)


@pytest.mark.parametrize("accelerate", [True, False])
def test_the_objective_never_falls(accelerate):
    steps = np.diff(learn(n_states=3, accelerate=accelerate).monitor_.trajectory)
    assert steps.min() > -1e-9


# Messages


def test_messages_name_the_number_of_classes():
    messages = []
    learn(n_states=(1, 2), progress=messages.append)
    assert messages == [
        "1 class: 128 starts",
        "1 class: BIC -554.40",
        "2 classes: 129 starts",
        "2 classes: BIC -528.66",
    ]


def test_iterations_of_a_long_run_are_told(large, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    messages = []
    learn(large, 3, n_starts=2, progress=messages.append)
    assert sum("3 classes: iteration" in message for message in messages) > 2


def test_nothing_is_written_unless_asked_for(capfd):
    learn()
    assert capfd.readouterr() == ("", "")


def test_plain_lines_where_there_is_no_terminal(capfd):
    learn(progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == ["2 classes: 128 starts", "2 classes: BIC -528.66"]


# Ctrl-C


def interrupt_at_iteration(n):
    def say(message):
        if message.endswith(f"iteration {n}"):
            raise KeyboardInterrupt

    return say


def interrupt_call(monkeypatch, wanted):
    """Make the compiled EM raise KeyboardInterrupt when ``wanted(call number)``."""
    from latentforest.inference import forest

    compiled, n_calls = forest.climb_forest, [0]

    def call(*arguments):
        n_calls[0] += 1
        if wanted(n_calls[0]):
            raise KeyboardInterrupt
        return compiled(*arguments)

    monkeypatch.setattr(forest, "climb_forest", call)


def test_an_interrupted_run_keeps_its_parameters(large, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    interrupt_call(monkeypatch, lambda n: n == 5)
    model = learn_interrupted(large, (3, 5), n_starts=1)
    assert model.monitor_.was_interrupted
    assert model.monitor_.reason == "it was interrupted"
    assert not model.monitor_.converged
    assert model.fit_table_["n_states"] == [3]
    assert_valid(model, large)


def test_an_interrupt_before_the_first_model_gives_a_simple_one(monkeypatch):
    interrupt_call(monkeypatch, lambda n: n == 1)
    with pytest.warns(InterruptedWarning, match="before a model was found"):
        model = learn_interrupted()
    assert model.interrupted_
    assert_valid(model, ROLE)


def test_a_second_interrupt_is_raised(monkeypatch):
    interrupt_call(monkeypatch, lambda n: True)
    with pytest.raises(KeyboardInterrupt):
        learn()


def test_an_interrupt_keeps_the_models_fitted_so_far(monkeypatch):
    interrupt_call(monkeypatch, lambda n: n == 3)
    model = learn_interrupted(n_states=(1, 5))
    assert model.interrupted_
    assert model.fit_table_["n_states"] == [1, 2]
    assert model.n_states_ == 2


def test_an_interrupt_while_reporting_keeps_the_models_fitted_so_far():
    def say(message):
        if message.startswith("3 classes"):
            raise KeyboardInterrupt

    assert learn_interrupted(n_states=(1, 5), progress=say).n_states_ == 2


def test_an_interrupt_while_iterations_are_reported_keeps_the_climb(large, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    model = learn_interrupted(large, 3, n_starts=1, progress=interrupt_at_iteration(5))
    assert model.monitor_.was_interrupted


@pytest.mark.parametrize("n_th", [2, 3, 10, 33])
def test_an_interrupt_among_the_starts_gives_a_model(large, monkeypatch, n_th):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    interrupt_call(monkeypatch, lambda n: n == n_th)
    model = learn_interrupted(large, 3)
    assert model.interrupted_
    assert not model.monitor_.converged
    assert_valid(model, large)


def test_nothing_was_interrupted():
    assert not learn().interrupted_


# The same result every time


def test_the_same_seed_gives_the_same_bits(large):
    a, b = learn(large, (2, 4), random_state=5), learn(large, (2, 4), random_state=5)
    assert a.network_ == b.network_
    assert str(a.fit_table_.to_dict()) == str(b.fit_table_.to_dict())


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_change_a_bit(large, n_jobs):
    a, b = learn(large, (2, 3), n_jobs=1), learn(large, (2, 3), n_jobs=n_jobs)
    assert a.network_ == b.network_
    assert np.array_equal(a.predict_proba(large), b.predict_proba(large))


def test_threads_do_not_change_a_bit_with_many_blocks(large, monkeypatch):
    monkeypatch.setattr("latentforest.inference.forest.CHUNK_ROWS", 500)
    a, b = (learn(large, 3, n_jobs=n, max_iterations=40, n_starts=4) for n in (1, 2))
    assert a.network_ == b.network_


def test_threads_do_not_change_a_bit_of_runs_in_pieces(large, monkeypatch):
    whole = learn(large, 3, n_jobs=1)
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-5)
    assert learn(large, 3, n_jobs=2).network_ == learn(large, 3, n_jobs=1).network_
    assert learn(large, 3).log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-6)


def test_blocks_of_rows_do_not_change_the_model(large, monkeypatch):
    whole = learn(large, 3)
    monkeypatch.setattr("latentforest.inference.forest.CHUNK_ROWS", 700)
    parts = learn(large, 3)
    assert parts.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-7)
    np.testing.assert_allclose(parts.predict_proba(large), whole.predict_proba(large), atol=1e-2)


def test_a_random_state_object_moves_on():
    state = np.random.RandomState(0)
    a = learn(random_state=state, n_starts=1, max_iterations=1)
    b = learn(random_state=state, n_starts=1, max_iterations=1)
    assert a.network_ != b.network_


def test_other_seeds_start_elsewhere():
    a, b = (learn(random_state=s, n_starts=1, max_iterations=1) for s in (1, 2))
    assert a.network_ != b.network_
