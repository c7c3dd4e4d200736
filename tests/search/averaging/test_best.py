"""The best networks in order, against all networks of four columns."""

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.structures.ranked_networks import rank_networks
from latentforest.search.averaging.best import best_networks
from reference.dags import all_dags, random_table, score_all
from reference.network_sums import list_masks


@pytest.mark.parametrize("seed", range(3))
def test_all_networks_in_order(seed):
    scores = np.random.default_rng(seed).integers(-4, 4, (4, 16)).astype(float)  # many ties
    for v in range(4):
        scores[v, (np.arange(16) >> v & 1) == 1] = -np.inf
    scores[0, 6] = -np.inf
    masks = list_masks(4)
    values = scores[np.arange(4), masks].sum(axis=1)
    expected = dict(zip(map(tuple, masks.tolist()), values.tolist(), strict=True))
    found = list(rank_networks(scores))
    assert [score for score, _ in found] == sorted(values[values > -np.inf], reverse=True)
    assert len({tuple(parents) for _, parents in found}) == len(found)
    assert all(expected[tuple(parents)] == score for score, parents in found)


def test_of_a_table():
    data = random_table(2, (2, 3, 2, 2), 100)
    values = sorted(score_all(data, all_dags(4)), reverse=True)
    found = best_networks(data, 30)
    assert [each.score for each in found] == pytest.approx(values[:30], abs=1e-7)
    assert len({each.structure for each in found}) == 30


def test_constraints_and_bounds():
    data = random_table(2, (2, 3, 2, 2), 100)
    given = {"required": [("x0", "x3")], "forbidden": [("x1", "x2")], "max_parents": 1}
    found = best_networks(data, 1000, **given)
    assert 0 < len(found) < 543
    for each in found:
        assert each.structure.parents("x3") == ("x0",)
        assert each.structure.parents("x2") != ("x1",)
        assert all(len(each.structure.parents(name)) <= 1 for name in data.names)
    with pytest.raises(ParameterError, match="up to 16 columns, got 17"):
        best_networks(random_table(0, (2,) * 17, 5), 2)
