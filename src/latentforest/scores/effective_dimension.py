"""Effective dimension: how many parameters of a network the table of its columns can determine.

It is the rank of the Jacobian of the cells' probabilities, largest over a few random parameters
(Geiger, Heckerman, King and Meek 2001); at an estimate the rank may be lower. Rows of the Jacobian
are divided by the cells' probabilities and tables are written as softmax, which changes no rank:
its entries are ``P(parents, state | cell) - P(state | parents) P(parents | cell)``.

If all columns are seen together, tables without a latent parent are determined by themselves (each
is a c-component of Tian and Pearl 2002), and so are parts of the graph that are not connected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.structure import Structure
from latentforest.scores.saturated import Margins, all_cells

MAX_CELLS = 10**6  # above, only a sample of the cells is taken
MAX_WORK = 2e11  # cells times parameters squared, likewise
MAX_PARAMETERS = 2000  # above, the nominal number is given
SAMPLED = (2000, 20)  # cells of a sample: at least so many, and so many for each parameter
N_DRAWS = 3
FLOOR = 0.1  # share of the uniform distribution in random parameters
BLOCK = 1 << 22  # entries of the Jacobian that are held at once

# A singular value below this share of the largest is taken for zero. In latent class models of 2 to
# 15 classes, those that are zero came out below 1e-15 and the others above 1e-4.
TOLERANCE = 1e-10


@lru_cache(maxsize=256)
def compute_effective_dimension(structure: Structure, margins: Margins = ()) -> int:
    """Count the parameters that a table of the observed variables can determine.

    Over a million cells the rank is that of a random sample of them; of a connected part with over
    2,000 parameters the nominal dimension is given.

    Parameters
    ----------
    structure
        A network's structure; all its variables are categorical.
    margins
        Sets of columns that are observed together; by default all of them.

    Examples
    --------
    >>> from latentforest import Variable
    >>> parts = [Variable.hidden("class", 3), *(Variable(name, ("0", "1")) for name in "abcd")]
    >>> three_classes = Structure(parts, dict.fromkeys("abcd", "class"))
    >>> three_classes.dimension, compute_effective_dimension(three_classes)
    (14, 13)
    """
    if margins and set(margins[0]) != set(structure.observed):
        return _compute_whole(structure, margins)
    n_plain, parts = _take_apart(structure)
    return n_plain + sum(_compute_whole(part, (part.observed,)) for part in parts)


def _take_apart(structure: Structure) -> tuple[int, list[Structure]]:
    """Count the parameters of tables without latent variables; connect the others.

    Observed variables that are parents in what is left become roots there, whose parameters are
    taken off the count.
    """
    latents = set(structure.latents)
    plain = {n for n in structure.observed if not latents & set(structure.parents(n))}
    parents = {n: structure.parents(n) for n in structure.names if n not in plain}
    inputs = plain & {parent for family in parents.values() for parent in family}
    names = [name for name in structure.names if name in parents or name in inputs]
    n_plain = sum(math.prod(s[:-1]) * (s[-1] - 1) for s in map(structure.shape, plain))
    n_plain -= sum(structure.shape(name)[-1] - 1 for name in inputs)
    if not names:
        return n_plain, []
    rest = Structure([structure.variable(name) for name in names], parents)
    groups = [group for group in _connect(rest) if any(name not in latents for name in group)]
    return n_plain, [
        Structure([rest.variable(n) for n in group], {n: rest.parents(n) for n in group})
        for group in groups
    ]


def _connect(structure: Structure) -> list[list[str]]:
    """List the connected parts of a structure."""
    left, groups = set(structure.names), []
    while left:
        waiting, group = [next(name for name in structure.names if name in left)], []
        while waiting:
            name = waiting.pop()
            if name in left:
                left.remove(name)
                group.append(name)
                waiting += structure.neighbours(name)
        groups.append(sorted(group, key=structure.names.index))
    return groups


def _compute_whole(structure: Structure, margins: Margins) -> int:
    """Compute the rank of a structure that is not taken apart."""
    d = structure.dimension
    if d > MAX_PARAMETERS or d == 0:
        return d
    n_cells = sum(_count_cells(structure, margin) for margin in margins)
    most, samples = min(d, n_cells - len(margins)), [True]
    if n_cells <= MAX_CELLS and n_cells * d**2 <= MAX_WORK:
        samples = [True, False] if n_cells > 2 * _count_sampled(d) else [False]
    rank = 0
    for is_sampled in samples:  # what some cells determine all of them determine
        for draw in range(N_DRAWS):
            rank = max(rank, _count_rank(structure, margins, draw, is_sampled))
            if rank == most:
                return rank
    return rank


def _count_cells(structure: Structure, margin: tuple[str, ...]) -> int:
    return math.prod(len(structure.states(name)) for name in margin)


def _count_sampled(d: int) -> int:
    """Number of cells in a sample."""
    return max(SAMPLED[0], SAMPLED[1] * d)


def _count_rank(structure: Structure, margins: Margins, draw: int, is_sampled: bool) -> int:
    """Rank of the Jacobian at random parameters."""
    theta = draw_parameters(structure, draw)
    triangle = np.zeros((0, structure.dimension))
    for cells in _list_blocks(structure, margins, is_sampled):
        rows = np.concatenate([triangle, compute_jacobian(structure, theta, cells)])
        triangle = np.asarray(np.linalg.qr(rows, mode="r"))
    sizes = np.linalg.norm(triangle, axis=0)
    scales = np.where(sizes > TOLERANCE, sizes, np.inf)  # without influence, but for rounding
    values = np.linalg.svd(triangle / scales, compute_uv=False)
    return int(np.count_nonzero(values > TOLERANCE * values[0]))


def draw_parameters(structure: Structure, seed: int) -> FloatArray:
    """Draw parameters that are not close to zero or one."""
    generator, theta = np.random.default_rng(seed), np.empty(structure.n_values)
    for name in structure.names:
        table = structure.table_view(theta, name)
        noise = generator.standard_exponential(table.shape)
        noise /= noise.sum(axis=-1, keepdims=True)
        table[...] = FLOOR / table.shape[-1] + (1 - FLOOR) * noise
    return theta


def compute_jacobian(structure: Structure, theta: FloatArray, cells: Dataset) -> FloatArray:
    """Derivatives of the log-probabilities of rows, ``(n_rows, dimension)``.

    A column for each state but the last of each row of each table: the parameters are the
    logarithms of their odds against the last.
    """
    engine = make_engine(structure, PatternedData(cells))
    columns = []
    for name in structure.names:
        shape = structure.shape(name)
        if shape[-1] > 1:
            (found,) = engine.family_posteriors(theta, [name])
            share = structure.table_view(theta, name)[..., :-1]
            parents = found.sum(axis=-1, keepdims=True)
            columns.append((found[..., :-1] - share * parents).reshape(cells.n_rows, -1))
    return np.concatenate(columns, axis=1)


def _list_blocks(structure: Structure, margins: Margins, is_sampled: bool) -> Iterator[Dataset]:
    """List the cells of all margins, or a sample of them, some at a time."""
    d = structure.dimension
    n_sampled, step = -(-_count_sampled(d) // len(margins)), max(BLOCK // d, 2 * d)
    for number, margin in enumerate(margins):
        variables = [structure.variable(name) for name in margin]
        size = _count_cells(structure, margin)
        if is_sampled and size > n_sampled:
            generator, size = np.random.default_rng([number, n_sampled]), n_sampled
            codes = [generator.integers(v.n_states, size=size) for v in variables]
            cells = Dataset(variables, codes)
            blocks = (
                cells.take(np.arange(low, min(low + step, size))) for low in range(0, size, step)
            )
        else:
            blocks = (
                all_cells(variables, np.arange(low, min(low + step, size)))
                for low in range(0, size, step)
            )
        for block in blocks:
            yield with_gaps(structure, block)


def with_gaps(structure: Structure, table: Dataset) -> Dataset:
    """Add the observed variables that a table lacks, as columns without values."""
    variables = [structure.variable(name) for name in structure.observed]

    def find(name: str, is_categorical: bool) -> AnyArray:
        if name in table.names:
            return table.column(name)
        return np.full(table.n_rows, -1 if is_categorical else np.nan)

    columns = [find(variable.name, variable.is_categorical) for variable in variables]
    return Dataset(variables, columns, table.weights)
