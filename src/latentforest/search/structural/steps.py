"""Steps from one network to a better one: by expected scores, or by EM on each neighbour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from latentforest.data.variable import Variable
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask
from latentforest.inference.posterior_completions import CompletedTable
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import Arc, ArcConstraints, check_tables, read_constraints
from latentforest.search.dags.exact import MOST_COLUMNS, find_best_parents
from latentforest.search.dags.family_scores import FamilyScores
from latentforest.search.dags.hill_climbing import climb, climb_both_ways
from latentforest.search.structural.arcs import ArcChange, list_changes, to_masks, to_names
from latentforest.search.structural.fits import NetworkFits, ScoredNetwork, count_completed
from latentforest.ties import choose_best, is_higher

METHODS = ("order", "hill-climbing", "exact")
EXACT_COLUMNS = 12  # up to so many, the default method is exact
ROUGH_ROWS = 20_000  # of a completed table; of larger ones, a smaller one is searched first

Check = Callable[[], None]  # called now and then; what it raises ends the work


@dataclass(frozen=True)
class StepSettings:
    """What structures are considered, and how.

    Attributes
    ----------
    method, criterion, equivalent_sample_size
        Of the search on a completed table.
    required, forbidden, max_parents
        Constraints on all structures, by names.
    """

    method: str
    criterion: str
    equivalent_sample_size: float
    required: tuple[Arc, ...]
    forbidden: tuple[Arc, ...]
    max_parents: int | None


class StructureStep(NamedTuple):
    """What a step led to; ``operator`` says how."""

    fitted: ScoredNetwork
    operator: str


def make_scores(table: CountingTable, use: StepSettings) -> FamilyScores:
    """Return the scores of families: the one place that knows the criteria there are."""
    return FamilyScores(table, use.criterion)


def search_parents(
    scores: FamilyScores,
    constraints: ArcConstraints,
    start: Sequence[Mask],
    use: StepSettings,
    check: Check,
) -> list[Mask]:
    """Search a complete table: the one place that knows the searches there are."""
    if use.method == "exact" or (use.method == "order" and scores.n_columns <= EXACT_COLUMNS):
        return find_best_parents(scores, constraints)[0]
    best = climb_both_ways(scores, constraints, check)
    if list(start) != list(constraints.required):
        ends = [best, climb(scores, constraints, start, check)]
        best = choose_best(ends, lambda parents: sum_scores(scores, parents))
    return best


def sum_scores(scores: FamilyScores, parents: Sequence[Mask]) -> float:
    """Return the score of a structure."""
    return sum(map(scores.score, range(len(parents)), parents))


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
        given = CountingTable(completed.data)
        self.order = order_columns(given) if order is None else order
        self.table = given.reordered(self.order)
        self.names = self.table.names
        self.constraints = read_constraints(
            self.names, use.required, use.forbidden, use.max_parents
        )
        check_tables(self.table, self.constraints)
        self.scores = make_scores(self.table, use)

    def sum(self, parents: Sequence[Mask]) -> float:
        """Return the expected score of a structure."""
        return sum_scores(self.scores, parents)

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
            added = list_bits(self.constraints.allowed[child] & ~mask)
            if added and mask.bit_count() < self.constraints.max_parents:
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

    @property
    def is_whole_search(self) -> bool:
        """Whether a step is a whole search, so that a complete table needs one step only."""
        return not (self.takes_one or self.is_full)

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
            parents, operator = change.parents, describe_change(change, names)
        else:
            parents, operator = self._search(model, expected, start), self.use.method
        if parents == start:
            return None
        return StructureStep(self._fit(model, names, parents, completed), operator)

    def _search(
        self, model: ScoredNetwork, expected: ExpectedScores, start: tuple[Mask, ...]
    ) -> tuple[Mask, ...]:
        """Search the completed table; if that has many rows, a rough one first."""
        if len(expected.table.weights) <= ROUGH_ROWS or self.fits.is_complete(model.structure):
            return tuple(self._search_table(expected, start))
        rough = ExpectedScores(self.fits.complete_roughly(model.network), self.use, expected.order)
        starts = [tuple(self._search_table(rough, start)), start]
        ends = [
            climb(expected.scores, expected.constraints, each, self.check)
            for each in dict.fromkeys(starts)
        ]
        best: list[Mask] = choose_best(ends, expected.sum)
        return tuple(best)

    def _search_table(self, expected: ExpectedScores, start: tuple[Mask, ...]) -> list[Mask]:
        return search_parents(expected.scores, expected.constraints, start, self.use, self.check)

    def _fit(
        self,
        model: ScoredNetwork,
        names: tuple[str, ...],
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
        constraints = self.read_constraints(model.network.variables)
        start = to_masks(names, {name: structure.parents(name) for name in names})
        for change in list_changes(start, constraints):
            self.check()
            fitted = self._fit(model, names, change.parents, completed)
            yield StructureStep(fitted, describe_change(change, names))

    def read_constraints(self, variables: tuple[Variable, ...]) -> ArcConstraints:
        """Return the constraints on some variables, in their order."""
        names = [variable.name for variable in variables]
        use = self.use
        return read_constraints(names, use.required, use.forbidden, use.max_parents)


def describe_change(change: ArcChange, names: tuple[str, ...]) -> str:
    """Write a change of an arc."""
    return f"{change.operator} {names[change.parent]} -> {names[change.child]}"


def check_method(method: str, n_variables: int) -> None:
    """Refuse unknown methods, and exact search over many variables."""
    if method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == "exact" and n_variables > MOST_COLUMNS:
        raise ParameterError(
            f"exact search is possible for up to {MOST_COLUMNS} variables, got {n_variables}; "
            "use method='order'"
        )
