"""The page: one file, nothing loaded, names are text."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from latentforest import Independence, LatentClass, datasets
from latentforest.data.variable import Variable
from latentforest.model import Network
from latentforest.report import page
from latentforest.report.content import make_content
from latentforest.report.page import write_page
from reference.page_engine import STATIC, run

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--",
    "\x1b[31mred\x07",
    "\u202eevil\u2066",
    "]]>&amp;\u2028'\"`${x}{{ 7*7 }}",
    "long " * 2000,
)


class Reader(HTMLParser):
    """Collects elements, addresses and the texts of scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses, self.handlers, self.scripts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("href", "src", "action", "data", "srcset", "poster"):
                self.addresses.append(value)
            if name.startswith("on"):
                self.handlers.append((tag, name))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script" and self.scripts:
            self.scripts[-1] += data


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


def make_hostile():
    """A network whose names and values a page might obey."""
    variables = [Variable.hidden("<b>Y</b>", 2)]
    variables += [Variable(name, ("<i>0</i>", f"{name[:40]}1")) for name in HOSTILE]
    tables = {"<b>Y</b>": [0.4, 0.6]}
    tables |= {name: [[0.9, 0.1], [0.2, 0.8]] for name in HOSTILE}
    return Network.from_tables(variables, dict.fromkeys(HOSTILE, "<b>Y</b>"), tables)


@pytest.fixture(scope="module")
def learned():
    data = datasets.load("hiv-tests")
    return make_content(LatentClass(2, random_state=0).fit(data), data)


def test_names_are_text_everywhere():
    html = write_page(make_content(make_hostile(), title="<script>alert(1)</script>"))
    reader = read(html)
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert reader.handlers == []
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u2066\u2028]", html)


def test_the_content_survives_its_escapes():
    content = make_content(make_hostile())
    reader = read(write_page(content))
    assert json.loads(reader.scripts[0]) == content


def test_nothing_is_loaded_from_elsewhere(learned):
    html = write_page(learned)
    assert all(address.startswith("#") for address in read(html).addresses)
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"\b(?:https?|wss?|ftp):[^\s\"'<)]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_the_scripts_never_parse_markup_or_text():
    scripts = page._read_scripts()
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch("):
        assert word not in scripts


def test_every_script_and_style_is_used_once():
    names = {path.name for path in STATIC.iterdir()}
    used = [f"{name}.js" for name in page._SCRIPTS] + [f"{name}.css" for name in page._STYLES]
    assert sorted(used) == sorted(names)


def test_no_name_of_the_scripts_hides_another():
    found = re.findall(r"^(?:function|const|let) (\w+)", page._read_scripts(), re.MULTILINE)
    assert len(found) == len(set(found))


def test_sections_follow_what_is_there(learned):
    assert [name for name, _ in page._list_sections(learned)] == [
        "words",
        "picture",
        "profiles",
        "ask",
        "fit",
        "rows",
        "reproduce",
    ]
    data = datasets.load("hiv-tests")
    empty = make_content(Independence().fit(data), data)
    assert "profiles" not in dict(page._list_sections(empty))
    assert "ask" not in dict(page._list_sections(empty))
    assert "it takes the columns as independent" in write_page(empty)


def test_a_page_has_one_heading_and_says_its_language(learned):
    html = write_page(learned)
    assert html.startswith("<!doctype html>")
    assert '<html lang="en">' in html
    assert read(html).tags.count("h1") == 1


def test_the_page_is_the_same_again(learned):
    assert write_page(learned) == write_page(learned)


def test_fifty_columns_stay_below_two_megabytes():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 5000)
    columns = {f"c{k}": (rng.random(5000) < 0.3 + 0.4 * kind).astype(int) for k in range(50)}
    content = make_content(LatentClass(2, random_state=0, n_starts=2).fit(columns), columns)
    assert len(write_page(content).encode()) < 2_000_000


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("formatFixed", -49476.46, 1), "−49,476.5"),
        (("formatFixed", -0.04, 1), "0.0"),
        (("formatCount", 1234567), "1,234,567"),
        (("formatCount", 12.5), "12.5"),
        (("formatPercent", 0.003), "<1%"),
        (("formatPercent", 0.0), "0%"),
        (("formatPercent", 0.996), "100%"),
        (("formatFinePercent", 0.0004), "<0.1%"),
        (("formatFinePercent", 0.023), "2.3%"),
        (("formatFinePercent", 0.0996), "10%"),
        (("formatBits", 0.0001), "<0.001"),
        (("formatValue", 5100.2), "5,100"),
        (("formatValue", 0.0912), "0.091"),
        (("formatRare", 0.0000123), "1 in 81,000"),
        (("cutText", "abcdefghij", 6), "ab…hij"),
        (("visible", "a\x1b\u202eb"), "a\\x1b\\u202eb"),
        (("dropStem", "Car, premium", "Car"), "premium"),
        (("dropStem", "Carpet", "Car"), "Carpet"),
        (("csvCell", "=1+1"), "'=1+1"),
        (("csvCell", "-5.2"), "-5.2"),
        (("csvCell", "-5+cmd"), "'-5+cmd"),
        (("csvCell", 'say "a, b"'), '"say ""a, b"""'),
        (("makeTicks", 0, 10, 5), [0, 2, 4, 6, 8, 10]),
    ],
)
def test_texts_and_numbers(call, expected):
    assert run(*call) == expected


def test_beginnings_that_many_share_are_dropped():
    names = [f"How satisfied are you with: {what}" for what in ("pay", "hours", "people")]
    beginnings = run("findBeginnings", [*names, "Age"])
    assert run("dropBeginning", names[0], beginnings) == "pay"
    assert run("dropBeginning", "Age", beginnings) == "Age"


def test_rows_are_unpacked():
    rows = {"n_rows": 3, "numbers": None, "columns": [{"codes": "0a."}], "latents": []}
    rows["latents"].append({"states": "1.0", "probabilities": "990049"})
    found = run("((rows) => { unpackRows(rows); return rows; })", rows)
    assert found["numbers"] == [1, 2, 3]
    assert list(found["columns"][0]["codes"].values()) == [0, 36, -1]
    shares = list(found["latents"][0]["probabilities"].values())
    assert shares == pytest.approx([1, 0.01, 0.5])
