"""IncrementalForest: IL and CIL."""

import pickle
from functools import partial

import numpy as np
import pytest

from latentforest import (
    Dataset,
    Dirichlet,
    IncrementalForest,
    Network,
    NormalGamma,
    Predictor,
    Variable,
    datasets,
)
from latentforest.errors import FileFormatError, ParameterError
from latentforest.inference.association import information, mixed_information
from latentforest.learners.common import base
from latentforest.search.incremental import growth

HIV = datasets.load("hiv-tests")


def make_table(n_rows=400, seed=0, missing=0.0):
    """Two hidden variables, each over three columns; two columns along a line; one alone."""
    generator = np.random.default_rng(seed)
    y, z = generator.integers(0, 2, n_rows), generator.integers(0, 2, n_rows)
    columns = {}
    for j in range(3):
        flips = generator.random(n_rows) < 0.15
        columns[f"c{j}"] = (y ^ flips).astype(np.int32)
        columns[f"x{j}"] = 5.0 * z + generator.normal(size=n_rows)
    columns["s"] = generator.normal(size=n_rows)
    columns["t"] = 2.0 * columns["s"] + 0.5 * generator.normal(size=n_rows)
    columns["alone"] = generator.integers(0, 3, n_rows).astype(np.int32)
    variables = []
    for name, column in columns.items():
        gap = generator.random(n_rows) < missing
        if column.dtype == np.int32:
            columns[name] = np.where(gap, -1, column)
            variables.append(Variable(name, ("0", "1", "2") if name == "alone" else ("0", "1")))
        else:
            columns[name] = np.where(gap, np.nan, column)
            variables.append(Variable(name))
    return Dataset(variables, list(columns.values()))


def find_groups(network):
    """The sets of columns that are connected."""
    structure = network.structure
    groups = []
    for root in structure.roots:
        found, waiting = set(), [root]
        while waiting:
            name = waiting.pop()
            waiting += structure.children(name)
            found |= {name} & set(structure.observed)
        groups.append(frozenset(found))
    return set(groups)


GROUPS = {
    frozenset({"c0", "c1", "c2"}),
    frozenset({"x0", "x1", "x2"}),
    frozenset({"s", "t"}),
    frozenset({"alone"}),
}


@pytest.mark.parametrize("candidate_pairs", [None, 10])
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_groups_are_found(candidate_pairs, missing):
    table = make_table(missing=missing)
    model = IncrementalForest(candidate_pairs=candidate_pairs, random_state=0).fit(table)
    assert find_groups(model.network_) == GROUPS
    assert any("x0" in model.network_.structure.children(y) for y in model.network_.latents)
    assert model.history_["p_elbo"] == sorted(model.history_["p_elbo"])
    assert model.p_elbo_ >= model.history_["p_elbo"][-1] - 1e-6
    assert model.elbo_ > model.p_elbo_


def test_the_paper_s_way_joins_roots_only():
    model = IncrementalForest(reroot=False, random_state=0).fit(make_table())
    assert find_groups(model.network_) == GROUPS
    better = IncrementalForest(random_state=0).fit(make_table())
    assert better.p_elbo_ >= model.p_elbo_ - 1.0


def test_all_pairs_by_information_are_all_pairs():
    table = make_table()
    some, whole = (
        IncrementalForest(candidate_pairs=pairs, random_state=0).fit(table) for pairs in (999, None)
    )
    assert some.network_ == whole.network_


def test_threads_do_not_matter():
    table = make_table(missing=0.05)
    one, two = (IncrementalForest(n_jobs=n, random_state=0).fit(table) for n in (1, 2))
    assert one.network_ == two.network_
    assert one.p_elbo_ == two.p_elbo_


def test_the_order_of_rows_does_not_matter():
    table = make_table()
    mixed = table.take(np.random.default_rng(1).permutation(table.n_rows))
    first, second = (IncrementalForest(random_state=0).fit(each) for each in (table, mixed))
    assert first.network_.structure == second.network_.structure
    assert first.p_elbo_ == pytest.approx(second.p_elbo_, abs=1e-6)


def test_weights_are_repeated_rows():
    weights = np.arange(HIV.n_rows) % 3 + 1.0
    heavy = HIV.with_weights(weights)
    repeated = HIV.with_weights(np.ones(HIV.n_rows)).take(
        np.repeat(np.arange(HIV.n_rows), weights.astype(int))
    )
    first, second = (IncrementalForest(random_state=0).fit(each) for each in (heavy, repeated))
    assert first.network_.structure == second.network_.structure
    assert first.p_elbo_ == pytest.approx(second.p_elbo_, abs=1e-8)
    assert first.log_likelihood_ == pytest.approx(second.log_likelihood_, abs=1e-8)


