"""Tables that every learner must take: few columns, rows without weight, tiny weights."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

import latentforest as lf
from latentforest.errors import DataWarning, LatentForestWarning
from latentforest.learners.common.latent_tree import LatentTreeLearner, make_start
from latentforest.search.regularity import find_irregular

EAST = {"mu": 2, "nu": 4, "n_winners": 1, "max_steps": 3, "random_state": 0}
LEARNERS = {
    "EAST": lf.EAST(**EAST),
    "EAST-DC": lf.EAST(evaluation="dc", **EAST),
    "HillClimbing": lf.HillClimbing(**EAST),
    "DoubleHillClimbing": lf.DoubleHillClimbing(**EAST),
    "GaussianEAST": lf.GaussianEAST(**EAST),
    "BridgedIslands": lf.BridgedIslands(max_rounds=1, random_state=0),
    "HierarchicalLatentTree": lf.HierarchicalLatentTree(random_state=0),
    "HierarchicalLatentTree-stepwise": lf.HierarchicalLatentTree(stepwise=True, random_state=0),
    "BinaryForest": lf.BinaryForest(n_starts=2, random_state=0),
    "BinaryForest-average": lf.BinaryForest(linkage="average", n_starts=2, random_state=0),
    "ChowLiu": lf.ChowLiu(random_state=0),
    "ChowLiu-BIC": lf.ChowLiu(criterion="bic", random_state=0),
    "RecursiveGrouping": lf.RecursiveGrouping(n_starts=2, random_state=0),
    "ChowLiuRecursiveGrouping": lf.ChowLiuRecursiveGrouping(n_starts=2, random_state=0),
    "IncrementalForest": lf.IncrementalForest(n_starts=2, random_state=0),
    "IncrementalForest-pairs": lf.IncrementalForest(candidate_pairs=2, n_starts=2, random_state=0),
    "Independence": lf.Independence(),
    "IndependentClusterings": lf.IndependentClusterings(n_starts=2, max_states=4, random_state=0),
    "LatentClass": lf.LatentClass((1, 2), n_starts=2, random_state=0),
}
TREES = {key: each for key, each in LEARNERS.items() if isinstance(each, LatentTreeLearner)}
NAMES = ("two", "three", "x", "y", "line")

each_tree = pytest.mark.parametrize("learner", TREES.values(), ids=TREES)


def make_table(missing, weighted, n_rows=80):
    """Two classes; ``y`` does not depend on them, ``line`` only by way of ``x``."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, n_rows)
    two = np.where(rng.random(n_rows) < 0.9, group, 1 - group)
    three = np.where(rng.random(n_rows) < 0.8, 2 * group, rng.integers(0, 3, n_rows))
    x, y, noise = rng.normal(size=(3, n_rows))
    numbers = [x + 6.0 * group, y, x + 6.0 * group + 0.5 * noise]
    gone = rng.random((5, n_rows)) < missing
    columns = [np.where(gap, -1, codes) for gap, codes in zip(gone, (two, three), strict=False)]
    columns += [np.where(gap, np.nan, x) for gap, x in zip(gone[2:], numbers, strict=True)]
    variables = [lf.Variable("two", ("0", "1")), lf.Variable("three", ("0", "1", "2"))]
    weights = rng.integers(0, 4, n_rows) / 2 if weighted else None
    variables += [lf.Variable(name) for name in ("x", "y", "line")]
    return lf.Dataset(variables, columns, weights)


def learn(learner, table):
    return clone(learner).fit(table)


