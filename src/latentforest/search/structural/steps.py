"""Steps from one network to a better one: by expected scores, or by EM on each neighbour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.inference.patterns import Mask
from latentforest.inference.posterior_completions import CompletedTable
from latentforest.scores.families import FamilyPrior
from latentforest.search.changes import Change
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import ArcConstraints, check_tables, read_constraints
from latentforest.search.dags.exact import MOST_COLUMNS, find_best_parents
from latentforest.search.dags.family_scores import Arc, FamilyScores
from latentforest.search.dags.hill_climbing import climb
from latentforest.search.dags.search import METHODS, DagSearch, DagSearchSettings
from latentforest.search.dags.watch import Watch
from latentforest.search.structural.arcs import ArcChange, list_changes, to_masks, to_names
from latentforest.search.structural.fits import NetworkFits, ScoredNetwork, count_completed
from latentforest.ties import choose_best, is_higher

EXACT_COLUMNS = 12  # up to so many, the default method is exact
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
ROUGH_ROWS = 20_000  # of a completed table; of larger ones, a smaller one is searched first

Tiers = Sequence[str | Sequence[str]]
Check = Callable[[], None]  # called now and then; what it raises ends the work


@dataclass(frozen=True)
class StepSettings:
    """What structures are considered, and how.

    Attributes
    ----------
    search
        How a completed table is searched.
    criterion, prior
        Score there.
    required, forbidden, tiers, max_parents
        Constraints on all structures, by names.
    """

    search: DagSearchSettings
    criterion: str
    prior: FamilyPrior
    required: tuple[Arc, ...]
    forbidden: tuple[Arc, ...]
    tiers: Tiers | None
    max_parents: int | None

    def read_constraints(self, names: Sequence[str]) -> ArcConstraints:
        """Return the constraints on some variables, in their order."""
        return read_constraints(names, self.required, self.forbidden, self.max_parents, self.tiers)


class StructureStep(NamedTuple):
    """What a step led to, and how."""

    fitted: ScoredNetwork
    change: Change


class ExpectedScores:
    """Scores of families in a completed table, whose columns have an order of their own.

    Parameters
    ----------
    completed
        The table.
    use
        Criterion and constraints.
    order
        Of the columns; by default one that follows from what is in them.
    """

    def __init__(
        self, completed: CompletedTable, use: StepSettings, order: list[int] | None = None
    ) -> None:
        given = CountingTable(scatter_rows(completed.data))
        self.order = order_columns(given) if order is None else order
        self.table = given.reordered(self.order)
        self.names = self.table.names
        self.constraints = use.read_constraints(self.names)
        check_tables(self.table, self.constraints)
        self.scores = FamilyScores(self.table, use.criterion, use.prior)

    def sum(self, parents: Sequence[Mask]) -> float:
        """Return the expected score of a structure."""
        return sum(map(self.scores.score, range(len(parents)), parents))

    def search(
        self, start: Sequence[Mask], settings: DagSearchSettings, check: Check
    ) -> tuple[Mask, ...]:
        """Search all structures that are allowed."""
        if settings.method == "order" and self.table.n_columns <= EXACT_COLUMNS:
            return tuple(find_best_parents(self.scores, self.constraints)[0])
        search = DagSearch(self.scores, self.constraints, settings, start, _ask(check))
        found = search.run()
        if search.was_interrupted:
            raise KeyboardInterrupt
        return tuple(found)

    def climb(self, start: Sequence[Mask], check: Check) -> tuple[Mask, ...]:
        """Climb from a structure."""
        return tuple(climb(self.scores, self.constraints, start, Watch(None, _ask(check))))

    def find_best_change(self, parents: tuple[Mask, ...]) -> ArcChange | None:
        """Find the single change that raises the expected score most, if one does."""
        self._count_additions(parents)
        now = [self.scores.score(j, mask) for j, mask in enumerate(parents)]
        best, gain = None, 0.0
        for change in list_changes(parents, self.constraints):
            more = sum(
                self.scores.score(j, change.parents[j]) - now[j]
                for j in {change.parent, change.child}
                if change.parents[j] != parents[j]
            )
            if is_higher(more, gain):
                best, gain = change, more
        return best

    def _count_additions(self, parents: tuple[Mask, ...]) -> None:
        """Count all additions to a family in one pass, for those that ask one by one."""
        for child, mask in enumerate(parents):
            added = self.constraints.list_additions(self.scores, child, mask)
            if added:
                self.scores.score_additions(child, mask, added)


class StructureSteps:
    """Proposes structures for a network, and fits them.

    Parameters
    ----------
    fits
        The table, and EM on it.
    use
        What is considered.
    takes_one
        Whether a step changes a single arc.
    is_full
        Whether EM runs on each neighbour.
    """

    def __init__(
        self, fits: NetworkFits, use: StepSettings, takes_one: bool, is_full: bool
    ) -> None:
        self.fits, self.use, self.takes_one, self.is_full = fits, use, takes_one, is_full
        self.check: Check = lambda: None
        self._n_searches = 0

    def propose(self, model: ScoredNetwork) -> StructureStep | None:
        """Return the next network, fitted; nothing if no structure looks better."""
        self.check()
        if self.is_full:
            return self._try_all(model)
        completed = self.fits.complete(model.network)
        expected = ExpectedScores(completed, self.use)
        names, structure = expected.names, model.structure
        start = to_masks(names, {name: structure.parents(name) for name in names})
        if self.takes_one:
            change = expected.find_best_change(start)
            if change is None:
                return None
            parents, step = change.parents, describe_arc(change, names)
        else:
            parents, step = self._search(model, expected, start), Change("search")
        if parents == start:
            return None
        return StructureStep(self._fit(model, names, parents, completed), step)

    def _search(
        self, model: ScoredNetwork, expected: ExpectedScores, start: tuple[Mask, ...]
    ) -> tuple[Mask, ...]:
        """Search the completed table; if that has many rows, a rough one first.

        Each search has random numbers of its own.
        """
        settings = self.use.search
        settings = replace(settings, seed=settings.seed + self._n_searches)
        self._n_searches += 1
        if len(expected.table.weights) <= ROUGH_ROWS:
            return expected.search(start, settings, self.check)
        rough = ExpectedScores(self.fits.complete_roughly(model.network), self.use, expected.order)
        starts = [rough.search(start, settings, self.check), start]
        ends = [expected.climb(each, self.check) for each in dict.fromkeys(starts)]
        best: tuple[Mask, ...] = choose_best(ends, expected.sum)
        return best

    def _fit(
        self,
        model: ScoredNetwork,
        names: Sequence[str],
        parents: tuple[Mask, ...],
        completed: CompletedTable,
    ) -> ScoredNetwork:
        """Fit a structure by EM from the parameters that fit the completed table best."""
        structure = self.fits.build(model.network.variables, to_names(names, parents))
        return self.fits.fit(structure, count_completed(structure, completed))

    def _try_all(self, model: ScoredNetwork) -> StructureStep | None:
        """Run EM on every neighbour."""
        steps = list(self._fit_neighbours(model))
        return choose_best(steps, lambda step: step.fitted.score) if steps else None

    def _fit_neighbours(self, model: ScoredNetwork) -> Iterator[StructureStep]:
        completed = self.fits.complete(model.network)
        names, structure = model.network.names, model.structure
        start = to_masks(names, {name: structure.parents(name) for name in names})
        for change in list_changes(start, self.use.read_constraints(names)):
            self.check()
            fitted = self._fit(model, names, change.parents, completed)
            yield StructureStep(fitted, describe_arc(change, names))

    def read_constraints(self, variables: Sequence[Variable]) -> ArcConstraints:
        """Return the constraints on some variables, in their order."""
        return self.use.read_constraints([variable.name for variable in variables])


def scatter_rows(table: Dataset) -> Dataset:
    """Put rows in an order without order, which makes counting twice as fast.

    Completions of a row are much alike, and additions to one number wait for each other.
    """
    numbers = np.arange(table.n_rows, dtype=np.uint64) * SPREAD
    return table.take(np.argsort(numbers, kind="stable"))


def _ask(check: Check) -> Callable[[], bool]:
    """Make a question out of what raises an exception."""

    def ask() -> bool:
        check()
        return False

    return ask


def describe_arc(change: ArcChange, names: Sequence[str]) -> Change:
    """Name the arc that changes."""
    return Change(change.operator, (names[change.parent], names[change.child]))


def check_method(method: str, n_variables: int) -> None:
    """Refuse unknown methods, and exact search over many variables."""
    if method not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise ParameterError(f"method must be one of {known}, got {method!r}")
    if method == "exact" and n_variables > MOST_COLUMNS:
        raise ParameterError(
            f"exact search is possible for up to {MOST_COLUMNS} variables, got {n_variables}; "
            "use method='order'"
        )
