"""What is understood of columns: missing codes, number formats, dates, texts, oddities, recipes."""

import datetime

import numpy as np
import pytest

import latentforest as lf
from latentforest.data import Dataset, encode_like
from latentforest.data.columns.column_relations import find_relations
from latentforest.data.columns.date_texts import are_dates
from latentforest.data.columns.findings import ODDITIES, Finding, describe_group
from latentforest.data.columns.number_formats import find_format
from latentforest.data.columns.sentinels import find_sentinels
from latentforest.data.columns.suspicions import find_suspicions
from latentforest.errors import DataError, DataWarning, FileFormatError, ParameterError

RNG = np.random.default_rng(0)


def find(data, **options):
    return [(f.oddity, f.column) for f in lf.inspect(data, **options).findings]


# Missing codes


def test_missing_is_a_list_or_a_mapping_by_column():
    table = {"a": [1.5, -99.0, 2.5], "b": ["x", "-99", "NA"]}
    both = Dataset.from_table(table, missing=["NA", -99])
    assert both.n_missing == 3
    one = Dataset.from_table(table, missing={"a": [-99]})
    np.testing.assert_array_equal(one.column("a"), [1.5, np.nan, 2.5])
    assert one.variable("b").states == ("-99", "x")
    with pytest.raises(DataError, match="no column 'c'"):
        Dataset.from_table(table, missing={"c": ["-9"]})
    with pytest.raises(ParameterError, match=r"missing: got .*mapping from columns"):
        Dataset.from_table(table, missing={"a": 3})


@pytest.mark.parametrize("text", [".", "#N/A", "None"])
def test_markers_count_as_missing_among_numbers_only(text):
    data = Dataset.from_table({"n": ["1.5", text, "2"], "k": ["1", text, "2"]})
    np.testing.assert_array_equal(data.column("n"), [1.5, np.nan, 2.0])
    assert data.variable("k").states == ("1", "2")
    with pytest.warns(
        DataWarning, match=rf"count as states: 's' \('{text}'\); .*missing={{'s': \['{text}"
    ):
        data = Dataset.from_table({"s": ["mild", text, "severe"]})
    assert data.variable("s").n_states == 3
    assert Dataset.from_table({"s": ["mild", text]}, missing=[text]).n_missing == 1


def test_markers_among_numbers_are_missing_at_prediction_too():
    variables = [lf.Variable("x"), lf.Variable("k", ("1", "2"))]
    data = encode_like({"x": ["1,5", "."], "k": ["2", "None"]}, variables)
    np.testing.assert_array_equal(data.column("x"), [1.5, np.nan])
    assert data.column("k").tolist() == [1, -1]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([34, 51, -99, 28.5, -99], [-99]),
        ([1, 2, 3, 4, 5, 5, 9, 9, 9], [9]),
        ([1, 2, 3, 4, 5, 97, 98, 99], [97, 98, 99]),
        ([18, 25, 33, 47, 61, 80, 999], [999]),
        ([-9, -8, 1, 2, 3], [-9, -8]),
        ([-12.5, 30.25, 4.5, -999], [-999]),
        ([1, 2, 3, 4, 5, -1], [-1]),
        (range(10), []),
        (range(18, 100), []),
        ([-2, -1, 0, 1, 2], []),
        ([-2, -1, 1, 2], []),
        ([0, 1, 1, 2, 3, 4, 5, 5, 6, 9], []),
        ([1, 3, 5, 7, 9], []),
        ([0.5, 9, 2.25], []),
    ],
)
def test_sentinels(values, codes):
    assert find_sentinels(np.array(values, dtype=float)) == codes


def test_sentinels_are_named_with_the_option():
    ages = [*range(20, 60), -99]
    with pytest.warns(DataWarning, match=r"'age' \(-99\); .*pass missing=\{'age': \['-99'\]\}"):
        Dataset.from_table({"age": ages})
    Dataset.from_table({"age": ages}, missing={"age": []})  # warnings are errors here
    assert Dataset.from_table({"age": ages}, missing={"age": [-99]}).n_missing == 1


