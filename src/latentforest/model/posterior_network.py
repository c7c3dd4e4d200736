"""Networks with the posterior of their parameters, as variational Bayes finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.errors import ModelError
from latentforest.model import transform
from latentforest.model.conjugate import (
    Conjugate,
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
)
from latentforest.model.covariances import is_definite, standardize
from latentforest.model.gaussian import find_components
from latentforest.model.network import Network
from latentforest.model.parameters import pack_tables
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]
Condition = Literal["finite", "positive", "definite"]

TOLERANCE = 1e-6  # how far parameters may be from those expected, relative to the largest


class PosteriorNetwork(Network):
    """A forest with the posterior of its parameters.

    To all questions it is the network of expected parameters. Tables of rows are judged with the
    parameters integrated out: by `Predictor`, `log_score` and the command line. New names and
    another order of states keep the posterior; other edits return a network without one.

    Parameters
    ----------
    structure
        A forest.
    posterior
        The distribution of each variable's parameters, by name: arrays have an axis for the states
        of a categorical parent. The variables of a pouch share one.
    parameters
        The expected ones (of a variance: one over the expected precision), computed if left out.

    Examples
    --------
    >>> from latentforest import Variable
    >>> structure = Structure([Variable("coin", ("heads", "tails"))], {})
    >>> coin = PosteriorNetwork(structure, {"coin": Dirichlet([3.0, 1.0])})
    >>> coin.query("coin").round(2).tolist()
    [0.75, 0.25]
    >>> coin.posterior["coin"].concentration
    array([3., 1.])
    """

    __slots__ = ("_posterior",)

    def __init__(
        self,
        structure: Structure,
        posterior: Mapping[str, Conjugate],
        parameters: ArrayLike | None = None,
    ) -> None:
        self._posterior = _read_posterior(structure, posterior)
        expected = _expect(structure, self._posterior)
        super().__init__(structure, expected if parameters is None else parameters)
        if parameters is not None:
            self._check_agreement(expected)

    @property
    def posterior(self) -> Mapping[str, Conjugate]:
        """The distribution of each variable's parameters; arrays are read-only."""
        return MappingProxyType(self._posterior)

    def renamed(self, mapping: Mapping[str, str]) -> PosteriorNetwork:
        """Return the network with other names for the variables mentioned."""
        posterior = {mapping.get(name, name): each for name, each in self._posterior.items()}
        structure = transform.rename(self._structure, mapping)
        network = PosteriorNetwork(structure, posterior, self._parameters)
        return self._tell(network, self._about.renamed(mapping, self._structure))

    def relabelled(self, name: str, order: Sequence[int]) -> PosteriorNetwork:
        """Return the network with the states of a latent variable in another order."""
        return self.reordered({name: order})

    def reordered(self, orders: transform.Orders) -> PosteriorNetwork:
        """Return the network with the states of several latent variables in another order."""
        parameters = transform.relabel(self._structure, self._parameters, orders)
        posterior = dict(self._posterior)
        for name, order in orders.items():
            posterior[name] = _take_states(posterior[name], order, -1)
            for child in self._structure.children(name):
                posterior[child] = _take_states(posterior[child], order, 0)
        network = PosteriorNetwork(self._structure, posterior, parameters)
        return self._tell(network, self._about.reordered(orders, self._structure))

    def _check_agreement(self, expected: Floats) -> None:
        """Refuse parameters that are not those expected under the posterior."""
        for name, family in self._posterior.items():
            one = self._structure.table_view(expected, name)
            other = self._structure.table_view(self._parameters, name)
            largest = np.abs(one).max()
            if isinstance(family, NormalRegression):  # an intercept may be a small difference
                largest = max(largest, np.abs(family.coefficients).max())
            if np.abs(one - other).max() > TOLERANCE * largest:
                raise ModelError(
                    f"the table of {name!r} is not the one expected under its posterior"
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PosteriorNetwork):
            return False if isinstance(other, Network) else NotImplemented
        return bool(super().__eq__(other)) and all(
            _are_equal(family, other._posterior[name]) for name, family in self._posterior.items()
        )

    __hash__ = Network.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self._structure, self._posterior, self._parameters)
        return PosteriorNetwork, values, self._about


class Part(NamedTuple):
    """What an array of a distribution must be."""

    shape: tuple[int, ...]
    condition: Condition = "positive"


def list_parts(structure: Structure, name: str) -> tuple[type[Conjugate], dict[str, Part]]:
    """Return the kind of a variable's posterior, and its arrays by their names."""
    rows, d = structure.shape(name)[:-1], len(structure.pouch(name))
    one = Part(rows)
    if structure.variable(name).is_categorical:
        return Dirichlet, {"concentration": Part(structure.shape(name))}
    if d > 1:
        matrix = Part((*rows, d, d), "definite")
        mean = Part((*rows, d), "finite")
        return NormalWishart, {"mean": mean, "weight": one, "freedom": one, "scatter": matrix}
    if structure.continuous_parents(name):
        return NormalRegression, {
            "center": Part((), "finite"),
            "unit": Part(()),
            "coefficients": Part((*rows, 2), "finite"),
            "weight": Part((*rows, 2, 2), "definite"),
            "shape": one,
            "rate": one,
        }
    return NormalGamma, {"mean": Part(rows, "finite"), "weight": one, "shape": one, "rate": one}


