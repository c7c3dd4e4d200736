"""BIF files: what is read, what comes back, and what is refused with its line."""

import contextlib
import gzip
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Network, Variable, load, save
from latentforest.errors import FileFormatError, FileFormatWarning
from latentforest.formats.bif import read_text, write_text
from latentforest.model import Structure
from reference.random_networks import fill_randomly, networks

SPRINKLER = """network garden {
  property author = "nobody, (really); {yes}";
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable sprinkler {
  type discrete [ 3 ] { off, low, high };
  property position = (73, 165);
}
variable wet {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.75, 0.25;
}
probability ( sprinkler | rain ) {
  (no) 0.25, 0.25, 0.5;
  (yes) 1.0, 0.0, 0.0;
}
probability ( wet | rain, sprinkler ) {
  (no, off) 1.0, 0.0;
  (yes, off) 0.25, 0.75;
  (no, low) 0.5, 0.5;
  (yes, low) 0.125, 0.875;
  (no, high) 0.0, 1.0;
  (yes, high) 0.0, 1.0;
}
"""
WET = [[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [0.125, 0.875], [0.0, 1.0]]]


def two(body, states="no, yes", head="a | b"):
    """A network b -> a of two states each, with a body for the table of a (from line 4)."""
    return (
        f"variable a {{ type discrete [ 2 ] {{ {states} }}; }}\n"
        "variable b { type discrete [ 2 ] { x, y }; }\n"
        "probability ( b ) { table 0.5, 0.5; }\n"
        f"probability ( {head} ) {{\n{body}\n}}\n"
    )