# Number formats


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,5", "-12,25", "3"], [1.5, -12.25, 3]),
        (["1.234,5", "7"], [1234.5, 7]),
        (["1,234.5", "7"], [1234.5, 7]),
        (["1 234", "12\u00a0345"], [1234, 12345]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["1,234", "1234"], [1.234, 1234]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["12%", "7.5 %"], [12, 7.5]),
        (["$1,200.50", "-$3"], [1200.5, -3]),
        (["1.200,50 €", "3 €"], [1200.5, 3]),
    ],
)
def test_number_formats(texts, numbers):
    found = find_format(texts)
    assert found.other is None
    assert [found.parse(text) for text in texts] == numbers


@pytest.mark.parametrize(
    "texts", [["1,2,3", "1"], ["12%", "13"], ["a1"], ["1", "2.5"], ["1,2.3,4"]]
)
def test_what_follows_no_other_format(texts):
    assert find_format(texts) is None


def test_ambiguous_marks_are_decided_by_a_rule_and_told():
    table = {"n": ["1,234", "12,500"]}
    with pytest.warns(DataWarning, match=r"two ways: 'n' \('1,234' is read as 1234\); .*decimal="):
        assert Dataset.from_table(table).variable("n").states == ("1234", "12500")
    assert Dataset.from_table(table, decimal=",").column("n").tolist() == [1.234, 12.5]
    with pytest.warns(DataWarning, match=r"'1,234' is read as 1.234"):
        data = Dataset.from_table({**table, "sure": ["1,5", "2,25"]})
    assert data.names == ("n", "sure")
    assert data.column("n").tolist() == [1.234, 12.5]
    with pytest.raises(ParameterError, match="decimal: got ';'"):
        Dataset.from_table(table, decimal=";")


def test_decimal_commas_in_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;x\n2,25;y\n")
    assert lf.read(path).column("a").tolist() == [1.5, 2.25]


def test_units_and_texts_among_numbers_are_told():
    with pytest.warns(DataWarning, match=r"without their signs: 'p' \('%'\)"):
        assert Dataset.from_table({"p": ["5%", "7.5%"]}).column("p").tolist() == [5, 7.5]
    texts = [*(f"{x:.2f}" for x in np.arange(30) / 7), "unknown"]
    with pytest.warns(DataWarning, match=r"a few texts among numbers: 'x' \('unknown'\)"):
        Dataset.from_table({"x": texts})


# Dates, texts, columns without values


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-01-31", "2020-02-01T10:00:00Z"],
        ["31/12/2020", "1/2/1999"],
        ["3 Apr 2021", "15 May 1990"],
        ["April 3, 2021"],
        ["10:15", "23:59:59"],
    ],
)
def test_date_texts(texts):
    assert are_dates(texts)
    assert not are_dates([*texts, "never"])


def test_dates_are_left_out_unless_asked_for():
    table = {"a": ["x", "y"], "day": ["2020-01-31", None], "born": [datetime.date(2000, 1, 1)] * 2}
    table["time"] = np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]")
    with pytest.warns(DataWarning, match="dates or times are left out: 'day'.* 'born'.* 'time'"):
        data = Dataset.from_table(table)
    assert data.names == ("a",)
    assert list(data.left_out) == ["day", "born", "time"]
    kept = dict.fromkeys(["day", "born", "time"], "categorical")
    assert Dataset.from_table(table, kinds=kept).n_columns == 4


def test_unique_texts_and_empty_columns_are_left_out():
    table = {"a": ["x", "y"] * 30, "name": [f"n{i}" for i in range(60)], "none": [None] * 60}
    with (
        pytest.warns(DataWarning, match="every text is another, like names or keys, .* 'name'"),
        pytest.warns(DataWarning, match="without any value are left out: 'none'"),
    ):
        data = Dataset.from_table(table)
    assert data.take([0]).select(["a"]).left_out == data.left_out
    with pytest.raises(DataError, match=r"no column is left: 'none' \(no value at all\)"):
        Dataset.from_table({"none": [None]})