@pytest.mark.parametrize("candidate_pairs", [None, 3])
def test_units_change_log_likelihoods_by_the_jacobian_and_no_structure(candidate_pairs):
    table = make_table()
    columns = [table.column(name) for name in table.names]
    columns = [1000.0 * c + 3.0 if c.dtype.kind == "f" else c for c in columns]
    other = Dataset(table.variables, columns)
    first, second = (
        IncrementalForest(candidate_pairs, prior_strength="evidence", random_state=0).fit(each)
        for each in (table, other)
    )
    shift = 5 * np.log(1000.0)
    assert first.network_.structure == second.network_.structure
    assert first.p_elbo_ - 400 * shift == pytest.approx(second.p_elbo_, abs=1e-3)
    rows = first.score_samples(table) - second.score_samples(other)
    assert np.allclose(rows, shift, atol=1e-4)


def test_bic_is_that_of_the_expected_parameters():
    table = make_table(missing=0.05)
    model = IncrementalForest(random_state=0).fit(table)
    expected = Network(model.network_.structure, model.network_.parameters)
    value = Predictor(expected).score_samples(table).sum()
    assert model.log_likelihood_ == pytest.approx(value)
    assert model.log_likelihood_ != pytest.approx(model.predictive_log_likelihood_, abs=0.1)
    penalty = 0.5 * expected.dimension * np.log(table.n_rows)
    assert model.bic_ == pytest.approx(value - penalty)
    assert f"log-likelihood {value:,.2f}" in str(model)


def test_scores_are_those_of_the_posterior():
    table = make_table(missing=0.05)
    model = IncrementalForest(random_state=0).fit(table)
    rows = model.score_samples(table)
    assert model.predictive_log_likelihood_ == pytest.approx(rows.sum())
    assert model.score(table) == pytest.approx(rows.mean())
    assert set(model.posterior_) == set(model.network_.names)
    for name in model.network_.names:
        assert np.allclose(model.posterior_[name].table, model.network_.cpd(name))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.score_samples(table), rows)


def test_classes_are_predicted():
    table = make_table()
    model = IncrementalForest(random_state=0).fit(table)
    names = model.network_.latents
    states = model.predict(table).reshape(table.n_rows, -1)
    column = next(j for j, y in enumerate(names) if "x0" in model.network_.structure.children(y))
    high = sum(table.column(f"x{j}") for j in range(3)) > 7.5
    agreement = np.mean(states[:, column] == high)
    assert max(agreement, 1 - agreement) > 0.98
    assert model.transform(table).shape[1] == sum(
        len(model.network_.structure.states(name)) for name in names
    )


def test_strengths_by_the_evidence_never_lower_the_bound():
    table = make_table()
    one = IncrementalForest(random_state=0).fit(table)
    best = IncrementalForest(prior_strength="evidence", random_state=0).fit(table)
    assert best.p_elbo_ > one.p_elbo_
    assert set(one.prior_strengths_.values()) == {1.0}
    assert len(set(best.prior_strengths_.values())) > 1


def test_experts_are_listened_to(tmp_path):
    strong = {"A": Dirichlet([900.0, 100.0])}
    model = IncrementalForest(prior=strong, random_state=0).fit(HIV)
    free = IncrementalForest(random_state=0).fit(HIV)
    assert model.p_elbo_ != free.p_elbo_
    assert "A" not in model.prior_strengths_
    path = tmp_path / "priors.toml"
    path.write_text("[A]\ncounts = [900, 100]\n")
    from_file = IncrementalForest(prior=path, random_state=0).fit(HIV)
    assert from_file.network_ == model.network_
    with pytest.raises(ParameterError, match="no such column"):
        IncrementalForest(prior={"Q": NormalGamma(0, 1, 1, 1)}).fit(HIV)
    path.write_text("[Q]\ncounts = [1]")
    with pytest.raises(FileFormatError, match="no such column"):
        IncrementalForest(prior=path).fit(HIV)


@pytest.mark.parametrize("candidate_pairs", [None, 2])
def test_a_tiny_time_limit_gives_a_forest(candidate_pairs):
    table = make_table()
    model = IncrementalForest(candidate_pairs, time_limit=1e-9, random_state=0).fit(table)
    assert model.stopped_ == "the time limit was reached"
    assert len(model.history_["step"]) == 0
    assert np.all(np.isfinite(model.score_samples(table)))
    assert np.isfinite(model.p_elbo_)


@pytest.mark.parametrize("when", ["mutual information", "structure", "step 2", "VBEM"])
def test_interruption_keeps_what_there_is(when):
    table = make_table()

    def interrupt(message):
        if message.startswith(when):
            raise KeyboardInterrupt

    model = IncrementalForest(5, progress=interrupt, random_state=0)
    try:
        model.fit(table)
    except KeyboardInterrupt:
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    n_steps = {"step 2": 2, "VBEM": 7}.get(when, 0)
    assert len(model.history_["step"]) >= min(n_steps, 2)
    assert np.all(np.isfinite(model.score_samples(table)))


