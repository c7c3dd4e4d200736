"""Structural EM: complete tables, missing cells, latent variables, constraints, bad input."""

import numpy as np
import pytest

from latentforest import (
    BayesianNetworkSearch,
    Dataset,
    Network,
    StructuralEM,
    Structure,
    Variable,
)
from latentforest.datasets.generate import with_missing
from latentforest.errors import DataError, DataWarning, ParameterError
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.search.structural.steps import StructureSteps

VARIABLES = [Variable(name, ("0", "1")) for name in "abcdef"]
TRUE = Structure(VARIABLES, {"c": ("a", "b"), "d": "c", "e": "c", "f": ("d", "e")})


CHANCES = {  # of state 1
    "a": 0.4,
    "b": 0.5,
    "c": [[0.05, 0.7], [0.8, 0.2]],
    "d": [0.1, 0.9],
    "e": [0.2, 0.85],
    "f": [[0.05, 0.8], [0.7, 0.3]],
}
NETWORK = Network.from_tables(
    VARIABLES,
    {name: TRUE.parents(name) for name in "abcdef"},
    {name: np.stack([1 - np.array(p), p], axis=-1) for name, p in CHANCES.items()},
)


def draw(n_rows=1500, seed=3, share=0.15):
    """Draw rows of a network, some of whose cells are missing."""
    table = NETWORK.sample(n_rows, random_state=seed)
    return table, with_missing(table, share, seed)


@pytest.fixture(scope="module")
def whole():
    return draw()[0]


@pytest.fixture(scope="module")
def table():
    return draw()[1]


@pytest.fixture(scope="module")
def model(table):
    return StructuralEM(random_state=0).fit(table)


