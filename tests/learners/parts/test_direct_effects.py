"""LatentClass with direct effects."""

import pytest

from latentforest import LatentClass, datasets, fit
from latentforest.errors import ParameterError

HIV = datasets.load("hiv-tests")


def test_given_effects_are_those_of_the_stated_structure():
    data = datasets.load("house-building")
    model = LatentClass(2, direct_effects=[("D", "B"), ("D", "C")], random_state=0).fit(data)
    stated = fit("X[2] -> A, B, C, D; D -> B, C", data, random_state=0)
    assert model.bic_ == pytest.approx(-2950.827, abs=0.001)
    assert model.log_likelihood_ == pytest.approx(stated.log_likelihood_, abs=1e-3)
    assert model.direct_effects_ == (("D", "B"), ("D", "C"))
    assert model.network_.structure.parents("B") == ("class", "D")


def test_effects_are_found_where_residuals_are_largest():
    model = LatentClass(2, direct_effects="auto", random_state=0).fit(HIV)
    assert model.direct_effects_ == (("B", "C"),)
    assert model.bic_ == pytest.approx(-656.622, abs=0.001)
    assert LatentClass(2, random_state=0).fit(HIV).bic_ < model.bic_


def test_none_are_added_where_none_is_needed():
    data = datasets.load("role-conflict")
    model = LatentClass(direct_effects="auto", random_state=0).fit(data)
    assert model.direct_effects_ == ()
    assert model.bic_ == pytest.approx(LatentClass(random_state=0).fit(data).bic_, abs=1e-6)


def test_a_class_may_be_worth_less_than_an_effect():
    data = datasets.load("coleman-panel")
    plain, linked = (
        LatentClass(direct_effects=effects, random_state=0).fit(data) for effects in ((), "auto")
    )
    assert linked.bic_ == pytest.approx(-8539.394, abs=0.001)
    assert linked.bic_ > plain.bic_ + 30
    assert linked.n_states_ < plain.n_states_


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        ("all", "direct_effects must be pairs of columns or \"auto\", got 'all'"),
        ([("A", "Z")], "direct_effects: there is no variable 'Z'"),
        ([("A", "B"), ("B", "A")], "direct_effects: the links have a cycle among 'A', 'B'"),
    ],
)
def test_bad_effects_are_refused(effects, message):
    with pytest.raises(ParameterError, match=message):
        LatentClass(2, direct_effects=effects).fit(HIV)
