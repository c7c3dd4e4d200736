"""The examples of the documentation run, and print and draw what the pages show."""

import re
from pathlib import Path

import pytest

import pages

TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
WITH_EXAMPLES = [page for page in pages.PAGES if pages.has_examples(page)]


def name(page):
    return str(page.relative_to(pages.ROOT))


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_a_page_is_true(page, tmp_path):
    with pages.in_folder(tmp_path):
        for ran in pages.run_page(page):
            assert ran.printed in (None, ran.output), f"line {ran.start}; make pages writes it"
    for picture in pages.PICTURE.findall(page.read_text(encoding="utf-8")):
        drawn, shown = (
            TEXT.findall((folder / picture).read_text(encoding="utf-8"))
            for folder in (tmp_path, pages.PICTURES)
        )
        assert drawn == shown, f"{picture}; make pages draws it"


def test_all_pictures_are_shown():
    shown = {
        each for page in pages.PAGES for each in pages.PICTURE.findall(page.read_text("utf-8"))
    }
    assert {path.name for path in pages.PICTURES.glob("*")} == shown


def test_blocks_run_in_order(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- setup\nx = 1\n-->\n```python\nprint(x + 1)\n```\n\n```text\n2\n```\n"
        "```sh\nlatentforest --version | cat\nlatentforest show no.json\n```\n",
        encoding="utf-8",
    )
    with pages.in_folder(tmp_path):
        blocks = pages.run_page(page)
        assert [(ran.printed, ran.output) for ran in (next(blocks), next(blocks))] == [
            (None, ""),
            ("2\n", "2\n"),
        ]
        with pytest.raises(RuntimeError, match=r"show no\.json"):
            next(blocks)


def test_commands_may_go_on_in_the_next_line():
    code = "latentforest learn a.csv \\\n  --states 2  # two\nmake demo\n"
    assert list(pages.list_commands(code)) == [["learn", "a.csv", "--states", "2"]]


def test_survey_is_there(tmp_path):
    with pages.in_folder(tmp_path):
        pages.write_survey()
        assert len(Path("survey.csv").read_text(encoding="utf-8").splitlines()) == 217
