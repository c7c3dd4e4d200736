"""Chains over orders or partitions of variables: samples of networks, and whether chains agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.averaging.chains import expect_arcs, run_chain
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
    def sums(self) -> FloatArray:
        """Logarithms of the sums over all subsets."""
        sums = np.ascontiguousarray(self.scores - self.scores.max(axis=1)[:, None])
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
        Levels of the variables, ``(n_chains, n_states, n)``.
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
        Levels of the variables, ``(n_chains, n)``.
    n_steps, n_states
        Steps of a chain, and how many states of its second half are kept.
    is_order
        Whether all levels differ.
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
    levels: LongArray,
    n_steps: int,
    n_states: int,
    is_order: bool,
    generator: np.random.Generator,
) -> tuple[LongArray, FloatArray, float]:
    """Walk the first half for nothing, and the second in as many pieces as states are kept."""
    interval = max(1, n_steps // 2 // n_states)
    states, scores = np.empty((n_states, len(levels)), np.int64), np.empty(n_states)
    n_accepted, none = 0, np.empty((n_states, len(levels)), np.int64)
    for first in range(0, n_steps // 2, PIECE):
        draws = generator.random((min(PIECE, n_steps // 2 - first), 4))
        n_accepted += run_chain(
            families.sums, families.candidates, levels, is_order, draws, PIECE + 1, none, scores
        )
    per_piece = max(1, PIECE // interval)
    for row in range(0, n_states, per_piece):
        rows = slice(row, min(row + per_piece, n_states))
        draws = generator.random((interval * (rows.stop - rows.start), 4))
        n_accepted += run_chain(
            families.sums,
            families.candidates,
            levels,
            is_order,
            draws,
            interval,
            states[rows],
            scores[rows],
        )
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
