"""The methods of search: against the best of all networks, constraints, clocks, determinism."""

import numpy as np
import pytest

from latentforest.inference.counts import CountingTable
from latentforest.search.dags.annealing import anneal
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.dags.dag import Dag, sort_topologically
from latentforest.search.dags.exact import find_best_parents, score_one_by_one
from latentforest.search.dags.family_scores import FamilyScores
from latentforest.search.dags.hill_climbing import climb, search_tabu
from latentforest.search.dags.order_search import OrderSearch
from latentforest.search.dags.search import METHODS, DagSearch, DagSearchSettings
from latentforest.search.dags.starts import (
    draw_random_parents,
    find_chow_liu_parents,
)
from reference.dags import is_acyclic, random_table, subsets

CARDS = (2, 3, 2, 2, 3, 2)


def open_search(seed=0, method="order", n_restarts=4, is_late=lambda: False, n_jobs=1, **arcs):
    table = CountingTable(random_table(seed, CARDS, 300))
    families = FamilyScores(table, "bic")
    constraints = read_constraints(table.names, **arcs)
    settings = DagSearchSettings(method, n_restarts, 20, 0, n_jobs)
    return DagSearch(families, constraints, settings, constraints.required, is_late)


def to_dag(parents):
    return [[j for j in range(len(parents)) if mask >> j & 1] for mask in parents]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_never_above_the_optimum_and_acyclic(method, seed):
    search = open_search(seed, method)
    parents = search.run()
    best, is_optimal = find_best_parents(search.families, search.constraints)
    assert is_optimal
    assert is_acyclic(to_dag(parents))
    assert search.sum(parents) == search.watch.highest <= search.sum(best)
    if method in ("order", "exact"):
        assert search.sum(parents) == search.sum(best)
    assert search.rows[-1]["best"] == search.watch.highest


