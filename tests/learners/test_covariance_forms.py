"""Covariance forms of latent profiles: peers, mixed tables, numbers of parameters."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.forest import Forest, PatternedData
from latentforest.learners.latent_class import COVARIANCES, LatentClass, make_structure
from latentforest.model.files.document import load
from latentforest.model.parameters import join_covariances
from reference.reported import reported

IRIS = load_iris().data
PEERS = {"diagonal": "diag", "full": "full", "spherical": "spherical", "shared": "tied"}


def covariances_of(model):
    structure = model.network_.structure
    if structure.pouches:
        return join_covariances(structure, structure.pouches[0], model.network_.parameters)
    variances = [model.network_.cpd(name)[:, 1] for name in structure.continuous]
    return np.stack([np.diag(row) for row in np.transpose(variances)])


@pytest.mark.parametrize("covariance", sorted(PEERS))
@pytest.mark.parametrize("n_states", [2, 3])
def test_the_same_maximum_as_scikit_learn(covariance, n_states):
    model = LatentClass(n_states, covariance=covariance, random_state=0).fit(IRIS)
    means = [model.network_.cpd(name)[:, 0] for name in model.network_.structure.continuous]
    matrices = covariances_of(model)
    precisions = {
        "diagonal": np.array([1 / np.diag(each) for each in matrices]),
        "full": np.linalg.inv(matrices),
        "spherical": np.array([1 / each[0, 0] for each in matrices]),
        "shared": np.linalg.inv(matrices[0]),
    }
    peer = GaussianMixture(
        n_states,
        covariance_type=PEERS[covariance],
        weights_init=model.class_sizes_,
        means_init=np.transpose(means),
        precisions_init=precisions[covariance],
        reg_covar=0.0,
        tol=1e-10,
        max_iter=500,
    ).fit(IRIS)
    assert model.log_likelihood_ == pytest.approx(150 * peer.score(IRIS), abs=1e-4)
    assert -2 * model.bic_ == pytest.approx(peer.bic(IRIS), abs=1e-3)


# BIC of mclust is twice ours. Values that its documentation and papers print for iris.
@pytest.mark.parametrize(
    ("covariance", "n_states", "published"),
    [
        ("full", 2, -574.0178),
        ("full", 1, -829.9782),
        ("shared", 2, -688.0972),
        ("shared-spherical", 1, -1804.0854),
        ("diagonal", 1, -1522.1202),
    ],
)
def test_bic_of_iris_is_that_of_mclust(covariance, n_states, published):
    model = LatentClass(n_states, covariance=covariance, random_state=0).fit(IRIS)
    assert 2 * model.bic_ == pytest.approx(published, abs=1e-3)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_mixed_tables_with_gaps_and_weights(covariance):
    rng = np.random.default_rng(0)
    species = np.repeat([0, 1, 2], 50)
    noisy = np.where(rng.random(150) < 0.1, rng.integers(0, 3, 150), species)
    variables = [Variable("kind", ("a", "b", "c")), *(Variable(f"x{j}") for j in range(4))]
    data = Dataset(variables, [noisy, *IRIS.T])
    data = with_missing(data, 0.1, random_state=0).with_weights(rng.choice([1.0, 2.0], 150))
    model = LatentClass(3, covariance=covariance, random_state=0).fit(data)
    assert np.isfinite(model.log_likelihood_)
    matrices = covariances_of(model)
    if covariance.startswith("shared"):
        assert all(np.array_equal(each, matrices[0]) for each in matrices)
    else:
        assert not np.allclose(matrices[0], matrices[1])
    if covariance.endswith("spherical"):
        assert all(np.ptp(np.diag(each)) == 0 for each in matrices)
    total = data.weights @ reported(model).score_samples(data)
    assert total == pytest.approx(model.log_likelihood_, rel=1e-9)


def test_numbers_of_parameters():
    expected = {
        "diagonal": 2 + 12 + 12,
        "full": 2 + 12 + 30,
        "spherical": 2 + 12 + 3,
        "shared": 2 + 12 + 10,
        "shared-diagonal": 2 + 12 + 4,
        "shared-spherical": 2 + 12 + 1,
    }
    assert set(expected) == set(COVARIANCES)
    for covariance, number in expected.items():
        model = LatentClass(3, covariance=covariance, random_state=0, max_iterations=3).fit(IRIS)
        assert model.n_parameters_ == number
        assert model.fit_table_["n_parameters"] == [number]


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_file_keeps_the_number_of_parameters(covariance, tmp_path):
    model = LatentClass(3, covariance=covariance, random_state=0, max_iterations=3).fit(IRIS)
    model.network_.save(tmp_path / "model.json")
    network = load(tmp_path / "model.json")
    assert network == model.network_
    assert network.dimension == model.n_parameters_


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("covariance", ["spherical", "shared-diagonal", "shared-spherical"])
def test_equal_variances_never_lower_the_objective(covariance, smoothing):
    data = Dataset([Variable(f"x{j}") for j in range(4)], list(IRIS.T))
    structure = make_structure(data.variables, 3, covariance)
    names = structure.continuous
    forest = Forest(
        structure,
        PatternedData(data),
        shared=names if covariance.startswith("shared") else (),
        equal=names if covariance.endswith("spherical") else (),
    )
    start = np.empty(structure.n_values)
    structure.table_view(start, "class")[...] = [0.2, 0.3, 0.5]
    for j, name in enumerate(names):
        structure.table_view(start, name)[:, 0] = IRIS[[0, 60, 120], j]
        structure.table_view(start, name)[:, 1] = 1.0
    for accelerate in (False, True):
        prior = np.full(structure.n_values, smoothing)
        result = fit(forest, start, prior, EMSettings(100, 0.0, accelerate))
        path = np.r_[result.monitor.trajectory, result.objective]
        assert np.all(np.diff(path) >= -1e-9 * np.abs(path[1:]))


def test_an_unknown_form_is_refused():
    with pytest.raises(ParameterError, match="covariance must be one of 'diagonal', 'full'"):
        LatentClass(2, covariance="VVV").fit(IRIS)


def test_tables_without_continuous_columns_ignore_it():
    rows = np.random.default_rng(0).integers(0, 2, (100, 4)).astype(str)
    plain, full = (
        LatentClass(2, covariance=c, random_state=0).fit(rows) for c in ("diagonal", "full")
    )
    assert plain.log_likelihood_ == full.log_likelihood_
    assert plain.n_parameters_ == full.n_parameters_