class Clock:
    """A clock that goes on by a second with every call of a function."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return self.function(*arguments)

    def monotonic(self):
        return float(len(self.calls))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_time_limit_holds_while_information_is_estimated(monkeypatch, n_jobs):
    table, clock = make_table(), Clock(mixed_information._estimate)
    monkeypatch.setattr(mixed_information, "_estimate", clock)
    monkeypatch.setattr(base, "time", clock)
    model = IncrementalForest(5, n_jobs=n_jobs, random_state=0, time_limit=2.5).fit(table)
    assert 3 <= len(clock.calls) < 3 + n_jobs  # those that had begun
    assert model.stopped_ == "the time limit was reached"
    assert not model.interrupted_
    assert find_groups(model.network_) == {frozenset({name}) for name in table.names}
    assert np.all(np.isfinite(model.score_samples(table)))


def test_the_time_limit_holds_for_categorical_columns(monkeypatch):
    table = make_table().select(["c0", "c1", "c2", "alone"])
    clock = Clock(information._put)
    monkeypatch.setattr(information, "_put", clock)
    by_two = partial(information.mutual_information, batch=2)  # so that there are several batches
    monkeypatch.setattr(mixed_information, "mutual_information", by_two)
    monkeypatch.setattr(base, "time", clock)
    model = IncrementalForest(5, random_state=0, time_limit=1.5).fit(table)
    assert len(clock.calls) == 2  # both halves of the first pair
    assert model.stopped_ == "the time limit was reached"
    assert len(model.network_.structure.roots) == table.n_columns


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interruption_while_information_is_estimated(monkeypatch, n_jobs):
    table, calls = make_table(), []

    def interrupt(*arguments):
        calls.append(arguments)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(mixed_information, "_estimate", interrupt)
    model = IncrementalForest(5, n_jobs=n_jobs, random_state=0)
    try:
        model.fit(table)
    except KeyboardInterrupt:
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    assert find_groups(model.network_) == {frozenset({name}) for name in table.names}
    assert np.all(np.isfinite(model.score_samples(table)))


def test_interruption_while_a_latent_variable_is_compared(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "information_about", interrupt)
    table, model = make_table(), IncrementalForest(5, random_state=0)
    try:
        model.fit(table)
    except KeyboardInterrupt:
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    assert len(model.network_.latents) == 1
    n_trees = len(model.network_.structure.roots)
    assert len(model.history_["step"]) == table.n_columns - n_trees  # each step joins two
    assert model.p_elbo_ == pytest.approx(model.history_["p_elbo"][-1])


def test_most_states():
    table = make_table()
    model = IncrementalForest(max_states=2, random_state=0).fit(table)
    assert all(len(model.network_.structure.states(y)) == 2 for y in model.network_.latents)


@pytest.mark.parametrize("completion", ["expected", "map"])
def test_completions(completion):
    model = IncrementalForest(2, completion=completion, random_state=0).fit(make_table())
    assert model.network_.latents


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidate_pairs": 0}, "candidate_pairs must be a whole number from 1, got 0"),
        ({"max_states": 1}, "max_states must be a whole number from 2, got 1"),
        ({"n_starts": 0.5}, "n_starts must be a whole number from 1, got 0.5"),
        ({"prior_strength": -1}, "strength of a prior must be positive, got -1"),
        ({"prior_strength": "much"}, "strength of a prior must be positive, got 'much'"),
        ({"completion": "none"}, "completion must be 'expected' or 'map'"),
        ({"tolerance": -1}, "tolerance must not be negative"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        IncrementalForest(**settings).fit(HIV)


@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
@pytest.mark.parametrize(
    "columns",
    [
        {"a": ["x", "y", "x"]},
        {"a": [1.5, 2.5, 4.0]},
        {"a": ["x"], "b": ["y"]},
        {"a": [1.5, 1.5, 1.5], "b": [2.5, 3.5, 1.0]},
        {"a": [None, None, 1.5], "b": [0.5, 1.5, None], "c": ["u", None, "v"]},
    ],
)
def test_tiny_tables(columns):
    model = IncrementalForest(random_state=0).fit(Dataset.from_table(columns))
    assert np.all(np.isfinite(model.score_samples(Dataset.from_table(columns))))
    assert np.isfinite(model.p_elbo_)


@pytest.mark.filterwarnings("ignore:columns are linear functions of others")
def test_a_column_that_is_a_copy_of_another():
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    table = Dataset([Variable(n) for n in "xyz"], [x, 2.0 * x, generator.normal(size=200)])
    model = IncrementalForest(random_state=0).fit(table)
    assert np.isfinite(model.p_elbo_)
    assert isinstance(model.network_, Network)
    assert frozenset("xy") in find_groups(model.network_)
