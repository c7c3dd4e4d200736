"""RG and CLRG: recovery, odd tables, time, interruption, settings."""

import numpy as np
import pytest

from latentforest import (
    EAST,
    ChowLiuRecursiveGrouping,
    Dataset,
    Network,
    RecursiveGrouping,
    Variable,
    datasets,
    tree_distance,
)
from latentforest.datasets.generate import generate, random_latent_forest, random_latent_tree
from latentforest.errors import DataWarning, InterruptedWarning, ParameterError
from latentforest.search.regularity import find_irregular
from reference.reported import reported

BOTH = pytest.mark.parametrize("learner", [RecursiveGrouping, ChowLiuRecursiveGrouping])
BINARY = ("0", "1")


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(9, strength=0.8, random_state=1)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 5000, random_state=1)


def make_binary(*columns, weights=None):
    variables = [Variable(f"x{i}", BINARY) for i in range(len(columns))]
    return Dataset(variables, columns, weights)


def flip(rng, column, rate):
    return column ^ (rng.random(len(column)) < rate)


def make_chain(n, strength, latent):
    """Y1 - Y2 - …, each with a leaf, two at the ends; or observed X1 - X2 - … alone."""
    names = [f"{'Y' if latent else 'X'}{i}" for i in range(n)]
    parents = dict(zip(names[1:], names[:-1], strict=True))
    variables = [Variable(name, BINARY, latent=latent) for name in names]
    if latent:
        leaves = {f"X{i}": names[min(max(i, 0), n - 1)] for i in range(-1, n + 1)}
        variables += [Variable(leaf, BINARY) for leaf in leaves]
        parents |= leaves
    table = np.full((2, 2), (1 - strength) / 2) + strength * np.eye(2)
    tables = {v.name: table if v.name in parents else [0.5, 0.5] for v in variables}
    return Network.from_tables(variables, parents, tables)


@BOTH
def test_a_tree_is_recovered(learner, truth, table):
    model = learner(random_state=0).fit(table)
    assert tree_distance(model.network_, truth) == 0
    assert model.rank_ == 2
    assert model.log_likelihood_ == pytest.approx(
        table.weights @ reported(model).score_samples(table)
    )


@BOTH
def test_latent_variables_of_three_states(learner):
    truth = random_latent_tree(9, n_states=(3, 4), n_latent_states=3, strength=0.8, random_state=1)
    model = learner(random_state=0).fit(generate(truth, 10_000, random_state=1))
    assert model.rank_ == 3
    assert tree_distance(model.network_, truth) == 0
    structure = model.network_.structure
    assert [structure.variable(name).n_states for name in structure.latents] == [3] * 4


@BOTH
def test_a_forest_is_recovered(learner):
    truth = random_latent_forest(2, 12, depth=2, width=2, strength=0.85, random_state=0)
    model = learner(random_state=0).fit(generate(truth, 10_000, random_state=0))
    assert tree_distance(model.network_, truth) == 0
    assert len(model.network_.structure.roots) == 2


@BOTH
def test_a_hidden_markov_model_is_recovered(learner):
    truth = make_chain(6, 0.8, True)
    model = learner(random_state=0).fit(truth.sample(10_000, random_state=0))
    assert tree_distance(model.network_, truth) == 0


@BOTH
def test_a_chain_of_observed_variables_is_recovered(learner):
    truth = make_chain(7, 0.7, False)
    data = truth.sample(10_000, random_state=0)
    model = learner(leaves_only=False, random_state=0).fit(data)
    assert model.network_.latents == ()
    assert tree_distance(model.network_, truth) == 0
    leaves = learner(random_state=0).fit(data).network_
    assert all(not leaves.structure.children(name) for name in leaves.observed)


@BOTH
def test_missing_values(learner, truth):
    data = generate(truth, 8000, missing_rate=0.2, random_state=3)
    assert tree_distance(learner(random_state=0).fit(data).network_, truth) == 0


@BOTH
def test_weights_are_repeated_rows(learner, table):
    weights = np.random.default_rng(0).integers(0, 3, table.n_rows)
    repeated = table.take(np.repeat(np.arange(table.n_rows), weights))
    a = learner(random_state=0).fit(table, sample_weight=weights)
    b = learner(random_state=0).fit(repeated)
    assert tree_distance(a.network_, b.network_) == 0
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, rel=1e-5)
    assert a.bic_ == pytest.approx(b.bic_, rel=1e-5)


@BOTH
def test_threads_and_repeats_give_the_same_bits(learner, table):
    models = [learner(random_state=3, n_jobs=n_jobs).fit(table) for n_jobs in (None, None, 2)]
    assert models[0].network_ == models[1].network_ == models[2].network_


def test_history(table):
    model = RecursiveGrouping(random_state=0, threshold=(0.3, 2, 50)).fit(table)
    history = model.history_
    assert history["threshold"] == [0.3, 2.0, 50.0]
    best = int(np.argmax(history["bic"]))
    assert history["accepted"] == [i == best for i in range(3)]
    assert model.threshold_ == history["threshold"][best]
    assert history["n_latents"][2] == 1
    assert model.bic_ >= history["bic"][best] - 1e-6
    assert len(model.network_.latents) == history["n_latents"][best]


