import pytest


@pytest.fixture(autouse=True, scope="session")
def small_tables_like_large_ones():
    """Tables of tests are small; threads and groups of children are to be tested all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latentforest.inference.forest.SMALL_CELLS", 0)
        patch.setattr("latentforest.inference.patterns.FEW_PATTERNS", 0)
        yield
