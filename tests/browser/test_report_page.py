"""The page in a browser: every section is used, numbers are those of the library."""

import csv
import json
import time

import pytest

from browser.models import list_contents, make_dag, make_forest, make_mixed
from latentforest.model.labels import Labels
from latentforest.report.page import write_page
from reference.page_engine import run


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, content in list_contents().items():
        (folder / f"{name}.html").write_text(write_page(content), encoding="utf-8")
    return folder


def open_page(page, pages, name, width=1280, scheme="light"):
    page.resize(width, scheme=scheme)
    page.open(pages / f"{name}.html")
    return json.loads(page.run("document.getElementById('content').textContent"))


def find(content, name):
    """Id of a variable."""
    return next(k for k, one in enumerate(content["variables"]) if one["name"] == name)


def press_key(page, key):
    page.click(f'[data-key="{key}"]')


def shown(page, identity, code):
    """The percentage beside a bar in "Ask"."""
    return page.run(
        f"document.querySelector('[data-key=\"set-{identity}-{code}\"] .number').textContent"
    )


def wait_for(path):
    end = time.monotonic() + 10
    while not path.exists() or not path.stat().st_size:
        assert time.monotonic() < end, f"{path.name} was not saved"
        time.sleep(0.02)
    return path.read_text(encoding="utf-8-sig")


