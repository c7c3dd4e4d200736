"""Simulated annealing over networks: random changes of arcs, at first also for the worse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.dag import Dag
from latentforest.search.dags.family_scores import ScoredFamilies
from latentforest.search.dags.hill_climbing import climb
from latentforest.search.dags.watch import NOBODY, Watch

HOT = 0.02  # first temperature, as a share of what a column alone scores on average
COLD = 0.5  # last temperature, in units of the score
STEPS_BETWEEN = 256  # between two looks at the clock


def anneal(
    families: ScoredFamilies,
    constraints: ArcConstraints,
    rng: np.random.Generator,
    start: Sequence[Mask] | None = None,
    n_steps: int | None = None,
    watch: Watch = NOBODY,
) -> list[Mask]:
    """Change random arcs while it cools down, then climb from the best structure on the way.

    Parameters
    ----------
    families, constraints
        Scores, and constraints on the arcs.
    rng
        Draws the changes.
    start
        Parents of each variable; by default the required ones.
    n_steps
        Changes that are tried; default 200 for each pair of columns, at least 2,000.
    watch
        Told of the best network now and then; may end the work.
    """
    n = families.n_columns
    dag = Dag(constraints.required if start is None else start)
    best, score, highest = list(dag.parents), 0.0, 0.0
    n_steps = max(2_000, 100 * n * (n - 1)) if n_steps is None else n_steps
    hot = max(HOT * abs(sum(families.score(j, 0) for j in range(n))) / n, COLD)
    for step, (child, parent, draw, turn) in enumerate(_draw_changes(n, n_steps, rng)):
        if step % STEPS_BETWEEN == 0:
            watch.tell(best)
        changes = _propose(families, constraints, dag, child, parent, turn)
        if not changes:
            continue
        gain = sum(
            families.score(j, dag.parents[j] ^ 1 << k) - families.score(j, dag.parents[j])
            for j, k in changes
        )
        temperature = hot * (COLD / hot) ** (step / n_steps)
        if gain >= 0 or draw < math.exp(gain / temperature):
            for j, k in changes:
                dag.toggle(j, k)
            score += gain
            if score > highest:
                best, highest = list(dag.parents), score
    return climb(families, constraints, best, watch)


def _draw_changes(
    n: int, n_steps: int, rng: np.random.Generator
) -> Iterator[tuple[int, int, float, bool]]:
    """Draw child, parent, a number from 0 to 1, and whether an arc would be turned around."""
    for _ in range(0, n_steps if n > 1 else 0, STEPS_BETWEEN):
        pairs = rng.integers(0, n, (STEPS_BETWEEN, 2)).tolist()
        draws, coins = rng.random((2, STEPS_BETWEEN)).tolist()
        for (child, parent), draw, coin in zip(pairs, draws, coins, strict=True):
            yield child, parent, draw, coin < 0.5


def _propose(
    families: ScoredFamilies,
    constraints: ArcConstraints,
    dag: Dag,
    child: int,
    parent: int,
    turn: bool,
) -> list[tuple[int, int]]:
    """Return the arcs to toggle, as (child, parent): none if the change is illegal."""
    if child == parent or constraints.required[child] >> parent & 1:
        return []
    if dag.parents[child] >> parent & 1:
        if not turn:
            return [(child, parent)]
        is_possible = constraints.can_add(families, parent, dag.parents[parent], child)
        is_legal = is_possible and dag.can_turn(child, parent)
        return [(child, parent), (parent, child)] if is_legal else []
    is_possible = constraints.can_add(families, child, dag.parents[child], parent)
    return [(child, parent)] if is_possible and dag.can_add(child, parent) else []
