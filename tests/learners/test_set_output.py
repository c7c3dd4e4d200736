"""``set_output``: posteriors as frames of pandas and polars, from every learner that has them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentforest as lf
from latentforest.learners.registry import LEARNERS

ROWS = lf.datasets.random_latent_tree(6, width=2, strength=0.95, random_state=0).sample(150, 1)
FRAMES = {"pandas": pd.DataFrame(ROWS.to_columns()), "polars": pl.DataFrame(ROWS.to_columns())}


def list_learners():
    """Names of the learners with latent variables."""
    names = sorted({entry.name for entry in LEARNERS})
    return [name for name in names if hasattr(getattr(lf, name), "transform")]


@pytest.mark.parametrize("name", list_learners())
def test_frames_of_both_libraries(name):
    model = getattr(lf, name)().set_params(random_state=0).fit(FRAMES["pandas"])
    plain = model.transform(FRAMES["pandas"])
    for library, frame in FRAMES.items():
        found = model.set_output(transform=library).transform(frame)
        assert type(found).__module__.startswith(library)
        assert list(found.columns) == list(model.get_feature_names_out())
        np.testing.assert_array_equal(found.to_numpy().reshape(plain.shape), plain)
