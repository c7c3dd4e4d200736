"""Control characters are shown, not obeyed; files keep the data."""

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import latentforest as lf
from latentforest.cli.console import PipedConsole
from latentforest.cli.output import write_columns
from latentforest.data import write_table
from latentforest.data.results.table import Table
from latentforest.errors import DataError, DataWarning, ModelError
from latentforest.learners.common.progress import PlainLines, _cut
from latentforest.visible import make_encodable, make_label, make_visible

RED, HALF, TURN = "\x1b[31mred", "half\ud800", "a\u202eb"
ODD = ("\x00", "\x07", "\x08", "\r", "\x1b", "\x7f", "\x9b", "\u2028", "\u200f", "\u202e", "\u2066")


@pytest.mark.parametrize("character", [*ODD, "\u200b", "\ufeff", "\ud800"])
def test_odd_characters_are_escaped(character):
    shown = make_visible(f"a{character}b")
    assert shown.isprintable()
    assert shown == make_label(f"a{character}b")
    assert shown.encode().decode("unicode_escape") == f"a{character}b"


def test_usual_text_stays():
    text = "é 日本 \U0001f469\u200d\U0001f52c می\u200cروم"
    assert make_visible(text + "\n\t") == text + "\n\t"
    assert make_label("a\nb\tc") == r"a\nb\tc"
    assert make_encodable(f"{text}{RED}") == f"{text}{RED}"


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return {
        RED: rng.choice(np.array(["x", HALF], dtype=object), 40),
        TURN: rng.choice(np.array(["\x1b]0;title\x07", "y"], dtype=object), 40),
        "number": rng.normal(size=40),
    }


@pytest.fixture
def model(table, tmp_path):
    path = tmp_path / "model.json"
    lf.LatentClass(2, random_state=0).fit(table).network_.save(path)
    return path


def is_safe(text):
    return all(line.isprintable() for line in text.split("\n"))


def test_print_in_python(table):
    model = lf.LatentClass(2, random_state=0).fit(table)
    general = lf.BayesianNetworkSearch(random_state=0).fit(table)
    shown = (model, model.network_, general, Table({RED: ["\x1b[2J"]}), repr(Table({RED: [1]})))
    for each in map(str, shown):
        assert is_safe(each)
        assert "\\x1b" in each


def test_errors_and_warnings():
    assert str(DataError(f"no {RED}")) == r"no \x1b[31mred"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(f"no {RED}", DataWarning, stacklevel=1)
    assert is_safe(str(caught[0].message))


def test_the_console_shows_strings_and_texts():
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(RED)
    grid.add_row("\x1b[2J")
    grid.add_row(Text("\x1b[3J", style="bold"))
    console = PipedConsole(file=io.StringIO(), width=80)
    console.print(f"a {RED}")
    console.print(Text(f"b {HALF}"))
    console.print(grid)
    assert is_safe(console.file.getvalue())
    for shown in (r"a \x1b[31mred", r"half\ud800", r"\x1b[2J", r"\x1b[3J"):
        assert shown in console.file.getvalue()


def test_styles_of_the_console_stay():
    console = PipedConsole(file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print("a", style="bold")
    assert console.file.getvalue() == "\x1b[1ma\x1b[0m\n"


def test_progress(capsys):
    PlainLines().show(f"fitting {RED}")
    assert is_safe(capsys.readouterr().err)
    assert is_safe(_cut(f"fitting {RED}", 80).plain)


@pytest.mark.parametrize("command", ["show", "score"])
def test_commands(cli, model, table, tmp_path, command):
    path = tmp_path / "table.parquet"
    write_table(table, path)
    arguments = [model] if command == "show" else [model, path]
    result = cli(command, *arguments, *(["--tables"] if command == "show" else []))
    assert is_safe(result.output)


def test_prediction_with_half_a_character(cli, model, table, tmp_path):
    path, out = tmp_path / "table.parquet", tmp_path / "classes.csv"
    write_table(table, path)
    result = cli("predict", model, path, "--out", out)
    assert "not seen before" not in result.output  # the escape in the file finds its state
    assert is_safe(result.output)
    assert len(out.read_text().splitlines()) == 41
    cli("sample", model, 5, "--out", tmp_path / "drawn.csv")
    cli("sample", model, 5)
    cli("show", model, "--dot")
    json.loads(cli("show", model, "--json").stdout)


def test_model_files_keep_the_data(model):
    network = lf.load(model)
    assert network.observed[:2] == (RED, TURN)
    assert HALF in network.structure.states(RED)


def test_formats_without_half_characters_refuse_them(tmp_path):
    coin = lf.Network.from_tables([lf.Variable("c", ("a", HALF))], {}, {"c": [0.5, 0.5]})
    with pytest.raises(ModelError, match=r"'half\\ud800' of variable 'c' holds half of a char"):
        lf.save(coin, tmp_path / "coin.bif")


def test_tables_keep_the_data(tmp_path):
    path = tmp_path / "table.csv"
    write_table({"a": np.array([RED, HALF], dtype=object)}, path)
    with path.open(newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file)] == ["a", RED, r"half\ud800"]
    path = tmp_path / "table.parquet"
    write_table({"a": np.array([RED, HALF, None], dtype=object)}, path)
    assert pd.read_parquet(path)["a"].tolist()[:2] == [RED, r"half\ud800"]


def test_a_terminal_gets_no_control_characters(monkeypatch, capsys):
    import sys

    write_columns({"a": np.array([RED], dtype=object)}, None)
    assert capsys.readouterr().out == f"a\n{RED}\n"  # a pipe or file keeps the data
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    write_columns({"a": np.array([RED], dtype=object)}, None)
    assert capsys.readouterr().out == "a\n\\x1b[31mred\n"


def test_wrong_usage(cli, tmp_path):
    path = tmp_path / "constraints.toml"
    path.write_text('"\\u001b[31m" = 1\n')
    result = cli("learn", "hiv-tests", "--constraints", path, code=2)
    assert "\x1b[31m" not in result.output


@pytest.mark.parametrize("learner", [lf.EAST, lf.BridgedIslands, lf.IncrementalForest])
def test_learners_take_any_name(learner, table):
    table["third"] = table[RED]
    assert is_safe(str(learner(random_state=0).fit(table)))


@pytest.fixture
def cli(monkeypatch):
    from typer.testing import CliRunner

    from latentforest.cli.main import app

    monkeypatch.setenv("COLUMNS", "300")

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_pages_show_escapes_and_columns_are_found_by_them(tmp_path):
    table = {HALF: ["x", "y", "y", "x"] * 10, RED: [TURN, "v"] * 20, "c": ["p", "q", "q", "q"] * 10}
    model = lf.LatentClass(2, random_state=0).fit(table)
    for shown in (model, model.network_, model.profiles(), model.network_.cpd(RED)):
        page = shown._repr_html_()
        assert r"\x1b[31mred" in page
        assert not {"\x1b", "\u202e", "\ud800"} & set(page)
    write_table(model.sample(10, random_state=0).to_columns(), tmp_path / "rows.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.predict(lf.read(tmp_path / "rows.csv"))) == 10
