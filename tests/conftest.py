import pytest


@pytest.fixture(autouse=True)
def threads_for_small_tables(monkeypatch):
    """Tables of tests are small; threads are to be tested all the same."""
    monkeypatch.setattr("latentforest.inference.forest.SMALL_CELLS", 0)