def check(model, table):
    """What a user may rely on, whatever was found."""
    network, n = model.network_, table.n_rows
    assert network.observed == table.names
    penalty = 0.5 * network.dimension * np.log(table.total_weight)
    assert model.bic_ == pytest.approx(model.log_likelihood_ - penalty)
    assert np.isfinite(model.score_samples(table)).all()
    assert isinstance(str(model), str)
    if not hasattr(model, "predict_proba"):
        return
    sizes = [network.structure.shape(name)[-1] for name in network.latents]
    posteriors = model.predict_proba(table)
    posteriors = [posteriors] if len(sizes) == 1 else posteriors
    assert [each.shape for each in posteriors] == [(n, size) for size in sizes]
    assert all(np.allclose(each.sum(axis=1), 1.0) for each in posteriors)
    assert model.predict(table).shape == ((n,) if len(sizes) == 1 else (n, len(sizes)))
    assert model.transform(table).shape == (n, sum(sizes))
    assert len(model.get_feature_names_out()) == sum(sizes)


@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_subset_of_columns_is_learned(name, size):
    for missing, weighted in ((0.0, False), (0.1, True)):
        table = make_table(missing, weighted)
        for names in combinations(NAMES, size):
            some = table.select(names)
            model = learn(LEARNERS[name], some)
            check(model, some)
            if name in TREES and size < 3:
                assert len(model.network_.latents) < 2
                assert model.bic_ >= lf.Independence().fit(some).bic_ - 1e-6
                if {*names} <= {"two", "three"}:
                    assert not model.network_.latents
            elif name in TREES:
                assert not find_irregular(model.network_.structure)


@each_tree
def test_two_groups_of_one_number_are_found(learner):
    rng = np.random.default_rng(0)
    table = {"x": np.concatenate([rng.normal(0, 1, 100), rng.normal(8, 1, 100)])}
    model = learn(learner, table)
    assert len(model.network_.latents) == 1
    assert len(set(model.predict(table)[:100])) == 1
    assert model.bic_ > lf.Independence().fit(table).bic_ + 10
    check(model, lf.Dataset.from_table(table))


@each_tree
def test_columns_that_do_not_depend_on_each_other_stay_alone(learner):
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(size=200), "k": rng.choice(["a", "b"], 200)}
    for names in (["x"], ["k"], ["x", "k"]):
        some = {name: table[name] for name in names}
        model = learn(learner, some)
        assert model.network_.latents == ()
        assert model.bic_ == pytest.approx(lf.Independence().fit(some).bic_, abs=1e-6)
        assert model.predict_proba(some) == []
        assert model.predict(some).shape == model.transform(some).shape == (200, 0)
        assert len(model.history_) == (0 if hasattr(model, "layers_") else 1)


@each_tree
@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
def test_columns_that_never_vary(learner):
    table = {"k": ["a"] * 5, "x": [2.5] * 5}
    model = learn(learner, table)
    assert model.network_.latents == ()
    assert model.network_.observed == ("k",)
    assert list(model.left_out_) == ["x"]
    one_row = learn(learner, lf.Dataset([lf.Variable("k", ("a", "b"))], [[1]]))
    np.testing.assert_allclose(one_row.network_.cpd("k"), [0.0, 1.0])


@each_tree
def test_smoothing_counts_with_few_columns_too(learner):
    table = {"k": ["a"] * 9 + ["b"]}
    smooth = learn(learner.__class__(prior=5.0, random_state=0), table)
    np.testing.assert_allclose(smooth.network_.cpd("k"), [14 / 20, 6 / 20])
    chosen = learn(learner.__class__(smoothing="cv", random_state=0), table)
    assert chosen.network_.latents == ()


@each_tree
def test_settings_are_checked_with_few_columns_too(learner):
    with pytest.raises(lf.errors.ParameterError, match="prior"):
        learner.__class__(prior="nonsense").fit({"k": ["a", "b"]})


def test_limits_of_states_hold():
    rng = np.random.default_rng(0)
    table = {"x": np.concatenate([rng.normal(m, 1, 100) for m in (0, 20, 40, 60)])}
    for settings, n_states in (({}, 4), ({"max_states": 3}, 3)):
        model = lf.EAST(random_state=0, **settings).fit(table)
        assert model.network_.structure.shape("Y1") == (n_states,)
    topics = lf.HierarchicalLatentTree(random_state=0).fit(table)
    assert topics.layers_ == (("Z1.1",),)
    assert topics.network_.structure.shape("Z1.1") == (2,)
    assert topics.topics_["words"] == ["x"]
    assert topics.history_["latents"] == [1]


