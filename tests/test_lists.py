"""Lists that follow from the code are complete: ``make lists`` writes them."""

import difflib
from pathlib import Path

import pytest

import lists

ROOT = Path(__file__).parents[1]
WANTED = {str(path.relative_to(ROOT)): text for path, text in lists.derive().items()}


@pytest.mark.parametrize("name", WANTED)
def test_nothing_is_missing(name):
    there = (ROOT / name).read_text(encoding="utf-8")
    lines = difflib.ndiff(there.splitlines(), WANTED[name].splitlines())
    changes = [line for line in lines if line[0] in "+-"]
    assert not changes, f"{name} is not as the code says; run make lists"


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_marks_are_kept():
    text = f"before\n{lists.BEGIN}\nold\n{lists.END}\nafter"
    replaced = lists.put_between(text, "new")
    assert replaced == f"before\n{lists.BEGIN}\n\nnew\n\n{lists.END}\nafter"
    assert lists.put_between(replaced, "new") == replaced
