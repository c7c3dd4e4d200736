"""Probabilities of arcs, averaged over networks of the columns: exactly, or by Markov chains.

A network's weight is exp(score). With a score like BDeu that is its evidence, with BIC about that.
The prior over structures is uniform over networks unless another one is asked for.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask
from latentforest.inference.structures.network_sums import (
    MOST_COLUMNS,
    STRUCTURE_PRIORS,
    NetworkSum,
    add_up_networks,
)
from latentforest.inference.structures.structure_chains import CandidateScores, Chains, run_chains
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.scores.families import FamilyPrior, SampleSize
from latentforest.search.averaging.families import score_all_families, score_candidates
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import ArcConstraints, check_tables, read_constraints
from latentforest.search.dags.family_scores import Arc, FamilyScores

EXACT_COLUMNS = 16  # up to so many, averages are exact unless told otherwise
CHAIN_PARENTS = 4  # most parents in chains unless told otherwise
CONVERGED = 1.05  # the greatest R-hat with which chains are said to agree


@dataclass(frozen=True)
class ChainSettings:
    """How long chains are.

    Attributes
    ----------
    n_chains
        From different random starts.
    n_steps
        Of each chain; its first half is left out.
    n_states
        States of the second half that are kept.
    n_candidates
        For the parents of a column.
    """

    n_chains: int = 4
    n_steps: int = 200_000
    n_states: int = 1000
    n_candidates: int = 10

    def __post_init__(self) -> None:
        for name, least in (("n_chains", 2), ("n_states", 4), ("n_candidates", 1)):
            _check_whole(name, getattr(self, name), least)
        _check_whole("n_steps", self.n_steps, max(16, 2 * self.n_states))
        if self.n_candidates > MOST_COLUMNS:
            raise ParameterError(
                f"n_candidates must be at most {MOST_COLUMNS}, got {self.n_candidates}"
            )


@dataclass(frozen=True)
class NetworkAverage:
    """Probabilities of arcs under the posterior of the structures.

    Attributes
    ----------
    names
        Of the columns.
    arcs
        Probability of each arc, ``(n, n)``: from row to column.
    paths
        Probability of a directed path from row to column, if it is known: exact averages with the
        prior "networks".
    prior
        "networks": uniform over networks. "orders": uniform over pairs of a network and an order
        of its variables with parents first; it favours networks that allow many orders.
    is_exact
        Whether nothing was sampled.
    log_total
        Logarithm of the sum of all networks' weights, if exact; otherwise nan.
    error
        Exact: how far probabilities are from one in sum. Chains: the greatest difference of an
        arc's probability between chains.
    r_hat
        Chains: the greatest potential scale reduction of arcs and scores; otherwise one.
    chains
        What the chains visited.
    """

    names: tuple[str, ...]
    arcs: FloatArray
    paths: FloatArray | None
    prior: str
    is_exact: bool
    log_total: float
    error: float
    r_hat: float = 1.0
    chains: Chains | None = None

    @property
    def is_converged(self) -> bool:
        """Whether the chains agree, or there was no need of chains."""
        return self.r_hat <= CONVERGED

    @property
    def edges(self) -> FloatArray:
        """Probability of an edge in either direction, ``(n, n)``."""
        both: FloatArray = self.arcs + self.arcs.T
        return both

    def to_table(self) -> Table:
        """Return the edges with their probabilities and those of both arcs, the greatest first."""
        left, right = np.triu_indices(len(self.names), 1)
        values = self.edges[left, right]
        order = np.argsort(-values, kind="stable")
        left, right = left[order], right[order]
        return Table(
            {
                "left": [self.names[i] for i in left],
                "right": [self.names[j] for j in right],
                "probability": values[order].tolist(),
                "forward": self.arcs[left, right].tolist(),
                "backward": self.arcs[right, left].tolist(),
            }
        )


def average_networks(
    data: Any,
    criterion: str = "bic",
    prior: str = "networks",
    *,
    equivalent_sample_size: SampleSize = 1.0,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    max_parents: int | None = None,
    exact_columns: int = EXACT_COLUMNS,
    chains: ChainSettings | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NetworkAverage:
    """Average over all networks of the columns of a complete categorical table.

    Parameters
    ----------
    data
        A table of categorical columns without missing values; states that occur count.
    criterion
        Score of a network, as for ``FamilyScores``; its weight is exp(score).
    prior
        "networks" (uniform over networks) or "orders".
    equivalent_sample_size
        Observations that the prior of "bdeu" is worth.
    required, forbidden
        Arcs as pairs (parent, child).
    max_parents
        At most so many parents of a column; four in chains, unless told otherwise.
    exact_columns
        So many columns or fewer are averaged over exactly; at most 20.
    chains
        Of more columns.
    random_state
        Seed of the chains.
    n_jobs
        Threads of the chains; the result does not depend on it.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> average = average_networks(load("role-conflict"))
    >>> average.is_exact, round(float(average.edges[1, 3]), 3)
    (True, 0.995)
    """
    if prior not in STRUCTURE_PRIORS:
        known = ", ".join(map(repr, STRUCTURE_PRIORS))
        raise ParameterError(f"prior must be one of {known}, got {prior!r}")
    data = data if isinstance(data, Dataset) else Dataset.from_table(data)
    given = CountingTable(data.with_seen_states())
    order = order_columns(given)
    table = given.reordered(order)
    is_exact = table.n_columns <= min(exact_columns, MOST_COLUMNS)
    if max_parents is None and not is_exact:
        max_parents = CHAIN_PARENTS
    constraints = read_constraints(table.names, required, forbidden, max_parents)
    check_tables(table, constraints)
    scores = FamilyScores(table, criterion, FamilyPrior(equivalent_sample_size))
    back = np.argsort(order)
    if is_exact:
        found = add_up_networks(score_all_families(scores, constraints), prior)
        return _describe_sum(data, found, back, prior)
    settings = chains or ChainSettings()
    families = score_candidates(scores, constraints, settings.n_candidates)
    walked = sample_networks(families, constraints, settings, prior, random_state, n_jobs)
    return _describe_chains(data, walked, back, prior)


def sample_networks(
    families: CandidateScores,
    constraints: ArcConstraints,
    settings: ChainSettings,
    prior: str,
    seed: int,
    n_jobs: int | None = None,
) -> Chains:
    """Run chains over orders or networks, as the prior says.

    Chains over orders begin anywhere. They get about more easily, so each chain over networks
    begins with a network drawn from the end of one of them.
    """
    generator = np.random.default_rng(seed)
    n_chains, n_steps, n_states = settings.n_chains, settings.n_steps, settings.n_states
    starts = np.stack([_draw_order(families, constraints, generator) for _ in range(n_chains)])
    seeds = generator.integers(2**31 - 1, size=3).tolist()
    is_order = prior == "orders"
    if not is_order:
        walked = run_chains(families, starts, n_steps // 2, 4, True, seeds[1], n_jobs)
        drawing = np.random.default_rng(seeds[2])
        ends = walked.states[:, -1]
        starts = np.array(
            [[_draw_family(families, end, v, drawing) for v in range(len(end))] for end in ends]
        )
    return run_chains(families, starts, n_steps, n_states, is_order, seeds[0], n_jobs)


def draw_parents(
    families: CandidateScores, chains: Chains, is_order: bool, n_draws: int, seed: int
) -> Iterator[list[Mask]]:
    """Draw networks from the chains' states, evenly spaced, as parents of each variable."""
    states = chains.states.reshape(-1, chains.states.shape[-1])
    generator = np.random.default_rng(seed)
    for row in np.linspace(0, len(states) - 1, n_draws).round().astype(int):
        chosen = states[row].tolist()
        if is_order:
            chosen = [_draw_family(families, states[row], v, generator) for v in range(len(chosen))]
        yield [
            sum(1 << u for u in families.list_parents(v, members))
            for v, members in enumerate(chosen)
        ]


