"""Small networks with continuous variables, and their densities by brute force."""

import math
from itertools import product

import numpy as np

from latentforest.data.variable import Variable
from latentforest.model import Network, Structure


def draw_mixed(structure, seed):
    """Give a structure random tables; means lie about two standard deviations apart."""
    rng = np.random.default_rng(seed)
    theta = np.empty(structure.n_values)
    done = set()
    for name in structure.names:
        table = structure.table_view(theta, name)
        if structure.variable(name).is_categorical:
            table[...] = rng.dirichlet(np.full(table.shape[-1], 2.0), table.shape[:-1])
        elif name not in done:
            pouch = structure.pouch(name)
            done.update(pouch)
            if len(pouch) == 1:
                table[..., :-1] = rng.normal(0.0, 2.0, table[..., :-1].shape)
                table[..., -1] = rng.uniform(0.3, 2.0, table.shape[:-1])
            else:
                fill_pouch(structure, theta, pouch, rng)
    return Network(structure, theta)


def fill_pouch(structure, theta, pouch, rng):
    """Draw means and covariances of a pouch."""
    size = len(pouch)
    for row in np.ndindex(*structure.shape(pouch[0])[:-1]):
        root = np.tril(rng.normal(0.0, 0.7, (size, size)), -1) + np.eye(size)
        matrix = root @ root.T
        for j, name in enumerate(pouch):
            table = structure.table_view(theta, name)
            table[(*row, 0)] = rng.normal(0.0, 2.0)
            table[(*row, slice(1, None))] = (matrix[j] + matrix[:, j]) / 2


def normal_density(x, mean, variance):
    """Density of a Gaussian."""
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2.0 * math.pi * variance)


def family_density(network, name, codes, values):
    """P(variable or pouch | parents) for the values given; pouches are counted at their first."""
    structure = network.structure
    row = tuple(codes[p] for p in structure.categorical_parents(name))
    table = network.cpd(name)[row]
    if structure.variable(name).is_categorical:
        return table[codes[name]]
    pouch = structure.pouch(name)
    if len(pouch) == 1:
        slopes = zip(structure.continuous_parents(name), table[1:-1], strict=True)
        mean = table[0] + sum(slope * values[parent] for parent, slope in slopes)
        return normal_density(values[name], mean, table[-1])
    if pouch[0] != name:
        return 1.0
    tables = [network.cpd(each)[row] for each in pouch]
    matrix = np.array([table[1:] for table in tables])
    d = [values[each] - table[0] for each, table in zip(pouch, tables, strict=True)]
    d = np.stack(np.broadcast_arrays(*d), axis=-1)
    square = np.einsum("...i,ij,...j->...", d, np.linalg.inv(matrix), d)
    return np.exp(-0.5 * square) / math.sqrt(np.linalg.det(2.0 * math.pi * matrix))


def joint_density(network, values, grid=None):
    """P(categorical variables, values): one axis for each categorical variable.

    Continuous variables without a value are integrated over a grid of values.
    """
    structure = network.structure
    categorical = [n for n in structure.names if structure.variable(n).is_categorical]
    missing = [name for name in structure.continuous if name not in values]
    axes = {name: i for i, name in enumerate(missing)}
    full = dict(values)
    for name, i in axes.items():
        full[name] = grid.reshape([-1 if i == k else 1 for k in range(len(missing))])
    joint = np.zeros([len(structure.states(name)) for name in categorical])
    for cell in product(*(range(card) for card in joint.shape)):
        codes = dict(zip(categorical, cell, strict=True))
        density = np.ones((1,) * len(missing))
        for name in structure.names:
            density = density * family_density(network, name, codes, full)
        for _ in missing:
            density = np.trapezoid(density, grid, axis=0)
        joint[cell] = density
    return categorical, joint


Y = Variable.hidden("Y", 3)
Z = Variable.hidden("Z", 2)
A = Variable("A", ("no", "yes"))
U, V, W = Variable("u"), Variable("v"), Variable("w")

STRUCTURES = {
    "one leaf": Structure([Y, U], {"u": "Y"}),
    "mixed leaves": Structure([U, Y, A, V], {"A": "Y", "u": "Y", "v": "Y"}),
    "two latent": Structure([Y, Z, U, A, V], {"Z": "Y", "u": "Y", "A": "Z", "v": "Z"}),
    "observed parent": Structure([A, U, V], {"u": "A"}),
    "two parents": Structure([Y, A, U], {"u": ("A", "Y")}),
}
LINEAR = {
    "chain": Structure([Y, U, V, W], {"u": "Y", "v": "u", "w": "v"}),
    "fork": Structure([Y, U, V, W, A], {"u": "Y", "v": "u", "w": "u", "A": "Y"}),
    "own class": Structure([Y, Z, U, V], {"u": "Y", "v": ("Z", "u")}),
    "two lines": Structure([Y, U, V, W], {"u": "Y", "w": ("u", "Y", "v")}),
}
POUCHES = {
    "pouch": Structure([Y, U, V], {"u": "Y", "v": "Y"}, [("u", "v")]),
    "pouch and leaf": Structure(
        [Y, W, V, U, A], {"u": "Y", "v": "Y", "w": "Y", "A": "Y"}, [("u", "w")]
    ),
    "pouch of three": Structure([Y, U, V, W], dict.fromkeys("uvw", "Y"), [("v", "u", "w")]),
    "line from a pouch": Structure([Y, U, V, W], {"u": "Y", "v": "Y", "w": "u"}, [("u", "v")]),
}
