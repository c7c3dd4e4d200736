"""Networks with the posterior of their parameters."""

import copy
import pickle
import re

import numpy as np
import pytest

from latentforest import Dataset, Dirichlet, Network, NormalGamma, PosteriorNetwork, Variable
from latentforest.errors import ModelError
from latentforest.inference.predictive import Predictive
from latentforest.model.conjugate import NormalRegression, NormalWishart
from latentforest.model.structure import Structure
from reference.posterior_networks import make_network

NETWORK = make_network()


def test_parameters_are_the_expected_ones():
    posterior = NETWORK.posterior
    y, u, v, p = (posterior[name] for name in ("y", "u", "v", "p"))
    np.testing.assert_allclose(NETWORK.cpd("y"), y.concentration / y.concentration.sum())
    np.testing.assert_allclose(NETWORK.cpd("u")[:, 0], u.mean)
    np.testing.assert_allclose(NETWORK.cpd("u")[:, 1], u.rate / u.shape)
    slope = v.coefficients[1] / v.unit
    line = [v.coefficients[0] - slope * v.center, slope, v.rate / v.shape]
    np.testing.assert_allclose(NETWORK.cpd("v"), line)
    np.testing.assert_allclose(NETWORK.cpd("q")[:, 0], p.mean[:, 1])
    np.testing.assert_allclose(NETWORK.cpd("q")[:, 1], p.scatter[:, 1, 0] / p.freedom)


def test_a_plain_network_has_no_posterior():
    plain = NETWORK.with_parameters(NETWORK.parameters)
    assert type(plain) is Network
    assert plain.posterior is None
    assert plain != NETWORK
    assert plain != NETWORK
    assert NETWORK != 3


def test_equality_is_that_of_all_numbers():
    assert make_network() == NETWORK
    assert hash(make_network()) == hash(NETWORK)
    assert make_network(1) != NETWORK
    y = NETWORK.posterior["y"]
    doubled = {**NETWORK.posterior, "y": Dirichlet(2.0 * y.concentration)}
    other = PosteriorNetwork(NETWORK.structure, doubled)
    np.testing.assert_array_equal(other.parameters, NETWORK.parameters)
    assert other != NETWORK


@pytest.mark.parametrize("again", [copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])
def test_copies(again):
    assert again(NETWORK) == NETWORK
    assert type(again(NETWORK)) is PosteriorNetwork


def test_nothing_can_be_changed():
    counts = np.array([3.0, 1.0])
    family = Dirichlet(counts)
    structure = Structure([Variable("coin", ("heads", "tails"))], {})
    network = PosteriorNetwork(structure, {"coin": family})
    family.concentration[0] = 5.0  # the network has its own
    np.testing.assert_array_equal(network.posterior["coin"].concentration, counts)
    with pytest.raises(ValueError, match="read-only"):
        network.posterior["coin"].concentration[0] = 1.0
    with pytest.raises(TypeError):
        network.posterior["coin"] = family


def make_rows(n_rows=12):
    generator = np.random.default_rng(3)
    columns = [generator.integers(-1, 2, n_rows).astype(np.int32) for _ in range(2)]
    columns += [generator.normal(size=n_rows) for _ in range(5)]
    columns[4][:4] = np.nan
    variables = [NETWORK.structure.variable(name) for name in NETWORK.observed]
    return Dataset(variables, columns)


def test_names_and_the_order_of_states_do_not_matter():
    data = make_rows()
    logs, shares = (
        Predictive(NETWORK).log_densities(data),
        Predictive(NETWORK).shares(data, ["y"])[0],
    )
    turned = Predictive(NETWORK.relabelled("y", [2, 0, 1]))
    np.testing.assert_allclose(turned.log_densities(data), logs, atol=1e-12)
    np.testing.assert_allclose(turned.shares(data, ["y"])[0], shares[:, [2, 0, 1]], atol=1e-12)
    renamed = NETWORK.renamed({"y": "z", "u": "x"})
    columns = [data.column(name) for name in data.names]
    other = Dataset(list(map(renamed.structure.variable, renamed.observed)), columns)
    np.testing.assert_array_equal(Predictive(renamed).log_densities(other), logs)
    assert renamed.renamed({"z": "y", "x": "u"}) == NETWORK


def test_other_edits_return_plain_networks():
    assert NETWORK.rooted_at("y") == NETWORK
    assert NETWORK.rooted_at("b").posterior is None


def change(name, **arrays):
    """Return the posterior with other arrays of one variable."""
    family = copy.copy(NETWORK.posterior[name])
    for key, value in arrays.items():
        object.__setattr__(family, key, np.asarray(value))
    posterior = dict(NETWORK.posterior)
    for each in NETWORK.structure.pouch(name):
        posterior[each] = family
    return posterior


ONE = NormalGamma(0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        ({"y": Dirichlet([1.0, 1.0, 1.0])}, "no posterior is given for variable 'a'"),
        ({"x": ONE}, "a posterior is given for 'x', which is not a variable"),
        ({**NETWORK.posterior, "y": ONE}, "of 'y' must be a Dirichlet, got a NormalGamma"),
        ({**NETWORK.posterior, "q": ONE}, "'p' and 'q' are in a pouch, so they share a posterior"),
        (change("u", rate=[1.0, 1.0]), "'u': rate has shape (2,), expected (3,)"),
        (change("a", concentration=np.ones((2, 2))), "has shape (2, 2), expected (3, 2)"),
        (change("a", concentration=np.zeros((3, 2))), "concentration must be positive, got [[0.0"),
        (change("u", weight=[1.0, -1.0, 1.0]), "weight must be positive, got [1.0, -1.0, 1.0]"),
        (change("u", mean=[0.0, np.nan, 0.0]), "'u': mean must be finite"),
        (change("v", unit=0.0), "unit must be positive, got 0.0"),
        (change("v", weight=[[1.0, 2.0], [2.0, 1.0]]), "symmetric and positive definite"),
        (change("v", weight=[[1.0, 0.5], [0.4, 1.0]]), "symmetric and positive definite"),
        (change("v", weight=[[-1.0, 0.0], [0.0, 1.0]]), "symmetric and positive definite"),
        (change("p", scatter=np.ones((3, 2, 2))), "'p': scatter must be symmetric and positive"),
        (change("p", freedom=[2.0, 1.0, 2.0]), "'p': freedom must be above the number of"),
    ],
)
def test_wrong_posteriors_are_refused(posterior, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        PosteriorNetwork(NETWORK.structure, posterior)


def test_forests_only():
    variables = [Variable(name, ("0", "1")) for name in "abc"]
    structure = Structure(variables, {"c": ("a", "b")})
    with pytest.raises(ModelError, match="posteriors are known of forests only"):
        PosteriorNetwork(structure, {})


def test_parameters_that_are_not_expected_are_refused():
    parameters = np.array(NETWORK.parameters)
    PosteriorNetwork(NETWORK.structure, NETWORK.posterior, parameters * (1 + 1e-12))
    table = NETWORK.structure.table_view(parameters, "u")
    table[1, 0] += 0.01
    with pytest.raises(ModelError, match="the table of 'u' is not the one expected under"):
        PosteriorNetwork(NETWORK.structure, NETWORK.posterior, parameters)


def test_all_kinds_are_there():
    kinds = {type(family) for family in NETWORK.posterior.values()}
    assert kinds == {Dirichlet, NormalGamma, NormalRegression, NormalWishart}
