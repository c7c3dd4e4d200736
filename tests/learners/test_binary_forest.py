"""BIN: binary latent forests."""

import numpy as np
import pytest

from latentforest import BinaryForest, Dataset, Network, Variable, datasets
from latentforest.datasets.generate import random_latent_tree, with_missing
from latentforest.errors import ParameterError
from latentforest.estimation.two_way import choose_classes
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.greedy.growing import BottomUpForest
from reference.enumeration import enumerate_rows
from reference.information import count_pair, information_of_table
from reference.reported import reported

LINKAGES = ["greedy", "average", "complete", "single"]


def draw(n_rows=800, seed=0):
    """Two latent variables, each over four columns, that depend on each other."""
    sharp = np.array([[0.9, 0.1], [0.15, 0.85]])
    variables = [Variable.hidden("A", 2), Variable.hidden("B", 2)]
    variables += [Variable(f"{z}{i}", ("0", "1")) for z in "ab" for i in range(4)]
    arcs = {"B": "A"} | {f"{z}{i}": z.upper() for z in "ab" for i in range(4)}
    tables = {"A": [0.5, 0.5], "B": [[0.7, 0.3], [0.3, 0.7]]}
    tables |= {f"{z}{i}": sharp for z in "ab" for i in range(4)}
    return Network.from_tables(variables, arcs, tables).sample(n_rows, random_state=seed)


TABLE = draw()


def columns_below(structure, name):
    below = [columns_below(structure, child) for child in structure.children(name)]
    return frozenset().union(*below) if below else frozenset([name])


def assert_valid(model, table):
    structure = model.network_.structure
    for name in structure.latents:
        assert 2 <= len(structure.neighbours(name)) <= 3
    values = reported(model).score_samples(table)
    assert model.log_likelihood_ == pytest.approx(table.weights @ values)
    assert len(model.history_) == len(structure.latents)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_groups_are_found(linkage):
    model = BinaryForest(linkage, random_state=0).fit(TABLE)
    assert_valid(model, TABLE)
    (root,) = {*model.history_["latent"]} - {*model.history_["left"], *model.history_["right"]}
    (last,) = (row for row in model.history_.rows() if row["latent"] == root)
    structure = model.network_.rooted_at(root).structure
    groups = {columns_below(structure, last["left"]), columns_below(structure, last["right"])}
    assert groups == {frozenset(f"{z}{i}" for i in range(4)) for z in "ab"}


def test_the_first_pair_has_the_highest_mutual_information():
    model = BinaryForest(random_state=0).fit(TABLE)
    values = {
        (a, b): information_of_table(
            count_pair(TABLE.column(a), TABLE.column(b), TABLE.weights, (2, 2))
        )
        for a in TABLE.names
        for b in TABLE.names
        if a < b
    }
    pair = max(values, key=values.get)
    first = next(model.history_.rows())
    assert (first["left"], first["right"]) == pair
    assert first["information"] == pytest.approx(values[pair])
    assert model.history_["information"] == sorted(model.history_["information"], reverse=True)


def test_posteriors_while_it_grows_are_those_of_the_network():
    """Pseudo-frequencies of latent variables against the joint posterior of each, by rows."""
    table = with_missing(TABLE.take(np.arange(60)), 0.2, random_state=1)
    forest = BottomUpForest(table)
    for left, right in (("a0", "a1"), ("a2", "a3"), ("Y1", "Y2"), ("b0", "b1")):
        forest.join(left, right, choose_classes(forest.joint_counts(left, right), 2))
    network = forest.network()
    assert forest.roots == ["b2", "b3", "Y3", "Y4"]
    laid_out = Forest(network.structure, PatternedData(table))
    y3, y4, b2 = laid_out.posteriors(network.parameters, ["Y3", "Y4", "b2"])
    expected = np.einsum("n,na,nb->ab", table.weights, y3, y4)
    np.testing.assert_allclose(forest.joint_counts("Y3", "Y4"), expected)
    seen = table.column("b2") >= 0
    counts = np.einsum("n,na,nb->ab", table.weights[seen], y3[seen], b2[seen])
    values = forest.information("Y3", ["Y4", "b2"])
    assert values[0] == pytest.approx(information_of_table(expected))
    assert values[1] == pytest.approx(information_of_table(counts))


