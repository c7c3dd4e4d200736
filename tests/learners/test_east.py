"""EAST as a whole: what it finds, what it does not depend on, where it stops, how it goes on."""

import json
import time

import numpy as np
import pandas as pd
import pytest

import latentforest as lf
from latentforest import datasets
from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.errors import (
    DataWarning,
    FileFormatError,
    ParameterError,
)
from latentforest.estimation import em
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.search import Search
from reference.searches import assert_valid, cards, clear_tree, learn

HIV = datasets.load("hiv-tests")


SEVEN = clear_tree({"Y1": (3, None), "Y2": (2, "Y1")}, {"Y1": 4, "Y2": 3})


TWELVE = clear_tree(
    {"Y1": (2, None), "Y2": (3, "Y1"), "Y3": (2, "Y1"), "Y4": (3, "Y1")},
    {"Y2": 4, "Y3": 4, "Y4": 4},
)


EIGHTEEN = clear_tree(
    {"Y1": (2, None), "Y2": (3, "Y1"), "Y3": (2, "Y2"), "Y4": (3, "Y1"), "Y5": (2, "Y4")},
    {"Y1": 3, "Y2": 4, "Y3": 4, "Y4": 4, "Y5": 3},
)


@pytest.fixture(scope="module")
def table():
    """A table that is quickly searched."""
    return clear_tree(
        {"Y1": (2, None), "Y2": (2, "Y1")}, {"Y1": 4, "Y2": 3}, n_states=2, strength=0.85
    ).sample(600, random_state=0)


@pytest.fixture(scope="module")
def found(table):
    return learn(table)


def trace(model):
    """The history without the clock."""
    history = model.history_
    return {name: history[name] for name in history.columns if name != "seconds"}


@pytest.mark.parametrize(
    ("network", "settings"),
    [(SEVEN, {}), (TWELVE, {}), (EIGHTEEN, {"mu": 4, "nu": 10, "n_winners": 1})],
    ids=["7", "12", "18"],
)
def test_a_clear_tree_is_found_again(network, settings):
    data = network.sample(20_000, random_state=1)
    model = learn(data, **settings)
    assert lf.tree_distance(network, model.network_) == 0
    assert cards(model.network_) == cards(network)
    assert lf.empirical_kl(network, model.network_, network.sample(5000, random_state=2)) < 0.01
    assert_valid(model, data)


def test_a_latent_class_model_is_found_again():
    network = clear_tree({"Y1": (3, None)}, {"Y1": 6})
    model = learn(network.sample(3000, random_state=0))
    assert cards(model.network_) == [3]


def test_rows_with_missing_values():
    data = with_missing(SEVEN.sample(5000, random_state=1), 0.1, random_state=0)
    model = learn(data)
    assert lf.tree_distance(SEVEN, model.network_) == 0
    assert_valid(model, data)


def test_threads_do_not_matter(table, found):
    model = learn(table, n_jobs=2)
    assert model.network_ == found.network_
    assert trace(model) == trace(found)


def test_the_same_seed_gives_the_same_model(table, found):
    again = learn(table)
    assert again.network_ == found.network_
    assert trace(again) == trace(found)


def test_weights_are_repeated_rows(table):
    merged, _ = table.merged()
    assert merged.n_rows < table.n_rows
    one, other = learn(table), learn(merged)
    assert lf.tree_distance(one.network_, other.network_) == 0
    assert cards(one.network_) == cards(other.network_)
    assert one.bic_ == pytest.approx(other.bic_, rel=1e-9)


def test_the_order_of_rows_does_not_matter(table, found):
    order = np.random.default_rng(0).permutation(table.n_rows)
    shuffled = Dataset(table.variables, [column[order] for column in table.columns])
    model = learn(shuffled)
    assert lf.tree_distance(model.network_, found.network_) == 0
    assert model.bic_ == pytest.approx(found.bic_, abs=1e-4)


