"""The report in words: sentences that follow from the numbers."""

import dataclasses

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import LatentForestWarning
from latentforest.report.content import make_content
from latentforest.report.sections.search import find_largest_gains
from latentforest.report.wording import round_values, write_number, write_share


def read(spans, content):
    """Spans as one text."""
    parts = []
    for span in spans:
        if isinstance(span, str):
            parts.append(span)
        elif "variable" in span:
            parts.append(content["variables"][span["variable"]]["label"])
        else:
            parts += span.values()
    return "".join(parts)


def find_warning(content, id):
    found = [each for each in content["words"]["warnings"] if each["id"] == id]
    return found[0] if found else None


@pytest.fixture(scope="module")
def groups():
    """Two clear groups over five columns, and the model of them."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 600)
    columns = {name: np.where(rng.random(600) < 0.03, 1 - group, group) for name in "abcde"}
    data = lf.Dataset.from_table({name: values.astype(str) for name, values in columns.items()})
    return lf.LatentClass(2, random_state=0).fit(data), data


def test_the_paragraphs_of_a_class_model(groups):
    model, data = groups
    content = make_content(model, data, noun="patients")
    texts = [read(each, content) for each in content["words"]["paragraphs"]]
    assert texts[0] == (
        "600 patients and 5 columns, all categorical, no missing values. The model has one hidden "
        "variable with 2 states, often called classes: groups of patients that are alike."
    )
    sizes = [write_share(each) for each in model.class_sizes_]
    assert f"Its states hold {sizes[0]} and {sizes[1]} of the patients." in texts[1]
    assert "degrees of freedom) gives p" in texts[2]
    assert texts[3].startswith("How sure. ")
    assert texts[3].endswith("% of the patients have a state with 90% probability or more.")


def test_facts(groups):
    model, data = groups
    facts = {each["label"]: each["value"] for each in make_content(model, data)["words"]["facts"]}
    assert facts["Hidden variables"] == "1"
    assert facts["States"] == "2"
    assert facts["Free parameters"] == "11"
    assert facts["BIC"] == write_number(model.bic_, 1)
    assert facts["BIC"].startswith("\u2212")


def test_clear_groups_have_no_warnings_of_vagueness(groups):
    content = make_content(*groups)
    assert find_warning(content, "vague") is None
    assert find_warning(content, "small") is None
    assert find_warning(content, "missing") is None
    assert find_warning(content, "greedy") is None


def test_vague_classes():
    noise = lf.Dataset.from_table(
        {name: np.random.default_rng(i).integers(0, 2, 300) for i, name in enumerate("abcd")},
        kinds="categorical",
    )
    content = make_content(lf.LatentClass(3, random_state=0).fit(noise), noise)
    warning = find_warning(content, "vague")
    assert content["variables"][0]["r2"] < 0.8
    assert read(warning["head"], content) == "One hidden variable is vague."
    assert (warning["section"], warning["anchor"]) == ("fit", "certainty")


def test_small_states():
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1], [480, 20])
    columns = {name: np.where(rng.random(500) < 0.02, 1 - group, group) for name in "abcde"}
    data = lf.Dataset.from_table({name: values.astype(str) for name, values in columns.items()})
    content = make_content(lf.LatentClass(2, random_state=0).fit(data), data)
    warning = find_warning(content, "small")
    text = read(warning["head"] + warning["text"], content)
    assert "has a state with fewer than 50 rows" in text
    smallest = min(content["profiles"][0]["counts"])
    assert f"The smallest has {write_number(smallest)} (" in text
    assert warning["anchor"] == f"v{content['profiles'][0]['latent']}"


def test_what_is_left_over():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.1, 1 - a, a)
    columns = {"a": a, "b": b, "c": rng.integers(0, 2, 400)}
    data = lf.Dataset.from_table(columns, kinds="categorical")
    content = make_content(lf.Independence().fit(data), data)
    warning = find_warning(content, "residual")
    value = content["fit"]["residuals"]["largest"][0]["value"]
    assert value == pytest.approx(400 * np.corrcoef(a, b)[0, 1] ** 2, rel=1e-3)
    assert "between a and b" in read(warning["text"], content)


def test_missing_values(pair):
    network, data = pair
    hidden = [_hide(v, column) for v, column in zip(data.variables, data.columns, strict=True)]
    many = lf.Dataset(data.variables, hidden)
    content = make_content(network, many)
    assert content["table"]["missing_share"] > 0.2
    assert write_share(content["table"]["missing_share"]) in read(
        find_warning(content, "missing")["text"], content
    )
    assert find_warning(make_content(network, data), "missing") is None


def _hide(variable, column):
    hidden = np.array(column)
    hidden[::3] = -1 if variable.is_categorical else np.nan
    return hidden


def with_record(model, **changes):
    record = dataclasses.replace(model.network_.record, **changes)
    return model.network_.with_record(record)


def test_interrupted_and_not_converged(groups):
    model, data = groups
    content = make_content(with_record(model, interrupted=True, converged=False), data)
    assert find_warning(content, "interrupted")
    assert "iterations" in read(find_warning(content, "convergence")["text"], content)


def test_one_greedy_run():
    data = lf.datasets.load("hiv-tests")
    content = make_content(lf.EAST(random_state=0).fit(data), data)
    assert read(find_warning(content, "greedy")["head"], content) == "One run, greedy."


def test_runs_that_were_found_again():
    data = lf.datasets.load("coleman-panel")
    model = lf.BayesianNetworkSearch(random_state=0, n_restarts=2).fit(data)
    assert find_warning(make_content(model, data), "starts") is None
    rows = [dict(row) for row in model.network_.record.history]
    for row in rows[1:]:
        row["score"] -= 10.0
    content = make_content(with_record(model, history=rows), data)
    assert f"One of {len(rows)} runs" in read(find_warning(content, "starts")["text"], content)


@pytest.mark.parametrize(
    ("gains", "words"),
    [([0.0, -5.0], None), ([-3.0, -5.0], "fell short by 3.0"), ([2.0, 0.0], "higher by 2.0")],
)
def test_the_same_model_with_other_seeds(groups, gains, words):
    model, data = groups
    again = [
        {
            "name": "again",
            "log_likelihood": model.log_likelihood_ + gain,
            "bic": 0,
            "is_again": True,
        }
        for gain in gains
    ]
    content = make_content(with_record(model, comparisons=again), data)
    found = find_warning(content, "starts")
    assert (found is None) if words is None else (words in read(found["text"], content))
    assert [each["is_this"] for each in content["fit"]["models"]] == [True]


def test_unidentified():
    data = lf.datasets.load("coleman-panel")
    content = make_content(lf.LatentClass(4, random_state=0).fit(data), data)
    text = read(find_warning(content, "unidentified")["text"], content)
    assert "19 parameters" in text
    assert "only 15 of them" in text


def test_boundary_counts_zeros_below_latent_variables():
    variables = [lf.Variable.hidden("Y", 2), *(lf.Variable(n, ("0", "1")) for n in "abc")]
    structure = lf.Structure(variables, dict.fromkeys("abc", "Y"))
    network = lf.Network(structure, [0.5, 0.5, 1, 0, 0.3, 0.7, 0.9, 0.1, 0, 1, 0.4, 0.6, 0.5, 0.5])
    content = make_content(network, network.sample(500, random_state=0))
    assert read(find_warning(content, "boundary")["head"], content) == (
        "2 probabilities are at 0 or 1."
    )


def test_variances_at_their_floor():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.full(40, 5.0), rng.normal(0, 1, 200)])
    data = lf.Dataset.from_table({"x": x, "y": x + rng.normal(0, 0.1, 240)})
    with pytest.warns(LatentForestWarning):
        model = lf.LatentClass(2, random_state=0).fit(data)
    content = make_content(model, data)
    text = read(find_warning(content, "floor")["text"], content)
    assert "nearly equal values of x" in text


def test_few_rows_for_many_parameters(tree):
    network, data = tree
    content = make_content(network, data.take(np.arange(40)))
    assert find_warning(content, "sparse")


def test_several_latent_variables(tree):
    content = make_content(*tree)
    second = read(content["words"]["paragraphs"][1], content)
    assert second.startswith("Those that say most about the rows: ")
    assert "(3 states)" in second


def test_comparisons_in_words(groups):
    model, data = groups
    rows = [
        {"name": "Independence", "detail": "", "n_states": None, "n_parameters": 5,
         "log_likelihood": -2000.0, "bic": model.bic_ - 1234.0},
        {"name": "Other", "detail": "", "n_states": None, "n_parameters": 5,
         "log_likelihood": -2000.0, "bic": model.bic_ + 7.0},
    ]  # fmt: skip
    content = make_content(with_record(model, comparisons=rows), data)
    text = read(content["words"]["paragraphs"][2], content)
    assert "is 7 lower than that of the best other model tried (Other)" in text
    assert "1,234 higher than if the columns were independent" in text
    assert [each["name"] for each in content["fit"]["models"]] == [
        "Other", "Latent class model, LatentClass", "Independence",
    ]  # fmt: skip


def test_the_elbow_of_a_learner_that_tried_several_numbers():
    data = lf.datasets.load("role-conflict")
    model = lf.LatentClass((1, 3), random_state=0).fit(data)
    content = make_content(model, data)
    assert content["fit"]["elbow"]["n_states"] == [1, 2, 3]
    assert content["fit"]["elbow"]["bic"] == pytest.approx(model.history_["bic"], rel=1e-8)


def test_steps_in_sentences():
    data = lf.datasets.load("hiv-tests")
    model = lf.EAST(random_state=0).fit(data)
    search = make_content(model, data)["fit"]["search"]
    assert [step["bic"] for step in search["steps"]] == pytest.approx(model.history_["bic"])
    assert search["steps"][0]["text"] == "The start of the search"
    introduced = [step["text"] for step in search["steps"] if step["operator"] == "NI"]
    assert introduced
    assert all(text.startswith("A hidden variable for ") for text in introduced)


def test_the_largest_gains_are_named():
    steps = [{"bic": bic, "accepted": ok} for bic, ok in
             [(0, True), (5, True), (4, False), (6, True), (16, True), (17, True)]]  # fmt: skip
    assert find_largest_gains(steps) == [1, 3, 4]


def test_rounding_keeps_digits_and_drops_what_is_not_a_number():
    assert round_values([1234567.0, 0.000123456789, float("nan"), -0.1]) == [
        1234570, 0.000123457, None, -0.1,
    ]  # fmt: skip


def test_rows_of_another_table_say_nothing_of_the_parameters(groups):
    content = make_content(groups[0], groups[1].take(np.arange(7)))
    assert find_warning(content, "sparse") is None
    assert find_warning(content, "small") is None


def test_a_column_that_tells_nothing_is_not_named():
    table = {"a": ["x", "y"] * 50, "b": ["u"] * 100, "c": ["x", "y", "x", "y", "y"] * 20}
    with pytest.warns(LatentForestWarning, match="single observed value"):
        model = lf.LatentClass(2, n_starts=2, random_state=0).fit(table)
    content = make_content(model)
    text = read(content["words"]["paragraphs"][1], content)
    assert text.endswith(("are a and c.", "are c and a."))