@pytest.mark.parametrize("method", METHODS)
def test_constraints_hold_for_every_method(method):
    arcs = {
        "required": [("x5", "x0"), ("x0", "x3")],
        "forbidden": [("x1", "x2"), ("x2", "x1")],
        "tiers": [["x4", "x5"], ["x1"]],
        "max_parents": 2,
    }
    for seed in range(3):
        search = open_search(seed, method, **arcs)
        dag = to_dag(search.run())
        assert is_acyclic(dag)
        assert 5 in dag[0]
        assert 0 in dag[3]
        assert 1 not in dag[2]
        assert 2 not in dag[1]
        assert 1 not in dag[4] + dag[5]
        assert max(map(len, dag)) <= 2


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_repeats_change_nothing(method):
    found = [open_search(1, method, n_jobs=n_jobs).run() for n_jobs in (1, 1, 2)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("method", ["order", "hill-climbing", "tabu", "annealing"])
def test_when_the_time_is_up_the_best_so_far_is_kept(method):
    looks = iter(range(1_000_000))
    search = open_search(2, method, is_late=lambda: next(looks) >= 2)
    parents = search.run()
    assert search.stopped == "the time limit was reached"
    assert is_acyclic(to_dag(parents))
    assert search.sum(parents) >= search.sum(search.start)


@pytest.mark.parametrize("method", ["order", "hill-climbing", "tabu", "annealing"])
def test_ctrl_c_keeps_the_best_so_far(method):
    looks = iter(range(1_000_000))

    def is_late():
        if next(looks) == 2:
            raise KeyboardInterrupt
        return False

    search = open_search(2, method, is_late=is_late)
    parents = search.run()
    assert search.was_interrupted
    assert search.sum(parents) >= search.sum(search.start)


def test_an_order_gives_what_greedy_growth_gives():
    """The growth graph against growing and shrinking by hand, for some orders."""
    search = open_search(3)
    orders = OrderSearch(search.families, search.constraints)
    rng = np.random.default_rng(0)
    for _ in range(10):
        order = rng.permutation(len(CARDS))
        expected = [grow_and_shrink(search.families, order, j) for j in range(len(CARDS))]
        assert orders._graph.find_parents(order) == expected


def grow_and_shrink(families, order, child):
    before = order.tolist()[: order.tolist().index(child)]
    parents = 0
    while True:
        ways = [parents | 1 << j for j in sorted(before) if not parents >> j & 1]
        best = max(ways, key=lambda p: families.score(child, p), default=parents)
        if not families.score(child, best) > families.score(child, parents):
            break
        parents = best
    while parents:
        ways = [parents ^ 1 << j for j in range(len(CARDS)) if parents >> j & 1]
        best = max(ways, key=lambda p: families.score(child, p))
        if not families.score(child, best) > families.score(child, parents):
            break
        parents = best
    return parents


def test_moves_in_an_order_never_lower_its_score_and_end_at_the_best_place():
    search = open_search(4)
    graph = OrderSearch(search.families, search.constraints)._graph
    rng, n = np.random.default_rng(1), len(CARDS)
    nothing = np.zeros((n, n), bool)
    for _ in range(10):
        order = rng.permutation(n)
        before, column = order.copy(), int(order[2])
        gain = graph.move(order, np.array([column]), nothing, lambda: None)
        rest = [j for j in before.tolist() if j != column]
        places = [[*rest[:place], column, *rest[place:]] for place in range(n)]
        scores = [search.sum(graph.find_parents(np.array(each))) for each in places]
        reached = search.sum(graph.find_parents(order))
        assert reached == max(scores)
        assert gain == pytest.approx(reached - search.sum(graph.find_parents(before)), abs=1e-6)


def test_a_growth_graph_that_was_interrupted_goes_on():
    search = open_search(5)
    graph = OrderSearch(search.families, search.constraints)._graph
    order = np.arange(len(CARDS))
    expected = OrderSearch(search.families, search.constraints)._graph.find_parents(order)
    whole, graph._grow = graph._grow, lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        graph.find_parents(order)
    graph._grow = whole
    assert graph.find_parents(order) == expected


def test_tabu_goes_beyond_a_local_maximum():
    """On some tables; never below hill climbing."""
    gains = []
    for seed in range(12):
        search = open_search(seed)
        climbed = search.sum(climb(search.families, search.constraints))
        further = search.sum(search_tabu(search.families, search.constraints, None, 20, 20))
        assert further >= climbed
        gains.append(further - climbed)
    assert max(gains) > 0


def test_annealing_depends_on_its_random_numbers_only():
    search = open_search(0)
    found = [
        anneal(search.families, search.constraints, np.random.default_rng(seed), None, 500)
        for seed in (0, 0)
    ]
    assert found[0] == found[1]


def test_starts():
    search = open_search(1, required=[("x5", "x0")])
    tree = find_chow_liu_parents(search.families, search.constraints)
    assert sum(mask.bit_count() for mask in tree) < len(CARDS)
    assert search.sum(tree) > search.sum(search.constraints.required)
    drawn = draw_random_parents(search.families, search.constraints, np.random.default_rng(0))
    for parents in (tree, drawn):
        assert is_acyclic(to_dag(parents))
        assert parents[0] >> 5 & 1


def test_families_of_any_kind_are_scored_one_by_one():
    search = open_search(2, max_parents=2)
    scores = score_one_by_one(search.families, search.constraints)
    for child in range(len(CARDS)):
        others = [j for j in range(len(CARDS)) if j != child]
        for parents in subsets(others):
            mask = sum(1 << j for j in parents)
            place = sum(1 << others.index(j) for j in parents)
            expected = search.families.score(child, mask) if len(parents) <= 2 else -np.inf
            assert scores[child, place] == expected


def test_dags_know_their_ancestors():
    dag = Dag([0, 0b001, 0b010])
    assert dag.above == [0, 0b001, 0b011]
    assert not dag.can_add(0, 2)
    assert dag.can_turn(1, 0)
    dag.toggle(2, 0)
    assert not dag.can_turn(2, 0)  # there is the way over 1
    dag.toggle(2, 1)
    assert dag.above == [0, 0b001, 0b001]
    assert sort_topologically([0b010, 0b100, 0]).tolist() == [2, 1, 0]
