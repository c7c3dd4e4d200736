"""``learn`` with structural EM: latent variables, steps, what is printed."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.data import write_table


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of 400 rows: four columns with a common cause, some cells empty."""
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 400)
    columns = {}
    for name in "abcd":
        values = np.where(rng.random(400) < 0.9, cause, 1 - cause)
        columns[name] = [None if rng.random() < 0.1 else "ny"[value] for value in values]
    file = tmp_path_factory.mktemp("table") / "rows.csv"
    write_table(columns, file)
    return file


def learn(run, path, *options, **further):
    return run("learn", path, "--learner", "structural-em", *options, **further)


def test_latent_variables_are_given(run, path, tmp_path):
    out = tmp_path / "model.json"
    result = learn(run, path, "--latents", "H=3, G=2", "--restarts", "0", "--out", out)
    network = lf.load(out)
    assert [len(network.structure.states(name)) for name in network.latents] == [2, 3]
    assert network.latents == ("G", "H")
    assert "structural-em: log-likelihood" in result.stdout
    assert "on the way to the model" in result.stdout
    assert "NI, ND" not in result.stdout


def test_single_arcs(run, path):
    result = learn(run, path, "--structure-step", "one", "--restarts", "0")
    assert "add" in result.stdout


def test_latent_variables_are_found(run, path, tmp_path):
    out = tmp_path / "model.json"
    learn(run, path, "--latents", "auto", "--restarts", "0", "--max-states", "2", "--out", out)
    assert lf.load(out).latents == ("Y1",)


@pytest.mark.parametrize("text", ["H", "H=x", "H=2,H=3", "=2"])
def test_bad_latents(run, path, text):
    result = learn(run, path, "--latents", text, code=2)
    assert "--latents" in result.stderr
