"""Rows of a table laid out over cliques: all with one triangulation, or by what is missing in them.

One triangulation serves all rows if its cliques are narrow, and if continuous columns with gaps do
not need joint Gaussians for too many states. Otherwise rows are taken together by their gaps, and
each such set has cliques, and clusters of continuous columns, of its own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from latentforest.inference.forest import PatternedData
from latentforest.inference.junction.clique_plan import LaidRows, Target, TooWideError, lay_rows
from latentforest.inference.junction.clique_tree import (
    CliqueTree,
    Group,
    Member,
    find_strides,
    grow_cliques,
)
from latentforest.inference.junction.dense_gaussians import GaussianFactor, make_factors
from latentforest.inference.patterns import PatternStore, group_children
from latentforest.inference.threads import map_threads
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray, LongArray
from latentforest.model.structure import Structure

LITTLE_WORK = 1 << 24  # numbers of Gaussian densities that need no other layout
LAYOUT_WORK = 1 << 18  # as many take about as long as laying out rows with the same gaps


class RowLayouts:
    """How the rows of a table are laid out for a junction tree.

    Parameters
    ----------
    structure, data
        The network, the table.
    max_cells
        Most cells of a clique's table.

    Attributes
    ----------
    columns
        Codes of the observed categorical variables.
    gaps
        Those of them with missing values.
    """

    def __init__(self, structure: Structure, data: PatternedData, max_cells: int) -> None:
        self.structure, self.data, self.max_cells = structure, data, max_cells
        continuous, dataset = structure.continuous, data.dataset
        observed = [name for name in structure.observed if name not in continuous]
        self.columns = {name: dataset.column(name) for name in observed}
        self.gaps = {name for name, codes in self.columns.items() if (codes < 0).any()}
        holes = {name: np.isnan(dataset.column(name)) for name in continuous}
        self._holes = {name: where for name, where in holes.items() if where.any()}

    def lay_out(self, asked: Collection[str], targets: Sequence[tuple[str, ...]]) -> list[LaidRows]:
        """Lay all rows out with one triangulation or, if it is too wide, with several."""
        try:
            return self._lay_chunks(asked, targets)
        except TooWideError:
            if not self.gaps and not self._holes:
                raise
        return self._lay_by_gaps(asked, targets)

    def _lay_chunks(
        self, asked: Collection[str], targets: Sequence[tuple[str, ...]]
    ) -> list[LaidRows]:
        data = self.data
        latents, gaps = self.structure.latents, self.gaps
        factors = make_factors(
            self.structure, data, self._holes, self._find_empty(), {*latents, *gaps}
        )
        self._check_work(factors)
        tree = self._grow(factors, latents, gaps, asked, data.group)
        here = self._place(targets, tree.open)

        def lay(b: int) -> LaidRows:
            low = data.first_row(b)
            rows = np.arange(low, low + len(data.chunks[b].weights))
            columns = {name: codes[rows] for name, codes in self.columns.items()}
            chunk = data.chunks[b]
            return self._lay_rows(tree, chunk.store, columns, chunk.weights, rows, here, factors)

        return list(map_threads(lay, range(len(data.chunks)), data.n_jobs))

    def _lay_by_gaps(
        self, asked: Collection[str], targets: Sequence[tuple[str, ...]]
    ) -> list[LaidRows]:
        """Lay rows out by what is missing in them; that is then hidden, and all else given."""
        parts = []
        names, kinds, which = self._sort_by_gaps()
        for kind, absent in enumerate(kinds):
            rows = np.flatnonzero(which == kind)
            gone = {name for name, is_absent in zip(names, absent, strict=True) if is_absent}
            gaps, numbers = gone & self.gaps, gone - self.gaps
            columns = {n: codes[rows] for n, codes in self.columns.items() if n not in gaps}
            store = self.data.store_of(rows)
            hidden, group = {*self.structure.latents, *gaps}, partial(group_children, store)
            factors = make_factors(self.structure, self.data, numbers, numbers, hidden)
            for factor in factors:
                factor.check_size(len(rows))
            tree = self._grow(factors, hidden, (), asked, group)
            weights = self.data.dataset.weights[rows]
            here = self._place(targets, tree.open)
            parts.append(self._lay_rows(tree, store, columns, weights, rows, here, factors))
        return parts

    def _sort_by_gaps(self) -> tuple[list[str], BoolArray, LongArray]:
        """List the columns with gaps, the sets of them that are missing together, that of a row."""
        holes: dict[str, AnyArray] = {n: self.columns[n] < 0 for n in sorted(self.gaps)}
        holes |= self._holes
        missing = np.stack(list(holes.values()), axis=1)
        kinds, which = np.unique(missing, axis=0, return_inverse=True)
        return list(holes), kinds, which.ravel()

    def _check_work(self, factors: Sequence[GaussianFactor]) -> None:
        """Refuse what memory does not allow, or laying rows out by their gaps would save."""
        for factor in factors:
            factor.check_size(self.data.n_rows)
        work = sum(factor.measure_work(self.data.n_rows) for factor in factors if factor.open)
        if work <= LITTLE_WORK or not (self.gaps or self._holes):
            return
        if work > LAYOUT_WORK * len(self._sort_by_gaps()[1]):
            raise TooWideError("other layouts save time")

    def _find_empty(self) -> set[str]:
        """Find the continuous columns without any value."""
        return {name for name, holes in self._holes.items() if holes.all()}

    def _grow(
        self,
        factors: Sequence[GaussianFactor],
        hidden: Collection[str],
        gaps: Collection[str],
        asked: Collection[str],
        group: Group,
    ) -> CliqueTree:
        inside = [factor for factor in factors if factor.open]
        bits = {**self.data.bits, **{factor.key: factor.mask for factor in inside}}
        dense = [factor.item for factor in inside]
        return grow_cliques(self.structure, bits, hidden, gaps, asked, group, dense)

    def _lay_rows(
        self,
        tree: CliqueTree,
        store: PatternStore,
        columns: dict[str, AnyArray],
        weights: FloatArray,
        rows: LongArray,
        targets: Sequence[Target],
        factors: Sequence[GaussianFactor],
    ) -> LaidRows:
        measured = {factor.key: factor for factor in factors if factor.open}
        masks = {key: factor.mask for key, factor in measured.items()}
        laid = lay_rows(
            tree,
            store,
            columns,
            weights,
            rows,
            self.structure.n_values,
            targets,
            self.max_cells,
            masks,
        )
        laid.measured, laid.alone = measured, [each for each in factors if not each.open]
        return laid

    def _place(self, targets: Sequence[tuple[str, ...]], is_open: Collection[str]) -> list[Target]:
        """Say where the cells of targets go in the rows of a result."""
        places, start = [], 0
        for target in targets:
            shape = [self.structure.shape(name)[-1] for name in target]
            members = zip(target, find_strides(shape), strict=True)
            inside = tuple(Member(*m) for m in members if m[0] in is_open)
            if inside:
                places.append(Target(inside, start))
            start += math.prod(shape)
        return places
