"""Islands: groups of columns that one latent variable explains (Liu, Zhang et al. 2015).

An island grows around the pair of columns with the most mutual information, by the column closest
to it, as long as it passes the uni-dimensionality test: the best model with two latent variables
must not beat the best one with a single latent variable by more than a threshold of BIC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.estimation.small import (
    Counts,
    SmallModel,
    count_parameters,
    count_patterns,
)
from latentforest.estimation.small_rows import ANY_NUMBER, AnyFits, RowModel, SmallRows, read_rows
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.search.regularity import most_states
from latentforest.ties import choose_best, find_best, sort_best_first

Tell = Callable[[int, int], bool]  # columns done, islands so far; whether to go on


@dataclass(frozen=True)
class IslandSettings:
    """How islands are grown.

    Parameters
    ----------
    threshold
        By how much BIC must favour two latent variables for the test to fail.
    max_size
        Most columns of an island.
    max_states
        Most states of a latent variable.
    n_anchors
        Members of the island that take part in a test besides the new column and the member closest
        to it; none: all of them.
    """

    threshold: float = 3.0
    max_size: int = 30
    max_states: int | None = None
    n_anchors: int | None = 4


class IslandBuilder:
    """Splits the columns of a table into islands.

    Parameters
    ----------
    data
        The table.
    information
        Mutual information of all pairs of columns, ``(n_columns, n_columns)``.
    settings, seed
        How islands are grown, and the random numbers of the fits.
    """

    def __init__(
        self,
        data: PatternedData,
        information: FloatArray,
        settings: IslandSettings,
        seed: int,
    ) -> None:
        self.data, self.information, self.settings = data, information, settings
        self.fits = AnyFits(seed)
        self.pairs = ClosestPairs(information)
        self.was_interrupted = False

    def build(self, columns: Sequence[int], tell: Tell) -> list[list[int]]:
        """Return the members of each island, in the order in which they were found.

        When ``tell`` says so, or on Ctrl-C, the columns that are left go to the islands closest to
        them.
        """
        pairs, islands, goes_on = self.pairs, list[list[int]](), True
        pairs.keep(columns)
        try:
            while pairs.n_left > 1 and goes_on:
                island = self.grow()
                islands.append(island)
                pairs.remove(island)
                goes_on = tell(len(columns) - pairs.n_left, len(islands))
        except KeyboardInterrupt:
            if not islands:
                raise
            self.was_interrupted = True
            pairs.is_left[islands[-1]] = False
        self._deal_out(islands, pairs.left())
        return islands

    def _deal_out(self, islands: list[list[int]], columns: Sequence[int]) -> None:
        """Give columns to the islands with the member closest to them."""
        home = {member: island for island in islands for member in island}
        members = list(home)
        for j in columns:
            closest = members[find_best(self.information[j, members])]
            home[closest].append(j)

    def grow(self) -> list[int]:
        """OneIsland(V, D, δ)."""
        if self.pairs.n_left <= 3:
            return self.pairs.left()
        S = list(self.pairs.closest())
        closeness = np.maximum(self.information[S[0]], self.information[S[1]])
        while len(S) < min(self.settings.max_size, self.pairs.n_left):
            X = self.pairs.closest_to(closeness, S)
            if len(S) >= 3:  # with three columns, one latent variable is always enough
                W = S[find_best(self.information[S, X])]
                if not self.is_unidimensional(S, W, X):
                    S.remove(W)
                    break
            S.append(X)
            closeness = np.maximum(closeness, self.information[X])
        return S

    def is_unidimensional(self, S: Sequence[int], W: int, X: int) -> bool:
        """UD-test: whether one latent variable is enough for the island with a new column."""
        anchors = self._choose_anchors(S, W, X)
        counts = self.read([*anchors, W, X])
        is_far = np.zeros(len(anchors) + 2, np.bool_)
        is_far[-2:] = True
        m1 = self.fit_one(counts)
        limit = self._bic(m1) + self.settings.threshold
        m2 = self._fit_two(counts, is_far, limit)
        return self._bic(m2) <= limit

    def _choose_anchors(self, S: Sequence[int], W: int, X: int) -> list[int]:
        """The members closest to the two columns that might leave the island together."""
        others = [member for member in S if member != W]
        n = self.settings.n_anchors
        if n is None or len(others) <= n:
            return others
        closeness = self.information[W, others] + self.information[X, others]
        return [others[j] for j in sorted(sort_best_first(closeness)[:n])]

    def read(self, columns: Sequence[int]) -> Counts | SmallRows:
        """Take some columns: as a table of counts, or row by row if some are continuous."""
        variables = self.data.dataset.variables
        if all(variables[j].is_categorical for j in columns):
            return count_patterns(self.data, columns)
        return read_rows(self.data, columns)

    def fit_one(self, counts: Counts | SmallRows) -> SmallModel | RowModel:
        """LearnLCM: one more state as long as BIC rises.

        An island of two columns will get a neighbour, without which it would not be regular.
        """
        is_far = np.zeros(len(counts.cards), np.bool_)
        cards = [*counts.limits] if len(counts.limits) > 2 else [*counts.limits, 2]
        best = self.fits.fit(counts, 2)
        for n_states in range(3, self._limit(cards) + 1):
            if self._bound(counts, n_states, 1, is_far) <= self._bic(best):
                break
            model = self.fits.fit(counts, n_states)
            if self._bic(model) <= self._bic(best):
                break
            best = model
        return best

    def _fit_two(
        self, counts: Counts | SmallRows, is_far: BoolArray, limit: float
    ) -> SmallModel | RowModel:
        """LearnLTM-2L: a state for either variable as long as BIC rises, up to a limit.

        States that cannot lift BIC over the limit are not tried.
        """
        near, far = counts.limits[~is_far], counts.limits[is_far]
        best = self.fits.fit(counts, 2, 2, is_far)
        while self._bic(best) <= limit:
            sizes = ((best.n_near + 1, best.n_far), (best.n_near, best.n_far + 1))
            candidates = [
                self.fits.fit(counts, n_near, n_far, is_far)
                for n_near, n_far in sizes
                if n_near <= self._limit([*near, n_far])
                and n_far <= self._limit([*far, n_near])
                and self._bound(counts, n_near, n_far, is_far) > limit
            ]
            better = choose_best([best, *candidates], self._bic)
            if better is best:
                break
            best = better
        return best

    def _bic(self, model: SmallModel | RowModel) -> float:
        return model.bic(self.data.total_weight)

    def _bound(
        self, counts: Counts | SmallRows, n_near: int, n_far: int, is_far: BoolArray
    ) -> float:
        """No model with so many states has a higher BIC."""
        dimension = count_parameters(counts.cards, n_near, n_far, is_far)
        return counts.highest - 0.5 * dimension * float(np.log(self.data.total_weight))

    def _limit(self, neighbours: Sequence[int]) -> int:
        limit = most_states([int(card) for card in neighbours])
        if max(neighbours) >= ANY_NUMBER:  # a continuous column bounds no number of states
            limit = ANY_NUMBER
        return limit if self.settings.max_states is None else min(limit, self.settings.max_states)


class ClosestPairs:
    """Finds, among the columns that are left, those with the most mutual information.

    Every column remembers its closest partner; after a removal only those that lost theirs look
    for another.
    """

    def __init__(self, information: FloatArray) -> None:
        self.information = information
        n = len(information)
        self.is_left = np.zeros(n, np.bool_)
        self.partner = np.zeros(n, np.int64)
        self.value = np.full(n, -np.inf)

    @property
    def n_left(self) -> int:
        """Number of columns that are left."""
        return int(np.count_nonzero(self.is_left))

    def left(self) -> list[int]:
        """The columns that are left."""
        return [int(j) for j in np.flatnonzero(self.is_left)]

    def keep(self, columns: Sequence[int]) -> None:
        """Begin with these columns."""
        self.is_left[:] = False
        self.is_left[list(columns)] = True
        self._look_again(np.flatnonzero(self.is_left))

    def remove(self, columns: Sequence[int]) -> None:
        """Take columns away."""
        self.is_left[columns] = False
        self.value[columns] = -np.inf
        lonely = self.is_left & ~self.is_left[self.partner]
        self._look_again(np.flatnonzero(lonely))

    def _look_again(self, columns: np.ndarray) -> None:
        for j in columns:
            row = np.where(self.is_left, self.information[j], -np.inf)
            row[j] = -np.inf
            self.partner[j] = find_best(row)
            self.value[j] = row[self.partner[j]]

    def closest(self) -> tuple[int, int]:
        """The closest pair."""
        first = find_best(self.value)
        return first, int(self.partner[first])

    def closest_to(self, closeness: FloatArray, members: Sequence[int]) -> int:
        """The column that is closest to some members."""
        row = np.where(self.is_left, closeness, -np.inf)
        row[list(members)] = -np.inf
        return find_best(row)
