"""Structures that the user states and that are not forests."""

import json

import numpy as np
import pandas as pd
import pytest

import latentforest as lf
from latentforest.errors import DimensionWarning
from reference.reported import reported


@pytest.mark.parametrize(
    ("table", "text", "g_squared", "df", "p"),
    [
        ("hiv-tests", "X[2] -> A, B, C; A, C -> D", 1.000, 4, 0.910),
        ("house-building", "X[2] -> A, B, C, D; D -> B, C", 0.558, 2, 0.757),
        ("house-building", "X[2] -> A, C, D; A, D -> B", 3.713, 4, 0.446),
        ("coleman-panel", "X[2] -> A, B, C, D; C -> A, B", 0.275, 2, 0.871),
    ],
)
def test_published_models(table, text, g_squared, df, p):
    found = lf.fit(text, lf.datasets.load(table), random_state=0).goodness_
    assert found["g_squared"] == pytest.approx([g_squared], abs=6e-4)
    assert found["df"] == found["df_nominal"] == [df]
    assert found["p"] == pytest.approx([p], abs=6e-4)


def test_two_latent_variables_have_fewer_effective_parameters():
    text = "X1[2] -> X2[2]; X1 -> A; X1, X2 -> B, C; X2 -> D"
    model = lf.fit(text, lf.datasets.load("house-building"), random_state=0)
    with pytest.warns(DimensionWarning, match=r"has 15 parameters, but .* can determine 14"):
        found = model.goodness_
    assert found["g_squared"] == pytest.approx([0.5], abs=2e-3)
    assert (found["df"], found["df_nominal"]) == ([1], [0])


@pytest.mark.parametrize(
    ("table", "text", "bic"),
    [
        ("hiv-tests", "X[2] -> A, B, C; A, C -> D", -655.594),
        ("house-building", "X[2] -> A, B, C, D; D -> B, C", -2950.827),
        (
            "house-building",
            "X1[2] -> X2[2]; X1 -> A; X1, X2 -> B, C; X2 -> D",
            -2957.875,
        ),
    ],
)
def test_bic(table, text, bic):
    model = lf.fit(text, lf.datasets.load(table), random_state=0)
    assert model.bic_ == pytest.approx(bic, abs=2e-3)


def test_a_result_has_all_that_a_learners_result_has():
    data = lf.datasets.load("hiv-tests")
    model = lf.fit("X[2] -> A, B, C; A, C -> D", data, random_state=0)
    joint = np.array([model.network_.log_probability(row) for row in rows_of(data)])
    np.testing.assert_allclose(reported(model).score_samples(data), joint, atol=1e-9)
    posterior = [model.network_.query("X", row) for row in rows_of(data)]
    np.testing.assert_allclose(model.predict_proba(data), posterior, atol=1e-9)
    assert model.predict(data).tolist() == np.argmax(posterior, axis=1).tolist()
    assert model.log_likelihood_ == pytest.approx(float(data.weights @ joint), abs=1e-6)


def rows_of(data):
    return [{name: int(data.column(name)[i]) for name in data.names} for i in range(data.n_rows)]


def test_missing_values():
    data = lf.datasets.load("hiv-tests")
    frame = pd.DataFrame(data.to_columns())
    frame.loc[1, "A"] = None
    frame.loc[2, ["C", "D"]] = None
    text = "X[2] -> A, B, C; A, C -> D"
    model = lf.fit(text, frame, sample_weight=data.weights, random_state=0)
    twice = lf.fit(text, pd.concat([frame] * 2), sample_weight=[*data.weights] * 2, random_state=0)
    assert twice.log_likelihood_ == pytest.approx(2 * model.log_likelihood_, rel=1e-7)


@pytest.mark.parametrize("smoothing", [1])
def test_smoothing(smoothing):
    data = lf.datasets.load("hiv-tests")
    text = "X[2] -> A, B, C; A, C -> D"
    model = lf.fit(text, data, prior=smoothing, random_state=0)
    assert model.log_likelihood_ < lf.fit(text, data, random_state=0).log_likelihood_
    assert np.all(model.network_.parameters > 0)


def test_regularization_keeps_the_likelihood():
    data = lf.datasets.load("hiv-tests")
    model = lf.fit("X[2] -> Y[2], A, B; Y -> D; A, X -> C", data, random_state=0)
    regular = lf.regularize(model.network_)
    assert regular.latents == ("X",)
    again = lf.Predictor(regular).score(data) * data.total_weight
    assert again == pytest.approx(model.log_likelihood_, abs=1e-6)
    assert lf.fit(regular, data, random_state=0).log_likelihood_ >= model.log_likelihood_ - 1e-6


def test_a_continuous_column_below_two_categorical_ones():
    parts = [lf.Variable.hidden("X", 2), lf.Variable("A", ("0", "1")), lf.Variable("height")]
    tables = {
        "X": [0.6, 0.4],
        "A": [[0.9, 0.1], [0.2, 0.8]],
        "height": [[[0, 1], [4, 1]], [[10, 1], [16, 1]]],
    }
    truth = lf.Network.from_tables(parts, {"A": "X", "height": ["X", "A"]}, tables)
    data = truth.sample(3000, random_state=0)
    model = lf.fit("X[2] -> A; X, A -> height", data, random_state=0)
    found = np.sort(model.network_.cpd("height")[..., 0], axis=0)  # given A, X may be relabelled
    np.testing.assert_allclose(found, truth.cpd("height")[..., 0], atol=0.4)


def test_the_command(tmp_path):
    from typer.testing import CliRunner

    from latentforest.cli.main import app

    text = "X[2] -> A, B, C; A, C -> D"
    done = CliRunner().invoke(app, ["fit", "hiv-tests", text, "--json", "--quiet"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["bic"] == pytest.approx(-655.594, abs=2e-3)


def test_bootstrap_of_a_network_that_is_no_forest():
    data = lf.datasets.load("hiv-tests")
    network = lf.fit("X[2] -> A, B, C; A, C -> D", data, random_state=0).network_
    found = lf.goodness_of_fit(network, data, bootstrap=29)
    assert found.p_by == "bootstrap"
    assert found.p > 0.3


def test_a_structure_without_latent_variables_has_the_frequencies():
    data = lf.datasets.load("coleman-panel")
    model = lf.fit("A, B -> C; D -> A", data)
    codes = [data.column(name) for name in "ABC"]
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, tuple(codes), data.weights)
    expected = counts / counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(model.network_.cpd("C"), expected)


def test_a_format_without_numbers_is_refused_before_the_fit(tmp_path):
    from typer.testing import CliRunner

    from latentforest.cli.main import app

    (tmp_path / "t.csv").write_text("A,B,y\nx,p,1.5\ny,q,2.5\nx,p,0.3\ny,p,3.3\nx,q,-1.2\n")
    out = tmp_path / "m.bif"
    done = CliRunner().invoke(
        app, ["fit", str(tmp_path / "t.csv"), "X[2], A -> y; X -> B", "--out", str(out)]
    )
    assert done.exit_code != 0
    assert "continuous" in str(done.output) + str(done.exception)
    assert "fit: iteration" not in done.output
    done = CliRunner().invoke(
        app, ["fit", str(tmp_path / "t.csv"), "A -> B", "--out", str(out), "--quiet"]
    )
    assert done.exit_code == 0
    assert out.exists()