def test_a_network_is_read():
    network = read_text(SPRINKLER)
    assert network.names == ("rain", "sprinkler", "wet")
    assert network.latents == ()
    assert network.structure.states("sprinkler") == ("off", "low", "high")
    assert network.structure.parents("wet") == ("rain", "sprinkler")
    assert network.cpd("rain").tolist() == [0.75, 0.25]
    assert network.cpd("sprinkler").tolist() == [[0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]
    assert network.cpd("wet").tolist() == WET


def test_blocks_may_stand_in_any_order():
    first, rest = SPRINKLER.split("probability ( rain )")
    head, variables = first.split("variable rain", 1)
    text = f"probability ( rain ){rest}variable rain{variables}{head}"
    assert read_text(text) == read_text(SPRINKLER)


def test_line_ends_and_spaces_do_not_matter():
    assert read_text(SPRINKLER.replace("\n", "\r\n")) == read_text(SPRINKLER)
    assert read_text(SPRINKLER.replace("\n", " ")) == read_text(SPRINKLER)
    tight = re.sub(r"\s*([{}()\[\];|,])\s*", r"\1", SPRINKLER)
    assert read_text(tight) == read_text(SPRINKLER)


def test_comments_are_skipped():
    text = SPRINKLER.replace("{ off,", "/* three { states */ { off, // and so on }\n")
    text = text.replace("table", '// a table of "two\n/* numbers\n */table')
    assert read_text(text) == read_text(SPRINKLER)


def test_comments_begin_outside_of_quotes_only():
    text = two("(x) 0.5, 0.5; (y) 0.5, 0.5;", states='"no // yes", "/*"')
    assert read_text(text).structure.states("a") == ("no // yes", "/*")


def test_the_table_of_old_files_has_the_own_state_slowest():
    """The order of the format's first program: states of the last parent change fastest."""
    text = SPRINKLER[: SPRINKLER.index("probability ( wet")]
    text += (
        "probability ( wet rain sprinkler ) { table 1 0.5 0 0.25 0.125 0 0 0.5 1 0.75 0.875 1; }"
    )
    assert read_text(text).cpd("wet").tolist() == WET


def test_quoted_names_without_commas():
    text = """
    network "a dog" { //2 variables
      property "credal-set" ;
    }
    variable  "light-on" { type discrete[2] {  "true"  "false" }; property "position = (1, 2)" ; }
    variable  "family out" { type discrete[2] {  "true"  "false" }; }
    probability (  "light-on"  "family out" ) { table 0.6 0.05 0.4 0.95; }
    probability (  "family out" ) { table 0.15 0.85; }
    """
    network = read_text(text)
    assert network.structure.parents("light-on") == ("family out",)
    assert network.structure.states("light-on") == ("true", "false")
    assert network.cpd("light-on").tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_names_of_several_words_that_commas_separate():
    text = two("(x) 0.5, 0.5; (y) 0.25, 0.75;", states="not at all, very  much")
    text = text.replace("variable b", "variable the other").replace("( b )", "( the other )")
    network = read_text(text.replace("a | b", "a | the other"))
    assert network.names == ("a", "the other")
    assert network.structure.states("a") == ("not at all", "very much")


@pytest.mark.parametrize("states", ["None, NA", "true, false", "nan, inf", "0, 1", "<5, >=5-7/+"])
def test_states_are_states_whatever_they_are_called(states):
    network = read_text(two("(x) 0.5, 0.5; (y) 0.25, 0.75;", states=states))
    assert network.structure.states("a") == tuple(states.split(", "))


def test_keywords_may_be_names():
    text = """
    variable variable { type discrete [ 2 ] { table, default }; }
    variable probability { type discrete [ 1 ] { property }; }
    probability ( variable ) { table 0.5, 0.5; }
    probability ( probability | variable ) { (table) 1; (default) 1; }
    """
    network = read_text(text)
    assert network.structure.parents("probability") == ("variable",)
    assert read_text(write_text(network)) == network


@pytest.mark.parametrize("body", ["default 0.1, 0.9; (y) 0.2, 0.8;", "(y) 0.2 0.8; default .1 .9;"])
def test_the_default_is_for_rows_not_mentioned(body):
    assert read_text(two(body)).cpd("a").tolist() == [[0.1, 0.9], [0.2, 0.8]]


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "model.bif"
    path.write_text(SPRINKLER, encoding="utf-8-sig")
    assert load(path) == read_text(SPRINKLER)


def test_rows_within_rounding_are_kept_as_they_are():
    network = read_text(two("(x) 0.3333333, 0.6666666; (y) 0.5, 0.5;"))
    assert network.cpd("a")[0].tolist() == [0.3333333, 0.6666666]


def test_rounded_rows_are_scaled_with_a_warning():
    body = "(x) 0.33, 0.66;\n(y) 0.999, 0.0;"
    message = "2 rows of probabilities did not sum to one.* on line 5, had the sum 0.99$"
    with pytest.warns(FileFormatWarning, match=message):
        network = read_text(two(body))
    np.testing.assert_allclose(network.cpd("a"), [[1 / 3, 2 / 3], [1, 0]], rtol=1e-15)


def test_the_file_that_is_written(tmp_path):
    variables = [Variable.hidden("Y", 2), Variable("a b", ("no;", 'say "hi"'))]
    tables = {"Y": [0.1, 0.9], "a b": [[1 / 3, 2 / 3], [1.0, 0.0]]}
    save(Network.from_tables(variables, {"a b": "Y"}, tables), tmp_path / "model.bif")
    assert (tmp_path / "model.bif").read_text() == (
        "network unknown {\n}\n"
        "variable Y {\n  type discrete [ 2 ] { 1, 2 };\n  property latent = true;\n}\n"
        'variable "a b" {\n  type discrete [ 2 ] { "no;", "say \\"hi\\"" };\n}\n'
        "probability ( Y ) {\n  table 0.1, 0.9;\n}\n"
        'probability ( "a b" | Y ) {\n'
        "  (1) 0.3333333333333333, 0.6666666666666666;\n"
        "  (2) 1.0, 0.0;\n}\n"
    )


@given(networks(max_parents=3))
def test_writing_then_reading_gives_the_same_network(network):
    assert read_text(write_text(network)) == network


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)


@given(st.lists(names, min_size=3, max_size=3, unique=True), st.lists(names, max_size=3))
@settings(max_examples=300)
def test_any_name_comes_back(found, states):
    states = tuple(dict.fromkeys(["", *states]))
    variables = [Variable(name, states, latent=k == 0) for k, name in enumerate(found)]
    network = fill_randomly(Structure(variables, {found[0]: found[1:]}), seed=len(states))
    assert read_text(write_text(network)) == network


@pytest.mark.parametrize(
    "text",
    ["latent = true", "latent true", 'latent "true"', '"latent = true"', "Latent = TRUE"],
)
def test_the_property_of_latent_variables(text):
    text = SPRINKLER.replace("position = (73, 165)", text)
    assert read_text(text).latents == ("sprinkler",)


@pytest.mark.parametrize("text", ["latent = false", "latent", "not latent true", "latent trueish"])
def test_other_properties_mean_nothing(text):
    assert read_text(SPRINKLER.replace("position = (73, 165)", text)).latents == ()


