"""Tables completed by posteriors: enumeration, totals, what is left out, bad input."""

import numpy as np
import pytest

from latentforest import Dataset, Network, Structure, Variable
from latentforest.errors import DataError, DataWarning, ModelError
from latentforest.inference.posterior_completions import complete_table
from reference.posterior_completions import complete_by_enumeration
from reference.random_networks import fill_randomly

YES_NO = ("no", "yes")
STRUCTURE = Structure(
    [Variable.hidden("Y", 2), Variable.hidden("Z", 3)]
    + [Variable(f"X{i}", ("a", "b", "c")) for i in range(4)]
    + [Variable("one", ("only",)), Variable("X4", YES_NO)],
    {"X0": ("Y", "Z"), "X1": ("Y",), "X2": ("Z", "X1"), "X3": ("X0", "X2"), "X4": ("one", "X3")},
)
CHAIN = Structure(
    [Variable(f"C{i:02}", YES_NO) for i in range(24)],
    {f"C{i:02}": f"C{i - 1:02}" for i in range(1, 24)},
)


def with_gaps(table, share, seed):
    generator = np.random.default_rng(seed)
    columns = [np.where(generator.random(len(c)) < share, -1, c) for c in table.columns]
    return Dataset(table.variables, columns, generator.choice([0.5, 1.0, 3.0], table.n_rows))


def as_dictionary(data):
    rows = map(tuple, np.stack(data.columns, axis=1).tolist())
    return dict(zip(rows, data.weights.tolist(), strict=True))


@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_completions_are_those_of_enumeration(seed, zeros):
    network = fill_randomly(STRUCTURE, seed, zeros)
    table = with_gaps(network.sample(60, random_state=seed), 0.4, seed)
    found = complete_table(network, table, negligible=0.0)
    expected = complete_by_enumeration(network, table)
    assert as_dictionary(found.data) == pytest.approx(expected, rel=1e-10)
    assert found.data.variables == network.variables
    assert found.left_out == pytest.approx(0.0, abs=1e-12)


def test_a_complete_table_stays_as_it_is():
    network = fill_randomly(CHAIN, 0, 0.0)
    table = network.sample(20, random_state=0)
    found = complete_table(network, table)
    assert as_dictionary(found.data) == as_dictionary(table.merged()[0])
    assert found.left_out == 0.0


def test_many_completions_are_cut_where_little_is_left():
    network = fill_randomly(CHAIN, 1, 0.0)
    row = network.sample(1, random_state=0)
    gaps = [np.full(1, -1) if 4 <= j < 14 else column for j, column in enumerate(row.columns)]
    table = Dataset(row.variables, gaps, [2.0])
    found = complete_table(network, table, exact=100)
    exact = as_dictionary(complete_table(network, table, exact=1024, negligible=0.0).data)
    kept = as_dictionary(found.data)
    best = sorted(exact, key=exact.__getitem__, reverse=True)[: len(kept)]
    assert len(kept) < len(exact) == 1024
    assert set(kept) == set(best)
    mass = sum(exact[row] for row in best) / 2.0
    assert 1e-4 >= found.left_out == pytest.approx(1.0 - mass)
    assert found.data.total_weight == pytest.approx(2.0)


def test_what_is_left_out_is_told():
    network = fill_randomly(CHAIN, 2, 0.0)
    table = Dataset(CHAIN.variables, [np.full(1, -1)] * 24)
    with pytest.warns(DataWarning, match=r"completions that hold \d+\.\d% of the rows"):
        found = complete_table(network, table, most=50)
    assert found.data.n_rows == found.n_completions == 50
    assert found.data.total_weight == pytest.approx(1.0)
    assert 0.01 < found.left_out < 1.0


def test_threads_do_not_matter():
    network = fill_randomly(STRUCTURE, 0, 0.0)
    table = with_gaps(network.sample(1500, random_state=0), 0.3, 0)
    one, two = (complete_table(network, table, n_jobs=n).data for n in (1, 2))
    assert as_dictionary(one) == as_dictionary(two)


def test_rows_without_probability_are_refused():
    a, b = Variable("a", YES_NO), Variable("b", YES_NO)
    tables = {"a": [1.0, 0.0], "b": [[1.0, 0.0], [0.5, 0.5]]}
    network = Network.from_tables([a, b], {"b": "a"}, tables)
    for columns in ([[-1], [1]], [[1], [-1]]):
        with pytest.raises(ModelError, match="probability zero"):
            complete_table(network, Dataset([a, b], columns))


def test_tables_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr("latentforest.inference.posterior_completions.MOST_CELLS", 8.0)
    variables = [Variable(f"x{i}", YES_NO) for i in range(4)]
    network = fill_randomly(Structure(variables, {"x3": ("x0", "x1", "x2")}), 0, 0.0)
    with pytest.raises(ModelError, match="max_parents"):
        complete_table(network, Dataset(variables, [[-1]] * 4))


def test_columns_must_be_those_of_the_network():
    network = fill_randomly(CHAIN, 0, 0.0)
    others = [Variable("C00"), *CHAIN.variables[1:]]
    with pytest.raises(DataError, match="continuous"):
        complete_table(network, Dataset(others, [[1.5], *[[0]] * 23]))
    others = [Variable("C00", ("yes", "no")), *CHAIN.variables[1:]]
    with pytest.raises(DataError, match="has states"):
        complete_table(network, Dataset(others, [[0]] * 24))