def test_independent_columns_are_not_joined():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 300) for _ in range(4)]
    noise = Dataset([Variable(f"x{i}", ("a", "b", "c")) for i in range(4)], columns)
    model = BinaryForest(random_state=0).fit(noise)
    assert model.network_.latents == ()
    assert len(model.history_) == 0
    assert model.predict(noise).shape == model.transform(noise).shape == (300, 0)
    assert model.predict_proba(noise) == []
    assert model.log_likelihood_ == pytest.approx(
        noise.weights @ reported(model).score_samples(noise)
    )


def test_a_forest_where_two_groups_are_independent():
    other = draw(seed=5)
    renamed = [Variable("c" + v.name, v.states) for v in other.variables]
    both = Dataset([*TABLE.variables, *renamed], [*TABLE.columns, *other.columns])
    model = BinaryForest(random_state=0).fit(both)
    trees = [columns_below(model.network_.structure, r) for r in model.network_.structure.roots]
    assert len(trees) == 2
    assert all(len({name[0] == "c" for name in tree}) == 1 for tree in trees)


def test_numbers_of_states():
    model = BinaryForest(n_states=3, random_state=0).fit(TABLE)
    assert set(model.history_["n_states"]) == {3}
    assert len(model.network_.latents) == len(TABLE.names) - 1
    chosen = BinaryForest(n_states="global", max_states=4, random_state=0).fit(TABLE)
    each = [BinaryForest(n_states=n, random_state=0).fit(TABLE).bic_ for n in (2, 3)]
    assert set(chosen.history_["n_states"]) == {2 + int(np.argmax(each))}
    assert chosen.bic_ == pytest.approx(max(each), abs=0.1)
    wide = random_latent_tree(6, n_states=4, random_state=3).sample(500, random_state=3)
    assert max(BinaryForest(max_states=2, random_state=0).fit(wide).history_["n_states"]) == 2


def test_the_likelihood_is_that_of_enumeration():
    table = with_missing(draw(60, 2), 0.1, random_state=2)
    model = BinaryForest(random_state=0).fit(table, sample_weight=np.linspace(1, 2, 60))
    weighted = table.with_weights(np.linspace(1, 2, 60))
    rows, _ = enumerate_rows(model.network_.structure, model.network_.parameters, weighted)
    assert model.log_likelihood_ == pytest.approx(weighted.weights @ rows.sum(axis=1))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_weights_are_repeats_and_threads_make_no_difference(linkage):
    weights = np.arange(TABLE.n_rows) % 3
    repeated = TABLE.take(np.repeat(np.arange(TABLE.n_rows), weights))
    a = BinaryForest(linkage, random_state=0).fit(TABLE, sample_weight=weights)
    b = BinaryForest(linkage, random_state=0, n_jobs=2).fit(repeated)
    assert a.history_["left"] == b.history_["left"]
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, abs=1e-3)
    again = BinaryForest(linkage, random_state=0, n_jobs=2).fit(TABLE, sample_weight=weights)
    assert again.network_ == a.network_


@pytest.mark.parametrize("smoothing", [1.0])
def test_smoothing(smoothing):
    plain = BinaryForest(random_state=0).fit(TABLE)
    model = BinaryForest(prior=smoothing, random_state=0).fit(TABLE)
    assert model.log_likelihood_ < plain.log_likelihood_
    assert model.network_.parameters.min() > 0


def test_a_time_limit_and_ctrl_c_give_a_model(monkeypatch):
    model = BinaryForest(random_state=0, time_limit=1e-9).fit(TABLE)
    assert len(model.history_) == 0

    def interrupt(message):
        if message.startswith("Y3"):
            raise KeyboardInterrupt

    model = BinaryForest(random_state=0, progress=interrupt).fit(TABLE)
    assert model.interrupted_
    assert_valid(model, TABLE)
    assert len(model.history_) == 3


def test_published_tables():
    for name in ("hiv-tests", "coleman-panel"):
        table = datasets.load(name)
        model = BinaryForest(random_state=0).fit(table)
        assert_valid(model, table)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"linkage": "x"}, "linkage must be one of 'greedy', 'average'.*, got 'x'"),
        ({"n_states": 1}, "n_states must be 'bic', 'global' or a whole number from 2, got 1"),
        ({"n_states": "x"}, "n_states must be 'bic', 'global' or a whole number"),
        ({"max_states": 1}, "max_states must be a whole number from 2, got 1"),
        ({"n_starts": 0}, "n_starts must be a whole number from 1, got 0"),
        ({"tolerance": -1}, "tolerance must not be negative"),
        ({"smoothing": "x"}, "smoothing must be a number"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        BinaryForest(**settings).fit(TABLE)
