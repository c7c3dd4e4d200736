import os

import pytest
from hypothesis import settings

# The same examples each time; new ones in `make fuzz`, many where a test does not say how many.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("fuzz", max_examples=1000, deadline=None, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fixed")
settings.load_profile(PROFILE)

HOW_TO_KEEP = """\
Each test above has a falsifying example. Keep it: write it down as an argument of @example(...),
below @given, simplified and with a name that says what is special about it (as in
tests/inference/test_forest.py; a test that draws from st.data() gets a strategy for what it draws).
Until then, the line @reproduce_failure(...) that hypothesis printed brings it back.
"""


def pytest_terminal_summary(terminalreporter):
    """Say how a find of `make fuzz` becomes a fixed example."""
    if PROFILE == "fuzz" and terminalreporter.stats.get("failed"):
        terminalreporter.section("how to keep what was found")
        terminalreporter.write(HOW_TO_KEEP)


@pytest.fixture(autouse=True, scope="session")
def small_tables_like_large_ones():
    """Tables of tests are small; threads and groups of children are to be tested all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latentforest.inference.forest.SMALL_CELLS", 0)
        patch.setattr("latentforest.inference.patterns.FEW_PATTERNS", 0)
        yield
