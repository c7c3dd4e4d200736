"""Independent latent class models over a partition of the columns."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import latentforest as lf
from latentforest.data.variable import Variable
from latentforest.datasets import generate, random_latent_forest
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError, VarianceWarning
from latentforest.model import Network

LEARN = {"random_state": 0, "n_starts": 4}
QUICK = {**LEARN, "max_states": 4}


def make_forest(n_leaves=3, seed=0):
    """Two latent variables that know nothing of each other, and a Gaussian alone."""
    rng = np.random.default_rng(seed)
    variables = [Variable.hidden("Y1", 2), Variable.hidden("Y2", 3), Variable("alone")]
    parents, tables = {}, {"Y1": [0.4, 0.6], "Y2": [0.3, 0.3, 0.4], "alone": [5.0, 2.0]}
    for latent, card in (("Y1", 2), ("Y2", 3)):
        for k in range(n_leaves):
            name = f"{latent[-1]}{'abc'[k]}"
            parents[name] = latent
            if k == 1:
                variables.append(Variable(name, ("u", "v", "w")))
                rows = 0.1 + 0.9 * np.eye(3)[rng.permutation(3)[:card]]
                tables[name] = rows / rows.sum(axis=1, keepdims=True)
            else:
                variables.append(Variable(name))
                tables[name] = np.stack([4.0 * rng.permutation(card), np.ones(card)], axis=1)
    return Network.from_tables(variables, parents, tables)


@pytest.fixture(scope="module")
def table():
    data = with_missing(make_forest().sample(600, random_state=1), 0.05, random_state=1)
    return data.with_weights(np.random.default_rng(0).choice([0.5, 1.0, 2.0], 600))


@pytest.fixture(scope="module")
def model(table):
    return lf.IndependentClusterings(**LEARN).fit(table)


def test_the_true_partition_is_found(model):
    assert {frozenset(group) for group in model.groups_} == {
        frozenset({"1a", "1b", "1c"}),
        frozenset({"2a", "2b", "2c"}),
        frozenset({"alone"}),
    }
    structure = model.network_.structure
    assert sorted(structure.shape(z)[-1] for z in structure.latents) == [2, 3]
    for latent, group in zip(structure.latents, model.groups_, strict=False):
        assert set(structure.children(latent)) == set(group)


def test_bic_is_the_sum_over_the_groups(model, table):
    total = sum(
        lf.LatentClass(n_starts=8, random_state=0).fit(table.select(group)).bic_
        for group in model.groups_
    )
    assert model.bic_ == pytest.approx(total, abs=0.05)


def test_every_merger_raises_bic_and_is_the_best(table):
    """Against latent class models of all pairs of groups, fitted one by one."""

    table = table.take(np.arange(250))

    @cache
    def fit(names):
        return lf.LatentClass(n_starts=8, random_state=0).fit(table.select(names)).bic_

    model = lf.IndependentClusterings(**LEARN).fit(table.select(["1a", "1b", "2a", "2b"]))
    groups = [("1a",), ("1b",), ("2a",), ("2b",)]
    for left, right, gain in zip(
        model.history_["left"], model.history_["right"], model.history_["gain"], strict=True
    ):
        gains = {
            frozenset((a, b)): fit(a + b) - fit(a) - fit(b) for a, b in combinations(groups, 2)
        }
        a, b = tuple(left), tuple(right)
        assert gain == pytest.approx(max(gains.values()), abs=0.05)
        assert gains[frozenset((a, b))] == pytest.approx(gain, abs=0.05)
        merged = tuple(name for name in table.names if name in a + b)
        groups = [group for group in groups if group not in (a, b)] + [merged]
    gains = [fit(a + b) - fit(a) - fit(b) for a, b in combinations(groups, 2)]
    assert max(gains, default=0.0) < 0.05


def test_joint_gaussians_bind_columns_without_classes():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    data = {"a": x, "b": x + 0.5 * rng.normal(size=400), "c": rng.normal(size=400)}
    full = lf.IndependentClusterings("full", **LEARN).fit(data)
    assert {frozenset(group) for group in full.groups_} == {frozenset("ab"), frozenset("c")}
    assert full.network_.latents == ()
    best = lf.IndependentClusterings("best", **LEARN).fit(data)
    diagonal = lf.IndependentClusterings("diagonal", **LEARN).fit(data)
    assert best.bic_ >= max(full.bic_, diagonal.bic_) - 0.05


def test_threads_and_units_do_not_matter(table):
    one, two = (lf.IndependentClusterings(n_jobs=n, **LEARN).fit(table) for n in (1, 2))
    assert one.network_ == two.network_
    columns = [
        1000.0 * column if not variable.is_categorical else column
        for variable, column in zip(table.variables, table.columns, strict=True)
    ]
    other = lf.IndependentClusterings(**LEARN).fit(
        lf.Dataset(table.variables, columns, table.weights)
    )
    assert other.groups_ == one.groups_


def test_categorical_tables():
    data = make_forest().sample(800, random_state=3).select(["1b", "2b"])
    codes = [
        np.where(np.random.default_rng(s).random(800) < 0.1, 0, data.column("1b")) for s in (1, 2)
    ]
    variables = [*data.variables, Variable("x", ("u", "v", "w")), Variable("y", ("u", "v", "w"))]
    joined = lf.Dataset(variables, [*data.columns, *codes])
    model = lf.IndependentClusterings(**LEARN).fit(joined)
    assert {frozenset(group) for group in model.groups_} == {
        frozenset({"1b", "x", "y"}),
        frozenset({"2b"}),
    }
    assert model.predict(joined).shape == (800,)


def test_as_many_candidates_as_pairs_are_all_of_them(table):
    data = table.select(["1a", "1b", "2a", "2b", "alone"]).take(np.arange(250))
    every, screened = (
        lf.IndependentClusterings(candidate_pairs=n, **QUICK).fit(data) for n in (None, 10)
    )
    assert screened.network_ == every.network_


@pytest.mark.parametrize("covariance", ["diagonal", "best"])
def test_few_candidates_find_the_partition_of_mixed_columns(model, table, covariance):
    found = lf.IndependentClusterings(covariance, candidate_pairs=2, **QUICK).fit(table)
    assert set(map(frozenset, found.groups_)) == set(map(frozenset, model.groups_))


def test_threads_do_not_matter_with_candidates(table):
    data = table.take(np.arange(250))
    one, two = (
        lf.IndependentClusterings(candidate_pairs=2, n_jobs=n, **QUICK).fit(data) for n in (1, 2)
    )
    assert one.network_ == two.network_


def test_few_candidates_find_the_partition_of_categorical_columns():
    truth = random_latent_forest(2, depth=1, width=4, random_state=0)
    data = with_missing(generate(truth, 1000, random_state=0), 0.05, random_state=0)
    model = lf.IndependentClusterings(candidate_pairs=1, **QUICK).fit(data)
    structure = truth.structure
    assert {frozenset(group) for group in model.groups_} == {
        frozenset(structure.children(latent)) for latent in structure.latents
    }


@pytest.mark.parametrize("n", [None, 2])
def test_a_limit_of_time_leaves_groups_as_they_are(table, n):
    model = lf.IndependentClusterings(candidate_pairs=n, time_limit=1e-6, **LEARN).fit(table)
    assert model.stopped_ == "the time limit was reached"
    assert len(model.groups_) == table.n_columns
    assert np.isfinite(model.bic_)


def test_bad_settings(table):
    with pytest.raises(ParameterError, match="covariance must be one of 'diagonal', 'full'"):
        lf.IndependentClusterings("round").fit(table)
    with pytest.raises(ParameterError, match="max_states must be a whole number from 1"):
        lf.IndependentClusterings(max_states=0).fit(table)
    for bad in (0, 2.5, True):
        with pytest.raises(ParameterError, match="candidate_pairs must be a whole number from 1"):
            lf.IndependentClusterings(candidate_pairs=bad).fit(table)


@pytest.mark.filterwarnings("ignore:columns are linear functions of others")
def test_candidates_may_lose_their_joint_gaussian():
    generator = np.random.default_rng(0)
    z = generator.integers(0, 2, 60)
    a, b, c = (scale * z + generator.normal(0, 0.1, 60) for scale in (1, 2, 0))
    data = lf.Dataset.from_table({"a": a, "b": b, "c": c, "copy": a, "sign": ["xy"[k] for k in z]})
    expected = r"the columns a, copy are nearly linear functions of each other"
    with pytest.warns(VarianceWarning, match=expected) as caught:
        some, every = (
            lf.IndependentClusterings("best", candidate_pairs=n, **QUICK).fit(data)
            for n in (1, None)
        )
    assert (
        sum(each.category is VarianceWarning for each in caught) == 2
    )  # one for each fit, and none of other columns
    assert some.groups_ == (("a", "b", "copy", "sign"), ("c",))
    assert some.groups_ == every.groups_
    assert some.bic_ == pytest.approx(every.bic_, rel=1e-6)