def test_equal_trees_are_fitted_once(table):
    assert len(RecursiveGrouping(random_state=0, threshold=(2, 2)).fit(table).history_) == 1


@BOTH
def test_the_result_can_start_a_search(learner):
    coleman = datasets.load("coleman-panel")
    model = learner(random_state=0).fit(coleman)
    found = EAST(start=model.network_, random_state=0).fit(coleman)
    assert found.bic_ >= model.bic_ - 1e-4


def test_a_given_number_of_states():
    data = generate(random_latent_tree(9, n_states=4, random_state=0), 500, random_state=0)
    structure = RecursiveGrouping(n_states=3, random_state=0).fit(data).network_.structure
    assert {structure.variable(name).n_states for name in structure.latents} == {3}


def test_most_states():
    truth = random_latent_tree(9, n_states=4, n_latent_states=4, strength=0.9, random_state=0)
    data = generate(truth, 3000, random_state=0)
    structure = RecursiveGrouping(max_states=2, random_state=0).fit(data).network_.structure
    assert {structure.variable(name).n_states for name in structure.latents} == {2}


@BOTH
@pytest.mark.parametrize("smoothing", [1.0, "laplace"])
def test_smoothing_leaves_no_zeros(learner, table, smoothing):
    model = learner(random_state=0, prior=smoothing).fit(table.take(np.arange(300)))
    assert model.network_.parameters.min() > 0


# Odd tables


@BOTH
def test_one_column(learner):
    model = learner(random_state=0).fit(make_binary([0, 1, 1]))
    assert model.network_.latents == ()
    assert model.predict([["0"], ["1"]]).shape == (2, 0)
    assert model.transform([["0"], ["1"]]).shape == (2, 0)
    assert model.get_feature_names_out().shape == (0,)


@BOTH
@pytest.mark.parametrize("leaves_only", [True, False])
def test_two_columns(learner, leaves_only):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 300)
    data = make_binary(x, flip(rng, x, 0.2))
    model = learner(leaves_only=leaves_only, random_state=0).fit(data)
    assert model.network_.latents == ()
    assert len(model.network_.structure.roots) == 1
    joint = np.bincount(2 * data.column("x0") + data.column("x1"), minlength=4) / 300
    assert model.log_likelihood_ == pytest.approx(300 * joint @ np.log(joint))


@BOTH
def test_three_columns(learner):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 2000)
    data = make_binary(*(flip(rng, x, 0.15) for _ in range(3)))
    network = learner(random_state=0).fit(data).network_
    (latent,) = network.latents
    assert set(network.structure.neighbours(latent)) == set(data.names)


@BOTH
def test_independent_columns_stay_alone(learner):
    data = make_binary(*np.random.default_rng(0).integers(0, 2, (6, 2000)))
    model = learner(random_state=0).fit(data)
    assert len(model.network_.structure.roots) == 6
    assert np.isinf(model.distances_[0, 1])


@pytest.mark.filterwarnings("ignore:states that no row has")
@BOTH
def test_constant_columns_stay_alone(learner, table):
    constant = [Variable("c", ("only",)), Variable("d", BINARY)]
    zeros = np.zeros(table.n_rows, int)
    data = Dataset([*table.variables, *constant], [*table.columns, zeros, zeros])
    with pytest.warns(DataWarning, match="single observed value"):
        network = learner(random_state=0).fit(data).network_
    assert network.structure.neighbours("c") == network.structure.neighbours("d") == ()
    assert len(network.structure.roots) == 3


@BOTH
@pytest.mark.filterwarnings("ignore:columns are copies of others")
@pytest.mark.parametrize("leaves_only", [True, False])
@pytest.mark.parametrize("n_copies", [2, 3, 5])
def test_copies_of_a_column(learner, leaves_only, n_copies):
    x = np.random.default_rng(0).integers(0, 2, 500)
    data = make_binary(*[x] * n_copies)
    model = learner(leaves_only=leaves_only, random_state=0).fit(data)
    assert len(model.network_.structure.roots) == 1
    expected = np.bincount(x) @ np.log(np.bincount(x) / 500)
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-3)


@BOTH
@pytest.mark.filterwarnings("ignore:columns are copies of others")
@pytest.mark.parametrize("leaves_only", [True, False])
def test_copies_among_others(learner, leaves_only, table):
    copies = [Variable("a", table.variables[0].states), Variable("b", table.variables[0].states)]
    columns = [*table.columns, table.columns[0], 1 - table.columns[0]]
    data = Dataset([*table.variables, *copies], columns)
    network = learner(leaves_only=leaves_only, random_state=0).fit(data).network_
    assert len(network.structure.roots) == 1
    assert not find_irregular(network.structure)


@BOTH
def test_pairs_that_are_never_seen_together(learner, table):
    """Every row has the first three columns or the last six, but for one column."""
    first = np.arange(table.n_rows) % 2 == 0
    columns = [
        np.where(first if i < 3 else ~first, column, -1) if i != 4 else column
        for i, column in enumerate(table.columns)
    ]
    data = Dataset(table.variables, columns)
    model = learner(random_state=0).fit(data)
    assert len(model.network_.structure.roots) == 1
    assert np.isinf(model.distance_errors_[0, 8])
    assert np.isfinite(model.log_likelihood_)


