import pytest


@pytest.fixture(autouse=True)
def small_tables_like_large_ones(monkeypatch):
    """Tables of tests are small; threads and groups of children are to be tested all the same."""
    monkeypatch.setattr("latentforest.inference.forest.SMALL_CELLS", 0)
    monkeypatch.setattr("latentforest.inference.patterns.FEW_PATTERNS", 0)
