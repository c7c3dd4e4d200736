"""Tables and forests that grow on them."""

import numpy as np

from latentforest import Dataset, Variable
from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.inference.forest import PatternedData
from latentforest.search.incremental.context import GrowthContext, GrowthEffort


def make_table(n_rows=300, seed=0, missing=0.0):
    """Two hidden classes that depend on each other, each over columns of both kinds."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_rows)
    z = np.where(generator.random(n_rows) < 0.8, y, 1 - y)
    columns, variables = [], []
    for j in range(6):
        hidden = (y, z)[j % 2]
        noise = generator.random(n_rows)
        codes = np.where(noise < 0.75, hidden, generator.integers(0, 3, n_rows)).astype(np.int32)
        columns.append(np.where(generator.random(n_rows) < missing, -1, codes))
        variables.append(Variable(f"c{j}", ("0", "1", "2")))
    for j in range(4):
        values = (2.0 + j) * (y, z)[j % 2] + generator.normal(size=n_rows)
        columns.append(np.where(generator.random(n_rows) < missing, np.nan, values))
        variables.append(Variable(f"x{j}"))
    return Dataset(variables, columns)


def make_context(table, **effort):
    return GrowthContext(PatternedData(table), Priors(table), GrowthEffort(**effort), 0)
