"""BGe: other priors, units, and what is refused."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import ParameterError
from latentforest.inference.moments import MomentTable
from latentforest.scores.families.bge import BGe
from reference.gaussian_families import log_marginal, random_mixed_table


def test_priors_in_the_units_of_the_columns():
    data = random_mixed_table(1, (), 3, 25)
    score = BGe(MomentTable(data), 2.0, 7.5, np.ones(3))
    prior = dict.fromkeys(data.names, 1.0)
    whole = log_marginal(data, list(data.names), 3, 2.0, 7.5, prior)
    part = log_marginal(data, ["x0", "x2"], 3, 2.0, 7.5, prior)
    assert score.score(1, [0, 2]) == pytest.approx(whole - part, abs=1e-9)


def test_units_change_a_constant_only():
    data = random_mixed_table(2, (), 3, 25)
    other = Dataset(data.variables, [1000.0 * column + 3.0 for column in data.columns])
    one, two = BGe(MomentTable(data)), BGe(MomentTable(other))
    constant = -25 * np.log(1000.0)
    for parents in ([], [0], [0, 2]):
        assert two.score(1, parents) == pytest.approx(one.score(1, parents) + constant, abs=1e-8)


def test_independent_columns_have_no_arcs():
    values = np.random.default_rng(3).normal(size=(2000, 4))
    score = BGe(MomentTable(Dataset([Variable(f"x{j}") for j in range(4)], list(values.T))))
    assert (score.score_additions(0, [], [1, 2, 3]) < score.score(0, [])).all()


def test_what_is_refused():
    table = MomentTable(random_mixed_table(1, (), 3, 10))
    with pytest.raises(ParameterError, match=r"mean_weight must be positive, got 0\.0"):
        BGe(table, 0.0)
    with pytest.raises(ParameterError, match="number of columns plus one, 4, got 4"):
        BGe(table, degrees=4)
