"""Runs the examples of the documentation, and writes what they print and draw into it.

In each page the blocks of ``python`` and ``sh`` run in order, in an empty folder with a
``survey.csv``. Of ``sh``, lines that begin with ``latentforest`` and are not joined to others run.
A comment ``<!-- setup … -->`` holds Python that runs in its place and is not shown. A block of
``text`` right behind another is what it prints. Pictures that a page shows from ``docs/pictures``
are saved by its blocks under the same name. ``make pages`` writes texts and pictures anew; the
tests compare them.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])

BLOCK = re.compile(
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n(?:\n?```text\n(?P<printed>.*?)^```\n)?"
    r"|^<!-- setup\n(?P<setup>.*?)^-->\n",
    re.MULTILINE | re.DOTALL,
)
PICTURE = re.compile(r"!\[[^\]]*\]\((?:\.\./)*pictures/([\w-]+\.svg)\)")
DRAWING = {  # the same picture gives the same file, with texts as texts
    "svg.fonttype": "none",
    "svg.hashsalt": "latentforest",
    "savefig.bbox": "tight",
    "savefig.dpi": 80,
}
ENVIRONMENT = {"COLUMNS": "96", "SOURCE_DATE_EPOCH": "0", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Ran:
    """A block that ran: where it is, what it should print (if the page says) and what it did."""

    start: int
    printed: str | None
    shown: tuple[int, int]
    output: str


def has_examples(page: Path) -> bool:
    """Whether a page has something to run."""
    return BLOCK.search(page.read_text(encoding="utf-8")) is not None


def run_page(page: Path) -> Iterator[Ran]:
    """Run the blocks of a page in the current folder."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    write_survey()
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        output = tidy(run_block(found, names, f"{page.name}:{line}"))
        yield Ran(line, found["printed"], found.span("printed"), output)


def run_block(found: re.Match[str], names: dict[str, Any], where: str) -> str:
    """Run one block and return what it prints."""
    if found["language"] == "sh":
        return "".join(run_command(line) for line in list_commands(found["code"]))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(found["code"] or found["setup"], where, "exec"), names)
    return printed.getvalue()


def list_commands(code: str) -> Iterator[list[str]]:
    """Yield the arguments of the lines that begin with the command."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "latentforest" and not {"|", ">", "<"} & set(words):
            yield words[1:]


def run_command(arguments: list[str]) -> str:
    """Run the command line; another exit code than zero is an error."""
    from typer.testing import CliRunner

    from latentforest.cli.main import app

    forget_output(arguments)
    result = CliRunner().invoke(app, arguments)
    if result.exit_code:
        raise RuntimeError(f"latentforest {shlex.join(arguments)}: {result.output}")
    return result.stdout


def forget_output(arguments: list[str]) -> None:
    """Remove the file that a command writes: pages do the same thing in Python and in the shell."""
    for option, value in itertools.pairwise(arguments):
        if option == "--out":
            Path(value).unlink(missing_ok=True)


def write_survey() -> None:
    """Write the table that pages call survey.csv: a published one, with a number for each case."""
    from latentforest import datasets

    counted = datasets.load("role-conflict")
    columns = counted.to_columns()
    rows = ["case,A,B,C,D"]
    for row, weight in zip(zip(*columns.values(), strict=True), counted.weights, strict=True):
        for _ in range(int(weight)):
            rows.append(",".join([f"p{len(rows):03}", *row]))
    Path("survey.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def tidy(text: str) -> str:
    """Drop spaces at the ends of lines, and empty lines at the end."""
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Work in a folder, with settings that make texts and pictures repeatable."""
    import matplotlib as mpl

    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    try:
        with contextlib.chdir(folder), mpl.rc_context(DRAWING):
            mpl.use("agg")
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        close_pictures()


def close_pictures() -> None:
    """Forget the pictures that pyplot keeps, if it was used."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def rewrite(page: Path) -> None:
    """Run a page; write its texts and pictures anew."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, in_folder(Path(folder)):
        for ran in reversed(list(run_page(page))):
            if ran.printed is not None:
                text = text[: ran.shown[0]] + ran.output + text[ran.shown[1] :]
        for name in PICTURE.findall(text):
            PICTURES.mkdir(exist_ok=True)
            shutil.copy(name, PICTURES)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for page in [ROOT / name for name in sys.argv[1:]] or PAGES:
        if has_examples(page):
            rewrite(page)
