"""Tables of edited networks."""

import numpy as np

from latentforest.search.tables import mix


def test_mixed_gaussians_have_the_moments_of_the_mixture():
    rng = np.random.default_rng(0)
    table, shares = np.array([[0.0, 1.0], [3.0, 0.5]]), np.array([[0.3, 0.7]])
    codes = (rng.random(400_000) < 0.7).astype(int)
    drawn = rng.normal(table[codes, 0], np.sqrt(table[codes, 1]))
    found = mix(shares, table, True)[0]
    np.testing.assert_allclose(found, [drawn.mean(), drawn.var()], rtol=0.01)
