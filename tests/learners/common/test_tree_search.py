"""What the searches for latent trees share."""

import numpy as np
import pytest

from latentforest import EAST
from latentforest.data.dataset import Dataset


@pytest.mark.parametrize(("n_columns", "n_reserves"), [(7, 3), (60, 20)])
def test_reserves_grow_with_the_number_of_columns(n_columns, n_reserves):
    table = Dataset.from_table(np.zeros((2, n_columns), int))
    assert EAST()._count_reserves(table) == n_reserves
    assert EAST(n_reserves=5)._count_reserves(table) == 5