@BOTH
def test_a_column_without_values(learner, table):
    columns = [np.full(table.n_rows, -1), *table.columns[1:]]
    with pytest.warns(DataWarning):
        network = learner(random_state=0).fit(Dataset(table.variables, columns)).network_
    assert "X1" not in network.observed


@pytest.mark.filterwarnings("ignore:states that no row has")
@BOTH
def test_one_row(learner):
    model = learner(random_state=0).fit(make_binary([0], [1], [1]))
    assert model.log_likelihood_ == pytest.approx(0.0)


@BOTH
def test_a_column_with_many_states(learner, table):
    rng = np.random.default_rng(0)
    many = Variable("many", tuple(map(str, range(40))))
    codes = np.where(table.columns[0] > 0, rng.integers(0, 20, 5000), rng.integers(20, 40, 5000))
    data = Dataset([*table.variables, many], [*table.columns, codes])
    network = learner(random_state=0).fit(data).network_
    assert network.structure.neighbours("many") != ()


@BOTH
def test_names_of_columns_are_not_taken(learner, table):
    names = ["Y1", "Y2", "Y3", *table.names[3:]]
    variables = [Variable(name, BINARY) for name in names]
    network = learner(random_state=0).fit(Dataset(variables, table.columns)).network_
    assert set(network.observed) == set(names)


# Time, interruption, messages


@BOTH
def test_a_tiny_time_limit_gives_a_model(learner, table):
    model = learner(random_state=0, time_limit=1e-9).fit(table)
    assert len(model.network_.latents) >= 1
    assert len(model.history_) == 1
    assert np.isfinite(model.log_likelihood_)


def interrupt_at(text):
    def say(message):
        if text in message:
            raise KeyboardInterrupt

    return say


def test_an_interrupt_keeps_the_best_so_far(table):
    whole = RecursiveGrouping(random_state=0, threshold=1).fit(table)
    say = interrupt_at("threshold 2")
    try:
        model = RecursiveGrouping(random_state=0, threshold=(1, 2), progress=say).fit(table)
    except KeyboardInterrupt:
        raise AssertionError("the interrupt came through") from None
    assert model.interrupted_
    assert model.history_["threshold"] == [1.0]
    assert model.network_.structure == whole.network_.structure
    assert not whole.interrupted_


def test_an_interrupt_before_the_first_model_gives_a_simple_one(table):
    learner = RecursiveGrouping(random_state=0, progress=interrupt_at("latent variable 2"))
    with pytest.warns(InterruptedWarning, match="before a model was found"):
        model = learner.fit(table)
    assert model.interrupted_
    assert np.isfinite(model.score(table))


def test_messages(table):
    messages = []
    RecursiveGrouping(random_state=0, threshold=2, progress=messages.append).fit(table)
    messages = [message for message in messages if "compiling" not in message]
    assert messages[:3] == [
        "distances: 9 columns",
        "threshold 2: grouping",
        "threshold 2: latent variable 1 of 4",
    ]
    assert messages[-1].startswith("threshold 2: BIC -")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_states": 1}, "n_states must be a whole number from 2, got 1"),
        ({"n_states": 2.5}, "n_states must be"),
        ({"max_states": 1}, "max_states must be a whole number from 2, got 1"),
        ({"n_starts": 0}, "n_starts must be a whole number from 1, got 0"),
        ({"threshold": 0}, "threshold must be a positive number or several, got 0"),
        ({"threshold": ()}, "threshold must be"),
        ({"threshold": "x"}, "threshold must be"),
        ({"threshold": (1, np.nan)}, "threshold must be"),
        ({"reach": -1}, "reach must be a positive number or None, got -1"),
        ({"smoothing": "x"}, "smoothing must be"),
        ({"max_iterations": 0}, "max_iterations must be"),
        ({"tolerance": -1}, "tolerance must not be negative"),
    ],
)
def test_settings_that_make_no_sense(settings, message, table):
    with pytest.raises(ParameterError, match=message):
        RecursiveGrouping(**settings).fit(table)


@pytest.mark.parametrize(
    ("learner", "limit"), [(RecursiveGrouping, 0.1), (ChowLiuRecursiveGrouping, 0.6)]
)
def test_many_columns(learner, limit):
    truth = random_latent_tree(200, depth=3, width=3, strength=0.85, random_state=0)
    model = learner(random_state=0, threshold=2).fit(generate(truth, 2000, random_state=0))
    assert tree_distance(model.network_, truth, normalized=True) < limit


@BOTH
def test_two_continuous_columns_that_stand_apart(learner):
    """They would be joined by an edge of their own."""
    random = np.random.default_rng(0)
    groups = random.normal(size=(300, 2))[:, [0, 0, 0, 1, 1]]
    model = learner(n_starts=2, max_states=3, random_state=0)
    network = model.fit(groups + 0.3 * random.normal(size=(300, 5))).network_
    assert not any(map(network.structure.children, network.observed))
