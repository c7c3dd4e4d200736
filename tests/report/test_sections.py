"""Numbers in the sections of a report, against the network and the table themselves."""

import math
from itertools import pairwise

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import UnseenStatesWarning
from latentforest.learners.predictor import Predictor
from latentforest.report.content import make_content
from latentforest.report.sections.rows import ALPHABET
from reference.random_networks import fill_randomly

DIGITS = 2e-5  # most numbers have six digits


def inform(joint):
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    cells = joint > 0
    return float((joint[cells] * np.log2((joint / np.outer(rows, columns))[cells])).sum())


@pytest.fixture(scope="module")
def made(pair):
    return *pair, make_content(*pair)


def test_shares_and_counts(made):
    network, data, content = made
    posteriors = Predictor(network).posteriors(data)
    for variable in content["variables"]:
        name = variable["name"]
        if variable["kind"] == "continuous":
            mixture = network.mixture(name)
            assert variable["mean"] == pytest.approx(mixture.mean, rel=DIGITS, abs=1e-9)
            assert variable["sd"] == pytest.approx(mixture.variance**0.5, rel=DIGITS)
            x = np.linspace(*variable["range"], 48)
            assert variable["density"] == pytest.approx(mixture.density(x), rel=1e-2, abs=1e-6)
            continue
        assert variable["shares"] == pytest.approx(network.query(name).values, rel=DIGITS)
        counts = data.weights @ posteriors[name] if variable["latent"] else data.counts(name)
        assert variable["counts"] == pytest.approx(counts, rel=DIGITS)


def test_missing_shares_are_by_weight(made):
    _, data, content = made
    for variable in content["variables"]:
        if not variable["latent"]:
            column = data.column(variable["name"])
            gaps = np.isnan(column) if column.dtype.kind == "f" else column < 0
            share = np.average(gaps, weights=data.weights)
            assert variable["missing"] == pytest.approx(share, rel=DIGITS)
        else:
            assert variable["missing"] is None


def test_arcs_have_their_mutual_information(made):
    network, _, content = made
    edges = {(edge["from"], edge["to"]): edge for edge in content["graph"]["edges"]}
    names = network.names
    numbers = set(network.structure.continuous)
    assert len(edges) == sum(len(network.structure.parents(name)) for name in names)
    for (a, b), edge in edges.items():
        if names[b] not in numbers:
            joint = network.query([names[a], names[b]]).values
            assert edge["bits"] == pytest.approx(inform(joint), rel=DIGITS)
            share = joint.sum(axis=0)
            entropy = -(share * np.log2(share)).sum()
            assert edge["share"] == pytest.approx(inform(joint) / entropy, rel=DIGITS)


def test_profiles_are_conditional_distributions(made):
    network, _, content = made
    for profile in content["profiles"]:
        latent = network.names[profile["latent"]]
        sizes = network.query(latent).values
        assert profile["sizes"] == pytest.approx(sizes, rel=DIGITS)
        bits = [column["bits"] for column in profile["columns"]]
        assert bits == sorted(bits, reverse=True)
        for column in profile["columns"]:
            name = network.names[column["variable"]]
            for state, label in enumerate(network.structure.states(latent)):
                if "given" in column:
                    expected = network.query(name, {latent: label}).values
                    found = [row[state] for row in column["given"]]
                    assert found == pytest.approx(expected, rel=1e-3, abs=1e-6)
                else:
                    mixture = network.mixture(name, {latent: label})
                    assert column["means"][state] == pytest.approx(mixture.mean, rel=1e-4)
                    assert column["sds"][state] == pytest.approx(mixture.variance**0.5, rel=1e-4)


def test_what_columns_tell_together(tree):
    network = tree[0]
    content = make_content(network)
    everything = inform(network.query(["Y1", *network.observed]).values.reshape(2, -1))
    for profile in content["profiles"][:1]:
        names = [network.names[column["variable"]] for column in profile["columns"]]
        for k in range(1, len(names) + 1):
            joint = network.query(["Y1", *names[:k]]).values.reshape(2, -1)
            together = profile["columns"][k - 1]["together"]
            assert together == pytest.approx(inform(joint) / everything, abs=0.05)
        assert profile["columns"][-1]["together"] == pytest.approx(1.0, abs=1e-9)


def test_the_way_to_a_column(tree):
    network = tree[0]
    content = make_content(network)
    places = {name: i for i, name in enumerate(network.names)}
    first = content["profiles"][0]
    through = {column["variable"]: column["through"] for column in first["columns"]}
    assert through[places["a"]] is None
    assert through[places["d"]] == places["Y2"]
    assert first["next"][0]["variable"] == places["Y2"]


