"""Blocks of a structure: continuous variables whose sums and parameters belong together.

In a forest, a block has all variables that depend on each other; in a junction tree, it is a single
family with its continuous parents. Here is written down what the kernels must know of a block (see
``kernels.gaussian.blocks``): its families, its scales, its rows sorted by missing values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.errors import ModelError
from latentforest.inference.columns import ColumnSummary
from latentforest.kernels import layout as B
from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import factorize, invert, raise_eigenvalues
from latentforest.model.gaussian import find_components
from latentforest.model.structure import Structure


@dataclass(frozen=True)
class GaussianBlock:
    """Continuous variables that depend on each other given categorical ones.

    Attributes
    ----------
    parents
        The categorical variables: all that are parents of a family, or none, are parents of each
        family that has any.
    names
        The variables, in a forest those without continuous parents before the others.
    families
        The variables again, those of a pouch together, in the same order; those without a family
        are only parents here.
    """

    parents: tuple[str, ...]
    names: tuple[str, ...]
    families: tuple[tuple[str, ...], ...]

    @property
    def parent(self) -> str | None:
        """The categorical parent, of which there is at most one in a forest."""
        return self.parents[0] if self.parents else None

    @property
    def own(self) -> tuple[str, ...]:
        """The variables whose families are in the block."""
        return tuple(name for family in self.families for name in family)

    def members(self, free: Collection[str] | None) -> list[tuple[str, ...]]:
        """List the families that are free."""
        return [each for each in self.families if free is None or each[0] in free]


@functools.lru_cache(maxsize=256)
def find_blocks(structure: Structure) -> tuple[GaussianBlock, ...]:
    """List the blocks of two or more variables."""
    blocks = list[GaussianBlock]()
    for names in find_components(structure, structure.continuous):
        if len(names) > 1:
            above = {p: None for name in names for p in structure.categorical_parents(name)}
            if len(above) > 1:
                raise ModelError(
                    f"the continuous variables {', '.join(map(repr, names))} depend on each other "
                    f"and on {', '.join(map(repr, above))}; in a forest, at most one categorical "
                    "variable may be above them"
                )
            families = dict.fromkeys(structure.pouch(name) for name in names)
            blocks.append(GaussianBlock(tuple(above), names, tuple(families)))
    return tuple(blocks)


def has_joint_blocks(structure: Structure) -> bool:
    """Whether variables that depend on each other have more than one categorical one above them."""
    for names in find_components(structure, structure.continuous):
        if len({p for name in names for p in structure.categorical_parents(name)}) > 1:
            return True
    return False


@functools.lru_cache(maxsize=256)
def find_family_blocks(structure: Structure) -> tuple[GaussianBlock, ...]:
    """List each pouch, and each variable with continuous parents, as a block with these."""
    blocks = dict[tuple[str, ...], GaussianBlock]()
    for name in structure.continuous:
        family, above = structure.pouch(name), structure.continuous_parents(name)
        if len(family) > 1 or above:
            states = structure.categorical_parents(name)
            blocks[family] = GaussianBlock(states, (*family, *above), (family,))
    return tuple(blocks.values())


def count_sums(structure: Structure, block: GaussianBlock) -> int:
    """Return the number of sums that a block has in the vector of counts."""
    d = len(block.names)
    return _count_states(structure, block) * (1 + d + d * d)


def _count_states(structure: Structure, block: GaussianBlock) -> int:
    return math.prod(len(structure.states(parent)) for parent in block.parents)


def list_tasks(
    structure: Structure,
    block: GaussianBlock,
    sums: int,
    free: Collection[str] | None,
    shared: Collection[str] = (),
) -> list[int]:
    """Write down the families of a block, with no gaps yet.

    ``sums`` is the place of its sums; ``shared`` names variables whose covariances are the same for
    all states. States are the joint ones of all categorical parents.
    """
    n_states = _count_states(structure, block)
    position = {name: i for i, name in enumerate(block.names)}
    tasks = [len(block.names), n_states, len(block.families), sums, 0, 0, B.N_ENTRIES]
    for family in block.families:
        name = family[0]
        parents = structure.continuous_parents(name)
        tasks += [
            B.MEMBERS + 2 * len(family) + len(parents),
            B.POUCH if len(family) > 1 else B.LINEAR,
            len(family),
            len(parents),
            int(free is None or name in free),
            int(bool(structure.categorical_parents(name))),
            int(name in shared),
        ]
        for member in family:
            tasks += [position[member], structure.offset(member)]
        tasks += [position[parent] for parent in parents]
    return tasks


def list_gaps(values: FloatArray, place: int) -> tuple[list[int], list[FloatArray]]:
    """Sort rows by their missing values; write down the sets of missing columns.

    ``values``, (n_patterns, n_columns), are scaled; ``place`` is where the result will lie.

    Returns
    -------
    tuple
        The records of the gaps, the first entry being their number; the values gap by gap,
        column by column, padded.
    """
    missing = np.isnan(values)
    if missing.any():
        gaps, member = np.unique(missing, axis=0, return_inverse=True)
    else:  # as most often
        gaps, member = missing[:1], np.zeros(len(values), np.intp)
    tasks, parts = [len(gaps)], list[FloatArray]()
    for g, gap in enumerate(gaps):
        patterns = np.flatnonzero(member.ravel() == g)
        observed = np.flatnonzero(~gap)
        height = -(-len(patterns) // B.BATCH) * B.BATCH
        padded = np.zeros((len(observed), height))
        padded[:, : len(patterns)] = values[np.ix_(patterns, observed)].T
        tasks += [len(patterns), len(observed), place, *np.flatnonzero(gap), *observed, *patterns]
        parts.append(padded.ravel())
        place += padded.size
    return list(map(int, tasks)), parts


def correlate(
    columns: Sequence[FloatArray], about: Sequence[ColumnSummary], weights: FloatArray
) -> FloatArray:
    """Correlations of columns, made positive definite by the rule of ``model.covariances``."""
    return raise_eigenvalues(measure_correlations(columns, about, weights))


def measure_correlations(
    columns: Sequence[FloatArray], about: Sequence[ColumnSummary], weights: FloatArray
) -> FloatArray:
    """Correlations of columns as they are, each pair over the rows that have both."""
    values = np.stack(
        [(c - a.mean) / np.sqrt(a.variance) for c, a in zip(columns, about, strict=True)]
    )
    seen = ~np.isnan(values)
    values[~seen] = 0.0
    present = seen.astype(np.float64)
    together = (present * weights) @ present.T
    products = (values * weights) @ values.T
    matrix: FloatArray = np.zeros_like(products)
    np.divide(products, together, out=matrix, where=together > 0)
    spread = np.array([0.0 if a.is_constant else 1.0 for a in about])
    matrix *= np.outer(spread, spread)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def list_scales(about: Sequence[ColumnSummary]) -> FloatArray:
    """Means of a block's columns, then their deviations."""
    return np.array([a.mean for a in about] + [np.sqrt(a.variance) for a in about])