NAMES = ["forest", "mixed", "dag", "topics", "hostile", "independent", "no-data"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", NAMES)
def test_pages_are_drawn_without_complaint(page, pages, screenshots, name, width, scheme):
    content = open_page(page, pages, name, width, scheme)
    page.shoot(screenshots / f"{name}-{width}-{scheme}.png")
    assert page.complaints() == []
    assert page.run("document.documentElement.dataset.theme") == scheme
    assert page.run("document.documentElement.scrollWidth") <= width
    texts = page.run("document.body.innerText")
    for wrong in ("NaN", "undefined", "Infinity", "[object", "null"):
        assert wrong not in texts
    links = page.run("[...document.querySelectorAll('#sections a')].map((a) => a.hash.slice(1))")
    assert ("rows" in links) == (content["rows"] is not None)


@pytest.mark.parametrize("name", ["forest", "mixed", "dag", "topics"])
def test_texts_of_the_picture_stay_apart(page, pages, name):
    open_page(page, pages, name)
    overlaps = page.run(
        """(() => {
        const boxes = [...document.querySelectorAll("#picture-frame text")]
          .map((text) => [text.textContent, text.getBoundingClientRect()]);
        const found = [];
        boxes.forEach(([a, p], k) => boxes.slice(0, k).forEach(([b, q]) => {
          const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
          const tall = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
          if (wide > 1 && tall > 3) found.push([a, b]);
        }));
        const frame = document.querySelector("#picture-frame svg").getBoundingClientRect();
        for (const [text, box] of boxes) {
          if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push([text, "edge"]);
        }
        return found;
        })()"""
    )
    assert overlaps == []


def test_answers_are_those_of_the_library(page, pages):
    content, network = open_page(page, pages, "forest"), make_forest()
    press_key(page, "whole")
    premium, number = find(content, "Car, premium"), find(content, "Fire, number")
    press_key(page, f"set-{premium}-2")
    press_key(page, f"set-{number}-1")
    known = {"Car, premium": "2", "Fire, number": "1"}
    for name in ("Y0", "Y2", "Farm, premium"):
        for code, share in enumerate(network.query(name, known).values):
            assert shown(page, find(content, name), code) == run("formatFinePercent", share)
    share = float(network.query(list(known)).values[2, 1])
    assert page.run("document.querySelector('.probability').textContent") == run(
        "formatRare", share
    )
    line = page.run("document.getElementById('picture-evidence').textContent")
    assert "Car, premium = 2; Fire, number = 1" in line
    press_key(page, "clear")
    assert page.run("document.getElementById('picture-evidence').hidden")


def test_numbers_are_evidence_too(page, pages):
    content, network = open_page(page, pages, "mixed"), make_mixed()
    score, level = find(content, "score"), find(content, "level")
    page.run(f"""(() => {{
      const menu = document.querySelector("[data-key=choose]");
      menu.value = "{score}";
      menu.dispatchEvent(new Event("change"));
    }})()""")
    page.write("0.75")
    page.press("Enter")
    for code, share in enumerate(network.query("level", {"score": 0.75}).values):
        assert shown(page, level, code) == run("formatFinePercent", share)


def test_general_networks_are_asked(page, pages):
    content, network = open_page(page, pages, "dag"), make_dag()
    press_key(page, "whole")
    press_key(page, f"set-{find(content, 'v5')}-1")
    for code, share in enumerate(network.query("v0", {"v5": "yes"}).values):
        assert shown(page, find(content, "v0"), code) == run("formatFinePercent", share)


def test_what_cannot_occur_is_refused_with_a_sentence(page, pages):
    content = open_page(page, pages, "forest")
    press_key(page, "whole")
    press_key(page, f"set-{find(content, 'Y0')}-0")
    press_key(page, f"set-{find(content, 'Car, number')}-1")
    said = page.run("document.querySelector('.refused').textContent")
    assert said.startswith("Car, number = 1 was dropped")
    assert page.run("document.querySelectorAll('.chip').length") == 1


def test_cards_open_profiles_and_columns_open_questions(page, pages):
    content = open_page(page, pages, "forest")
    card = find(content, "Y2")
    press_key(page, f"node-{card}")
    assert page.run("document.querySelector('#profile .meta').textContent").startswith("Y2")
    column = find(content, "Fire, premium")
    press_key(page, f"node-{column}")
    assert page.run("document.querySelector('[data-key=choose]').value") == str(column)


def test_names_are_edited_kept_and_saved(page, pages, tmp_path):
    content = open_page(page, pages, "forest")
    card = find(content, "Y2")
    press_key(page, f"node-{card}")
    label = content["variables"][card]["label"]
    for text, key, expected in (("Blaze", "Escape", label), ("Blaze", "Enter", "Blaze")):
        press_key(page, f"name-{card}")
        page.write(text)
        page.press(key)
        assert page.run("document.querySelector('#profile h3').textContent") == expected
    press_key(page, f"state-{card}-0")
    page.write("calm")
    page.press("Enter")
    page.save_to(tmp_path)
    page.click("#save-names")
    wait_for(tmp_path / "names.json")
    labels = Labels.read(tmp_path / "names.json")
    assert labels.variable("Y2") == "Blaze"
    assert labels.state("Y2", "1") == "calm"
    page.open(pages / "forest.html")
    assert "Blaze" in page.run("document.querySelector('#picture-frame').textContent")


def test_rows_are_searched_turned_and_saved(page, pages, tmp_path):
    content = open_page(page, pages, "hostile")
    press_key(page, "next")
    assert page.run("document.querySelector('#rows-table tbody th').textContent") == "11"
    page.click("#rows-find")
    page.write("37")
    assert page.run("document.querySelector('#rows-table tbody th').textContent") == "37"
    page.save_to(tmp_path)
    press_key(page, "csv")
    rows = list(csv.reader(wait_for(tmp_path / "rows.csv").splitlines()))
    assert len(rows) == content["rows"]["n_rows"] + 1
    assert {cell for row in rows[1:] for cell in row[3:]} <= {"<i>0</i>", "'=cmd()"}


def test_arrow_keys_and_enter_in_the_picture(page, pages):
    content = open_page(page, pages, "forest")
    page.run("document.querySelector('#picture-frame .card').focus()")
    before = page.run("document.activeElement.dataset.key")
    reached = {before}
    for key in ("ArrowLeft", "ArrowUp", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.press(key)
        reached.add(page.run("document.activeElement.dataset.key"))
    assert len(reached) > 3
    press_key(page, "switch-share")
    assert page.run("document.activeElement.dataset.key") == "switch-share"
    page.run(f"document.querySelector('[data-key=\"node-{find(content, 'Y3')}\"]').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('#profile .meta').textContent").startswith("Y3")


def test_find_opens_the_way_and_folds_the_rest(page, pages):
    content = open_page(page, pages, "topics")
    word = find(content, "word300")
    assert page.run(f"document.querySelector('[data-key=\"node-{word}\"]')") is None
    page.click("#find-field")
    page.write("word300")
    page.press("Enter")
    assert page.run("document.activeElement.dataset.key") == f"node-{word}"
    assert page.run("document.querySelector('#picture-frame svg').clientHeight") < 1000
    press_key(page, "unfold")
    assert page.run("document.querySelectorAll('#picture-frame .card').length") == 65


def test_hostile_names_do_nothing(page, pages):
    open_page(page, pages, "hostile")
    assert page.run("document.scripts.length") == 2
    assert page.run("document.images.length") == 0
    assert page.run("document.querySelectorAll('b, i').length") == 0
    assert page.complaints() == []


def test_a_long_name_does_not_spread_the_values_beside_it(page, pages):
    open_page(page, pages, "forest")
    first, last = page.run(
        """(() => {
        const body = [...document.querySelectorAll("#profiles table.profile tbody")]
          .find((each) => each.rows.length > 2 && each.getBoundingClientRect().height);
        const heights = () => [body.rows[0], body.rows[body.rows.length - 1]]
          .map((row) => row.getBoundingClientRect().height);
        const before = heights();
        body.querySelector(".column-name").textContent = "long ".repeat(200);
        return heights().map((height, place) => height - before[place]);
        })()"""
    )
    assert abs(first) < 1
    assert last > 50


def test_dark_is_a_button(page, pages):
    open_page(page, pages, "forest")
    page.click("#theme")
    assert page.run("document.documentElement.dataset.theme") == "dark"
    page.click("#theme")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_every_section_is_reached_from_the_bar(page, pages):
    open_page(page, pages, "forest")
    for k in range(page.run("document.querySelectorAll('#sections a').length")):
        page.click("#sections a", k)
        hash_ = page.run("location.hash.slice(1)")
        top = page.run(f"document.getElementById('{hash_}').getBoundingClientRect().top")
        end = page.run("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
        assert end or abs(top - 46) < 2


def test_narrow_pages_keep_names_whole(page, pages):
    open_page(page, pages, "forest", 390)
    names = "[...document.querySelectorAll('.models th[scope=row]')]"
    widths = page.run(names + ".map((name) => name.offsetWidth)")
    assert min(widths) >= 100
    assert page.run("document.getElementById('sections').scrollLeft") == 0


def test_print_has_all_profiles(page, pages, screenshots):
    open_page(page, pages, "forest", scheme="dark")
    page.print_to(screenshots / "forest.pdf")
    assert (screenshots / "forest.pdf").read_bytes().count(b"/Type /Page\n") > 6
    assert page.run("document.documentElement.dataset.theme") == "dark"
    assert page.complaints() == []