def _draw_family(
    families: CandidateScores, order: LongArray, variable: int, generator: np.random.Generator
) -> Mask:
    """Draw candidates that come before a variable."""
    weights, around = families.weights[variable], families.candidates[variable]
    earlier = sum(1 << c for c, u in enumerate(around) if u >= 0 and order[u] < order[variable])
    allowed = _list_subsets(len(weights), earlier)
    shares = np.exp(weights[allowed] - weights[allowed].max())
    return int(allowed[generator.choice(len(allowed), p=shares / shares.sum())])


def _list_subsets(n_sets: int, members: Mask) -> LongArray:
    sets: LongArray = np.arange(n_sets, dtype=np.int64)
    inside: LongArray = sets[(sets & ~members) == 0]
    return inside


def _draw_order(
    families: CandidateScores, constraints: ArcConstraints, generator: np.random.Generator
) -> LongArray:
    """Draw the places of the variables in an order with required parents first."""
    left = list(range(len(families.candidates)))
    order = np.zeros(len(left), np.int64)
    for place in range(len(left)):
        free = [v for v in left if not any(u in left for u in list_bits(constraints.required[v]))]
        chosen = int(generator.choice(free))
        order[chosen] = place
        left.remove(chosen)
    return order


def _describe_sum(data: Dataset, found: NetworkSum, back: Any, prior: str) -> NetworkAverage:
    paths = None if found.paths is None else found.paths[np.ix_(back, back)]
    arcs = found.arcs[np.ix_(back, back)]
    return NetworkAverage(data.names, arcs, paths, prior, True, found.log_total, found.error)


def _describe_chains(data: Dataset, walked: Chains, back: Any, prior: str) -> NetworkAverage:
    arcs = walked.arcs[np.ix_(back, back)]
    return NetworkAverage(
        data.names, arcs, None, prior, False, np.nan, walked.spread, walked.r_hat, walked
    )


def _check_whole(name: str, value: Any, least: int) -> None:
    if not (isinstance(value, numbers.Integral) and int(value) >= least):
        raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