def test_certainty_counts_rows_by_weight(made):
    network, data, content = made
    posteriors = Predictor(network).posteriors(data)
    for entry in content["fit"]["certainty"]:
        top = posteriors[network.names[entry["latent"]]].max(axis=1)
        edges = np.linspace(0, 1, 21)
        bins = [data.weights[(top > a) & (top <= b)].sum() for a, b in pairwise(edges)]
        assert entry["bins"] == pytest.approx(bins, rel=DIGITS, abs=1e-9)
        clear = np.average(top >= 0.9, weights=data.weights)
        assert entry["clear"] == pytest.approx(clear, rel=DIGITS)
        assert content["variables"][entry["latent"]]["clear"] == entry["clear"]


def test_entropy_r2(tree):
    network, data = tree
    content = make_content(network, data)
    posterior = Predictor(network).posteriors(data)["Y2"]
    left = -np.sum(posterior * np.log(posterior)) / len(posterior)
    sizes = posterior.mean(axis=0)
    expected = 1 + left / (sizes * np.log(sizes)).sum()
    assert content["variables"][1]["r2"] == pytest.approx(expected, rel=DIGITS)


def test_rows_can_be_read_back(made):
    network, data, content = made
    rows, posteriors = content["rows"], Predictor(network).posteriors(data)
    assert (rows["n_rows"], rows["is_sample"], rows["numbers"]) == (data.n_rows, False, None)
    assert rows["weights"] == pytest.approx(data.weights, rel=DIGITS)
    for entry in rows["latents"]:
        posterior = posteriors[network.names[entry["variable"]]]
        assert [ALPHABET.index(each) for each in entry["states"]] == posterior.argmax(1).tolist()
        text = entry["probabilities"]
        percent = [int(text[i : i + 2]) + 1 for i in range(0, len(text), 2)]
        assert percent == pytest.approx(100 * posterior.max(axis=1), abs=0.51)
    for entry in rows["columns"]:
        column = data.column(network.names[entry["variable"]])
        if "codes" in entry:
            codes = [-1 if each == "." else ALPHABET.index(each) for each in entry["codes"]]
            assert codes == column.tolist()
        else:
            gaps = [value is None for value in entry["values"]]
            assert gaps == np.isnan(column).tolist()


def test_two_latent_variables_against_each_other(tree):
    network, data = tree
    (cross,) = make_content(network, data)["rows"]["crosstabs"]
    found = Predictor(network).posteriors(data)
    one, other = found["Y1"].argmax(axis=1), found["Y2"].argmax(axis=1)
    expected = np.zeros((2, 3))
    np.add.at(expected, (one, other), 1)
    assert cross["counts"] == expected.tolist()


def test_many_rows_become_a_sample(tree):
    network, _ = tree
    content = make_content(network, network.sample(21_000, random_state=0))
    rows = content["rows"]
    assert (rows["n_rows"], rows["is_sample"], len(rows["numbers"])) == (21_000, True, 2_000)
    assert rows["numbers"] == sorted(rows["numbers"])
    assert len(rows["latents"][0]["states"]) == 2_000
    assert np.sum(rows["crosstabs"][0]["counts"]) == 21_000


def test_impossible_and_unseen_rows():
    variables = [
        lf.Variable.hidden("Y", 2),
        lf.Variable("a", ("0", "1")),
        lf.Variable("b", ("0", "1")),
    ]
    structure = lf.Structure(variables, {"a": "Y", "b": "Y"})
    network = lf.Network(structure, [0.5, 0.5, 1, 0, 0, 1, 1, 0, 0, 1]).with_predictive(
        [0.5, 0.5, 0.9, 0.1, 0.1, 0.9, 0.9, 0.1, 0.2, 0.8]
    )
    with pytest.warns(UnseenStatesWarning):
        content = make_content(network, {"a": ["0", "0", "7"], "b": ["0", "1", "1"]})
    assert content["rows"]["notes"] == ["", "impossible", "unseen"]
    warning = next(w for w in content["words"]["warnings"] if w["id"] == "impossible")
    assert "Probability zero in the model: 1 row." in warning["text"][0]
    assert "count as missing: 1 row." in warning["text"][0]
    found = network.predictive.query("Y", {"a": "0", "b": "1"}).values
    assert int(content["rows"]["latents"][0]["probabilities"][2:4]) + 1 == round(100 * found.max())
    (this,) = content["fit"]["models"]
    assert this["log_likelihood"] == pytest.approx(2 * math.log(0.5), rel=DIGITS)


def test_columns_of_many_states_are_numbers():
    states = tuple(f"s{i}" for i in range(70))
    variables = [lf.Variable.hidden("Y", 2), lf.Variable("a", states), lf.Variable("b", ("0", "1"))]
    network = fill_randomly(lf.Structure(variables, {"a": "Y", "b": "Y"}), 0)
    data = network.sample(50, random_state=0)
    columns = make_content(network, data)["rows"]["columns"]
    assert columns[0]["codes"] == data.column("a").tolist()