def find_least(
    structure: Structure,
    block: GaussianBlock,
    correlations: FloatArray,
    about: Sequence[ColumnSummary],
) -> list[FloatArray]:
    """Least scaled covariance of each family.

    It is a small share of the covariance over all rows (of a variable with parents, of what the
    parents leave), where columns with long tails count less, as for single Gaussians.
    """
    position = {name: i for i, name in enumerate(block.names)}
    shrunk = np.sqrt([a.least_variance / a.variance for a in about])
    least = correlations * np.outer(shrunk, shrunk)
    result = []
    for family in block.families:
        own = [position[name] for name in family]
        above = [position[name] for name in structure.continuous_parents(family[0])]
        matrix = least[np.ix_(own, own)]
        if above:
            across = least[np.ix_(above, own)]
            matrix = matrix - across.T @ invert(least[np.ix_(above, above)]) @ across
        result.append(matrix)
    return result


def whiten(matrix: FloatArray) -> FloatArray:
    """Return W with W M W' = 1, lower triangular; of a single number the number itself."""
    if len(matrix) == 1:
        return matrix
    spread, root = factorize(matrix)
    return np.tril(np.linalg.inv(root) / spread)


def list_units(structure: Structure, name: str, about: Mapping[str, ColumnSummary]) -> FloatArray:
    """Factors that make the numbers in a row of a table comparable; then means for its slopes."""
    own, pouch = math.sqrt(about[name].variance), structure.pouch(name)
    if len(pouch) > 1:
        units = [1 / own] + [1 / own / math.sqrt(about[other].variance) for other in pouch]
        return np.array(units + [0.0] * len(units))
    parents = structure.continuous_parents(name)
    slopes = [math.sqrt(about[parent].variance) / own for parent in parents]
    means = [about[parent].mean for parent in parents]
    return np.array([1 / own, *slopes, 1 / own / own, 0.0, *means, 0.0])
