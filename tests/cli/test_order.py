"""``--order``: the states of a column in an order that the user gives."""

import json

import pytest

from latentforest import load
from latentforest.cli.options import read_order


def test_read_order():
    assert read_order(["a=x,y", 'b="1,5",2', '"c=d"=no,yes']) == {
        "a": ("x", "y"),
        "b": ("1,5", "2"),
        "c=d": ("no", "yes"),
    }


@pytest.mark.parametrize("text", ["a", "a=", "=x,y", "a=x,x"])
def test_orders_that_are_none(run, survey, text):
    result = run("learn", survey, "--order", text, code=2)
    assert "expected a column and its values, all different" in result.output


@pytest.mark.parametrize("command", [["learn"], ["fit"]], ids=["learn", "fit"])
def test_states_in_the_order_given(run, survey, tmp_path, command):
    out = tmp_path / "model.json"
    structure = ["class[2] -> a, b, c"] if command == ["fit"] else ["--states", 2]
    options = ["--exclude", "height,times,fold"] if command == ["learn"] else []
    orders = ["--order", "a=yes,no", "--order", "c=2,0,1"]
    run(*command, survey, *structure, *options, *orders, "--quiet", "--out", out)
    network = load(out)
    assert network.structure.states("a") == ("yes", "no")
    assert network.structure.states("b") == ("no", "yes")
    assert network.structure.states("c") == ("2", "0", "1")


def test_values_outside_of_the_order_are_an_error(run, survey):
    result = run("learn", survey, "--order", "c=0,1", code=1)
    assert "column 'c' holds '2', but its states are '0', '1'" in result.output
    assert "there is no column 'd'" in run("learn", survey, "--order", "d=0,1", code=1).output
    result = run("learn", survey, "--order", "a=no,yes", "--continuous", "a", code=1)
    assert "column 'a' has --order but its kind is 'continuous'" in result.output


def test_classes_have_one_number_everywhere(run, survey, tmp_path):
    """Names of classes count from 1 in files, on the screen and in Python."""
    out = tmp_path / "model.json"
    run("learn", survey, "--states", 2, "--exclude", "height,times,fold", "--quiet", "--out", out)
    network = load(out)
    assert network.structure.states("class") == ("1", "2")
    shown = json.loads(run("show", out, "--json").stdout)
    assert shown["latents"][0]["states"] == ["1", "2"]
    head, *rows = run("predict", out, survey).stdout.splitlines()
    assert head == "class,class=1,class=2,note"
    for row in rows:
        name, first, second, _ = row.split(",")
        assert name == ("1" if float(first) >= float(second) else "2")
