"""``learn`` with the learner gaussian-east."""

from __future__ import annotations

import numpy as np
import pytest

import latentforest as lf
from latentforest.data import write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with three continuous columns, two of which go together in both classes."""
    generator = np.random.default_rng(0)
    z, shared = generator.integers(0, 2, 300), generator.normal(size=300)
    noise = generator.normal(size=(3, 300))
    columns = {
        "a": 6.0 * z + shared + 0.3 * noise[0],
        "b": 6.0 * z - shared + 0.3 * noise[1],
        "c": 6.0 * z + noise[2],
    }
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    write_table({name: column.tolist() for name, column in columns.items()}, path)
    return path


def test_pouches_are_found_and_explained(run, table, tmp_path):
    path = tmp_path / "model.json"
    printed = run("learn", table, "--learner", "gaussian-east", "--out", path).stdout
    assert lf.load(path).structure.pouches == (("a", "b"),)
    assert "pouch: a, b" in printed
    assert "PO, UP: columns joined in a pouch, taken out of one" in printed
