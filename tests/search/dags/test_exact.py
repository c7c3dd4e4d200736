"""Exact search against all networks over three and four columns."""

import numpy as np
import pytest

from latentforest.data import Dataset, Variable
from latentforest.errors import ParameterError
from latentforest.search.dags import constraints as limits
from latentforest.search.dags import exact
from latentforest.search.dags.best import best_network
from reference.dags import all_dags, as_dag, random_table, score_all

TABLES = [
    ((2, 2, 2, 2), 60, "ones"),
    ((2, 3, 2, 4), 300, "whole"),
    ((3, 2, 3), 40, "broken"),
    ((2, 2, 2, 2), 5, "ones"),
    ((1, 2, 2, 3), 50, "ones"),
]


def test_number_of_networks():
    assert [len(all_dags(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]


@pytest.mark.parametrize("criterion", ["bic", "aic", "likelihood", "k2", "bdeu"])
@pytest.mark.parametrize(("cards", "n_rows", "weights"), TABLES)
def test_equals_the_best_of_all(cards, n_rows, weights, criterion):
    for seed in range(4):
        data = random_table(seed, cards, n_rows, weights)
        dags = all_dags(len(cards))
        scores = dict(zip(dags, score_all(data, dags, criterion), strict=True))
        found = best_network(data, criterion)
        assert found.is_optimal
        dag = as_dag(found.network, data.names)
        assert scores[dag] == pytest.approx(max(scores.values()), abs=1e-7)


def test_constraints_against_all_that_meet_them():
    for seed in range(6):
        data = random_table(seed, (2, 3, 2, 2), 200)
        dags = [
            dag
            for dag in all_dags(4)
            if 0 in dag[1] and 3 in dag[2] and 2 not in dag[0] and max(map(len, dag)) <= 2
        ]
        scores = dict(zip(dags, score_all(data, dags), strict=True))
        found = best_network(
            data,
            required=[("x0", "x1"), ("x3", "x2")],
            forbidden=[("x2", "x0")],
            max_parents=2,
        )
        assert scores[as_dag(found.network, data.names)] == pytest.approx(max(scores.values()))


def test_parents_that_a_bound_leaves_out_are_never_best(monkeypatch):
    """The same network with no bound on the size of families."""
    for seed in range(5):
        data = random_table(seed, (2, 3, 2, 2, 4, 2), 25)
        bounded = best_network(data)
        with monkeypatch.context() as patch:
            patch.setattr(exact, "_limit_cells", lambda *_: np.inf)
            assert best_network(data).network == bounded.network


def test_large_tables_are_left_out_and_said_so(monkeypatch):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (2, 400))
    variables = [Variable(name, ("0", "1")) for name in "abc"]
    data = Dataset(variables, [*columns, columns[0] ^ columns[1]])
    assert best_network(data).network.structure.dimension == 6
    for module in (exact, limits):
        monkeypatch.setattr(module, "MOST_CELLS", 4.0)
    found = best_network(data)
    assert not found.is_optimal
    assert found.network.structure.dimension == 3


def test_too_many_columns():
    data = random_table(0, (2,) * 23, 10)
    with pytest.raises(ParameterError, match="up to 22 columns, got 23; use method"):
        best_network(data, exact_columns=30)
