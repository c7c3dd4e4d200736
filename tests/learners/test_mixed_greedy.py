"""Greedy learners on continuous and mixed tables."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.model import Network

pytestmark = pytest.mark.filterwarnings("ignore::latentforest.errors.VarianceWarning")


def make_tree(n_leaves=4, is_mixed=True, seed=0):
    """Two latent variables with leaves whose means are three deviations apart."""
    rng = np.random.default_rng(seed)
    variables, parents = [Variable.hidden("Y1", 2), Variable.hidden("Y2", 2)], {"Y2": "Y1"}
    tables = {"Y1": np.array([0.5, 0.5]), "Y2": np.array([[0.8, 0.2], [0.2, 0.8]])}
    for latent in ("Y1", "Y2"):
        for k in range(n_leaves):
            name = f"{latent[-1]}{'abcdef'[k]}"
            parents[name] = latent
            if is_mixed and k % 2:
                variables.append(Variable(name, ("u", "v")))
                tables[name] = np.array([[0.9, 0.1], [0.1, 0.9]])[rng.permutation(2)]
            else:
                variables.append(Variable(name))
                means = 3.0 * rng.permutation(2)
                tables[name] = np.stack([means, rng.uniform(0.7, 1.3, 2)], axis=1)
    return Network.from_tables(variables, parents, tables)


def draw(is_mixed=True, n_rows=1000, seed=1, **settings):
    truth = make_tree(is_mixed=is_mixed, **settings)
    data = with_missing(truth.sample(n_rows, random_state=seed), 0.05, random_state=seed)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], n_rows)
    return truth, data.with_weights(weights)


def scale(data, factor):
    columns = [
        factor * column if not variable.is_categorical else column
        for variable, column in zip(data.variables, data.columns, strict=True)
    ]
    return lf.Dataset(data.variables, columns, data.weights)


LEARNERS = {
    "islands": lf.BridgedIslands(max_rounds=2, random_state=0),
    "hlta": lf.HierarchicalLatentTree(max_top=1, random_state=0),
    "bin": lf.BinaryForest(n_starts=4, max_states=3, random_state=0),
    "bin, average": lf.BinaryForest("average", n_starts=4, max_states=3, random_state=0),
    "grouping": lf.RecursiveGrouping(n_starts=4, threshold=2.0, random_state=0),
    "along a tree": lf.ChowLiuRecursiveGrouping(n_starts=4, threshold=4.0, random_state=0),
}


def learn(name, data):
    return _clone(LEARNERS[name]).fit(data)


def _clone(learner):
    return type(learner)(**learner.get_params())


def groups_of(network):
    """The columns of each latent variable that has some."""
    structure = network.structure
    groups = {
        frozenset(z for z in structure.neighbours(y) if z in structure.observed)
        for y in structure.latents
    }
    return groups - {frozenset()}


@pytest.mark.parametrize("name", ["islands", "hlta", "grouping", "along a tree"])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_true_groups_are_found(name, is_mixed):
    truth, data = draw(is_mixed)
    model = learn(name, data)
    assert groups_of(model.network_) == groups_of(truth)
    assert lf.tree_distance(model.network_, truth) == 0


@pytest.mark.parametrize("name", ["bin", "bin, average"])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_binary_forests_separate_the_groups(name, is_mixed):
    truth, data = draw(is_mixed)
    model = learn(name, data)
    assert len(model.history_["latent"]) == len(model.network_.latents) == data.n_columns - 1
    first, second = groups_of(truth)
    assert {first, second} & find_splits(model.network_.structure)
    single = lf.LatentClass(2, n_starts=8, random_state=0).fit(data)
    assert model.bic_ > single.bic_


def find_splits(structure):
    """Sets of columns below the edges, wherever the tree is rooted."""
    below = {}
    for name in reversed(structure.order):
        own = {name} if name in structure.observed else set()
        below[name] = frozenset(own.union(*(below[z] for z in structure.children(name))))
    return {*below.values()} | {frozenset(structure.observed) - each for each in below.values()}


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_units_change_no_structure(name):
    _, data = draw(n_rows=300, n_leaves=3)
    first, second = learn(name, data), learn(name, scale(data, 1000.0))
    assert second.network_.structure == first.network_.structure
    n_values = sum(
        data.weights @ ~np.isnan(column)
        for variable, column in zip(data.variables, data.columns, strict=True)
        if not variable.is_categorical
    )
    assert second.bic_ == pytest.approx(first.bic_ - n_values * np.log(1000.0), rel=1e-5)


@pytest.mark.parametrize("name", sorted(LEARNERS))
@pytest.mark.filterwarnings("ignore::latentforest.errors.DataWarning")
def test_constant_and_independent_columns(name):
    _, data = draw(n_rows=300, n_leaves=3)
    rng = np.random.default_rng(0)
    variables = [*data.variables, Variable("same"), Variable("noise")]
    columns = [*data.columns, np.full(300, 2.5), rng.normal(size=300)]
    model = learn(name, lf.Dataset(variables, columns, data.weights))
    assert np.isfinite(model.bic_)
    assert set(model.network_.observed) == {*data.names, "noise"}


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_threads_do_not_matter(name):
    _, data = draw(n_rows=200, n_leaves=3)
    one, two = (_clone(LEARNERS[name]).set_params(n_jobs=n).fit(data) for n in (1, 2))
    assert one.network_ == two.network_


@pytest.mark.parametrize("start", ["bin", "bridged-islands"])
def test_searches_begin_where_they_end(start):
    _, data = draw(n_rows=200, n_leaves=3)
    model = lf.EAST(start=start, max_steps=1, mu=2, nu=5, random_state=0).fit(data)
    assert np.isfinite(model.bic_)