def test_a_hierarchy_without_topics():
    model = lf.HierarchicalLatentTree().fit({"k": ["a", "b"] * 9})
    assert model.layers_ == ()
    assert len(model.topics_["words"]) == 0
    assert len(model.assign({"k": ["a"]})) == 0


def test_islands_of_few_columns():
    rng = np.random.default_rng(0)
    table = {"x": np.concatenate([rng.normal(0, 1, 50), rng.normal(9, 1, 50)]), "k": ["a"] * 100}
    with pytest.warns(LatentForestWarning, match="tell nothing: 'k'"):
        model = lf.BridgedIslands().fit(table)
    assert model.islands_ == (("x",),)
    assert lf.BridgedIslands().fit({"k": ["a", "b"]}).islands_ == ()


def test_a_start_needs_three_columns_or_a_continuous_one():
    table = make_table(0.0, False)
    assert make_start(table.select(["two", "three"])) is None
    assert make_start(table.select(["x"])) is None
    assert make_start(table.select(["x"]), 1).latents == ("Y1",)
    assert make_start(table.select(["x", "two"])).children("Y1") == ("x", "two")
    assert make_start(table).children("Y1") == NAMES


@pytest.mark.filterwarnings("ignore::latentforest.errors.LatentForestWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_rows_without_weight_are_not_there(name):
    """Their states and values appear nowhere else; the states stay."""
    table = make_table(0.05, True)
    rng = np.random.default_rng(0)
    variables = [lf.Variable("four", ("0", "1", "2", "never")), *table.variables]
    codes = np.where(table.weights > 0, rng.integers(0, 3, table.n_rows), 3)
    numbers = [np.where(table.weights > 0, x, 1e9 + x) for x in table.columns[2:]]
    columns = [codes, *table.columns[:2], *numbers]
    whole = lf.Dataset(variables, columns, table.weights)
    model, other = (learn(LEARNERS[name], t) for t in (whole, whole.take(whole.weights > 0)))
    assert model.network_ == other.network_
    assert model.network_.structure.states("four") == ("0", "1", "2", "never")
    assert np.isfinite(model.bic_)
    assert model.bic_ == other.bic_
    by_hand = clone(LEARNERS[name]).fit(whole.with_weights(None), sample_weight=table.weights)
    assert by_hand.network_ == model.network_


def test_folds_have_a_label_for_rows_without_weight_too():
    table = lf.datasets.load("hiv-tests")
    folds, weights = np.arange(table.n_rows) % 3, np.array(table.weights)
    weights[2] = 0.0
    settings = {"criterion": "cv", "n_starts": 2, "random_state": 0}
    model = lf.LatentClass((1, 2), folds=folds, **settings).fit(table.with_weights(weights))
    rest = weights > 0
    other = lf.LatentClass((1, 2), folds=folds[rest], **settings)
    assert (
        model.fit_table_["cv"] == other.fit(table.with_weights(weights).take(rest)).fit_table_["cv"]
    )


@pytest.mark.filterwarnings("ignore:states that no row has")
@pytest.mark.parametrize("learner", [lf.Independence(), LEARNERS["EAST"], LEARNERS["LatentClass"]])
def test_weights_that_sum_to_one_are_warned_of(learner):
    table = lf.datasets.load("hiv-tests")
    shares = table.weights / table.total_weight
    message = "the weights of 9 rows sum to 1, which counts as the number of observations N"
    with pytest.warns(DataWarning, match=message):
        model = learn(learner, table.with_weights(shares))
    assert model.bic_ == pytest.approx(model.log_likelihood_)
    learn(learner, table.with_weights(2 * shares))  # warnings are errors here
    learn(learner, table.take([0]).with_weights([1.0]))