def build_family(kind: type[Conjugate], arrays: Mapping[str, Floats]) -> Conjugate:
    """Make a distribution of arrays that are known to be good; they become read-only."""
    family = object.__new__(kind)
    for name, array in arrays.items():
        array.setflags(write=False)
        is_number = name in ("center", "unit")
        object.__setattr__(family, name, float(array) if is_number else array)
    return family


def _read_posterior(
    structure: Structure, posterior: Mapping[str, Conjugate]
) -> dict[str, Conjugate]:
    """Return copies of the distributions, or refuse those that do not fit the structure."""
    _check_structure(structure)
    for name in posterior:
        if name not in structure:
            raise ModelError(f"a posterior is given for {name!r}, which is not a variable")
    found: dict[str, Conjugate] = {}
    for name in structure.names:
        if name not in posterior:
            raise ModelError(f"no posterior is given for variable {name!r}")
        first = structure.pouch(name)[0]
        if name == first:
            found[name] = _read_family(structure, name, posterior[name])
        elif not _are_equal(posterior[name], found[first]):
            raise ModelError(f"{first!r} and {name!r} are in a pouch, so they share a posterior")
        else:
            found[name] = found[first]
    return found


def _check_structure(structure: Structure) -> None:
    """Refuse what rows cannot be judged by: several parents, but for a line in each state."""
    if structure.is_forest:
        return
    for name in structure.names:
        for parents in (structure.categorical_parents(name), structure.continuous_parents(name)):
            if len(parents) > 1:
                raise ModelError(
                    "posteriors are known of forests only; "
                    f"variable {name!r} has the parents {', '.join(parents)}"
                )
    for component in find_components(structure, structure.continuous):
        above = sorted({z for name in component for z in structure.categorical_parents(name)})
        if len(above) > 1:
            raise ModelError(
                "posteriors are known of forests only; "
                f"{', '.join(component)} depend on each other and on {', '.join(above)}"
            )


def _read_family(structure: Structure, name: str, family: Conjugate) -> Conjugate:
    kind, parts = list_parts(structure, name)
    if type(family) is not kind:
        found = type(family).__name__
        raise ModelError(f"the posterior of {name!r} must be a {kind.__name__}, got a {found}")
    arrays = {}
    for part, wanted in parts.items():
        arrays[part] = np.array(getattr(family, part), dtype=np.float64, order="C")
        check_part(f"posterior of {name!r}: {part}", arrays[part], wanted)
    if kind is NormalWishart and np.any(arrays["freedom"] <= len(structure.pouch(name)) - 1):
        raise ModelError(
            f"posterior of {name!r}: freedom must be above the number of variables less one, "
            f"got {arrays['freedom'].tolist()}"
        )
    return build_family(kind, arrays)


def check_part(where: str, values: Floats, wanted: Part) -> None:
    """Refuse an array of another shape, or with numbers that make no distribution."""
    if values.shape != wanted.shape:
        raise ModelError(f"{where} has shape {values.shape}, expected {wanted.shape}")
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{where} must be finite, got {values.tolist()}")
    if wanted.condition == "positive" and not np.all(values > 0):
        raise ModelError(f"{where} must be positive, got {values.tolist()}")
    if wanted.condition == "definite" and not _is_definite(values):
        raise ModelError(f"{where} must be symmetric and positive definite, got {values.tolist()}")


def _is_definite(matrices: Floats) -> bool:
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    if not np.all(diagonal > 0):
        return False
    _, scaled = standardize(matrices)
    is_symmetric = np.abs(scaled - np.swapaxes(scaled, -1, -2)).max() <= TOLERANCE
    return bool(is_symmetric) and is_definite(matrices)


def _expect(structure: Structure, posterior: Mapping[str, Conjugate]) -> Floats:
    """Return the expected parameters."""
    tables = {}
    for name, family in posterior.items():
        if isinstance(family, NormalWishart):
            tables[name] = family.table_of(structure.pouch(name).index(name))
        else:
            tables[name] = family.table
    return pack_tables(structure, tables)


def _take_states(family: Conjugate, order: Sequence[int], axis: int) -> Conjugate:
    """Put the states along an axis of all arrays in another order."""
    arrays = {}
    for field in fields(family):
        array = np.asarray(getattr(family, field.name))
        arrays[field.name] = array.take(list(order), axis) if array.ndim else array
    return build_family(type(family), arrays)


def _are_equal(one: Conjugate, other: Conjugate) -> bool:
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)
    )