def test_rows_without_weight_do_not_matter(table, found):
    rng = np.random.default_rng(0)
    columns = [np.concatenate([each, rng.integers(0, 2, 9)]) for each in table.columns]
    weights = np.concatenate([table.weights, np.zeros(9)])
    model = learn(Dataset(table.variables, columns, weights))
    assert lf.tree_distance(model.network_, found.network_) == 0
    assert model.bic_ == pytest.approx(found.bic_, abs=1e-4)


def test_the_history_tells_the_steps(table, found):
    history = found.history_
    assert history["step"] == list(range(len(history)))
    assert history["phase"][0] == "start"
    assert history["accepted"][0]
    assert max(history["bic"]) <= found.bic_ + 1e-9
    assert_valid(found, table)


@pytest.mark.parametrize(
    "settings",
    [
        {"mu": 1, "nu": 1, "n_winners": 1},
        {"cost_effectiveness": False},
        {"any_mediator": False},
        {"mu": 3, "nu": 7, "n_winners": 2, "max_iterations": 20},
    ],
    ids=str,
)
def test_other_settings_find_regular_models(table, settings):
    assert_valid(learn(table, **settings), table)


def test_settings_may_be_numpy_numbers(table, found):
    model = learn(
        table, mu=np.int64(8), nu=np.int32(20), tolerance=np.float64(1e-6), max_states=np.int64(9)
    )
    assert lf.tree_distance(model.network_, found.network_) == 0


def test_smoothing_is_for_the_last_fit_only(table, found):
    model = learn(table, prior=1.0)
    assert trace(model) == trace(found)
    assert model.network_.parameters.min() > 0


@pytest.mark.parametrize("n_steps", [0, 1, 2, 5])
def test_the_search_ends_after_so_many_steps(table, found, n_steps):
    model = learn(table, max_steps=n_steps)
    assert len(model.history_) == n_steps + 1
    for name, column in trace(model).items():
        if name != "accepted":
            assert column == trace(found)[name][: n_steps + 1]
    assert_valid(model, table)


@pytest.mark.parametrize("time_limit", [1e-9, 0.05])
def test_the_best_so_far_is_returned_when_time_is_up(time_limit):
    data = EIGHTEEN.sample(2000, random_state=0)
    model = learn(data, time_limit=time_limit)
    assert not find_irregular(model.network_.structure)
    assert model.log_likelihood_ == pytest.approx(
        lf.log_score(model.network_.with_predictive(None), data), rel=1e-9
    )
    assert not model.interrupted_


def test_the_number_of_states_is_limited():
    data = SEVEN.sample(2000, random_state=0)
    assert set(cards(learn(data, max_states=2).network_)) == {2}


def test_fixed_variables_are_left_alone(table):
    start = learn(table, max_steps=1).network_
    (fixed, *_) = start.latents
    model = learn(table, start=start, fixed=fixed)
    before, after = start.structure, model.network_.structure
    assert set(after.neighbours(fixed)) == set(before.neighbours(fixed))
    assert after.shape(fixed)[-1] == before.shape(fixed)[-1]


def test_ctrl_c_returns_the_best_so_far(table, monkeypatch):
    original, calls = Search._fit, []

    def interrupt(self, network, root):
        calls.append(network)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, network, root)

    monkeypatch.setattr(Search, "_fit", interrupt)
    try:
        model = learn(table, n_winners=1)
    except KeyboardInterrupt:  # pytest would stop
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    assert len(model.history_) == 3
    assert not find_irregular(model.network_.structure)


