"""A value is a value: how values find states, in tables, evidence and files."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import latentforest as lf
from latentforest.data import encode_like
from latentforest.data.values import Code, StateFinder, restore_values
from latentforest.errors import DataError, ModelError, ParameterError

ITEMS = tuple("123456")
BIG = 2**60


@pytest.mark.parametrize(
    "value", [1, 1.0, "1", "1.0", " 1 ", "1e0", np.int8(1), np.float32(1), Decimal("1.00"), b"1"]
)
@pytest.mark.parametrize("name", ["1", "1.0", "01"])
def test_equal_numbers_are_one_value(value, name):
    assert StateFinder((name, "x", "2")).find(value) == 0


def test_text_comes_before_numbers():
    finder = StateFinder(("01", "1.0", "1"))
    assert [finder.find(value) for value in ("01", "1.0", "1", 1)] == [0, 1, 2, 2]


def test_a_number_that_two_states_have_is_neither():
    assert StateFinder(("01", "1.0", "2")).find(1) is None


@pytest.mark.parametrize(
    "states", [("False", "True"), ("FALSE", "TRUE"), ("0", "1"), ("0.0", "1.0")]
)
def test_truth_values_and_their_numbers(states):
    finder = StateFinder(states)
    true = (True, np.True_, 1, 1.0, "1", "True", "true", "TRUE", Decimal(1))
    false = (False, np.False_, 0, -0.0, "0", "False", "false", "FALSE")
    assert {finder.find(value) for value in true} == {1}
    assert {finder.find(value) for value in false} == {0}
    assert StateFinder(states[::-1]).find(True) == 0


@pytest.mark.parametrize(
    "states", [ITEMS, ("0", "1", "2"), ("True", "False", "maybe"), ("no", "yes"), ("1",), ("True",)]
)
def test_truth_values_match_no_other_columns(states):
    finder = StateFinder(states)
    other = 1 if "True" in states else True
    assert finder.find(other) is None


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, "7", 7, 0, -1, 1.5, "", [1], "one"])
def test_values_that_are_no_state(value):
    assert StateFinder(ITEMS).find(value) is None


def test_fractions():
    assert StateFinder(("0.5", "0.25")).find(Fraction(1, 2)) == 0


@pytest.mark.parametrize("number", [-1, True, 1.0, "1", None])
def test_codes_are_whole_numbers(number):
    with pytest.raises(ParameterError, match=r"Code: got .*, expected a whole number from 0"):
        Code(number)


@pytest.mark.parametrize(
    ("states", "values", "kind"),
    [
        (("1", "2"), [1, 2], "i"),
        (("-1", "0"), [-1, 0], "i"),
        (("False", "True"), [False, True], "b"),
        (("TRUE", "FALSE"), [True, False], "b"),
        (("1", "1.5"), ["1", "1.5"], "O"),
        (("01", "2"), ["01", "2"], "O"),
        (("1", "other"), ["1", "other"], "O"),
        (("1", str(2**70)), [1, 2**70], "O"),
    ],
)
def test_states_as_values(states, values, kind):
    found = restore_values(states)
    assert found.tolist() == values
    assert found.dtype.kind == kind


def network_of(states):
    item, other = lf.Variable("N1", states), lf.Variable("Y1", ("no", "yes"))
    given = np.linspace(0.1, 0.9, len(states))
    tables = {"N1": np.full(len(states), 1 / len(states)), "Y1": np.stack([1 - given, given], 1)}
    return lf.Network.from_tables([item, other], {"Y1": "N1"}, tables)


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0", np.int64(1), Decimal(1), lf.Code(0)])
def test_whole_numbers_as_evidence_are_values(value):
    network = network_of(ITEMS)
    expected = network.query("Y1", {"N1": "1"})
    assert expected.tolist() == pytest.approx([0.9, 0.1])
    assert np.array_equal(network.query("Y1", {"N1": value}), expected)
    assert network.log_probability({"N1": value}) == network.log_probability({"N1": "1"})
    assert network.most_probable({"N1": value}) == {"Y1": "no"}


def test_true_and_false_as_evidence():
    network = network_of(("0", "1"))
    assert np.array_equal(network.query("Y1", {"N1": True}), network.query("Y1", {"N1": 1}))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, r"no state 0, expected one of '1', .*'6'; the state with the code 0 is Code\(0\)$"),
        (9, r"evidence on 'N1': no state 9, expected one of '1', '2', '3', '4', '5', '6'$"),
        ("five", r"no state 'five', expected one of '1', '2', '3', '4', '5', '6'$"),
        (True, r"no state True, expected one of '1', '2', '3', '4', '5', '6'$"),
        (lf.Code(6), r"no state with the code 6, expected a code from 0 to 5: the states are '1'"),
    ],
)
def test_errors_say_what_was_received_and_which_states_there_are(value, message):
    with pytest.raises(ModelError, match=message):
        network_of(ITEMS).query("Y1", {"N1": value})


def test_latent_states_are_values_too():
    parts = [lf.Variable.hidden("class", 2), lf.Variable("a", ("x", "y"))]
    tables = {"class": [0.5, 0.5], "a": [[1, 0], [0, 1]]}
    network = lf.Network.from_tables(parts, {"a": "class"}, tables)
    assert network.query("a", {"class": 1}).tolist() == [1, 0]
    assert network.query("a", {"class": lf.Code(1)}).tolist() == [0, 1]


def test_numbers_as_evidence_may_be_texts():
    pulse = lf.Variable("pulse")
    network = lf.Network.from_tables([pulse], {}, {"pulse": [70.0, 100.0]})
    assert network.log_probability({"pulse": "80"}) == network.log_probability({"pulse": 80})
    with pytest.raises(ModelError, match=r"expected a finite number.* got Code\(number=3\)"):
        network.log_probability({"pulse": lf.Code(3)})


TRUTHS = {
    "booleans": [True, False, None, True],
    "numbers": [1, 0, None, 1],
    "floats": [1.0, 0.0, np.nan, 1.0],
    "Python": ["True", "False", None, "True"],
    "R": ["TRUE", "FALSE", None, "TRUE"],
    "texts": ["1", "0", None, "1"],
}


@pytest.mark.parametrize("seen", TRUTHS)
@pytest.mark.parametrize("new", TRUTHS)
@pytest.mark.parametrize("frame", [dict, pd.DataFrame, lambda c: pl.DataFrame(c, strict=False)])
def test_true_and_false_at_prediction(seen, new, frame):
    variables = lf.Dataset.from_table({"a": TRUTHS[seen]}).variables
    found = encode_like(frame({"a": TRUTHS[new]}), variables)
    assert found.column("a").tolist() == [1, 0, -1, 1]


def test_a_model_of_true_and_false_meets_zeros_and_ones(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((60, 3)) < [0.3, 0.5, 0.7], columns=list("abc"))
    model = lf.LatentClass(2, random_state=0).fit(table)
    expected = model.predict_proba(table)
    assert np.array_equal(model.predict_proba(table.astype(int)), expected)
    path = tmp_path / "table.csv"
    path.write_text(table.to_csv(index=False).upper().replace("A,B,C", "a,b,c"))
    again = lf.read(path, like=model.variables_)
    assert np.array_equal(model.predict_proba(again), expected)


def test_arrays_of_booleans():
    data = lf.Dataset.from_table(np.array([[True, False], [False, True]]))
    assert data.variables[0].states == ("False", "True")
    assert encode_like(np.array([[1, 0], [0, 0]]), data.variables[:2]).columns[0].tolist() == [1, 0]


def test_a_column_without_any_known_value_is_an_error():
    variables = [lf.Variable("a", ("ja", "nein")), lf.Variable("b", ("1", "2"))]
    message = (
        r"column 'a': none of its values is known: it holds 'no', 'yes', expected 'ja', 'nein'"
    )
    for unseen in ("missing", "error"):
        with pytest.raises(DataError, match=message if unseen == "missing" else "'no', 'yes'"):
            encode_like({"a": ["yes", None, "no"], "b": [1, 2, 1]}, variables, unseen=unseen)


def test_a_column_without_any_value_is_none():
    found = encode_like({"a": [None, None]}, [lf.Variable("a", ("x", "y"))])
    assert found.n_missing == 2


def test_states_that_are_given_find_their_values():
    states = {"a": [True, False], "b": [3, 2, 1]}
    data = lf.Dataset.from_table({"a": [0, 1, 1], "b": ["1.0", "2", "3"]}, states=states)
    assert data.variables[0].states == ("True", "False")
    assert [column.tolist() for column in data.columns] == [[1, 0, 0], [2, 1, 0]]


@pytest.mark.parametrize("counts", ["{1 = 2.0, 2 = 3.0}", '{"2.0" = 3.0, "1" = 2.0}', "[2.0, 3.0]"])
def test_priors_by_value(tmp_path, counts):
    from latentforest.estimation.bayes.conjugate_priors import read_priors

    path = tmp_path / "priors.toml"
    path.write_text(f"[a]\ncounts = {counts}\n[b]\ncounts = {{true = 1.0, false = 4.0}}\n")
    data = lf.Dataset.from_table({"a": [1, 2], "b": [0, 1]})
    found = read_priors(path, data)
    assert found["a"].concentration.tolist() == [2.0, 3.0]
    assert found["b"].concentration.tolist() == [4.0, 1.0]


def test_a_prior_network_may_write_its_states_otherwise():
    data = lf.Dataset.from_table({"a": [0, 1, 1, 0, 1], "b": [0, 1, 1, 1, 0]})
    named = lf.Dataset.from_table({"a": [False, True, True], "b": [True, False, True]})
    prior = lf.Independence().fit(named).network_
    same = lf.Independence().fit(lf.Dataset.from_table({"a": [0, 1, 1], "b": [1, 0, 1]})).network_
    scores = [
        lf.BayesianNetworkSearch(criterion="bde", prior_network=network, random_state=0)
        .fit(data)
        .score_
        for network in (prior, same)
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("values", "kind"), [([1, 2, 1, 2], "i"), ([True, False, True, False], "b")]
)
def test_a_predicted_column_has_its_own_values(values, kind):
    table = pd.DataFrame({"a": values, "b": list("xyxy")})
    found = lf.ChowLiu().fit(table).predict_column(table, "a")
    assert found.dtype.kind == kind
    assert found.tolist() == values


NEIGHBOURS = [BIG, BIG + 1, BIG + 2, BIG]
HOLDERS = {
    "list": lambda x: {"a": x},
    "beside None": lambda x: {"a": [*x, None]},
    "beside a float": lambda x: {"a": [*x, float("nan")]},
    "text": lambda x: {"a": [str(each) for each in x]},
    "decimals": lambda x: {"a": [Decimal(each) for each in x]},
    "array": lambda x: np.array(x)[:, None],
    "rows": lambda x: [[each] for each in x],
    "pandas": lambda x: pd.DataFrame({"a": x}),
    "nullable": lambda x: pd.DataFrame({"a": pd.array([*x, None], dtype="Int64")}),
    "objects": lambda x: pd.DataFrame({"a": np.array(x, dtype=object)}),
    "polars": lambda x: pl.DataFrame({"a": x}),
    "polars decimals": lambda x: pl.DataFrame({"a": pl.Series(list(map(Decimal, x)))}),
    "polars, 128 bits": lambda x: pl.DataFrame({"a": pl.Series(x, dtype=pl.Int128)}),
    "Arrow": lambda x: pa.table({"a": x}),
    "Arrow decimals": lambda x: pa.table({"a": pa.array(list(map(Decimal, x)))}),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_large_whole_numbers_do_not_collapse(holder):
    names = tuple(str(BIG + k) for k in range(3))
    data = lf.Dataset.from_table(HOLDERS[holder](NEIGHBOURS))
    assert data.variables[0].states == names
    assert data.columns[0][:4].tolist() == [0, 1, 2, 0]
    variables = [lf.Variable("a", names)]
    again = encode_like(HOLDERS[holder](NEIGHBOURS[::-1]), variables)
    assert again.columns[0][:4].tolist() == [0, 2, 1, 0]
    for other in ("text", "decimals", "polars"):
        found = encode_like(HOLDERS[other](NEIGHBOURS), variables)
        assert found.columns[0].tolist() == [0, 1, 2, 0]


def test_large_whole_numbers_of_a_file(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("a,b\n" + "".join(f"{BIG + k},{k}\n" for k in (0, 1, 2, 1)))
    data = lf.read(path)
    assert data.variables[0].states == tuple(str(BIG + k) for k in range(3))
    assert lf.read(path, like=data.variables).columns[0].tolist() == [0, 1, 2, 1]


def test_many_large_numbers_are_counted_one_by_one():
    table = {"a": [str(BIG + k) for k in range(30)]}
    assert not lf.Dataset.from_table(table).variables[0].is_categorical


def test_rows_of_learners_keep_large_numbers():
    rows = [[BIG + k % 2, 0.5 * k] for k in range(30)]
    model = lf.Independence().fit(rows)
    assert model.variables_[0].states == (str(BIG), str(BIG + 1))


def test_large_numbers_as_evidence():
    network = network_of((str(BIG), str(BIG + 1), "1e+22"))
    assert network.query("Y1", {"N1": BIG + 1})[1] == pytest.approx(0.5)
    assert network.query("Y1", {"N1": 10**22})[1] == pytest.approx(0.9)
    assert network.query("Y1", {"N1": float(BIG)})[1] == pytest.approx(0.1)
    with pytest.raises(ModelError, match="no state 1152921504606846978"):
        network.query("Y1", {"N1": BIG + 2})


def test_floats_with_large_values_are_one_value_in_all_forms():
    kinds = {"a": "categorical"}
    data = lf.Dataset.from_table({"a": [1e22, 2.5, float(BIG)]}, kinds=kinds)
    assert data.variables[0].states == ("2.5", str(BIG), "1e+22")
    forms = (["1e22", 2.5, BIG], [10**22, "2.50", "1.152921504606847e+18"])
    for values in forms:
        assert encode_like({"a": values}, data.variables).columns[0].tolist() == [2, 0, 1]


def test_long_decimals_do_not_collapse():
    values = [Decimal("0.12345678901234567891"), Decimal("0.12345678901234567892")]
    data = lf.Dataset.from_table({"a": values}, kinds="categorical")
    assert data.variables[0].n_states == 2
    assert encode_like({"a": [str(x) for x in values]}, data.variables).columns[0].tolist() == [
        0,
        1,
    ]
