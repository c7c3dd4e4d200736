"""Bridged islands."""

import numpy as np
import pytest

from latentforest import EAST, BridgedIslands, Dataset, Variable
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.errors import ParameterError
from latentforest.search.greedy import refinement
from latentforest.search.regularity import find_irregular
from reference.reported import reported


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(16, depth=2, width=4, strength=0.85, random_state=5)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 1500, random_state=5)


def learn(table, **settings):
    return BridgedIslands(**{"random_state": 0, **settings}).fit(table)


def groups(network):
    """Sets of columns with the same parent."""
    found = {}
    for name in network.observed:
        found.setdefault(network.structure.parents(name), set()).add(name)
    return set(map(frozenset, found.values()))


@pytest.mark.parametrize("progressive", [True, False])
def test_the_true_groups_are_found(truth, table, progressive):
    model = learn(table, progressive=progressive)
    assert groups(model.network_) == groups(truth)
    assert {frozenset(island) for island in model.islands_} == groups(truth)
    assert not find_irregular(model.network_.structure)


def test_missing_values(truth, table):
    model = learn(with_missing(table, 0.1, random_state=0))
    assert groups(model.network_) == groups(truth)


def test_log_likelihood_is_that_of_the_network(table):
    model = learn(table)
    assert model.log_likelihood_ == pytest.approx(reported(model).score_samples(table).sum())
    assert model.history_["bic"][-1] == pytest.approx(model.bic_, abs=1.0)


def test_weights_are_repeated_rows(table):
    few = table.take(np.arange(400))
    weights = np.random.default_rng(0).integers(0, 4, 400)
    weighted = learn(few.with_weights(weights), n_jobs=1)
    repeated = learn(few.take(np.repeat(np.arange(400), weights)))
    assert weighted.islands_ == repeated.islands_
    assert weighted.bic_ == pytest.approx(repeated.bic_, abs=0.01)


def test_the_same_for_any_number_of_threads(table):
    assert learn(table, n_jobs=1).network_ == learn(table, n_jobs=2).network_


def test_refinement_does_not_lower_bic(table):
    assert learn(table, max_rounds=4).bic_ >= learn(table, max_rounds=0).bic_ - 0.01


def test_max_states():
    truth = random_latent_tree(
        12, depth=2, n_states=3, n_latent_states=3, strength=0.9, random_state=1
    )
    table = generate(truth, 1500, random_state=1)
    most = [model.network_.structure for model in (learn(table), learn(table, max_states=2))]
    cards = [max(len(s.states(name)) for name in s.latents) for s in most]
    assert cards[0] > 2
    assert cards[1] == 2


def test_smoothing_keeps_probabilities_positive(table):
    assert learn(table, prior=1).network_.parameters.min() > 1e-4
    assert learn(table, smoothing="cv").predictive_network_.parameters.min() > 0


def test_one_island_is_a_latent_class_model():
    table = generate(random_latent_tree(3, depth=1, random_state=1), 300, random_state=1)
    model = learn(table)
    assert len(model.network_.latents) == 1


def test_a_column_of_one_state_stays_alone(table):
    constant = Variable("constant", ("only",))
    columns = [np.zeros(table.n_rows, np.int8), *table.columns]
    with pytest.warns(match="constant"):
        model = learn(Dataset([constant, *table.variables], columns))
    assert model.network_.structure.neighbours("constant") == ()
    assert model.predict(Dataset([constant, *table.variables], columns)).shape[0] == table.n_rows


def test_columns_named_like_latent_variables(table):
    renamed = [Variable(f"Y{i}", v.states) for i, v in enumerate(table.variables)]
    model = learn(Dataset(renamed, table.columns))
    assert set(model.network_.latents).isdisjoint(v.name for v in renamed)


def test_a_start_for_east(table):
    start = learn(table, max_rounds=0)
    model = EAST(start=start.network_, random_state=0, max_steps=1).fit(table)
    assert model.bic_ >= start.bic_ - 0.01
    assert model.history_["n_latents"][0] == 4


def test_a_tiny_time_limit_gives_a_model(table):
    model = learn(table, time_limit=1e-9)
    assert model.stopped_ == "the time limit was reached"
    assert np.isfinite(model.log_likelihood_)
    assert model.log_likelihood_ == pytest.approx(reported(model).score_samples(table).sum())


def test_ctrl_c_keeps_the_model_before_it(table, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    plain = learn(table, max_rounds=0)
    monkeypatch.setattr(refinement, "evaluate_restricted", interrupt)
    model = learn(table)
    assert model.interrupted_
    assert not plain.interrupted_
    assert model.bic_ == pytest.approx(plain.bic_, abs=1.0)


def test_progress(table):
    lines = []
    learn(table, progress=lines.append)
    assert any(line.startswith("islands: 16 of 16 columns, 4") for line in lines)
    assert any(line.startswith("bridges: EM on 20 variables") for line in lines)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_island": 2}, "max_island must be a whole number from 3, got 2"),
        ({"max_rounds": -1}, "max_rounds must be a whole number from 0"),
        ({"mu": 0}, "mu must be a whole number from 1"),
        ({"max_states": 1}, "max_states must be a whole number from 2"),
        ({"threshold": "x"}, "threshold must be a number, got 'x'"),
        ({"smoothing": -1}, "smoothing must be finite"),
        ({"tolerance": -1}, "tolerance must not be negative"),
    ],
)
def test_bad_settings(table, settings, message):
    with pytest.raises(ParameterError, match=message):
        learn(table, **settings)


def test_too_few_columns_for_a_latent_variable(table):
    model = learn(table.select(table.names[:2]))
    assert model.network_.latents == model.islands_ == ()
    assert model.monitor_.converged
