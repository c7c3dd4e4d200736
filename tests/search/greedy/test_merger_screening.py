"""Quick estimates of what mergers of groups gain."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.search.greedy.groups import GroupFits, GroupSettings
from latentforest.search.greedy.merger_screening import MergerScreen


@pytest.fixture(scope="module")
def fits():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    codes = [np.where(rng.random(300) < 0.85, y, 1 - y) for _ in range(3)]
    numbers = [4.0 * y + rng.normal(size=300), rng.normal(size=300)]
    variables = [*(Variable(name, ("0", "1")) for name in "abc"), Variable("x"), Variable("noise")]
    data = PatternedData(Dataset(variables, [*codes, *numbers]))
    return GroupFits(data, GroupSettings("diagonal", 4, 4, EMSettings(200, 1e-8), 0))


def test_mergers_are_judged_as_their_fits_would(fits):
    screen = MergerScreen(fits)
    group, x, noise = fits.best(["a", "b", "c"]), fits.best(["x"]), fits.best(["noise"])
    for other in (x, noise):
        exact = fits.best([*group.columns, *other.columns]).bic - group.bic - other.bic
        estimate = screen.estimate(group, other)
        assert estimate <= exact + 1e-6
        assert (estimate > 0) == (exact > 0)
        assert screen.estimate(other, group) == estimate
    assert screen.estimate(fits.best(["a"]), x) > 0 > screen.estimate(fits.best(["a"]), noise)
