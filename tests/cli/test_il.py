"""``learn`` with the learners il and cil."""

from __future__ import annotations

import json

import numpy as np
import pytest

import latentforest as lf
from latentforest.data import write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with a categorical and three continuous columns, one along a line."""
    generator = np.random.default_rng(0)
    z = generator.integers(0, 2, 200)
    x = 5.0 * z + generator.normal(size=200)
    columns = {
        "kind": np.where(generator.random(200) < 0.1, 1 - z, z).astype(str),
        "x": x,
        "y": 2.0 * x + generator.normal(size=200),
        "w": -4.0 * z + generator.normal(size=200),
    }
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    write_table({name: column.tolist() for name, column in columns.items()}, path)
    return path


@pytest.mark.parametrize(("learner", "pairs"), [("il", None), ("cil", 10)])
def test_learns_as_in_python(run, table, tmp_path, learner, pairs):
    path = tmp_path / "model.json"
    run("learn", table, "--learner", learner, "--out", path)
    model = lf.IncrementalForest(candidate_pairs=pairs, random_state=0).fit(lf.read(table))
    assert lf.load(path) == model.network_
    assert model.network_.structure.continuous_parents("y") == ("x",)


def test_a_file_is_scored_and_predicted_as_the_learner_does(run, table, tmp_path):
    path, rows, classes = (tmp_path / name for name in ("model.json", "rows.csv", "classes.csv"))
    run("learn", table, "--learner", "cil", "--candidate-pairs", 2, "--out", path)
    data = lf.read(table)
    model = lf.IncrementalForest(2, random_state=0).fit(data)
    scored = json.loads(run("score", path, table, "--json", "--per-row", rows).stdout)
    assert scored["mean_predictive_log_likelihood"] == pytest.approx(model.score(data), abs=1e-12)
    assert scored["log_likelihood"] == pytest.approx(model.log_likelihood_, abs=1e-9)
    assert scored["criteria"]["bic"] == pytest.approx(model.bic_, abs=1e-9)
    total = model.predictive_log_likelihood_
    assert scored["predictive_log_likelihood"] == pytest.approx(total, abs=1e-9)
    assert (
        f"predictive      {total:,.4f}  (log-likelihood as of new rows"
        in run("score", path, table).stdout
    )
    found = lf.read(rows, exclude=["note"]).column("predictive_log_likelihood")
    np.testing.assert_allclose(found, model.score_samples(data), rtol=0, atol=1e-12)
    run("predict", path, table, "--out", classes)
    found = lf.read(classes, exclude=["note"])
    shares = [found.column(name) for name in model.get_feature_names_out()]
    np.testing.assert_allclose(np.stack(shares, axis=1), model.transform(data), atol=1e-12)


def test_other_commands_use_expected_parameters(run, table, tmp_path):
    path, plain = tmp_path / "model.json", tmp_path / "plain.json"
    run("learn", table, "--learner", "il", "--out", path)
    network = lf.load(path)
    network.with_parameters(network.parameters).save(plain)
    for arguments in (("show",), ("show", "--tables"), ("show", "--dot")):
        command, *options = arguments
        outputs = [run(command, file, *options).stdout for file in (path, plain)]
        assert outputs[0] == outputs[1]
    assert run("sample", path, 5).stdout == run("sample", plain, 5).stdout


def test_a_damaged_posterior_is_named(run, table, tmp_path):
    path = tmp_path / "model.json"
    run("learn", table, "--learner", "il", "--out", path)
    document = json.loads(path.read_text())
    del document["posterior"][-1]
    path.write_text(json.dumps(document))
    result = run("score", path, table, code=1)
    assert "model.json: posterior: expected one for variable 'w', found none" in result.output


def test_priors_of_experts(run, table, tmp_path):
    priors, path = tmp_path / "priors.toml", tmp_path / "model.json"
    priors.write_text("[w]\nmean = 100\nvariance = 1\nstrength = 1000\n")
    run("learn", table, "--learner", "il", "--prior", priors, "--out", path)
    network = lf.load(path)
    expert = {"w": lf.NormalGamma.like(100.0, 1.0, 1000.0)}
    model = lf.IncrementalForest(prior=expert, random_state=0).fit(lf.read(table))
    assert network == model.network_
    assert network.mixture("w").mean > 50


def test_bad_priors_are_named(run, table, tmp_path):
    priors = tmp_path / "priors.toml"
    result = run("learn", table, "--learner", "il", "--prior", priors, code=2)
    assert "there is no file" in result.output
    priors.write_text("[height]\nmean = 1\nvariance = 1\n")
    result = run("learn", table, "--learner", "il", "--prior", priors, code=1)
    assert "prior of 'height': there is no such column" in result.output
    priors.write_text("[w]\nmean = 1\nvariance = 1\n")
    result = run("learn", table, "--learner", "east", "--prior", priors, code=1)
    assert "--prior" in result.output
