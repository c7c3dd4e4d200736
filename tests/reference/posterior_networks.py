"""Networks with posteriors of all kinds."""

import numpy as np

from latentforest.data.variable import Variable
from latentforest.model.conjugate import Dirichlet, NormalGamma, NormalRegression, NormalWishart
from latentforest.model.posterior_network import PosteriorNetwork
from latentforest.model.structure import Structure


def make_network(seed=0):
    """A latent variable over columns of both kinds, a pouch, a line, and a number alone."""
    generator = np.random.default_rng(seed)
    variables = [Variable.hidden("y", 3), Variable("a", ("no", "yes")), Variable("b", ("1", "2"))]
    variables += [Variable(name) for name in ("u", "v", "p", "q", "w")]
    parents = {"a": "y", "b": "a", "u": "y", "v": "u", "p": "y", "q": "y"}
    structure = Structure(variables, parents, [("p", "q")])
    posterior = {
        name: Dirichlet(generator.gamma(1.0, size=structure.shape(name)) + 0.1) for name in "yab"
    }
    for name, rows in (("u", (3,)), ("w", ())):
        numbers = generator.gamma(2.0, size=(3, *rows)) + 0.5
        posterior[name] = NormalGamma(generator.normal(size=rows), *numbers)
    posterior["v"] = NormalRegression(
        0.5, 2.0, generator.normal(size=2), make_matrices(generator, ()), np.array(2.5), 1.7
    )
    weight, freedom = generator.gamma(2.0, size=(2, 3)) + 1.5
    pouch = NormalWishart(
        generator.normal(size=(3, 2)), weight, freedom, make_matrices(generator, (3,))
    )
    return PosteriorNetwork(structure, posterior | {"p": pouch, "q": pouch})


def make_matrices(generator, rows):
    """Positive definite 2 x 2 matrices."""
    factors = generator.normal(size=(*rows, 2, 2))
    return factors @ np.swapaxes(factors, -1, -2) + np.eye(2)
