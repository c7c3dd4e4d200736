"""Comparing models: numbers against their definitions, matching, and what is refused."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from latentforest import (
    EAST,
    ChowLiu,
    Dataset,
    LatentClass,
    ModelAverage,
    Network,
    Variable,
    compare,
    datasets,
)
from latentforest.errors import ModelError, ParameterError, UnseenStatesWarning
from latentforest.scores.compared_models import ComparedModel
from latentforest.scores.contingency import adjusted_rand, match_states, mutual_information
from latentforest.scores.model_comparison import compare_models
from latentforest.scores.paired import adjust_holm

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


def test_models_of_different_columns_are_compared_by_those_of_both():
    fewer = LatentClass(2, random_state=0).fit(DATA.select(["A", "B", "C"]))
    result = compare({"two": TWO, "fewer": fewer}, DATA)
    row = next(result.pairs.rows())
    assert row["n_columns"] == 3
    alone = TWO.score(_blank(DATA, "D")) - fewer.score(DATA)
    assert row["difference"] == pytest.approx(alone, abs=1e-9)
    assert math.isnan(row["p_corrected"])
    assert result.structures["common_edges"] == [3]
    assert any("by the 3 of the same kind" in note for note in result.notes)


def _blank(data, name):
    columns = [np.full(data.n_rows, -1) if n == name else data.column(n) for n in data.names]
    return Dataset(data.variables, columns, data.weights)


def test_models_without_a_column_in_common():
    other = ChowLiu().fit({"x": ["a", "b"] * DATA.n_rows})
    table = DATA.to_columns() | {"x": ["a"] * DATA.n_rows}
    result = compare({"two": TWO, "other": other}, table)
    assert result.notes[0].endswith("have no column in common, so no row is compared.")
    assert math.isnan(result.pairs["difference"][0])


def test_values_that_one_model_does_not_know_are_hidden_from_both():
    rows = {"a": ["x", "y", "z", "y"] * 9, "b": ["u", "v", "v", "u"] * 9}
    known = {
        name: [v for v, a in zip(rows[name], rows["a"], strict=True) if a != "z"] for name in rows
    }
    large, small = ChowLiu().fit(rows), ChowLiu().fit(known)
    with pytest.warns(UnseenStatesWarning):
        result = compare({"large": large, "small": small}, rows)
    assert result.pairs["hidden_rows"] == [9]
    hidden = {**rows, "a": [None if a == "z" else a for a in rows["a"]]}
    gap = large.score(hidden) - small.score(hidden)
    assert result.pairs["difference"][0] == pytest.approx(gap, abs=1e-9)


def test_a_column_of_another_kind_is_not_compared():
    numbers = {"n": [1.5, 2.5, 3.5, 4.5] * 5, "b": ["u", "v", "v", "u"] * 5}
    texts = Dataset.from_table(numbers, kinds={"n": "categorical"})
    models = {"number": LatentClass(1).fit(numbers), "text": LatentClass(1).fit(texts)}
    assert compare(models, numbers).pairs["n_columns"] == [1]


def test_different_weights_are_refused():
    first, second = (
        ComparedModel(n, TWO, DATA.with_weights(DATA.weights * k)) for n, k in (("a", 1), ("b", 2))
    )
    with pytest.raises(ModelError, match="'a' and 'b' weigh the rows differently"):
        compare_models([first, second])
    with pytest.raises(ModelError, match="different tables: 16 and 2 rows"):
        compare_models([first, ComparedModel("c", TWO, DATA.take([0, 1]))])


def test_weights_count_as_repeated_rows():
    rows = np.repeat(np.arange(DATA.n_rows), (DATA.weights // 50 + 1).astype(int))
    weighted = DATA.with_weights(DATA.weights // 50 + 1)
    repeated = DATA.with_weights(None).take(rows)
    first, second = (compare([TWO, THREE], data) for data in (weighted, repeated))
    for key in ("difference", "standard_error", "z_corrected"):
        assert first.pairs[key] == pytest.approx(second.pairs[key], abs=1e-9)
    assert first.latents["adjusted_rand"] == pytest.approx(second.latents["adjusted_rand"])


def test_fitted_rows_take_the_numbers_of_parameters_into_account():
    one = compare({"two": TWO, "three": THREE}, DATA, fitted=True)
    assert one.pairs["p_holm"] == one.pairs["p_corrected"]
    assert any(note.startswith("BIC very strongly prefers 'three'") for note in one.notes)
    four = LatentClass(4, random_state=0).fit(DATA)
    five = LatentClass(5, random_state=0).fit(DATA)
    result = compare({"four": four, "five": five}, DATA, fitted=True)
    assert "nearly the same probabilities" in result.notes[0]
    with pytest.raises(ParameterError, match="fitted: got 1"):
        compare([TWO, THREE], DATA, fitted=1)


def forget(model):
    return model.network_.with_parameters(model.network_.parameters)  # without a record


def test_rows_that_models_were_fitted_to_are_known_by_their_records():
    turned = DATA.select(["D", "B", "A", "C"]).take(np.arange(DATA.n_rows)[::-1])
    result = compare({"two": TWO, "three": THREE}, turned)
    assert result.models["fitted"] == [True, True]
    assert result.pairs["p_holm"] == result.pairs["p_corrected"]
    assert "fitted to these rows, which their records say." in result.notes[1]
    assert result.notes[2].startswith("BIC ")


def test_other_rows_and_models_without_a_record_count_as_new():
    fewer = compare({"two": TWO, "three": THREE}, DATA.take(np.arange(DATA.n_rows - 1)))
    assert fewer.models["fitted"] == [False, False]
    blank = compare({"two": forget(TWO), "three": forget(THREE)}, DATA)
    assert blank.models["fitted"] == [None, None]
    for result in (fewer, blank):
        assert result.pairs["p_holm"] == result.pairs["p"]
        assert "This holds if the rows are new" in result.notes[1]
    stated = compare({"two": forget(TWO), "three": forget(THREE)}, DATA, fitted=True)
    assert stated.models["fitted"] == [True, True]


def test_one_model_that_was_fitted_to_the_rows_has_an_advantage():
    models = {"two": TWO, "three": forget(THREE), "tree": ChowLiu().fit(DATA)}
    result = compare(models, DATA)
    raw = result.pairs["p"][0], result.pairs["p_corrected"][1], result.pairs["p"][2]
    assert result.pairs["p_holm"] == pytest.approx(adjust_holm(raw))
    note = next(note for note in result.notes if note.startswith("Fitted to these rows"))
    assert "'two', 'tree'. Among them, Vuong's correction" in note
    assert "over 'three'" in note


def test_fitted_models_of_different_columns_have_no_test():
    fewer = LatentClass(2, random_state=0).fit(DATA.select(["A", "B", "C"]))
    result = compare({"two": TWO, "fewer": fewer}, DATA)
    assert math.isnan(result.pairs["p_holm"][0])
    assert "by different columns, new rows decide" in result.notes[0]
    assert not any("Vuong's correction" in note for note in result.notes)


def test_p_values_are_corrected_for_all_pairs():
    models = {"two": TWO, "three": THREE, "tree": ChowLiu().fit(DATA)}
    result = compare(models, DATA)
    assert result.pairs["p_holm"] == pytest.approx(adjust_holm(result.pairs["p_corrected"]))
    assert "gives the rows the highest probability" in result.notes[0]
    assert "Edges" not in str(result)


def test_averages_predict_as_averages():
    average = ModelAverage(ChowLiu(), 5, "bootstrap", random_state=0).fit(DATA)
    result = compare({"average": average, "two": TWO}, DATA)
    assert result.models["predictive_per_row"][0] == pytest.approx(average.score(DATA))


def test_equivalent_graphs_have_no_distance():
    names = ("a", "b", "c")
    variables = [Variable(name, ("0", "1")) for name in names]
    table, even = [[0.8, 0.2], [0.3, 0.7]], [0.5, 0.5]

    def chain(parents):
        tables = {name: table if name in parents else even for name in names}
        return Network.from_tables(variables, parents, tables)

    rows = Dataset(variables, [[0, 1], [1, 0], [1, 1]])
    along, back = chain({"b": "a", "c": "b"}), chain({"a": "b", "b": "c"})
    collider = Network.from_tables(
        variables, {"b": ["a", "c"]}, {"a": even, "c": even, "b": [table, table]}
    )
    assert compare([along, back], rows).structures["hamming"] == [0]
    found = compare([along, collider], rows).structures
    assert (found["hamming"], found["common_edges"]) == ([2], [2])
    assert math.isnan(found["splits"][0])


def test_edges_are_listed_with_matched_latents():
    east = EAST(random_state=0).fit(DATA)
    result = compare({"two": TWO, "east": east}, DATA)
    assert result.edges["is_in"].count("both") == result.structures["common_edges"][0] == 2
    assert result.edges["variable"][0] == "class = Y1"


def test_it_becomes_json_and_files(tmp_path):
    result = compare({"a_b": TWO, "c|d": THREE}, DATA)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["models"][0]["n_columns"] == 4
    assert json.loads(result.to("json"))["pairs"][0]["second"] == "c|d"
    assert "a_b" in result.to("markdown")
    assert r"a\_b" in result.to("latex")
    assert "<table" in result.to("html")
    result.to(tmp_path / "r.xlsx")
    book = pytest.importorskip("python_calamine").load_workbook(tmp_path / "r.xlsx")
    assert book.sheet_names == ["models", "pairs", "structures", "latents", "edges"]


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
    assert result.pairs["impossible_second"] == [1]
    assert any(note.startswith("Under 'never', 1 row cannot occur") for note in result.notes)
