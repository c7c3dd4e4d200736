"""``learn`` with Bayesian networks: options, constraints from a file, what is printed."""

import json

import pytest

import latentforest as lf

LEARN = ("learn", "coleman-panel", "--learner", "bayesian-network")


@pytest.fixture
def arcs(tmp_path):
    path = tmp_path / "arcs.toml"
    path.write_text('required = [["A", "D"]]\nforbidden = [["C", "A"]]\nmax_parents = 2\n')
    return path


def test_what_is_printed(run):
    result = run(*LEARN)
    assert "BIC -8,535.00; no network scores higher" in result.output
    assert "4 arcs; of 4 the direction could be turned without another score" in result.output
    assert "weakest (score lost without them): " in result.output


def test_json(run):
    facts = json.loads(run(*LEARN, "--criterion", "bdeu", "--json").stdout)
    assert facts["is_optimal"] is True
    assert facts["gap"] == 0
    assert {"parent", "child", "strength"} == set(facts["arcs"][0])
    assert len(facts["cpdag"]["directed"]) + len(facts["cpdag"]["undirected"]) == 4


def test_constraints_from_a_file(run, arcs, tmp_path):
    out = tmp_path / "model.bif"
    run(*LEARN, "--constraints", arcs, "--method", "tabu", "--restarts", 1, "--out", out)
    structure = lf.load(out).structure
    assert "A" in structure.parents("D")
    assert "C" not in structure.parents("A")


def test_options_go_before_the_file(run, arcs):
    facts = json.loads(run(*LEARN, "--constraints", arcs, "--max-parents", 1, "--json").stdout)
    assert facts["settings"]["max_parents"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("required = [[", "--constraints"),
        ('need = [["A", "B"]]', "there is no 'need'"),
        ('required = "A"', "required is 'A', expected a list such as"),
    ],
)
def test_bad_files(run, tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert message in run(*LEARN, "--constraints", path, code=2).output


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--method", "greedy"], 1, "method must be one of"),
        (["--criterion", "bick"], 2, "did you mean bic?"),
        (["--constraints", "nowhere.toml"], 2, "nowhere.toml cannot be read"),
        (["--set", "required=[('A','A')]"], 1, "goes from a column to itself"),
    ],
)
def test_refusals(run, options, code, message):
    assert message in run(*LEARN, *options, code=code).output
