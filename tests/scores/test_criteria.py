import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.errors import ParameterError
from latentforest.scores import CRITERIA, FitSummary, evaluate

FIT = FitSummary(log_likelihood=-500.0, dimension=9, total_weight=200.0, entropy=30.0)
LOG_N = math.log(200.0)
EXPECTED = {
    "bic": -500 - 4.5 * LOG_N,
    "aic": -509.0,
    "aic3": -513.5,
    "caic": -500 - 4.5 * (LOG_N + 1),
    "sabic": -500 - 4.5 * math.log(202 / 24),
    "mdl": 500 + 4.5 * LOG_N,
    "icl": -530 - 4.5 * LOG_N,
}

summaries = st.builds(
    FitSummary, st.floats(-1e6, 0), st.integers(0, 1000), st.floats(30, 1e6), st.floats(0, 1e4)
)


@pytest.mark.parametrize(("name", "value"), EXPECTED.items())
def test_formulas(name, value):
    assert CRITERIA[name](FIT) == pytest.approx(value)


def test_every_criterion_has_a_formula_here():
    assert set(CRITERIA) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_higher_is_better_when_evaluated(name):
    better = FitSummary(-490.0, 9, 200.0, 30.0)
    smaller = FitSummary(-500.0, 8, 200.0, 30.0)
    assert evaluate(name, better) == pytest.approx(evaluate(name, FIT) + 10)
    assert evaluate(name, smaller) > evaluate(name, FIT)


def test_mdl_chooses_as_bic_does():
    assert evaluate("mdl", FIT) == evaluate("bic", FIT)


@given(fit=summaries)
def test_penalties_are_ordered(fit):
    values = {name: evaluate(name, fit) for name in CRITERIA}
    assert values["aic"] >= values["aic3"]
    assert values["bic"] >= values["caic"]
    assert values["bic"] >= values["icl"]
    assert values["sabic"] >= values["bic"]
    assert max(values.values()) <= fit.log_likelihood


def test_an_unknown_criterion_is_named():
    with pytest.raises(ParameterError, match="unknown criterion 'dic'; known are bic, aic, aic3"):
        evaluate("dic", FIT)