def draw_hidden(n_rows=1500, seed=0):
    """Draw five columns with a common hidden cause of two states."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 2, n_rows)
    columns = [np.where(rng.random(n_rows) < 0.85, cause, 1 - cause) for _ in range(5)]
    return Dataset(VARIABLES[:5], columns)


def check_climb(history):
    """Scores of the networks of a run rise up to where it ends."""
    rows = [row for row in history.rows() if row["accepted"]]
    scores = [row["score"] for row in rows]
    for before, row in zip(scores, rows[1:], strict=False):
        assert row["phase"] == "start" or row["score"] > before
    return scores


# Complete tables


@pytest.mark.parametrize("settings", [{}, {"criterion": "bdeu"}, {"method": "hill-climbing"}])
def test_without_gaps_the_result_is_that_of_the_search(whole, settings):
    found = StructuralEM(random_state=0, prior=1, **settings).fit(whole)
    plain = BayesianNetworkSearch(random_state=0, prior=1, **settings).fit(whole)
    assert found.network_ == plain.network_
    assert (found.score_, found.bic_) == (plain.score_, plain.bic_)
    assert (found.n_fits_, found.left_out_share_) == (0, 0.0)


# Missing cells


def test_the_structure_is_found(whole, model):
    complete = BayesianNetworkSearch(random_state=0).fit(whole)
    assert model.cpdag_ == complete.cpdag_
    assert model.cpdag_ == TRUE.cpdag()


def test_scores_are_those_of_the_engine(table, model):
    engine = make_engine(model.network_.structure, PatternedData(table))
    value, lost = engine.log_likelihood(model.network_.parameters)
    assert lost == 0
    assert model.log_likelihood_ == pytest.approx(value)
    assert model.score_ == pytest.approx(model.bic_)
    penalty = 0.5 * model.n_parameters_ * np.log(table.total_weight)
    assert model.bic_ == pytest.approx(value - penalty)
    assert model.bic_ >= max(model.history_["score"]) - 1e-6
    assert model.left_out_share_ < 1e-4


@pytest.mark.parametrize(
    "settings",
    [{}, {"structure_step": "one"}, {"evaluation": "full", "n_restarts": 0}],
    ids=["search", "one", "full"],
)
def test_scores_rise_step_by_step(table, settings):
    found = StructuralEM(random_state=0, **settings).fit(table)
    assert len(check_climb(found.history_)) > 1
    assert found.cpdag_ == TRUE.cpdag()


def test_full_evaluation_takes_more_runs_of_em(table):
    full, one = (
        StructuralEM(n_restarts=0, random_state=0, **settings).fit(table)
        for settings in ({"evaluation": "full"}, {"structure_step": "one"})
    )
    assert full.n_fits_ > 5 * one.n_fits_
    assert full.history_["em_runs"][-1] <= full.n_fits_


def test_order_of_rows_and_columns_and_threads_do_not_matter(table, model):
    rng = np.random.default_rng(1)
    names = [table.names[j] for j in rng.permutation(6)]
    shuffled = table.take(rng.permutation(table.n_rows)).select(names)
    other = StructuralEM(random_state=0, n_jobs=2).fit(shuffled)
    assert other.cpdag_ == model.cpdag_
    assert other.bic_ == pytest.approx(model.bic_)
    assert other.network_.names == tuple(names)


def test_weights_are_repeated_rows(table):
    few = table.take(np.arange(300))
    twice = StructuralEM(random_state=0).fit(few.take(np.tile(np.arange(300), 2)))
    weighted = StructuralEM(random_state=0).fit(few.with_weights(np.full(300, 2.0)))
    assert weighted.cpdag_ == twice.cpdag_
    assert weighted.bic_ == pytest.approx(twice.bic_)


def test_smoothing_leaves_no_zeros(table):
    found = StructuralEM(prior=1, n_restarts=0, random_state=0).fit(table)
    assert found.network_.parameters.min() > 0


def test_columns_without_any_value_are_left_out(table):
    gone = Dataset(VARIABLES, [np.full(1500, -1), *table.columns[1:]])
    with pytest.warns(DataWarning, match="without any value are left out: 'a'"):
        found = StructuralEM(n_restarts=0, random_state=0).fit(gone)
    assert "a" not in found.network_.names


@pytest.mark.filterwarnings("ignore:states that no row has")
def test_states_that_do_not_occur_are_not_counted(table, model):
    variables = [Variable(v.name, ("none", *v.states)) for v in VARIABLES]
    columns = [np.where(column < 0, -1, column + 1) for column in table.columns]
    found = StructuralEM(random_state=0).fit(Dataset(variables, columns))
    assert (found.n_parameters_, found.cpdag_) == (model.n_parameters_, model.cpdag_)
    assert found.bic_ == pytest.approx(model.bic_)
    assert found.network_.marginal("f")[0] == 0.0
    assert found.network_.variables == tuple(variables)
    assert np.isfinite(found.score_samples(Dataset(variables, columns))).all()


# Constraints


def test_constraints_are_respected(table):
    found = StructuralEM(
        required=[("f", "a")],
        forbidden=[("c", "d"), ("d", "c")],
        tiers=[["f"], ["e", "d"]],
        max_parents=2,
        random_state=0,
    ).fit(table)
    structure = found.network_.structure
    assert "f" in structure.parents("a")
    assert "c" not in structure.neighbours("d")
    assert not {"d", "e"} & set(structure.parents("f"))
    assert max(len(structure.parents(name)) for name in structure.names) <= 2


def test_constraints_hold_for_latent_variables():
    found = StructuralEM({"H": 2}, required=[("H", "a")], forbidden=[("H", "b")], random_state=0)
    structure = found.fit(draw_hidden()).network_.structure
    assert "H" in structure.parents("a")
    assert "H" not in structure.parents("b")


# Latent variables


def test_a_given_latent_variable_explains_the_columns():
    table = draw_hidden()
    found = StructuralEM({"H": 2}, random_state=0).fit(table)
    none = StructuralEM(random_state=0).fit(table)
    assert found.bic_ > none.bic_
    assert found.network_.latents == ("H",)
    assert set(found.network_.structure.neighbours("H")) == set("abcde")
    assert found.predict_proba(table).shape == (1500, 2)
    check_climb(found.history_)


def test_a_hidden_cause_is_found():
    table = draw_hidden()
    found = StructuralEM("auto", random_state=0).fit(table)
    assert found.network_.latents == ("Y1",)
    assert set(found.network_.structure.children("Y1")) | set(
        found.network_.structure.parents("Y1")
    ) == set("abcde")
    assert found.bic_ > StructuralEM(random_state=0).fit(table).bic_


def test_no_hidden_cause_is_made_up(whole):
    few = whole.take(np.arange(400))
    found = StructuralEM("auto", n_restarts=0, max_states=2, random_state=0).fit(few)
    plain = StructuralEM(random_state=0).fit(few)
    assert found.bic_ >= plain.bic_ - 1e-6
    assert found.network_.latents == ()


# Ends


def test_a_time_limit_keeps_the_best(table):
    found = StructuralEM(time_limit=1e-6, random_state=0).fit(table)
    assert found.stopped_ == "the time limit was reached"
    assert len(found.history_) == 1
    assert np.isfinite(found.bic_)


def test_a_limit_of_steps(table):
    found = StructuralEM(max_steps=1, structure_step="one", random_state=0).fit(table)
    assert found.stopped_ == "the limit of 1 steps was reached"
    assert len(found.history_) == 2


def test_ctrl_c_keeps_the_best(table, monkeypatch):
    propose, calls = StructureSteps.propose, []

    def interrupt(self, model):
        calls.append(model)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return propose(self, model)

    monkeypatch.setattr(StructureSteps, "propose", interrupt)
    found = StructuralEM(random_state=0).fit(table)
    assert found.interrupted_
    assert len(found.history_) == 2
    assert found.history_["accepted"] == [True, True]


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"latents": {"a": 2}}, "names of columns, got 'a'"),
        ({"latents": {"H": 1}}, "'H' needs a whole number of states from 2, got 1"),
        ({"latents": 3}, "latents must be None"),
        ({"method": "magic"}, "method must be one of 'order'"),
        ({"criterion": "bde"}, "criterion must be one of 'likelihood'"),
        ({"structure_step": "two"}, "structure_step must be one of 'search', 'one'"),
        ({"evaluation": "rl"}, "evaluation must be one of 'expected', 'full'"),
        ({"n_restarts": -1}, "n_restarts must be a whole number from 0"),
        ({"epsilon": -1}, "epsilon must be a number from 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"required": [("a", "b"), ("b", "a")]}, "cycle"),
        ({"forbidden": [("a", "H")]}, "there is no column 'H'"),
        ({"tiers": [["a"], ["z"]]}, "there is no column 'z'"),
        ({"smoothing": -1}, "smoothing must be finite"),
    ],
)
def test_settings_that_make_no_sense_are_refused(table, settings, message):
    with pytest.raises(ParameterError, match=message):
        StructuralEM(**settings).fit(table)


def test_full_evaluation_is_for_few_variables():
    variables = [Variable(f"x{j}", ("0", "1")) for j in range(13)]
    table = Dataset(variables, [[0, 1, -1]] * 13)
    with pytest.raises(ParameterError, match="up to 12 variables, got 13"):
        StructuralEM(evaluation="full").fit(table)


def test_numbers_are_refused_where_something_is_open():
    table = Dataset([*VARIABLES[:1], Variable("x")], [[0, 1, -1], [0.5, 1.5, 2.5]])
    message = "column 'x' is continuous; StructuralEM takes categorical"
    with pytest.raises(DataError, match=message):
        StructuralEM().fit(table)
    with pytest.raises(DataError, match=message):
        StructuralEM({"H": 2}).fit(table.take([0, 1]))


def test_complete_numbers_are_those_of_the_search():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    table = Dataset([Variable("x"), Variable("y")], [x, x + rng.normal(size=100)])
    found, plain = (
        make(random_state=0).fit(table) for make in (StructuralEM, BayesianNetworkSearch)
    )
    assert found.network_ == plain.network_


def test_one_column():
    found = StructuralEM(random_state=0).fit(Dataset(VARIABLES[:1], [[0, 1, 1, -1]]))
    assert found.network_.marginal("a").tolist() == pytest.approx([1 / 3, 2 / 3], abs=1e-4)
