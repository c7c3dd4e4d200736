"""The order of states that nobody has given."""

import random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from latentforest import Dataset, read
from latentforest.data.columns.scales import order_states
from latentforest.errors import DataError

ORDERS = [
    "Strongly disagree|Disagree|Neither agree nor disagree|Agree|Strongly agree",
    "STRONGLY_DISAGREE|DISAGREE|NEUTRAL|AGREE|STRONGLY_AGREE",
    "strongly disagree|somewhat disagree|somewhat agree|strongly agree|Don't know|Refused",
    "Never|Rarely|Sometimes|Often|Always",
    "never|almost never|seldom|usually|almost always",
    "low|medium|high",
    "Very low|Low|Medium|High|Very high",
    "none|mild|moderate|severe",
    "Poor|Fair|Good|Very good|Excellent",
    "No|Yes",
    "no|maybe|yes",
    "FALSE|TRUE",
    "Mon|Tue|Wed|Thu|Fri|Sat|Sun",
    "January|February|March|April|May|December",
    "primary|secondary|tertiary",
    "Less than high school|High school|Some college|Bachelor's degree|Master's degree",
    "Not at all|Slightly|Moderately|Very|Extremely",
    "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
    "Very unlikely|Unlikely|Likely|Very likely",
    "XS|S|M|L|XL|XXL",
    "never|monthly|weekly|daily",
    "i|ii|iii|iv|v|vi|ix",
    "under 18|18-24|25-34|35-44|65+",
    "<10|10-20|>20",
    "<=5|6–9|≥10",
    "0 to 17|18 to 64|65 and over",
    "<$20,000|$20,000-$49,999|$50,000 - $99,999|$100,000+",
    "<10k|10k-20k|20k+|100k or more",
    "less than 1 year|1-5 years|more than 5 years|no answer",
    "never|1-2 times|3-5 times",
    "0|1|2|3 or more",
    "1 - very bad|2 - bad|9 - good|10 - great",
    "item 2|item 10",
    "Q1|Q2|Q10",
    "-1.5|9|10",
    "green|red",
    "+|-",
]


@pytest.mark.parametrize("expected", ORDERS)
def test_order(expected):
    states = expected.split("|")
    for seed in range(3):
        mixed = random.Random(seed).sample(states, len(states))
        assert order_states(mixed) == states


@pytest.mark.parametrize(
    "states", [["low", "medium", "high", "banana"], ["no", "yes", "other one"]]
)
def test_a_scale_needs_all_states(states):
    assert order_states(states) == sorted(states)


def test_two_words_for_one_place_are_no_scale():
    assert order_states(["neutral", "neither", "agree"]) == ["agree", "neither", "neutral"]


def test_only_the_order_changes():
    values = ["high", "low", "medium", "low"]
    data = Dataset.from_table({"a": values})
    assert data.variables[0].states == ("low", "medium", "high")
    assert data.decode("a").tolist() == values


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["b", "a"], categories=["b", "a"])),
        pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
        pa.array(["b", "a"]).dictionary_encode(),
    ],
    ids=["pandas", "polars", "Arrow"],
)
def test_the_datas_own_order_stays(column):
    assert Dataset.from_table({"x": column}).variables[0].states == ("b", "a")


def test_an_order_that_is_given(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\nlow,1\nhigh,2\n")
    data = read(path, states={"a": ["high", "low"], "b": [2, 1]})
    assert [variable.states for variable in data.variables] == [("high", "low"), ("2", "1")]
    with pytest.raises(DataError, match="column 'a' holds 'low', but its states are 'high'"):
        read(path, states={"a": ["high"]})
