"""Figures without a screen, closed after each test; small models that all pictures share."""

import matplotlib

matplotlib.use("agg")

import pytest
from matplotlib import pyplot

import latentforest as lf

DATA = lf.datasets.load("hiv-tests")


@pytest.fixture(autouse=True)
def figures():
    yield
    pyplot.close("all")


@pytest.fixture
def ax():
    """Axes of a figure that pyplot knows nothing of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(9, 6)).add_axes((0, 0, 1, 1))


@pytest.fixture(scope="session")
def classes():
    return lf.LatentClass((1, 3), random_state=0).fit(DATA)


@pytest.fixture(scope="session")
def mixed():
    """A tree with two latent variables over words and numbers, with a pouch."""
    latents = [lf.Variable.hidden("Y1", 2), lf.Variable.hidden("Y2", 3)]
    columns = [lf.Variable("word", ("no", "yes")), lf.Variable("size"), lf.Variable("age")]
    parents = {"Y2": "Y1", "word": "Y1", "size": "Y2", "age": "Y2"}
    tables = {
        "Y1": [0.6, 0.4],
        "Y2": [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
        "word": [[0.9, 0.1], [0.2, 0.8]],
        "size": [[0.0, 1.0, 0.2], [2.0, 1.0, 0.2], [5.0, 2.0, 0.2]],
        "age": [[30.0, 0.2, 9.0], [40.0, 0.2, 9.0], [70.0, 0.2, 25.0]],
    }
    return lf.Network.from_tables([*latents, *columns], parents, tables, [("size", "age")])
