"""The code that learns the model again."""

from dataclasses import replace

import pytest
from typer.main import get_command

import latentforest as lf
from latentforest.cli.main import app
from latentforest.cli.options import READING
from latentforest.report.sections.reproduce import READING_OPTIONS

DATA = lf.datasets.load("hiv-tests")


@pytest.fixture(scope="module")
def network():
    return lf.LatentClass(2, random_state=0).fit(DATA).network_


def write_code(network, **changes):
    changed = network.with_record(replace(network.record, **changes))
    return lf.report(changed, DATA).content["reproduce"]["python"]


def test_options_of_reading_are_named(network):
    command = "latentforest learn t.csv --exclude case --missing=-9 --states 2"
    code = write_code(network, source="t.csv", command=command)
    assert "data = lf.read('t.csv')  # read as the command says: --exclude, --missing\n" in code


def test_a_plain_command_needs_no_note(network):
    code = write_code(network, source="t.csv", command="latentforest learn t.csv --states 2")
    assert "data = lf.read('t.csv')\n" in code


def test_all_options_of_reading_are_known():
    options = get_command(app).commands["learn"].params
    reading = [one for one in options if getattr(one, "rich_help_panel", None) == READING]
    names = {name for one in reading for name in (*one.opts, *one.secondary_opts)}
    assert names == set(READING_OPTIONS)
