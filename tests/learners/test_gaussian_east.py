"""GaussianEAST: recovery, mixed tables, missing values, units, threads, limits, refusals."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latentforest import Dataset, GaussianEAST, LatentClass, Network, Variable
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError, VarianceWarning
from latentforest.search.pouches.tree import PouchTree
from reference.pouch_networks import make_pouch_structure
from reference.reported import reported

QUICK = {"mu": 2, "nu": 8, "n_winners": 2, "n_reserves": 2, "n_jobs": 1, "random_state": 0}


def make_truth():
    """Two latent variables; means three deviations apart; correlated columns in two pouches."""
    structure = make_pouch_structure("two latents")
    theta = np.zeros(structure.n_values)
    structure.table_view(theta, "Y1")[...] = [0.5, 0.5]
    structure.table_view(theta, "Y2")[...] = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]
    structure.table_view(theta, "K")[...] = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    structure.table_view(theta, "L")[...] = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    for name, signs in {"a": (1, 1), "b": (1, -1), "c": (1, 1)}.items():
        structure.table_view(theta, name)[:, 0] = [0.0, 3.0 * signs[0]]
    for name in "def":
        structure.table_view(theta, name)[:, 0] = [-4.0, 0.0, 4.0]
    for name in structure.continuous:
        pouch = structure.pouch(name)
        for j, other in enumerate(pouch):
            structure.table_view(theta, name)[:, 1 + j] = 1.0 if other == name else 0.8
    return Network(structure, theta)


TRUTH = make_truth()


@pytest.fixture(scope="module")
def rows():
    return TRUTH.sample(800, random_state=0)


@pytest.fixture(scope="module")
def found(rows):
    return GaussianEAST(**QUICK).fit(rows)


def pouches_of(network):
    return {frozenset(pouch) for pouch in network.structure.pouches}


def groups_of(network):
    """The columns around each latent variable, and its number of states."""
    tree = PouchTree.of(network.structure)
    return {
        frozenset(n for limb in limbs if not tree.is_latent(limb) for n in limb): tree.cards[name]
        for name, limbs in tree.limbs.items()
    }


def test_a_clear_tree_is_recovered(found):
    assert groups_of(found.network_) == groups_of(TRUTH)
    assert pouches_of(found.network_) == pouches_of(TRUTH)


def test_bic_counts_covariances(found, rows):
    size = found.network_.structure.dimension
    assert found.n_parameters_ == size
    assert found.bic_ == pytest.approx(found.log_likelihood_ - 0.5 * size * np.log(rows.n_rows))
    total = rows.weights @ reported(found).score_samples(rows)
    assert total == pytest.approx(found.log_likelihood_, rel=1e-9)


def test_accepted_steps_raise_bic(found):
    accepted = [
        bic
        for bic, is_accepted in zip(found.history_["bic"], found.history_["accepted"], strict=True)
        if is_accepted
    ]
    assert len(accepted) > 3
    assert np.all(np.diff(accepted) > 0)


def test_missing_values_and_weights(rows):
    data = with_missing(rows, 0.1, random_state=0)
    data = data.with_weights(np.random.default_rng(0).choice([1.0, 2.0], data.n_rows))
    model = GaussianEAST(**QUICK).fit(data)
    assert set(groups_of(model.network_)) == set(groups_of(TRUTH))
    assert model.predict(data).shape == (800, len(model.network_.latents))


def test_units_change_nothing_but_the_jacobian(found, rows):
    factors = {"a": 1000.0, "d": 2.0**-20, "e": 0.3048}
    columns = [
        rows.column(v.name) * factors[v.name] if v.name in factors else rows.column(v.name)
        for v in rows.variables
    ]
    scaled = Dataset(rows.variables, columns)
    model = GaussianEAST(**QUICK).fit(scaled)
    assert groups_of(model.network_) == groups_of(found.network_)
    assert pouches_of(model.network_) == pouches_of(found.network_)
    shift = sum(np.log(factor) for factor in factors.values()) * rows.n_rows
    assert model.bic_ == pytest.approx(found.bic_ - shift, abs=1e-3)


def test_threads_do_not_matter(found, rows):
    model = GaussianEAST(**(QUICK | {"n_jobs": 2})).fit(rows)
    assert model.bic_ == found.bic_
    assert model.network_ == found.network_


def test_iris_is_a_mixture_of_two():
    model = GaussianEAST(random_state=0).fit(load_iris().data)
    assert model.network_.structure.pouches == (("x0", "x1", "x2", "x3"),)
    assert 2 * model.bic_ == pytest.approx(-574.0178, abs=0.01)  # mclust's VVV with two classes


def test_a_search_is_at_least_as_good_as_where_it_starts(rows):
    start = LatentClass(3, covariance="diagonal", random_state=0).fit(rows)
    model = GaussianEAST(start=start, max_steps=3, **QUICK).fit(rows)
    assert model.bic_ >= start.bic_ - 1e-6
    assert model.history_["bic"][0] == pytest.approx(start.bic_, abs=1e-2)
    again = GaussianEAST(start=model.network_, max_steps=0, **QUICK).fit(rows)
    assert pouches_of(again.network_) == pouches_of(model.network_)


def test_categorical_columns_alone():
    data = TRUTH.sample(300, random_state=1).select(["K", "L"])
    third = Variable("M", ("no", "yes"))
    codes = (data.column("K") == data.column("L")).astype(int)
    model = GaussianEAST(**QUICK).fit(Dataset([*data.variables, third], [*data.columns, codes]))
    assert model.network_.structure.pouches == ()


def test_one_continuous_column_is_a_mixture():
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(0.0, 1.0, 200), rng.normal(8.0, 1.0, 200)]
    model = GaussianEAST(**QUICK).fit(x[:, None])
    assert model.network_.structure.shape("Y1") == (2,)


def test_limits_end_the_search(rows):
    model = GaussianEAST(max_steps=1, **QUICK).fit(rows)
    assert model.stopped_ == "the limit of 1 steps was reached"
    model = GaussianEAST(time_limit=1e-3, **QUICK).fit(rows)
    assert model.stopped_ == "the time limit was reached"
    assert np.isfinite(model.bic_)


def test_a_search_goes_on_from_its_file(found, rows, tmp_path):
    path = tmp_path / "steps.jsonl"
    GaussianEAST(checkpoint=path, max_steps=3, **QUICK).fit(rows)
    model = GaussianEAST(checkpoint=path, resume=True, **QUICK).fit(rows)
    assert model.bic_ == pytest.approx(found.bic_, rel=1e-12)
    assert pouches_of(model.network_) == pouches_of(found.network_)


def test_max_states_and_fixed(rows):
    model = GaussianEAST(max_states=2, fixed=["a"], **QUICK).fit(rows)
    structure = model.network_.structure
    assert all(len(structure.states(name)) == 2 for name in structure.latents)
    assert structure.pouch("a") == ("a",)


def test_bounded_covariances_are_warned_of():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    x = np.concatenate([x, np.full((40, 2), 0.5) + np.c_[np.zeros(40), rng.normal(0, 0.3, 40)]])
    with pytest.warns(VarianceWarning, match="kept from shrinking"):
        GaussianEAST(**QUICK).fit(x)


def test_smoothing_moves_parameters_only(found, rows):
    model = GaussianEAST(prior=1.0, **QUICK).fit(rows)
    assert model.network_.structure == found.network_.structure
    assert model.log_likelihood_ < found.log_likelihood_


def test_two_categorical_columns_are_too_few_for_a_latent_variable(rows):
    model = GaussianEAST().fit(rows.select(["K", "L"]))
    assert model.network_.structure.roots == ("K", "L")


def test_bad_input_is_refused(rows):
    with pytest.raises(ParameterError, match="start must be a Network or a fitted learner"):
        GaussianEAST(start=LatentClass()).fit(rows)
    chain = Network.from_tables(
        [Variable.hidden("Y", 1), *rows.variables],
        {"a": "Y", "b": "a"},
        {
            "Y": [1.0],
            **{n: [0.0, 1.0] for n in "cdef"},
            "a": [[0.0, 1.0]],
            "b": [0.0, 1.0, 1.0],
            "K": [0.2, 0.3, 0.5],
            "L": [0.2, 0.3, 0.5],
        },
    )
    with pytest.raises(ParameterError, match="'a' has children"):
        GaussianEAST(start=chain).fit(rows)
    with pytest.raises(ParameterError, match="fixed names 'nobody'"):
        GaussianEAST(fixed=["nobody"]).fit(rows)


def test_warnings_of_ordinary_tables_there_are_none(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianEAST(max_steps=2, **QUICK).fit(rows)