def test_compressed_files(tmp_path):
    network = read_text(SPRINKLER)
    save(network, tmp_path / "model.bif.gz")
    assert gzip.decompress((tmp_path / "model.bif.gz").read_bytes()).decode() == write_text(network)
    assert load(tmp_path / "model.bif.gz") == network
    save(network, tmp_path / "again.bif.gz")
    assert (tmp_path / "model.bif.gz").read_bytes() == (tmp_path / "again.bif.gz").read_bytes()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model.bif.gz"
    path.write_bytes(b"network unknown { }")
    with pytest.raises(FileFormatError, match=r"model\.bif\.gz is a damaged gzip file"):
        load(path)
    path.write_bytes(gzip.compress(SPRINKLER.encode())[:-12])
    with pytest.raises(FileFormatError, match=r"model\.bif\.gz is a damaged gzip file"):
        load(path)
    plain = tmp_path / "model.bif"
    plain.write_bytes("network unknown {\n}\nvariable größe".encode("latin-1"))
    with pytest.raises(FileFormatError, match="line 3: byte 0xf6 is not UTF-8 text"):
        load(plain)


BAD_FILES = {
    "empty": ("", "line 1: expected a network with variables, found none"),
    "no variables": ("network x {\n}\n", "line 3: expected a network with variables, found none"),
    "json": ('{\n "format": 1\n}', "line 1: expected 'network', 'variable' or 'probab.*found '{'"),
    "other block": ("\nnode x { }", "line 2: expected 'network', 'variable' or 'probability', f"),
    "short": (SPRINKLER[:200], "line 9: expected ';' after this, found none"),
    "no end": (SPRINKLER.rstrip()[:-1], "line 28: the file ends too early"),
    "open quote": ('\nvariable "a {}', "line 2: this quote is never closed"),
    "open comment": ("\n\nvariable a /* {}", "line 3: a comment that begins here is never clo"),
    "no type": ("variable a {\n}", "line 1: variable 'a' has no type"),
    "continuous": (
        "variable a {\n type continuous;\n}",
        "line 2: variable 'a': expected the type 'discrete', found 'continuous'",
    ),
    "two types": (
        "variable a {\n type discrete [1] {x};\n type discrete [1] {x};\n}",
        "line 3: variable 'a' has a second type",
    ),
    "attribute": ("variable a {\n kind x;\n}", "line 2: expected 'type', 'property' or '}', fo"),
    "no number": ("variable a {\n type discrete [ x ] { y };\n}", "line 2: .* number of states"),
    "too few states": (
        "variable a {\n type discrete [ 3 ] { x, y };\n}",
        "line 2: expected 3 states of variable 'a', found 2: 'x, y'",
    ),
    "states twice": (
        "\nvariable a {\n type discrete [ 2 ] { x, x };\n}",
        "line 2: variable 'a' has repeated state names",
    ),
    "no states": ("variable a { type discrete [ 0 ] { }; }", "line 1: variable 'a' has no states"),
    "odd states": (
        "variable a {\n type discrete [ 2 ] { [0,5], (5,9] };\n}",
        "line 2: expected names up to '}', found '\\['; names with one of .* must be in quotes",
    ),
    "no name": ("variable {\n}", "line 1: expected 1 name of a variable, found 0"),
    "variable twice": (SPRINKLER.replace("variable wet", "variable rain"), "line 11: a second v"),
    "family twice": (
        SPRINKLER + "probability ( rain ) { table 1, 0; }",
        "line 29: variable 'rain' has a second probability block",
    ),
    "no family": (
        SPRINKLER[: SPRINKLER.index("probability ( wet")],
        "line 21: expected a probability block for variable 'wet', found none",
    ),
    "unknown child": (two("", head="c | b"), "line 4: no variable is named 'c'"),
    "unknown parent": (two("", head="a | c"), "line 4: no variable is named 'c'"),
    "case": (two("", head="a | B"), "line 4: no variable is named 'B'"),
    "no child": (two("", head="| b"), "line 4: expected the name of one variable before"),
    "two children": (two("", head="a, b | b"), "line 4: expected the name of one variable before"),
    "own parent": (two("", head="a | a"), "line 4: a probability block names a variable twice"),
    "cycle": (
        two("(x) 1, 0; (y) 1, 0;").replace("( b )", "( b | a )"),
        "text: the parents form a cycle: a -> b -> a|text: the parents form a cycle: b -> a -> b",
    ),
}
BAD_TABLES = {
    "no rows": ("", "line 4: table of 'a': no row for b=x"),
    "missing row": ("(y) 0.5, 0.5;", "line 4: table of 'a': no row for b=x"),
    "row twice": ("(x) 1, 0;\n(x) 1, 0;", "line 6: table of 'a': a second row for b=x"),
    "unknown state": (
        "(x) 1, 0;\n(z) 1, 0;",
        "line 6: table of 'a': no state of 'b' is named 'z', expected 'x, y'",
    ),
    "too many states": ("(x, y) 1, 0;", "line 5: expected 1 states of the parents of 'a', found 2"),
    "no states": ("() 1, 0;", "line 5: expected 1 states of the parents of 'a', found 0"),
    "too few numbers": ("(x) 1;", "line 5: table of 'a': expected 2 numbers, found 1$"),
    "too many numbers": ("(x) 0, 5, 0, 5;", "line 5: table of 'a': expected 2 numbers, found 4$"),
    "no numbers": ("(x) ;", "line 5: table of 'a': expected 2 numbers, found 0$"),
    "words": ("(x) 1, o;", "line 5: table of 'a': expected 2 numbers, found '1, o'"),
    "underscores": ("(x) 0_1, 0;", "line 5: table of 'a': expected 2 numbers, found '0_1, 0'"),
    "no semicolon": ("(x) 1, 0\n(y) 1, 0;", "line 5: table of 'a': expected 2 numbers, found '1,"),
    "sum": (
        "(y) 1, 0;\n(x) 0.9, 0.2;",
        r"line 6: table of 'a', b=x: expected .* one, found \[0.9, 0.2\] with sum 1.1$",
    ),
    "negative": ("(x) 1.5, -0.5;\n(y) 1, 0;", r"line 5: .* found \[1.5, -0.5\] with sum 1$"),
    "not finite": ("(x) 1, 0;\n(y) nan, 1;", r"line 6: .* found \[nan, 1.0\] with sum nan"),
    "transposed": (
        "table 0.6, 0.4, 0.05, 0.95;",
        r"line 5: .*b=x: .* with sum 0.65; in a table the variable's own state changes slowest",
    ),
    "short table": ("table 0.5, 0.5;", "line 5: table of 'a': expected 4 numbers, found 2"),
    "two tables": ("table 1;\ntable 1;", "line 6: table of 'a': a second table"),
    "two defaults": ("default 1, 0;\ndefault 1, 0;", "line 6: table of 'a': a second default"),
    "table and rows": (
        "table 1, 1, 0, 0;\n(x) 1, 0;",
        "line 6: table of 'a': a table and rows, expected either",
    ),
    "attribute": ("rows 1, 0;", "line 5: expected '\\(', 'table', 'default', 'property' or '}', f"),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_are_refused(text, message):
    with pytest.raises(FileFormatError, match=message):
        read_text(text)


@pytest.mark.parametrize(("body", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables_are_refused(body, message):
    with pytest.raises(FileFormatError, match=message):
        read_text(two(body))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "line 62: table of 'x30': no row for x0=0, .*x29=0"),
        ("default 0.5, 0.5;", "line 62: table of 'x30': 1,073,741,824 rows; at most"),
        ("table 1, 0;", "line 62: table of 'x30': expected 2147483648 numbers, found 2"),
    ],
)
def test_a_table_larger_than_the_file_is_refused(entry, message):
    found = [f"x{k}" for k in range(31)]
    lines = [f"variable {name} {{ type discrete [ 2 ] {{ 0, 1 }}; }}" for name in found]
    lines += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in found[:-1]]
    lines += [f"probability ( x30 | {', '.join(found[:-1])} ) {{ {entry} }}"]
    with pytest.raises(FileFormatError, match=message):
        read_text("\n".join(lines))


@given(st.data())
@settings(max_examples=400)
def test_damaged_text_is_refused_or_still_a_network(data):
    """Whatever is cut out or put in, no other error appears."""
    start = data.draw(st.integers(0, len(SPRINKLER)))
    end = data.draw(st.integers(start, min(len(SPRINKLER), start + 12)))
    piece = data.draw(st.text('{}()[];|,"/*\\ \n0.1_-axnoyes', max_size=6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileFormatWarning)
        with contextlib.suppress(FileFormatError):
            network = read_text(SPRINKLER[:start] + piece + SPRINKLER[end:])
            assert read_text(write_text(network)) == network
