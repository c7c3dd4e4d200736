"""Hill climbing: a local maximum, never above the exact one, within its constraints."""

import math

import pytest

from latentforest.inference.counts import CountingTable
from latentforest.search.dags import constraints as limits
from latentforest.search.dags import family_scores
from latentforest.search.dags.best import best_network
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.dags.family_scores import FamilyScores
from latentforest.search.dags.hill_climbing import climb, climb_both_ways
from reference.dags import (
    all_dags,
    as_dag,
    family_score,
    is_acyclic,
    random_table,
)


def neighbours(dag):
    """All networks that differ by one arc added, deleted or turned around."""
    for child in range(len(dag)):
        for parent in range(len(dag)):
            if child == parent:
                continue
            changed = [set(parents) for parents in dag]
            changed[child] ^= {parent}
            yield changed
            if parent in dag[child]:
                turned = [set(parents) for parents in changed]
                turned[parent].add(child)
                yield turned


def score(data, dag):
    return sum(family_score(data, j, tuple(sorted(parents))) for j, parents in enumerate(dag))


@pytest.mark.parametrize("seed", range(6))
def test_ends_at_a_local_maximum_below_the_exact_one(seed):
    data = random_table(seed, (2, 3, 2, 2, 4), 150)
    found = best_network(data, exact_columns=0)
    assert not found.is_optimal
    assert found.bic <= best_network(data).bic + 1e-7
    dag = as_dag(found.network, data.names)
    assert is_acyclic(dag)
    assert score(data, dag) == pytest.approx(found.bic)
    for other in neighbours(dag):
        assert not is_acyclic(other) or score(data, other) <= found.bic + 1e-7


def test_both_ways_are_tried_and_the_better_kept():
    better = set()
    for seed in range(20):
        table = CountingTable(random_table(seed, (2, 3, 2, 2, 4, 2), 300))
        scores, constraints = FamilyScores(table, "bic"), read_constraints(table.names)
        one, two, best = (
            sum(scores.score(j, mask) for j, mask in enumerate(parents))
            for parents in (
                climb(scores, constraints),
                climb(scores, constraints, last_first=True),
                climb_both_ways(scores, constraints),
            )
        )
        assert best == max(one, two)
        better.add(int(one > two) - int(one < two))
    assert better == {-1, 0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_steps_are_the_steepest(seed):
    """From any start: the path of a climber that scores every neighbour."""
    data = random_table(seed, (2, 3, 2, 2), 150)
    scores = FamilyScores(CountingTable(data), "bic")
    constraints = read_constraints(data.names)
    dags = all_dags(4)
    for start in dags[:: len(dags) // 20]:
        here, value = start, score(data, start)
        while True:
            ways = [[set(p) for p in w] for w in neighbours(here) if is_acyclic(w)]
            best = max(ways, key=lambda way: score(data, way))
            if score(data, best) <= value + 1e-7:
                break
            here, value = [tuple(sorted(p)) for p in best], score(data, best)
        masks = [sum(1 << p for p in parents) for parents in start]
        reached = climb(scores, constraints, masks)
        found = sum(scores.score(j, mask) for j, mask in enumerate(reached))
        assert found == pytest.approx(value, abs=1e-6)


def test_constraints_are_kept():
    for seed in range(6):
        data = random_table(seed, (2, 3, 2, 2, 3, 2), 400)
        required, forbidden = [("x5", "x0"), ("x0", "x3")], [("x1", "x2"), ("x2", "x1")]
        found = best_network(
            data, required=required, forbidden=forbidden, max_parents=1, exact_columns=0
        )
        parents = found.network.structure.parents
        assert all(parent in parents(child) for parent, child in required)
        assert not any(parent in parents(child) for parent, child in forbidden)
        assert all(len(parents(name)) <= 1 for name in data.names)
        exact = best_network(data, required=required, forbidden=forbidden, max_parents=1)
        assert found.bic <= exact.bic + 1e-7


def test_large_tables_are_never_made(monkeypatch):
    for module in (family_scores, limits):
        monkeypatch.setattr(module, "MOST_CELLS", 8.0)
    data = random_table(3, (2, 3, 2, 2, 4), 300)
    structure = best_network(data, "likelihood", exact_columns=0).network.structure
    assert max(math.prod(shape) for shape in structure.shapes.values()) == 8


def test_a_check_ends_the_work():
    class Late(Exception):
        pass

    def check():
        raise Late

    with pytest.raises(Late):
        best_network(random_table(0, (2, 2, 2), 50), exact_columns=0, check=check)