def test_ctrl_c_during_full_em_ends_the_search(table, monkeypatch):
    """EM that is run in pieces ends quietly when it is interrupted; the search must end too."""
    run_piece, fit, n_pieces, fits = em.FitTask.run_piece, Search._fit, [], []

    def count_fits(self, network, root):
        fits.append(network)
        return fit(self, network, root)

    def interrupt(self, *arguments):
        n_pieces.extend(fits[:1])
        if len(n_pieces) == 5:
            raise KeyboardInterrupt
        return run_piece(self, *arguments)

    monkeypatch.setattr(em, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr(Search, "_fit", count_fits)
    monkeypatch.setattr(em.FitTask, "run_piece", interrupt)
    try:
        model = learn(table)
    except KeyboardInterrupt:  # pytest would stop
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    assert len(fits) == 1
    assert len(model.history_) == 1


@pytest.fixture(scope="module")
def journal(table, tmp_path_factory):
    """The lines of a finished search."""
    path = tmp_path_factory.mktemp("search") / "steps.jsonl"
    learn(table, checkpoint=path)
    return path.read_text().splitlines(keepends=True)


@pytest.mark.parametrize("n_kept", [1, 2, 3, 5, 8, None])
@pytest.mark.parametrize("tail", ["", '{"step": 3, "pha'])
def test_a_search_that_was_cut_goes_on_to_the_same_end(
    table, found, journal, tmp_path, n_kept, tail
):
    path = tmp_path / "steps.jsonl"
    path.write_text("".join(journal[:n_kept]) + tail)
    model = learn(table, checkpoint=path, resume=True)
    assert model.network_ == found.network_
    assert trace(model) == trace(found)
    assert len(path.read_text().splitlines()) == len(journal)


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_a_search_with_few_steps_can_go_on(table, found, tmp_path, n_steps):
    path = tmp_path / "steps.jsonl"
    learn(table, checkpoint=path, max_steps=n_steps)
    assert len(path.read_text().splitlines()) == n_steps + 2
    model = learn(table, checkpoint=path, resume=True)
    assert model.network_ == found.network_
    assert trace(model) == trace(found)


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_step_that_the_clock_cut_short_is_taken_again(table, found, tmp_path, monkeypatch, cut):
    """EM that ended too early must not be kept as the result of a step."""
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    path, original = tmp_path / "steps.jsonl", Search._fit

    def run_late(self, network, root):
        if len(self.history) == cut:
            self.deadline = time.monotonic()
        return original(self, network, root)

    with monkeypatch.context() as patch:
        patch.setattr(Search, "_fit", run_late)
        limit = 1e-9 if cut == 0 else 1e6
        learn(table, checkpoint=path, time_limit=limit)
    model = learn(table, checkpoint=path, resume=True)
    assert trace(model) == trace(found)
    assert model.network_ == found.network_


def test_threads_and_limits_may_change_between_runs(table, found, journal, tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text("".join(journal[:3]))
    model = learn(table, checkpoint=path, resume=True, n_jobs=2, time_limit=1e6, prior=0.0)
    assert model.network_ == found.network_


@pytest.mark.parametrize(
    ("settings", "key"),
    [({"mu": 4}, "settings"), ({"random_state": 1}, "seed"), ({"fixed": ["X1"]}, "settings")],
)
def test_other_settings_need_another_checkpoint(table, journal, tmp_path, settings, key):
    path = tmp_path / "steps.jsonl"
    path.write_text("".join(journal))
    with pytest.raises(ParameterError, match=f"belongs to another search: its {key} is"):
        learn(table, checkpoint=path, resume=True, **settings)


def test_other_data_need_another_checkpoint(table, journal, tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text("".join(journal))
    other = Dataset(table.variables, table.columns, 2 * table.weights)
    with pytest.raises(ParameterError, match="belongs to another search: its data is"):
        learn(other, checkpoint=path, resume=True)


def damage(entry, key):
    """Take something away from a step, wherever it lies."""
    if isinstance(entry, dict):
        return {name: damage(value, key) for name, value in entry.items() if name != key}
    return [damage(each, key) for each in entry] if isinstance(entry, list) else entry


@pytest.mark.parametrize("key", ["network", "log_likelihood", "operator", "variables"])
def test_a_damaged_step_is_an_error_of_the_file(table, journal, tmp_path, key):
    path = tmp_path / "steps.jsonl"
    path.write_text("".join([*journal[:2], json.dumps(damage(json.loads(journal[2]), key)) + "\n"]))
    with pytest.raises(FileFormatError, match=r"steps\.jsonl"):
        learn(table, checkpoint=path, resume=True)


def test_two_columns_are_too_few_for_a_latent_variable(table):
    model = learn(table.select(["X1", "X2"]))
    assert model.network_.structure.roots == ("X1", "X2")
    assert model.history_["phase"] == ["columns"]
    assert model.stopped_ is None
    assert model.phase_seconds_ == {}
    assert model.seconds_ > 0


def test_a_column_of_one_state_stays_alone(table):
    variables = [*table.variables, Variable("one", ("only",))]
    data = Dataset(variables, [*table.columns, np.zeros(table.n_rows, int)])
    with pytest.warns(DataWarning, match="single observed value"):
        model = learn(data)
    assert model.network_.structure.neighbours("one") == ()
    assert_valid(model, data)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_constant_column_with_two_states(table):
    variables = [*table.variables, Variable("same", ("a", "b"))]
    data = Dataset(variables, [*table.columns, np.zeros(table.n_rows, int)])
    with pytest.warns(DataWarning, match="single observed value"):
        model = learn(data)
    assert_valid(model, data)


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_a_state_that_no_row_has(table):
    variables = [Variable(v.name, (*v.states, "never")) for v in table.variables]
    data = Dataset(variables, table.columns)
    assert_valid(learn(data, max_steps=12), data)


def test_a_column_without_values(table):
    variables = [*table.variables, Variable("empty", ("a", "b"))]
    data = Dataset(variables, [*table.columns, np.full(table.n_rows, -1)])
    with pytest.warns(DataWarning, match="without any value are left out: 'empty'"):
        model = learn(data)
    assert model.network_ == learn(table).network_


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_one_row():
    data = Dataset(HIV.variables, [column[:1] for column in HIV.columns])
    model = learn(data)
    assert model.log_likelihood_ == pytest.approx(0.0, abs=1e-6)


@pytest.mark.filterwarnings("ignore:columns are copies of others")
def test_copies_of_a_column(table):
    """Tables become deterministic: many exact zeros."""
    columns = [table.columns[0]] * 4 + list(table.columns[1:4])
    data = Dataset([Variable(f"X{i}", ("0", "1")) for i in range(7)], columns)
    assert_valid(learn(data), data)


@pytest.mark.parametrize("weight", [1e-2, 1e9])
def test_weights_of_any_size(table, weight):
    data = Dataset(table.variables, table.columns, np.full(table.n_rows, weight))
    assert_valid(learn(data, max_steps=12), data)


def test_columns_named_like_latent_variables(table):
    names = ["Y1", "Y2", "Y3", "Y1_", "Y4", "Y5", "Y6"]
    data = Dataset(
        [Variable(n, v.states) for n, v in zip(names, table.variables, strict=True)], table.columns
    )
    model = learn(data)
    assert set(model.network_.observed) == set(names)
    assert_valid(model, data)


def test_a_pandas_frame(table, found):
    frame = pd.DataFrame(table.to_columns())
    model = learn(frame)
    assert lf.tree_distance(model.network_, found.network_) == 0
    assert model.predict(frame).shape == (table.n_rows, len(model.network_.latents))


def test_several_runs_keep_the_best(table):
    one, two = learn(table), learn(table, n_runs=2)
    assert two.bic_ >= one.bic_ - 1e-6
    starts = [row for row in two.history_.rows() if row["phase"] == "start"]
    assert len(starts) == 2
    assert sum(row["accepted"] for row in starts) == 1
    assert two.history_["step"] == sorted(two.history_["step"])