# Oddities of encoded columns


@pytest.mark.parametrize(
    ("name", "values", "oddity"),
    [
        ("n", np.arange(100) * 3 + 7, "row numbers"),
        ("n", RNG.permutation(100), "row numbers"),
        ("n", 10_000_000 + RNG.choice(80_000_000, 100, replace=False), "row numbers"),
        ("n", 20200100 + RNG.integers(1, 29, 100), "compact dates"),
        ("wt", RNG.random(100) + 0.5, "weights"),
        ("sample_weight", RNG.random(100) + 0.5, "weights"),
        ("case_id", RNG.integers(0, 60, 100), "identifiers"),
        ("curb_weight", RNG.random(100), None),
        ("income", RNG.integers(10, 9_000, 100) * 100, None),
    ],
)
def test_odd_numbers(name, values, oddity):
    assert [f.oddity for f in find_suspicions(Dataset.from_table({name: values}))] == (
        [] if oddity is None else [oddity]
    )
    explicit = Dataset.from_table({name: values}, kinds={name: "continuous"})
    assert find_suspicions(explicit) == []


def test_odd_texts():
    long = [f"a rather long answer, the {i % 40}th of its kind" for i in range(100)]
    blank = [f"t{i}" if i < 15 else None for i in range(30)] + [None] * 70
    assert find({"long": long}) == [("free text", "long")]
    assert find({"blank": [*blank[:15], *blank[:5], *blank[20:], *blank[20:]]}) == [
        ("mostly blank", "blank")
    ]


def test_copies_and_linear_functions():
    a, b, c, d = RNG.normal(size=(4, 100))
    k = RNG.integers(0, 3, 100)
    flipped = np.array(["u", "v", "w"])[k].astype(object)
    flipped[0] = "v" if k[0] != 1 else "u"
    table = {
        "a": a,
        "b": b,
        "sum": a - 2 * b + 3,
        "near": c + 0.01 * d,
        "c": c,
        "k": k,
        "f": flipped,
        "g": np.array(["u", "v", "w"])[k],
    }
    found = find_relations(Dataset.from_table(table))
    assert found == [
        Finding("near copies", "c", "of 'near'"),
        Finding("near copies", "f", "of 'k'"),
        Finding("copies", "g", "of 'k'"),
        Finding("linear", "sum", "of 'a', 'b'"),
    ]
    far = {"a": np.r_[a, 1e6], "b": np.r_[b, 1e6]}  # one outlier makes no linear function
    assert find_relations(Dataset.from_table(far)) == []


def test_a_near_copy_differs_in_at_most_two_rows_in_a_hundred():
    k, x = np.arange(300) % 2, RNG.normal(size=300)

    def change(column, n_rows):
        changed = column.copy()
        changed[:n_rows] = 1 - changed[:n_rows]
        return changed

    for column, most in ((k, 2), (x, 5)):  # half of the rows of k are beside its mode
        near = Dataset.from_table({"a": column, "b": change(column, most)})
        assert find_relations(near) == [Finding("near copies", "b", "of 'a'")]
        far = Dataset.from_table({"a": column, "b": change(column, most + 1)})
        assert find_relations(far) == []


def test_columns_that_are_nearly_always_the_same_are_no_copies():
    a, b = np.zeros((2, 1000))
    a[:40], b[5:45] = 1.5, 1.5  # 10 rows differ, a fourth of those with a number
    assert find_relations(Dataset.from_table({"a": a, "b": b})) == []
    assert find_relations(Dataset.from_table({"a": a > 0, "b": b > 0})) == []


def test_every_oddity_can_be_told():
    for oddity in ODDITIES:
        assert "'it's'" not in describe_group(oddity, [Finding(oddity, "a{b}", "detail", "-9")])


# Recipes and inspection


