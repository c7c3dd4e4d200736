"""The documentation names files and modules that exist, in lines that fit."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "latentforest"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NARROW = ("README", "CONTRIBUTING", "architecture", "mathematics", "decisions", "glossary")
WIDTH = 99  # characters of a line of prose
PLACES = (ROOT, PACKAGE)  # that paths are below

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FOLDERS = {path.name for place in PLACES for path in place.iterdir() if path.is_dir()}
PATH = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(FOLDERS)))})(?:/[\w.-]+)+")
NAME = re.compile(r"latentforest(?:\.[A-Za-z_]\w*)+")


def read_prose(path):
    """Yield the lines outside of blocks of code."""
    is_code = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def list_links(path):
    targets = LINK.findall("\n".join(read_prose(path)))
    return [target.split("#")[0] for target in targets if "://" not in target]


def list_code(path, pattern):
    pieces = CODE.findall("\n".join(read_prose(path)))
    return [piece for piece in pieces if pattern.fullmatch(piece)]


def is_known(name):
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        folder = ROOT / "src" / Path(*parts[:n])
        if folder.is_dir() or folder.with_suffix(".py").is_file():
            module = importlib.import_module(".".join(parts[:n]))
            return n == len(parts) or hasattr(module, parts[n])
    return False


def by_name(path):
    return path.stem


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_links_lead_somewhere(page):
    assert not [each for each in list_links(page) if each and not (page.parent / each).exists()]


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_paths_exist(page):
    named = {each for each in list_code(page, PATH) if not each.startswith("out/")}  # made by make
    assert not sorted(each for each in named if not any((p / each).exists() for p in PLACES))


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_modules_exist(page):
    assert not sorted(each for each in set(list_code(page, NAME)) if not is_known(each))


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem in NARROW], ids=by_name)
def test_lines_are_short(page):
    assert not [line for line in read_prose(page) if len(line) > WIDTH and line[0] != "|"]


def test_every_package_is_on_the_tour():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    for subject in ("kernels", "search"):
        found = (PACKAGE / subject).glob("*/__init__.py")
        packages += [f"{subject}/{path.parent.name}" for path in found]
    assert packages
    assert not [each for each in packages if each not in text]


@pytest.mark.parametrize(("name", "most"), [("README.md", 119), ("docs/architecture.md", 130)])
def test_pages_are_short(name, most):
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most


def test_missing_things_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[a](b.md) `search/no.py` `latentforest.ties.no`\n```\n[c](d.md)\n```\n")
    assert list_links(page) == ["b.md"]
    assert list_code(page, PATH) == ["search/no.py"]
    assert [is_known(each) for each in list_code(page, NAME)] == [False]
    assert all(map(is_known, ["latentforest.ties", "latentforest.ties.find_best"]))
