import sqlite3

import adbc_driver_sqlite.dbapi
import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import DataError, ParameterError

ROWS = [("yes", 31.5, 1, 2), ("no", None, 2, 1), ("NA", 27.25, 1, 3)]


@pytest.fixture(params=["sqlite3", "adbc"])
def connection(request, tmp_path):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as made:
        made.execute("create table survey (smokes text, age real, item integer, n integer)")
        made.executemany("insert into survey values (?, ?, ?, ?)", ROWS)
    made.close()
    opened = sqlite3.connect(path)
    if request.param == "adbc":
        opened.close()
        opened = adbc_driver_sqlite.dbapi.connect(str(path))
    yield opened
    opened.close()


def test_a_query(connection):
    data = lf.read_sql("select * from survey", connection)
    assert data.variable("smokes").states == ("no", "yes")
    assert data.column("smokes").tolist() == [1, 0, -1]
    np.testing.assert_array_equal(data.column("age"), [31.5, np.nan, 27.25])
    assert data.variable("item").states == ("1", "2")


def test_options_are_those_of_every_source(connection):
    data = lf.read_sql(
        "select * from survey where n > ?",
        connection,
        parameters=(1,),
        weights="n",
        exclude=["age"],
        kinds={"item": "continuous"},
        states={"smokes": ["yes", "NA"]},
    )
    assert data.names == ("smokes", "item")
    assert data.column("smokes").tolist() == [0, 1]
    assert data.total_weight == 5
    assert not data.variable("item").is_categorical


def test_a_query_without_rows():
    connection = sqlite3.connect(":memory:")
    with pytest.raises(DataError, match="the query gives no rows"):
        lf.read_sql("create table t (a)", connection)
    with pytest.raises(DataError, match="at least one row"):
        lf.read_sql("select * from t", connection)
    connection.close()


def test_what_is_no_connection():
    with pytest.raises(ParameterError, match=r"connection: got str.*raw_connection"):
        lf.read_sql("select 1", "sqlite://")
