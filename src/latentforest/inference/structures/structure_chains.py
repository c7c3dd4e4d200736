"""Chains over orders or networks: probabilities of arcs, and whether chains agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.averaging.chains import expect_arcs, walk_networks, walk_orders
from latentforest.kernels.averaging.networks import add_subsets
from latentforest.kernels.types import FloatArray, LongArray

PIECE = 1 << 16  # steps whose random numbers are drawn at a time
NO_VARIANCE = 1e-4  # of a probability, below which chains agree if their means do


@dataclass(frozen=True)
class CandidateScores:
    """Scores of families with parents from a few candidates.

    Attributes
    ----------
    candidates
        Of each variable, ``(n, n_candidates)``; -1 after the last.
    scores
        Logarithms of weights of the sets of candidates, ``(n, 2^n_candidates)``, by bit masks;
        -inf for those that are ruled out.
    """

    candidates: LongArray
    scores: FloatArray

    @cached_property
    def weights(self) -> FloatArray:
        """Scores with each variable's highest at zero."""
        return np.ascontiguousarray(self.scores - self.scores.max(axis=1)[:, None])

    @cached_property
    def ranks(self) -> LongArray:
        """Sets that are not ruled out, the heaviest first."""
        order = np.argsort(-self.weights, axis=1, kind="stable").astype(np.int64)
        return order[:, : int(np.isfinite(self.weights).sum(axis=1).max())].copy()

    @cached_property
    def sums(self) -> FloatArray:
        """Logarithms of the sums over all subsets."""
        sums = self.weights.copy()
        for row in sums:
            add_subsets(row, self.candidates.shape[1])  # no variable is left out
        return sums

    def list_parents(self, variable: int, chosen: Mask) -> list[int]:
        """Turn a set of candidates into variables."""
        return [int(u) for c, u in enumerate(self.candidates[variable]) if chosen >> c & 1]


@dataclass(frozen=True)
class Chains:
    """What several chains visited.

    Attributes
    ----------
    states
        ``(n_chains, n_states, n)``: the places of the variables in an order, or their parents, as
        bit masks of their candidates.
    scores
        Logarithms of the states' weights, ``(n_chains, n_states)``.
    arcs
        Probabilities of arcs, ``(n, n)``, from row to column: means over all states.
    chain_arcs
        The same for each chain, ``(n_chains, n, n)``.
    r_hat
        The greatest of the arcs' and the scores' potential scale reductions, of halves of chains.
    acceptance
        Share of proposals that were accepted.
    """

    states: LongArray
    scores: FloatArray
    arcs: FloatArray
    chain_arcs: FloatArray
    r_hat: float
    acceptance: float

    @property
    def spread(self) -> float:
        """The greatest difference of an arc's probability between two chains."""
        return float(np.ptp(self.chain_arcs, axis=0).max())


def run_chains(
    families: CandidateScores,
    starts: LongArray,
    n_steps: int,
    n_states: int,
    is_order: bool,
    seed: int,
    n_jobs: int | None = None,
) -> Chains:
    """Run a chain from each start; the first half of its steps is left out.

    Parameters
    ----------
    families
        Candidates and their scores.
    starts
        The state in which each chain begins, ``(n_chains, n)``.
    n_steps, n_states
        Steps of a chain, and how many states of its second half are kept.
    is_order
        Whether states are orders, or networks.
    seed
        Of the random numbers; each chain has a stream of its own.
    n_jobs
        Threads; the result does not depend on it.
    """

    def run(number: int) -> tuple[LongArray, FloatArray, float]:
        generator = np.random.default_rng([seed, number])
        return _walk(families, starts[number].copy(), n_steps, n_states, is_order, generator)

    found = list(map_threads(run, range(len(starts)), count_threads(n_jobs)))
    states, scores = np.stack([each[0] for each in found]), np.stack([each[1] for each in found])
    arcs = [_expect(families, each, is_order) for each in states]
    chain_arcs = np.stack([_spread_out(families.candidates, each.mean(axis=0)) for each in arcs])
    halves = [half for each in arcs for half in np.array_split(each, 2)]
    score_halves = [half for each in scores for half in np.array_split(each[:, None, None], 2)]
    return Chains(
        states,
        scores,
        chain_arcs.mean(axis=0),
        chain_arcs,
        max(compute_r_hat(halves), compute_r_hat(score_halves)),
        float(np.mean([each[2] for each in found])),
    )


def _walk(
    families: CandidateScores,
    state: LongArray,
    n_steps: int,
    n_states: int,
    is_order: bool,
    generator: np.random.Generator,
) -> tuple[LongArray, FloatArray, float]:
    """Walk the first half for nothing; then write a state down every so many steps."""
    interval = max(1, n_steps // 2 // n_states)
    states, scores = np.empty((n_states, len(state)), np.int64), np.empty(n_states)

    def walk(length: int, every: int, rows: slice) -> int:
        draws = generator.random((length, 5))
        kept = (draws, every, states[rows], scores[rows])
        if is_order:
            return walk_orders(families.sums, families.candidates, state, *kept)
        return walk_networks(
            families.sums, families.weights, families.ranks, families.candidates, state, *kept
        )

    n_accepted = 0
    for first in range(0, n_steps // 2, PIECE):
        n_accepted += walk(min(PIECE, n_steps // 2 - first), PIECE + 1, slice(0, 0))
    per_piece = max(1, PIECE // interval)
    for row in range(0, n_states, per_piece):
        rows = slice(row, min(row + per_piece, n_states))
        n_accepted += walk(interval * (rows.stop - rows.start), interval, rows)
    return states, scores, n_accepted / (n_steps // 2 + interval * n_states)


def _expect(families: CandidateScores, states: LongArray, is_order: bool) -> FloatArray:
    arcs = np.empty((len(states), *families.candidates.shape))
    expect_arcs(families.sums, families.candidates, states, is_order, arcs)
    return arcs


def _spread_out(candidates: LongArray, values: FloatArray) -> FloatArray:
    """Turn values of candidates, ``(n, n_candidates)``, into a matrix from parent to child."""
    arcs = np.zeros((len(candidates), len(candidates)))
    child, place = np.nonzero(candidates >= 0)
    arcs[candidates[child, place], child] = values[child, place]
    return arcs


def compute_r_hat(pieces: list[FloatArray]) -> float:
    """Return the greatest potential scale reduction (Gelman and Rubin 1992) of some quantities.

    Parameters
    ----------
    pieces
        Values along each chain, ``(n_values, …)`` each.

    Examples
    --------
    >>> compute_r_hat([np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])]) < 1
    True
    """
    length = min(map(len, pieces))
    values = np.stack([piece[:length] for piece in pieces])
    within = values.var(axis=1, ddof=1).mean(axis=0) + NO_VARIANCE
    between = values.mean(axis=1).var(axis=0, ddof=1)
    return float(np.sqrt((length - 1) / length + between / within).max())
