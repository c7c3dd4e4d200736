"""Dirichlet priors of all tables of a structure, in the layout of the parameters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from latentforest.errors import ParameterError
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

Prior = float | str | Mapping[str, ArrayLike] | Network


def read_dirichlets(
    structure: Structure, prior: Prior, equivalent_sample_size: float = 1.0
) -> FloatArray:
    """Return the concentration of every cell of the tables; zero where Gaussians lie.

    Parameters
    ----------
    structure
        Gives the tables.
    prior
        A number for each cell; "bdeu": the equivalent sample size shared equally by the cells of
        each table; a mapping from variables to arrays that broadcast to their tables, one for the
        cells of variables not named; or a network over the same variables, whose joint
        probabilities P0(parents, state) times the equivalent sample size are taken (BDe).
    equivalent_sample_size
        Of "bdeu" and of a network.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> parts = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    >>> read_dirichlets(Structure(parts, {"b": "a"}), "bdeu", 2.0)
    array([1. , 1. , 0.5, 0.5, 0.5, 0.5])
    """
    size = equivalent_sample_size
    if not (isinstance(size, numbers.Real) and 0 < size < math.inf):
        raise ParameterError(f"equivalent_sample_size must be positive, got {size!r}")
    vector = np.zeros(structure.n_values)
    for name in (each for each in structure.names if each not in structure.continuous):
        table = structure.table_view(vector, name)
        table[...] = _find_table(structure, name, prior, float(size))
        if not np.all((table > 0) & (table < np.inf)):
            raise ParameterError(
                f"the prior of {name!r} has a concentration of {table.min():g} to {table.max():g}; "
                "a Dirichlet distribution needs positive finite ones"
            )
    if isinstance(prior, Mapping):
        _check_names(structure, prior)
    return vector


def _find_table(structure: Structure, name: str, prior: Prior, size: float) -> ArrayLike:
    shape = structure.shape(name)
    if isinstance(prior, Network):
        return _ask_network(structure, name, prior) * size
    if isinstance(prior, Mapping):
        try:
            return np.broadcast_to(np.asarray(prior.get(name, 1.0), np.float64), shape)
        except ValueError:
            raise ParameterError(
                f"the prior of {name!r} must be numbers that fit the table's shape {shape}, "
                f"got {prior[name]!r}"
            ) from None
    if prior == "bdeu":
        return size / math.prod(shape)
    if isinstance(prior, numbers.Real) and not isinstance(prior, bool) and 0 < prior < math.inf:
        return float(prior)
    raise ParameterError(
        f"prior must be a positive number, 'bdeu', arrays by variable or a Network, got {prior!r}"
    )


def _ask_network(structure: Structure, name: str, prior: Network) -> FloatArray:
    """Joint probabilities of a family in the prior network."""
    family = (*structure.parents(name), name)
    for each in family:
        if each not in prior.structure:
            raise ParameterError(f"the prior network has no variable {each!r}")
        expected, found = structure.variable(each).states, prior.structure.variable(each).states
        if expected != found:
            raise ParameterError(
                f"variable {each!r} has states {found} in the prior network, expected {expected}"
            )
    return prior.query(family)


def _check_names(structure: Structure, prior: Mapping[str, ArrayLike]) -> None:
    for name in prior:
        if name not in structure or name in structure.continuous:
            raise ParameterError(f"a prior is given for {name!r}, which is not a table's variable")
