"""The examples of the page on pictures run."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_examples_of_the_page(tmp_path, monkeypatch):
    if not PAGE.is_file():
        pytest.skip("the documentation is not there")
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 10
    assert (tmp_path / "tree.svg").is_file()
