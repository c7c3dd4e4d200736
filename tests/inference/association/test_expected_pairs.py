"""Expected counts of pairs against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Variable
from latentforest.inference.association.expected_pairs import expected_pairs
from latentforest.model import Structure
from reference.completion import complete, count
from reference.random_networks import fill_randomly


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.3, 0.8]))
def test_all_pairs(seed, missing):
    rng = np.random.default_rng(seed)
    n = 5
    variables = [Variable(f"x{i}", tuple("abc"[: rng.integers(2, 4)])) for i in range(n)]
    parents = {f"x{i}": f"x{rng.integers(i)}" for i in range(1, n) if rng.random() < 0.8}
    network = fill_randomly(Structure(variables, parents), seed, share_of_zeros=0.0)
    columns = [rng.integers(0, v.n_states, 12) for v in variables]
    columns = [np.where(rng.random(12) < missing, -1, codes) for codes in columns]
    table = Dataset(variables, columns, rng.random(12) + 0.1)
    completed = complete(network, table)
    found = list(expected_pairs(network, table))
    assert len(found) == n * (n - 1) // 2
    for i, j, counts in found:
        expected = count(completed, network.names, (f"x{i}", f"x{j}"))
        np.testing.assert_allclose(counts, expected, rtol=1e-9, atol=1e-12)
    assert sum(pair.counts.sum() for pair in found) == pytest.approx(10 * table.total_weight)
