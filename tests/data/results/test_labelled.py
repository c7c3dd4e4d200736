"""Arrays with labels are arrays, know their states, and what is computed has no labels."""

import copy
import pickle

import numpy as np
import pytest

from latentforest.data.results.labelled import Axis, LabelledArray
from latentforest.errors import DataError

HEALTH, FEVER = Axis("health", ("1", "2")), Axis("fever", ("no", "yes"))
VALUES = np.array([[1.0, 0.0], [0.25, 0.75]])
TABLE = LabelledArray(VALUES, [HEALTH, FEVER], "P(fever | health)")
SIZES = LabelledArray(np.array([0.5, 0.5]), [HEALTH], "P(health)")
CUBE = LabelledArray(np.arange(8.0).reshape(2, 2, 2), [HEALTH, FEVER, Axis("x", ("a", "b"))])


def test_printing():
    lines = ["P(fever | health)", "health     no    yes", "     1  1.000  0.000"]
    assert str(TABLE).splitlines()[:3] == lines
    assert repr(TABLE) == str(TABLE) == f"{TABLE}"
    assert str(SIZES).splitlines()[1:] == [
        "health  probability",
        "     1        0.500",
        "     2        0.500",
    ]


def test_long_tables_are_printed_in_part():
    many = LabelledArray(np.zeros(100), [Axis("x", tuple(map(str, range(100))))])
    assert str(many).splitlines()[-1] == "30 of 100 rows are shown; to_pandas() has all"
    assert "60 of 100 rows are shown." in many._repr_html_()


@pytest.mark.parametrize(
    "compute",
    [
        lambda a: a.T,
        lambda a: a.sum(axis=0),
        lambda a: a @ a,
        lambda a: np.log(a + 1),
        lambda a: a[:, 0],
        lambda a: a[0],
        lambda a: a.round(1),
        lambda a: np.concatenate([a, a]),
        lambda a: a.reshape(-1),
        lambda a: np.where(a > 0, a, 1.0),
        lambda a: 2 * a - a,
        lambda a: a == a,
        lambda a: a.argsort(axis=1),
        lambda a: pickle.loads(pickle.dumps(a.T)),
    ],
)
def test_what_is_computed_is_as_of_a_plain_array_and_has_no_labels(compute):
    found = compute(TABLE)
    np.testing.assert_array_equal(found, compute(VALUES))
    assert repr(found) == repr(compute(VALUES))
    assert not getattr(found, "axes", ())


def test_scalars_and_lists():
    assert type(TABLE.sum()) is np.float64
    assert type(TABLE[1, 1]) is np.float64
    assert TABLE.tolist() == VALUES.tolist()
    assert type(TABLE.values) is np.ndarray
    assert type(np.asarray(TABLE)) is np.ndarray
    assert np.shares_memory(TABLE.values, VALUES)


def test_states_by_name():
    assert TABLE["2", "yes"] == 0.75
    assert TABLE["2"].tolist() == [0.25, 0.75]
    assert TABLE[:, "no"].tolist() == [1.0, 0.25]
    with pytest.raises(
        DataError, match="'fever' has no state 'maybe'; expected one of 'no', 'yes'"
    ):
        TABLE["2", "maybe"]
    with pytest.raises(DataError, match="got a state 'no' for axis 2; there are 2"):
        TABLE[0, 0, "no"]
    with pytest.raises(DataError, match="beside an ellipsis"):
        TABLE[..., "no"]


def test_to_pandas():
    series = SIZES.to_pandas()
    assert (series.index.name, series.name, series["2"]) == ("health", "probability", 0.5)
    frame = TABLE.to_pandas()
    assert (frame.index.name, frame.columns.name) == ("health", "fever")
    assert frame.loc["2", "yes"] == 0.75
    cube = CUBE.to_pandas()
    assert list(cube.index.names) == ["health", "fever"]
    assert cube.loc[("2", "no"), "b"] == 5.0


def test_to_polars_and_tables():
    assert TABLE.to_polars().columns == ["health", "no", "yes"]
    assert CUBE.to_table()["fever"] == ["no", "yes", "no", "yes"]
    assert CUBE.to_table()["b"] == [1.0, 3.0, 5.0, 7.0]


def test_states_with_the_names_of_variables():
    odd = LabelledArray(VALUES, [HEALTH, Axis("x", ("health", "health_"))])
    assert odd.to_table().columns == ("health", "health_", "health__")
    single = LabelledArray(VALUES[0], [Axis("probability", ("a", "b"))])
    assert single.to_table().columns == ("probability", "probability_")


def test_copies_keep_labels():
    for again in (pickle.loads(pickle.dumps(TABLE)), copy.deepcopy(TABLE)):
        assert (again.axes, again.title) == (TABLE.axes, TABLE.title)
        np.testing.assert_array_equal(again, VALUES)


def test_html_is_text_whatever_the_names():
    odd = LabelledArray(VALUES, [Axis("<script>", ("<b>", "&")), Axis("x", ("\ud800", "'"))], "<i>")
    page = odd._repr_html_()
    for tag in ("<script>", "<b>", "<i>"):
        assert tag not in page
    page.encode("utf-8")


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"an array of shape \(2, 2\) needs labels of that shape"):
        LabelledArray(VALUES, [HEALTH])


def test_what_lost_its_labels_says_so():
    with pytest.raises(DataError, match="has no labels"):
        TABLE.T.to_pandas()
    assert TABLE.T._repr_html_() is None


def test_an_array_is_written_as_its_table():
    assert SIZES.to("csv").splitlines()[0] == "health,probability"
    assert TABLE.to("markdown") == TABLE.to_table().to("markdown")
