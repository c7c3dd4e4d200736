"""Comparing models: numbers against their definitions, matching, and what is refused."""

import math

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from latentforest import ChowLiu, Dataset, LatentClass, Network, Variable, compare, datasets
from latentforest.errors import ModelError, ParameterError
from latentforest.scores.contingency import adjusted_rand, match_states, mutual_information

DATA = datasets.load("coleman-panel")
TWO = LatentClass(2, random_state=0).fit(DATA)
THREE = LatentClass(3, random_state=0).fit(DATA)


def test_agreement_of_groupings_is_that_of_scikit_learn():
    generator = np.random.default_rng(0)
    first, second = generator.integers(0, 3, 200), generator.integers(0, 4, 200)
    second[:120] = first[:120]
    counts = np.zeros((3, 4))
    np.add.at(counts, (first, second), 1)
    assert adjusted_rand(counts) == pytest.approx(adjusted_rand_score(first, second), abs=1e-12)
    assert mutual_information(counts) == pytest.approx(mutual_info_score(first, second), abs=1e-12)


def test_states_are_matched_by_weight():
    assert match_states(np.array([[0.0, 9.0], [8.0, 1.0]])) == [(0, 1), (1, 0)]


def test_a_permuted_model_is_the_same():
    turned = TWO.network_.relabelled("class", [1, 0])
    result = compare({"a": TWO.network_, "b": turned}, DATA)
    assert result.latents["adjusted_rand"] == [1.0]
    assert result.latents["states"] == ["1=2, 2=1"]
    assert result.pairs["difference"][0] == pytest.approx(0, abs=1e-12)
    assert math.isnan(result.pairs["z"][0])
    assert result.structures["common_edges"] == [4]
    assert result.structures["splits"] == [0.0]


def test_the_numbers_are_those_of_the_learners():
    result = compare([TWO, THREE], DATA)
    assert result.models["model"] == ["1 LatentClass", "2 LatentClass"]
    for key in ("log_likelihood", "bic", "n_parameters"):
        wanted = [getattr(model, f"{key}_") for model in (TWO, THREE)]
        assert result.models[key] == pytest.approx(wanted, abs=1e-6)


def test_vuongs_test():
    result = compare({"two": TWO.network_, "three": THREE.network_}, DATA)
    models = (TWO.predictive_network_, THREE.predictive_network_)
    ours, theirs = (log_likelihoods(model) for model in models)
    gaps = np.repeat(ours - theirs, DATA.weights.astype(int))
    error = gaps.std() / math.sqrt(len(gaps))
    row = next(result.pairs.rows())
    assert row["difference"] == pytest.approx(gaps.mean(), abs=1e-12)
    assert row["standard_error"] == pytest.approx(error, abs=1e-12)
    assert row["z"] == pytest.approx(gaps.mean() / error)
    penalty = (9 - 14) * math.log(len(gaps)) / 2 / len(gaps)
    assert row["z_corrected"] == pytest.approx((gaps.mean() - penalty) / error)
    assert row["p"] == pytest.approx(2 * (1 - _normal(abs(row["z"]))), abs=1e-9)


def log_likelihoods(network):
    return np.array([math.log(float(np.sum(_joint(network, row)))) for row in range(DATA.n_rows)])


def _joint(network, row):
    values = network.cpd("class")
    for name in network.observed:
        values = values * np.asarray(network.cpd(name))[:, DATA.column(name)[row]]
    return values


def _normal(z):
    return 0.5 * math.erfc(-z / math.sqrt(2))


def test_models_without_latent_variables():
    result = compare({"lca": TWO, "tree": ChowLiu().fit(DATA)}, DATA)
    assert len(result.latents) == 0
    assert result.structures["common_edges"] == [0]
    assert "Structure" in str(result)


def test_latents_of_any_number_are_matched_by_what_they_say(tmp_path):
    THREE.network_.save(tmp_path / "three.json")
    result = compare([tmp_path / "three.json", TWO.network_], DATA)
    assert result.models["model"] == ["three.json", "model 2"]
    assert result.latents["latent"] == ["class"]
    assert 0.3 < result.latents["adjusted_rand"][0] < 1


def test_different_columns_are_refused():
    fewer = LatentClass(2, random_state=0).fit(DATA.select(["A", "B", "C"]))
    with pytest.raises(ModelError, match=r"different columns.*'D'"):
        compare([TWO, fewer], DATA)


def test_what_is_no_model_is_refused():
    with pytest.raises(ParameterError, match="is a LatentClass, expected a fitted"):
        compare([LatentClass(2)], DATA)
    with pytest.raises(ParameterError, match="got none"):
        compare([], DATA)
    with pytest.raises(ParameterError, match="expected a list"):
        compare("model.json", DATA)


def test_impossible_rows_are_counted():
    coin = Variable("coin", ("heads", "tails"))
    fair = Network.from_tables([coin], {}, {"coin": [0.5, 0.5]})
    never = Network.from_tables([coin], {}, {"coin": [1.0, 0.0]})
    result = compare({"fair": fair, "never": never}, Dataset([coin], [[0, 0, 1]]))
    assert result.models["impossible_rows"] == [0, 1]
    assert result.models["log_likelihood"][1] == -math.inf
