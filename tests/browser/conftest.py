"""Tests in a real browser: collected only if they are asked for, as ``make test-browser`` does."""

from pathlib import Path

import pytest

from browser.chromium import Page, find_chromium, start_browser

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"


def pytest_ignore_collect(config):
    """Leave the folder out unless it is named."""
    asked = any("browser" in str(argument) for argument in config.invocation_params.args)
    return None if asked else True


@pytest.fixture(scope="session")
def browser():
    if find_chromium() is None:
        pytest.skip("there is no Chromium here: the browser tests were left out")
    with start_browser() as browser:
        yield browser


@pytest.fixture
def page(browser):
    page = Page(browser)
    page.resize(1280)
    yield page
    page.run("localStorage.clear()")  # names and colours that the reader chose
    page.close()


@pytest.fixture(scope="session")
def screenshots():
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
