"""Searches for latent trees on continuous and mixed tables."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError
from latentforest.inference.forest import PatternedData
from latentforest.model import Network, Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.initial import make_regular
from reference.mixed_trees import make_mixed_tree
from reference.reported import reported

QUICK = {"mu": 4, "nu": 10, "n_winners": 2, "n_reserves": 2, "any_mediator": False}
LEARNERS = [lf.EAST, lf.HillClimbing, lf.DoubleHillClimbing]


def make_tree(n_leaves=3, is_mixed=True):
    return make_mixed_tree(("nsns" if is_mixed else "nnnn")[:n_leaves])


def scale(data, factor, shift):
    """The same table in other units."""
    columns = [
        factor * column + shift if not variable.is_categorical else column
        for variable, column in zip(data.variables, data.columns, strict=True)
    ]
    return lf.Dataset(data.variables, columns, data.weights)


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("learner", LEARNERS[:2])
def test_clear_trees_are_recovered(learner, is_mixed):
    truth = make_tree(is_mixed=is_mixed)
    data = truth.sample(5000, random_state=1)
    model = learner(random_state=0, **QUICK).fit(data)
    assert lf.tree_distance(model.network_, truth) == 0
    cards = [model.network_.structure.shape(name)[-1] for name in model.network_.latents]
    assert sorted(cards) == [2, 3]
    assert model.bic_ == pytest.approx(
        model.log_likelihood_ - 0.5 * model.n_parameters_ * np.log(5000)
    )
    assert model.log_likelihood_ == pytest.approx(5000 * reported(model).score(data), rel=1e-9)


@pytest.mark.parametrize("evaluation", ["rl", "dc"])
def test_double_hill_climbing_takes_mixed_tables(evaluation):
    truth = make_tree(n_leaves=2)
    data = truth.sample(400, random_state=1)
    settings = {"random_state": 0, "max_steps": 6, "evaluation": evaluation, **QUICK}
    model = lf.DoubleHillClimbing(**settings).fit(data)
    single = lf.LatentClass(2, random_state=0).fit(data)
    assert model.bic_ >= single.bic_ - 0.1


@pytest.mark.parametrize("as_network", [False, True])
def test_a_start_with_a_joint_covariance(as_network):
    data = make_tree(is_mixed=False).sample(400, random_state=1)
    start = lf.LatentClass(2, covariance="full", random_state=0).fit(data)
    start = start.network_ if as_network else start
    model = lf.EAST(start=start, random_state=0, max_steps=3, **QUICK).fit(data)
    assert not model.network_.structure.pouches
    assert not find_irregular(model.network_.structure)
    assert model.bic_ >= lf.LatentClass(2, random_state=0).fit(data).bic_


def test_other_units_change_no_structure_and_shift_bic_by_the_jacobian():
    data = with_missing(make_tree().sample(400, random_state=2), 0.1, random_state=3)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 400)
    data = data.with_weights(weights)
    first = lf.EAST(random_state=0, **QUICK).fit(data)
    second = lf.EAST(random_state=0, **QUICK).fit(scale(data, 1000.0, 77.0))
    n_values = sum(
        weights @ ~np.isnan(column)
        for variable, column in zip(data.variables, data.columns, strict=True)
        if not variable.is_categorical
    )
    assert second.network_.structure == first.network_.structure
    assert list(second.history_["variables"]) == list(first.history_["variables"])
    assert second.bic_ == pytest.approx(first.bic_ - n_values * np.log(1000.0), rel=1e-6)


def test_threads_do_not_matter():
    data = with_missing(make_tree().sample(300, random_state=2), 0.1, random_state=3)
    one, two = (lf.EAST(random_state=0, n_jobs=n, **QUICK).fit(data) for n in (1, 2))
    assert one.network_ == two.network_


def test_a_search_goes_on_from_its_file(tmp_path):
    data = make_tree().sample(300, random_state=2)
    path, settings = tmp_path / "steps.jsonl", {"random_state": 0, **QUICK}
    whole = lf.EAST(**settings).fit(data)
    lf.EAST(checkpoint=path, max_steps=2, **settings).fit(data)
    again = lf.EAST(checkpoint=path, resume=True, **settings).fit(data)
    assert again.network_ == whole.network_
    other = scale(data, 2.0, 0.0)
    with pytest.raises(ParameterError, match="belongs to another search"):
        lf.EAST(checkpoint=path, resume=True, **settings).fit(other)


def test_two_columns_are_enough_if_one_is_continuous():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=300)
    table = {"x": group * 5 + rng.normal(size=300), "y": rng.normal(size=300) - group * 5}
    model = lf.EAST(random_state=0, **QUICK).fit(table)
    assert [model.network_.structure.shape(z)[-1] for z in model.network_.latents] == [2]
    alone = lf.EAST(random_state=0).fit({"x": table["x"]})
    assert [alone.network_.structure.shape(z)[-1] for z in alone.network_.latents] == [2]


@pytest.mark.filterwarnings("ignore::latentforest.errors.DataWarning")
def test_constant_columns_are_left_out():
    data = make_tree(n_leaves=2).sample(200, random_state=0)
    table = {name: data.decode(name) for name in data.names} | {"same": np.full(200, 2.5)}
    model = lf.EAST(random_state=0, max_steps=2, **QUICK).fit(table)
    assert list(model.left_out_) == ["same"]
    assert model.network_.observed == data.names


@pytest.mark.filterwarnings("ignore::latentforest.errors.VarianceWarning")
def test_any_mixed_forest_becomes_a_start():
    """Continuous columns below others of their kind, alone, and below an observed column."""
    data = with_missing(make_tree(n_leaves=4).sample(300, random_state=5), 0.05, random_state=1)
    continuous = [v.name for v in data.variables if not v.is_categorical]
    categorical = [v.name for v in data.variables if v.is_categorical]
    first, second, third, *_ = continuous
    parents = {second: first, third: categorical[0], categorical[1]: categorical[0]}
    structure = Structure(data.variables, parents)
    tables = {}
    for name in structure.names:
        shape = structure.shape(name)
        if name in structure.continuous:
            tables[name] = np.zeros(shape)
            tables[name][..., -1] = 1.0
        else:
            tables[name] = np.full(shape, 1.0 / shape[-1])
    network = Network.from_tables(structure.variables, parents, tables)
    found = make_regular(network, PatternedData(data))
    assert not find_irregular(found.structure)
    assert set(found.observed) == set(data.names)
    assert not any(map(found.structure.children, found.observed))
    assert len(found.structure.roots) == 1
    model = lf.EAST(start=network, random_state=0, max_steps=1, **QUICK).fit(data)
    assert np.isfinite(model.bic_)


def test_independent_columns_are_no_start():
    data = make_tree(n_leaves=2, is_mixed=False).sample(100, random_state=0)
    network = lf.Independence().fit(data).network_
    assert make_regular(network, PatternedData(data)) is None