def test_a_recipe_is_saved_loaded_and_used(tmp_path):
    recipe = lf.Recipe(
        kinds={"age": "continuous"},
        states={"mood": ["low", "high"]},
        labels={"sex": {"2": "female", "1": "male"}},
        missing=["-9"],
        missing_by_column={"age": ["-99"]},
        decimal=",",
        drop=["notes"],
        id=["case no."],
        weight="wt",
    )
    path = tmp_path / "columns.toml"
    recipe.save(path)
    assert lf.Recipe.load(path) == recipe
    table = tmp_path / "t.csv"
    table.write_text(
        "case no.;age;mood;sex;notes;wt\n1;1,234;high;1;q;2\n2;-99;low;-9;q;1\n3;30;low;2;q;0,5\n"
    )
    data = lf.read(table, recipe=path)
    assert data.names == ("age", "mood", "sex")
    np.testing.assert_array_equal(data.column("age"), [1.234, np.nan, 30])
    assert data.variable("mood").states == ("low", "high")
    assert data.decode("sex").tolist() == ["male", None, "female"]
    assert data.variable("sex").states == ("female", "male")
    assert data.weights.tolist() == [2, 1, 0.5]
    assert data.recipe == recipe
    assert Dataset.from_table({"a": ["x", "y"]}).recipe is None
    assert Dataset.from_table({"a": [1, -9]}, missing=[-9]).recipe.missing == ("-9",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wieght = 'a'", "no entry 'wieght'; did you mean 'weight'"),
        ("[columns.a]\nkind = 'number'", "kind of column 'a': got 'number'"),
        ("id = 'a'", "id: got 'a', expected a list"),
        ("[columns.a]\nlabels = {}", "labels of 'a'"),
        ("= 3", "columns.toml: Invalid"),
    ],
)
def test_bad_recipes(tmp_path, text, message):
    path = tmp_path / "columns.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        lf.Recipe.load(path)


def test_a_value_that_is_no_state_of_the_recipe():
    with pytest.raises(DataError, match="column 'a' holds 'z', but its states are 'x', 'y'"):
        Dataset.from_table({"a": ["x", "z"]}, recipe=lf.Recipe(states={"a": ["x", "y"]}))
    with pytest.raises(ParameterError, match="recipe: got a dict"):
        Dataset.from_table({"a": ["x"]}, recipe={})


def test_inspection_says_what_was_understood(tmp_path):
    table = {
        "sex": ["f", "m", None] * 20,
        "age": [*np.arange(59) / 7 + 20, -99],
        "day": ["2020-01-01"] * 60,
        "same": [2.5] * 60,
        "wt": RNG.random(60),
    }
    found = lf.inspect(table)
    assert found.table["column"] == list(table)
    kinds = ["categorical", "continuous", "left out", "left out", "continuous"]
    assert found.table["kind"] == kinds
    assert found.table["missing"] == [20, 0, None, 0, 0]
    assert list(found.left_out) == ["day", "same"]
    assert "numbers that may mean 'no value': -99" in str(found)
    path = tmp_path / "columns.toml"
    found.write_recipe(path)
    assert '# missing = ["-99"]' in path.read_text()
    recipe = lf.Recipe.load(path)
    assert recipe.drop == ("day", "same")
    assert recipe.states == {"sex": ("f", "m")}
    assert "wt" not in recipe.kinds
    assert lf.inspect(table, recipe=path).left_out == {}


def test_a_column_of_one_reading_keeps_it_beside_decimal_commas():
    table = {"a": ["1,5", "22,75"], "b": ["30,892.56", "1,000.5"], "c": ["41.3%", "2.5%"]}
    with pytest.warns(DataWarning, match="'c'"):
        data = Dataset.from_table(table, kinds=dict.fromkeys("abc", "continuous"))
    assert [data.column(name).tolist() for name in "abc"] == [
        [1.5, 22.75],
        [30892.56, 1000.5],
        [41.3, 2.5],
    ]
