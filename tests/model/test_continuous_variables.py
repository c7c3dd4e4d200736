"""Continuous variables in networks: layout, checks, queries, samples, files, pictures."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

from latentforest.errors import FileFormatError, ModelError
from latentforest.model import Network, Structure
from latentforest.model.files.document import from_document, load, to_document
from reference.mixed_networks import (
    LINEAR,
    POUCHES,
    STRUCTURES,
    A,
    U,
    V,
    W,
    Y,
    draw_mixed,
    joint_density,
)

ALL = STRUCTURES | LINEAR | POUCHES
GRID = np.linspace(-60.0, 60.0, 1501)


@pytest.fixture(params=sorted(ALL))
def network(request):
    return draw_mixed(ALL[request.param], seed=len(request.param))


@pytest.fixture
def profile():
    tables = {"Y": [0.5, 0.25, 0.25], "u": [[-1.0, 1.0], [0.0, 4.0], [2.0, 0.25]]}
    return Network.from_tables([Y, U], {"u": "Y"}, tables)


def draw_values(network, seed):
    row = network.sample(1, random_state=seed)
    return {name: float(row.column(name)[0]) for name in network.structure.continuous}


# Layout


def test_layout_of_gaussian_families():
    structure = Structure([U, Y, A, V, W], {"u": "Y", "v": ("A", "Y"), "w": ("u", "Y")})
    assert [structure.shape(name) for name in "uYAvw"] == [(3, 2), (3,), (2,), (2, 3, 2), (3, 3)]
    assert [structure.offset(name) for name in "uYAvw"] == [0, 6, 9, 11, 23]
    assert structure.dimension == 6 + 2 + 1 + 12 + 9
    assert structure.continuous == ("u", "v", "w")
    assert structure.categorical_parents("w") == ("Y",)
    assert structure.continuous_parents("w") == ("u",)


def test_layout_of_pouches():
    structure = Structure([V, Y, U, W], dict.fromkeys("uvw", "Y"), [("w", "u", "v")])
    assert structure.pouches == (("v", "u", "w"),)
    assert structure.shape("u") == (3, 4)
    assert structure.dimension == 2 + 3 * (3 + 6)
    assert structure.pouch("u") == ("v", "u", "w")
    assert structure.pouch("Y") == ("Y",)


def test_a_pouch_of_one_is_none():
    parents = {"u": "Y", "v": "Y"}
    assert Structure([Y, U, V], parents, [("u",), ("v",)]) == Structure([Y, U, V], parents)


def test_edits_keep_pouches():
    structure = POUCHES["pouch of three"]
    assert structure.remove(["u"]).pouches == (("v", "w"),)
    assert structure.remove(["u", "v"]).pouches == ()
    assert structure.add([A], {"A": "Y"}).pouches == structure.pouches
    assert structure.with_pouches([]) == structure.with_pouches([("v",)]) != structure
    assert pickle.loads(pickle.dumps(structure)) == structure
    with pytest.raises(ModelError, match="'u' and 'v' are in one pouch, but have the parents"):
        structure.with_parents({"v": ()})


@pytest.mark.parametrize(
    ("parents", "pouches", "message"),
    [
        ({}, [("u", "x")], "variable 'x' of a pouch is not among the variables"),
        ({}, [("u", "A")], "variable 'A' is categorical and cannot be in a pouch"),
        ({}, [("u", "v"), ("v", "w")], "variable 'v' is in a pouch twice"),
        ({"u": "Y"}, [("u", "v")], r"have the parents \('Y',\) and \(\); expected the same"),
        ({"u": "w", "v": "w"}, [("u", "v")], "'u' is in a pouch and cannot have the continuous"),
    ],
)
def test_wrong_pouches_are_refused(parents, pouches, message):
    with pytest.raises(ModelError, match=message):
        Structure([Y, A, U, V, W], parents, pouches)


# Parameters


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.0, 0.0], r"table of 'u', row Y=2: a variance must be positive, got 0.0"),
        ([0.0, -1.0], r"row Y=2: a variance must be positive, got -1.0"),
        ([np.nan, 1.0], r"row Y=2: numbers must be finite, got \[nan, 1.0\]"),
        ([0.0, np.inf], "numbers must be finite"),
    ],
)
def test_wrong_gaussians_are_refused(profile, row, message):
    table = np.array(profile.cpd("u"))
    table[1] = row
    with pytest.raises(ModelError, match=message):
        Network.from_tables(profile.variables, {"u": "Y"}, {"Y": profile.cpd("Y"), "u": table})


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], "covariances of 'u', 'v', row A=yes: must be symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "row A=yes: must be positive definite"),
        ([[1.0, 0.0], [0.0, 0.0]], "table of 'v', row A=yes: a variance must be positive"),
    ],
)
def test_wrong_covariances_are_refused(matrix, message):
    u = [[0.0, 1.0, 0.0], [0.0, *matrix[0]]]
    v = [[0.0, 0.0, 1.0], [0.0, *matrix[1]]]
    tables = {"A": [0.5, 0.5], "u": u, "v": v}
    with pytest.raises(ModelError, match=message):
        Network.from_tables([A, U, V], {"u": "A", "v": "A"}, tables, [("u", "v")])


def test_the_shape_expected_is_explained():
    with pytest.raises(ModelError, match=r"expected \(2, 3\) with axes \(A, intercept slope\(v\)"):
        Network.from_tables(
            [A, U, V], {"u": ("v", "A")}, {"A": [0.5, 0.5], "v": [0.0, 1.0], "u": [0.0, 1.0]}
        )


# Queries


def test_log_density_equals_the_sum_over_categorical_states(network):
    values = draw_values(network, seed=1)
    _, joint = joint_density(network, values)
    assert network.log_probability(values) == pytest.approx(np.log(joint.sum()), abs=1e-10)


@pytest.mark.parametrize("kind", sorted(ALL))
def test_missing_values_are_integrated_out(kind):
    network = draw_mixed(ALL[kind], seed=3)
    values = draw_values(network, seed=2)
    for name in network.structure.continuous:
        left = {n: x for n, x in values.items() if n != name}
        _, joint = joint_density(network, left, GRID)
        assert network.log_probability(left) == pytest.approx(np.log(joint.sum()), abs=1e-8)


def test_posteriors_equal_enumeration(network):
    values = draw_values(network, seed=4)
    names, joint = joint_density(network, values)
    answer = network.query(names, values)
    np.testing.assert_allclose(answer, joint / joint.sum(), rtol=0, atol=1e-10)
    best = np.unravel_index(joint.argmax(), joint.shape)
    states = {n: network.structure.states(n)[k] for n, k in zip(names, best, strict=True)}
    assert network.most_probable(values) == states


def test_evidence_on_states_and_values_together():
    network = draw_mixed(STRUCTURES["two latent"], seed=7)
    values = {"u": 0.5, "v": -1.0}
    names, joint = joint_density(network, values)
    at = joint.take(1, axis=names.index("A"))
    answer = network.query(["Y", "Z"], {**values, "A": "yes"})
    np.testing.assert_allclose(answer, at / at.sum(), atol=1e-12)


@pytest.mark.parametrize("kind", sorted(ALL))
def test_mixture_equals_integration(kind):
    network = draw_mixed(ALL[kind], seed=11)
    values = draw_values(network, seed=5)
    for name in network.structure.continuous:
        others = {n: x for n, x in values.items() if n != name}
        mixture = network.mixture(name, others)
        density = np.array(
            [joint_density(network, {**others, name: x})[1].sum() for x in GRID[600:901:20]]
        )
        total = joint_density(network, others, GRID)[1].sum()
        np.testing.assert_allclose(mixture.density(GRID[600:901:20]), density / total, atol=1e-8)
        assert mixture.weights.sum() == pytest.approx(1.0)


def test_mixture_of_a_profile(profile):
    mixture = profile.mixture("u")
    assert mixture.weights.tolist() == [0.5, 0.25, 0.25]
    assert mixture.mean == 0.0
    assert mixture.variance == pytest.approx(0.5 * 2.0 + 0.25 * 4.0 + 0.25 * 4.25)
    assert profile.mixture("u", {"Y": "3"}).means.tolist() == [2.0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query("u"), r"'u' is continuous .* mixture\(\) gives its distribution"),
        (lambda n: n.query("Y", {"u": "x"}), "evidence on 'u': expected a finite number.*got 'x'"),
        (lambda n: n.query("Y", {"u": np.nan}), "expected a finite number, for it is continuous"),
        (lambda n: n.mixture("Y"), r"'Y' is categorical; query\(\) gives its probabilities"),
        (lambda n: n.mixture("u", {"u": 1.0}), "'u' is both a target and evidence"),
        (lambda n: n.mixture("x"), "no variable named 'x'"),
        (lambda n: n.rooted_at("u"), "'u' is continuous; only a categorical one can be a root"),
    ],
)
def test_wrong_questions(profile, ask, message):
    with pytest.raises(ModelError, match=message):
        ask(profile)


# Samples


def test_samples_have_the_moments_of_the_network(network):
    data = network.sample(60_000, random_state=0)
    for name in network.structure.continuous:
        mixture, column = network.mixture(name), data.column(name)
        spread = np.sqrt(mixture.variance)
        assert column.mean() == pytest.approx(mixture.mean, abs=5 * spread / 244)
        assert column.std() == pytest.approx(spread, rel=0.05)


def test_samples_of_a_pouch_are_correlated():
    network = draw_mixed(POUCHES["pouch"], seed=1)
    data = network.sample(60_000, random_state=0, latents=True)
    for state in range(3):
        rows = data.column("Y") == state
        found = np.cov(data.column("u")[rows], data.column("v")[rows])
        expected = np.stack([network.cpd("u")[state, 1:], network.cpd("v")[state, 1:]])
        np.testing.assert_allclose(found, expected, rtol=0.1, atol=0.06)


def test_samples_follow_the_line():
    tables = {"u": [1.0, 4.0], "v": [2.0, 3.0, 0.25]}
    network = Network.from_tables([U, V], {"v": "u"}, tables)
    data = network.sample(20_000, random_state=0)
    rest = data.column("v") - 2.0 - 3.0 * data.column("u")
    assert abs(rest.mean()) < 0.02
    assert rest.var() == pytest.approx(0.25, rel=0.05)
    assert not data.column("v").flags.writeable


# Changes that keep the distribution


def test_rerooting_keeps_densities():
    network = draw_mixed(STRUCTURES["two latent"], seed=2)
    again = network.rooted_at("Z")
    assert again.structure.parents("Y") == ("Z",)
    for seed in range(5):
        values = draw_values(network, seed)
        assert again.log_probability(values) == pytest.approx(network.log_probability(values))


def test_relabelling_and_renaming_keep_densities(network):
    latent = network.latents[0] if network.latents else None
    values = draw_values(network, seed=3)
    expected = network.log_probability(values)
    if latent:
        order = list(range(len(network.structure.states(latent))))[::-1]
        other = network.relabelled(latent, order)
        assert other.log_probability(values) == pytest.approx(expected)
        assert other.relabelled(latent, order) == network
    renamed = network.renamed({"u": "weight"})
    values["weight"] = values.pop("u")
    assert renamed.log_probability(values) == expected
    assert renamed.renamed({"weight": "u"}) == network


# Files and pictures


def test_document_gives_the_same_network(network):
    document = json.loads(json.dumps(to_document(network)))
    assert document["version"] == 2
    assert from_document(document) == network


def test_file_gives_the_same_network(network, tmp_path):
    network.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again == network
    assert again.parameters.tobytes() == network.parameters.tobytes()
    assert pickle.loads(pickle.dumps(network)) == network


DOCUMENT = {
    "format": "latentforest-network",
    "version": 2,
    "variables": [
        {"name": "health", "states": ["1", "2"], "latent": True},
        {"name": "pulse", "kind": "continuous", "latent": False},
        {"name": "age", "kind": "continuous", "latent": False},
        {"name": "height", "kind": "continuous", "latent": False},
        {"name": "weight", "kind": "continuous", "latent": False},
    ],
    "families": [
        {"variable": "health", "parents": [], "probabilities": [0.75, 0.25]},
        {"variable": "pulse", "parents": ["health"], "means": [70, 90], "variances": [100, 144]},
        {"variable": "age", "parents": [], "means": 40.0, "variances": 225.0},
        {"variable": "height", "parents": [], "means": 1.75, "covariances": [0.01, 0.5]},
        {"variable": "weight", "parents": [], "means": 72.0, "covariances": [0.5, 100.0]},
    ],
    "pouches": [["height", "weight"]],
}


def test_document_is_the_documented_one():
    network = from_document(DOCUMENT)
    assert to_document(network) == DOCUMENT
    assert network.cpd("pulse").tolist() == [[70.0, 100.0], [90.0, 144.0]]
    assert network.cpd("age").tolist() == [40.0, 225.0]


def test_lines_have_intercepts_and_slopes():
    tables = {"u": [1.0, 4.0], "v": [2.0, 3.0, 0.25]}
    network = Network.from_tables([U, V], {"v": "u"}, tables)
    assert to_document(network)["families"][1] == {
        "variable": "v",
        "parents": ["u"],
        "intercepts": 2.0,
        "slopes": [3.0],
        "variances": 0.25,
    }


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("variables", "kind", "number", "variables[1].kind: expected 'categorical' or"),
        ("families", "means", [1.0], "families[1].means: expected a list of 2 entries"),
        ("families", "means", 1.0, "families[1].means: expected a list of 2 entries, found 1.0"),
        ("families", "variances", [1.0, "a"], "variances[1]: expected a finite number, found 'a'"),
        ("families", "variances", [1.0, 0.0], "row health=2: a variance must be positive"),
        ("families", "variances", None, "variances: expected a list of 2 entries, found None"),
    ],
)
def test_wrong_documents_are_refused(where, key, value, message):
    document = copy.deepcopy(DOCUMENT)
    document[where][1][key] = value
    with pytest.raises(FileFormatError, match=re.escape(message)):
        from_document(document)


@pytest.mark.parametrize(
    ("pouches", "message"),
    [
        ({}, "the document.pouches: expected a list, found an object"),
        (["height"], "pouches[0]: expected a list, found 'height'"),
        ([["height", 3]], "pouches[0][1]: expected a string, found 3"),
        ([["height", "size"]], "variable 'size' of a pouch is not among the variables"),
        ([], "families[3]: expected a key 'variances', found none"),
    ],
)
def test_wrong_pouches_in_documents_are_refused(pouches, message):
    with pytest.raises(FileFormatError, match=re.escape(message)):
        from_document({**DOCUMENT, "pouches": pouches})


def test_picture():
    structure = Structure([Y, A, U, V, W], {"A": "Y", "u": "Y", "v": "u"})
    assert str(draw_mixed(structure, seed=0)).splitlines()[2:] == [
        "├── A (2)",
        "└── u (continuous)",
        "    └── v (continuous)",
    ]
    assert str(draw_mixed(structure, seed=0)).startswith("w (continuous)\nY (latent, 3 states: ")
    assert '"w";' in draw_mixed(structure, seed=0).to_dot()
