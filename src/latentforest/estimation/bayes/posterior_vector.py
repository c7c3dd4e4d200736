"""Distributions of all families of a structure in one flat vector.

See ``kernels.variational.posteriors`` for tables and single Gaussians. Variables of a block
(those that depend on other continuous ones) come last: of one without continuous parents mean,
weight, shape and rate, for each row; of a line two coefficients, their weights, shape and rate, the
parent's center and unit, for each row; of a pouch, in the place of its first variable, weight,
freedom, mean and scatter for each row.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from latentforest.errors import ModelError
from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.inference.blocks import find_blocks
from latentforest.inference.plan import place_sums
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.types import FloatArray
from latentforest.model.conjugate import (
    Conjugate,
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
)
from latentforest.model.structure import Structure

GAUSSIAN_SIZE = 4
LINE_SIZE = 10


@functools.lru_cache(maxsize=256)
def _place(structure: Structure) -> tuple[dict[str, int], int]:
    return place_sums(structure)


@functools.lru_cache(maxsize=256)
def find_inside(structure: Structure) -> dict[str, int]:
    """Say where the variables of blocks lie."""
    places: dict[str, int] = {}
    if not structure.continuous:
        return places
    taken = _place(structure)[1]
    for block in find_blocks(structure):
        for name in block.names:
            places[name] = taken
            taken += _count(structure, name)
    return places


def _count(structure: Structure, name: str) -> int:
    parents, pouch = structure.continuous_parents(name), structure.pouch(name)
    n_rows = math.prod(structure.shape(name)[:-1])
    if len(parents) > 1:
        raise ModelError(f"variable {name!r}: there are no posteriors for several slopes")
    if len(pouch) > 1:
        return n_rows * (2 + len(pouch) + len(pouch) ** 2) if name == pouch[0] else 0
    return (LINE_SIZE if parents else GAUSSIAN_SIZE) * n_rows


def measure_vector(structure: Structure) -> int:
    """Return the length of the vector."""
    inside = find_inside(structure)
    size = _place(structure)[1]
    return size + sum(_count(structure, name) for name in inside)


def read_family(structure: Structure, vector: FloatArray, name: str) -> Conjugate:
    """Read the distribution of one family."""
    if name not in structure.continuous:
        return Dirichlet(structure.table_view(vector, name))
    place = find_inside(structure).get(name)
    if place is None:
        views = _view_gaussian(structure, vector, name)
        return NormalGamma.trusted(*(view.copy() for view in views))
    if len(structure.pouch(name)) > 1:
        parts = _view_pouch(structure, vector, name)
        return NormalWishart(*(part.copy() for part in parts))
    if structure.continuous_parents(name):
        numbers = _view_line(structure, vector, name, place).copy()
        center, unit = numbers.reshape(-1, LINE_SIZE)[0, 8:]
        return NormalRegression(
            float(center),
            float(unit),
            numbers[..., :2],
            numbers[..., 2:6].reshape(*numbers.shape[:-1], 2, 2),
            numbers[..., 6],
            numbers[..., 7],
        )
    views = _view_inside(structure, vector, name, place)
    return NormalGamma.trusted(*(view.copy() for view in views))


def write_family(structure: Structure, vector: FloatArray, name: str, family: Conjugate) -> None:
    """Write the distribution of one family; one without axes counts for every row."""
    if isinstance(family, Dirichlet):
        structure.table_view(vector, name)[...] = family.concentration
        return
    place = find_inside(structure).get(name)
    if isinstance(family, NormalRegression):
        assert place is not None  # for the type checker: a line is always part of a block
        numbers = _view_line(structure, vector, name, place)
        numbers[..., :2] = family.coefficients
        numbers[..., 2:6] = family.weight.reshape(*family.weight.shape[:-2], 4)
        numbers[..., 6], numbers[..., 7] = family.shape, family.rate
        numbers[..., 8], numbers[..., 9] = family.center, family.unit
        return
    if isinstance(family, NormalWishart):
        parts = (family.mean, family.weight, family.freedom, family.scatter)
        for view, value in zip(_view_pouch(structure, vector, name), parts, strict=True):
            view[...] = value
        return
    parts = (family.mean, family.weight, family.shape, family.rate)
    if place is None:
        views = _view_gaussian(structure, vector, name)
    else:
        views = _view_inside(structure, vector, name, place)
    for view, value in zip(views, parts, strict=True):
        view[...] = value


def _view_gaussian(structure: Structure, vector: FloatArray, name: str) -> list[FloatArray]:
    """Mean, weight, shape and rate of a Gaussian that is in no block."""
    table, start = structure.table_view(vector, name), _place(structure)[0][name]
    rest = vector[start : start + N_ROWS * (table.size // 2)].reshape(*table.shape[:-1], N_ROWS)
    return [table[..., 0], rest[..., 0], rest[..., 1], table[..., 1]]


def _view_inside(
    structure: Structure, vector: FloatArray, name: str, place: int
) -> list[FloatArray]:
    rows = structure.shape(name)[:-1]
    numbers = vector[place : place + GAUSSIAN_SIZE * math.prod(rows)]
    matrix = numbers.reshape(GAUSSIAN_SIZE, *rows)
    return [matrix[i, ...] for i in range(GAUSSIAN_SIZE)]


def _view_line(structure: Structure, vector: FloatArray, name: str, place: int) -> FloatArray:
    rows = structure.shape(name)[:-1]
    return vector[place : place + LINE_SIZE * math.prod(rows)].reshape(*rows, LINE_SIZE)


def _view_pouch(structure: Structure, vector: FloatArray, name: str) -> list[FloatArray]:
    """Mean, weight, freedom and scatter of a pouch."""
    pouch, rows = structure.pouch(name), structure.shape(name)[:-1]
    place, d = find_inside(structure)[pouch[0]], len(pouch)
    size = math.prod(rows) * (2 + d + d * d)
    numbers = vector[place : place + size].reshape(*rows, -1)
    scatter = numbers[..., 2 + d :].reshape(*rows, d, d)
    return [numbers[..., 2 : 2 + d], numbers[..., 0], numbers[..., 1], scatter]


def copy_families(
    source: Structure,
    values: FloatArray,
    target: Structure,
    result: FloatArray,
    names: Sequence[str],
) -> None:
    """Copy the distributions of some variables, of the same shape in both structures."""
    inside = {**find_inside(source), **find_inside(target)}
    for name in names:
        if name in inside:
            write_family(target, result, name, read_family(source, values, name))
        elif name in source.continuous:
            views = (_view_gaussian(source, values, name), _view_gaussian(target, result, name))
            for old, new in zip(*views, strict=True):
                new[...] = old
        else:
            target.table_view(result, name)[...] = source.table_view(values, name)


def pack(structure: Structure, families: Mapping[str, Conjugate]) -> FloatArray:
    """Put distributions of all families into a vector."""
    vector = np.zeros(measure_vector(structure))
    for name in structure.names:
        write_family(structure, vector, name, families[name])
    return vector


def unpack(structure: Structure, vector: FloatArray) -> dict[str, Conjugate]:
    """Read the distributions of all families out of a vector."""
    return {name: read_family(structure, vector, name) for name in structure.names}


def pack_priors(structure: Structure, priors: Priors) -> FloatArray:
    """Put the priors of all families of a structure into a vector."""
    return pack(structure, {name: find_prior(structure, priors, name) for name in structure.names})


def find_prior(structure: Structure, priors: Priors, name: str) -> Conjugate:
    """Return the prior of a variable, as it depends on the kind of its parent."""
    if name in structure.latents:
        return priors.of_latent(structure.shape(name)[-1])
    parents = structure.continuous_parents(name)
    if len(structure.pouch(name)) > 1:
        return priors.of_pouch(structure.pouch(name))
    if parents:
        return priors.of_line(name, parents[0])
    has_parent = bool(structure.parents(name))
    if name in structure.continuous:
        return priors.of_gaussian(name, has_parent)
    return priors.of_table(name, has_parent)
