"""Networks as estimators: what a file gives is what the learner gave."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from latentforest import (
    EAST,
    Dataset,
    IncrementalForest,
    Independence,
    LatentClass,
    Network,
    Predictor,
    Variable,
    datasets,
    empirical_kl,
    load,
    log_score,
)
from latentforest.errors import ModelError, ParameterError

HIV = datasets.load("hiv-tests")


def make_table(kind, n_rows=150, seed=0):
    """Columns around two hidden variables, with gaps; one column along a line."""
    generator = np.random.default_rng(seed)
    y, z = generator.integers(0, 2, (2, n_rows))
    x = 4.0 * z + generator.normal(size=n_rows)
    variables, columns = [], []
    for j in range(3):
        if kind != "continuous":
            flips = generator.random(n_rows) < 0.1
            gap = generator.random(n_rows) < 0.1
            columns.append(np.where(gap, -1, y ^ flips).astype(np.int32))
            variables.append(Variable(f"c{j}", ("0", "1")))
        if kind != "categorical":
            values = 4.0 * z + generator.normal(size=n_rows)
            columns.append(np.where(generator.random(n_rows) < 0.1, np.nan, values))
            variables.append(Variable(f"x{j}"))
    if kind != "categorical":
        values = 3.0 * x + generator.normal(size=n_rows)
        columns += [x, np.where(generator.random(n_rows) < 0.1, np.nan, values)]
        variables += [Variable("s"), Variable("t")]
    return Dataset(variables, columns, weights=generator.integers(0, 3, n_rows))


def make_gaps(table):
    """The same table with a gap in every third row of every column."""
    columns = []
    for j, variable in enumerate(table.variables):
        column = np.array(table.column(variable.name))
        column[j % 3 :: 3] = -1 if variable.is_categorical else np.nan
        columns.append(column)
    return Dataset(table.variables, columns, weights=table.weights)


@pytest.mark.parametrize("kind", ["categorical", "continuous", "mixed"])
def test_a_file_of_a_forest_gives_what_the_learner_gave(kind, tmp_path):
    table = make_table(kind)
    model = IncrementalForest(random_state=0).fit(table)
    structure = model.network_.structure
    if kind == "categorical":
        assert any(map(structure.parents, structure.names))
    else:
        assert structure.latents
        assert any(map(structure.continuous_parents, structure.names))
    model.network_.save(tmp_path / "model.json")
    network = load(tmp_path / "model.json")
    again = Predictor(network)
    for rows in (table, make_table(kind, seed=1), make_gaps(table)):
        expected = model.score_samples(rows)
        np.testing.assert_allclose(again.score_samples(rows), expected, rtol=0, atol=1e-12)
        assert again.score(rows) == pytest.approx(model.score(rows), abs=1e-12)
        assert log_score(network, rows) == pytest.approx(rows.weights @ expected, abs=1e-9)
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        np.testing.assert_allclose(again.transform(rows), model.transform(rows), atol=1e-12)
    if kind != "categorical":  # expected parameters alone would not do
        plain = Predictor(network.with_parameters(network.parameters))
        assert np.abs(plain.score_samples(table) - model.score_samples(table)).max() > 0.01


def test_divergences_have_the_parameters_integrated_out(tmp_path):
    table = make_table("continuous")
    model = IncrementalForest(random_state=0).fit(table)
    true = model.network_.with_parameters(model.network_.parameters)
    rows = Predictor(true).score_samples(table) - model.score_samples(table)
    expected = np.average(rows, weights=table.weights)
    assert empirical_kl(true, model.network_, table) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("learner", [LatentClass(2, random_state=0), Independence()])
def test_a_file_of_any_network_gives_what_the_learner_gave(learner, tmp_path):
    model = learner.fit(HIV)
    model.network_.save(tmp_path / "model.json")
    again = Predictor(load(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.score_samples(HIV), model.score_samples(HIV))
    if model.network_.latents:
        np.testing.assert_array_equal(again.predict_proba(HIV), model.predict_proba(HIV))
        assert again.get_feature_names_out().tolist() == ["class=1", "class=2"]


def test_it_is_an_estimator_that_stays_as_it_is():
    model = LatentClass(2, random_state=0).fit(HIV)
    predictor = Predictor(model.network_, n_jobs=1)
    assert predictor.fit(None) is predictor
    for again in (clone(predictor), pickle.loads(pickle.dumps(predictor))):
        assert again.network == model.network_
        assert again.n_jobs == 1
    assert predictor.n_features_in_ == HIV.n_columns
    assert str(predictor).startswith("Predictor:\nclass (latent, 2 states")
    assert predictor.sample(5, random_state=0).n_rows == 5


def test_tables_are_read_by_names_or_by_order():
    model = LatentClass(2, random_state=0).fit(HIV)
    predictor, frame = Predictor(model.network_), pd.DataFrame(HIV.to_columns())
    expected = predictor.predict_proba(HIV)
    np.testing.assert_array_equal(predictor.predict_proba(frame[frame.columns[::-1]]), expected)
    np.testing.assert_array_equal(predictor.predict_proba(frame.to_numpy(dtype=object)), expected)
    with pytest.raises(ValueError, match="X has 3 features, but Predictor is expecting 4"):
        predictor.predict(frame.to_numpy(dtype=object)[:, :3])


def test_networks_only():
    with pytest.raises(ParameterError, match="network must be a Network, got str; see latent"):
        Predictor("model.json").score_samples(HIV)
    hidden = Network.from_tables([Variable.hidden("y", 2)], {}, {"y": [0.5, 0.5]})
    with pytest.raises(ModelError, match="no observed variable"):
        Predictor(hidden).score_samples(HIV)


def test_a_search_that_starts_from_a_forest_has_no_posterior():
    table = make_table("categorical")
    forest = IncrementalForest(random_state=0).fit(table)
    for start in (forest.network_, forest):
        model = EAST(start=start, random_state=0, max_steps=1).fit(table)
        assert model.network_.posterior is None
