import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.data.values import Code
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure
from reference.cases import by_code
from reference.joint import joint_table
from reference.random_networks import fill_randomly, networks


@st.composite
def questions(draw, max_parents):
    """Draw a network, targets and evidence; some evidence is impossible."""
    network = draw(networks(max_parents=max_parents))
    names = draw(st.permutations(network.names))
    n_targets = draw(st.integers(1, len(names)))
    n_evidence = draw(st.integers(0, len(names) - n_targets))
    evidence = {
        name: draw(st.integers(0, network.structure.variable(name).n_states - 1))
        for name in names[n_targets : n_targets + n_evidence]
    }
    return network, names[:n_targets], evidence


def enumerate_answer(network, targets, evidence):
    """Return P(targets, evidence), not normalised."""
    joint = joint_table(network)
    index = tuple(evidence.get(name, slice(None)) for name in network.names)
    left = [name for name in network.names if name not in evidence]
    table = joint[index]
    table = table.sum(axis=tuple(k for k, name in enumerate(left) if name not in targets))
    kept = [name for name in left if name in targets]
    return table.transpose([kept.index(name) for name in targets])


@pytest.mark.parametrize("max_parents", [1, 3])
@given(data=st.data())
def test_query_equals_enumeration(max_parents, data):
    network, targets, evidence = data.draw(questions(max_parents))
    table = enumerate_answer(network, targets, evidence)
    if table.sum() == 0:
        with pytest.raises(ModelError, match="evidence has probability zero"):
            network.query(targets, by_code(network, evidence))
    else:
        answer = network.query(targets, by_code(network, evidence))
        np.testing.assert_allclose(answer, table / table.sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("max_parents", [1, 3])
@given(data=st.data())
def test_most_probable_equals_enumeration(max_parents, data):
    network, targets, evidence = data.draw(questions(max_parents))
    table = enumerate_answer(network, targets, evidence)
    if table.sum() == 0:
        with pytest.raises(ModelError, match="evidence has probability zero"):
            network.most_probable(by_code(network, evidence), targets)
    else:
        best = network.most_probable(by_code(network, evidence), targets)
        assert list(best) == list(targets)
        codes = tuple(network.structure.states(name).index(state) for name, state in best.items())
        # Several assignments may be equally probable.
        assert table[codes] == pytest.approx(table.max(), rel=1e-9)


@given(question=questions(3))
def test_log_probability_equals_enumeration(question):
    network, _, evidence = question
    with np.errstate(divide="ignore"):
        expected = np.log(enumerate_answer(network, [], evidence))
    found = network.log_probability(by_code(network, evidence))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_marginal_is_a_query_without_evidence():
    structure = Structure([Variable("A", ("0", "1")), Variable("B", ("0", "1", "2"))], {"B": "A"})
    network = fill_randomly(structure, seed=3)
    np.testing.assert_allclose(network.marginal("B"), network.cpd("A") @ network.cpd("B"))


def coin():
    variables = [Variable.hidden("Y", 2), Variable("X", ("tails", "heads", "edge"))]
    tables = {"Y": [0.5, 0.5], "X": [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]}
    return Network.from_tables(variables, {"X": "Y"}, tables)


def test_evidence_by_name_and_by_code_agree():
    network = coin()
    by_name = network.query("Y", {"X": "tails"})
    np.testing.assert_allclose(by_name, [2 / 3, 1 / 3])
    for code in (Code(0), Code(np.int8(0))):
        assert np.array_equal(network.query("Y", {"X": code}), by_name)


def test_default_targets_are_all_that_is_not_evidence():
    assert coin().most_probable({"X": "heads"}) == {"Y": "2"}
    assert coin().most_probable() == {"Y": "1", "X": "tails"}
    assert coin().most_probable({"X": "tails", "Y": Code(1)}) == {}


def test_deterministic_answers_are_exact():
    assert coin().query("Y", {"X": "heads"}).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("state", ["side", 3, -1, 0, 0.0, None, True])
def test_unknown_states_are_refused(state):
    with pytest.raises(ModelError, match=r"on 'X': no state .*, expected one of 'tails', "):
        coin().query("Y", {"X": state})


@pytest.mark.parametrize(
    ("targets", "evidence", "message"),
    [
        ("Z", {}, "no variable named 'Z'"),
        ("Y", {"Z": 0}, "no variable named 'Z'"),
        ([], {}, "at least one target, got none"),
        (["Y", "Y"], {}, r"targets must be distinct, got \('Y', 'Y'\)"),
        ("X", {"X": Code(0)}, "variable 'X' is both a target and evidence"),
        ("Y", {"X": "edge"}, r"evidence has probability zero: \{'X': 'edge'\}"),
    ],
)
def test_questions_without_an_answer_are_refused(targets, evidence, message):
    with pytest.raises(ModelError, match=message):
        coin().query(targets, evidence)


def large_tree(n_variables, shape, seed=0):
    rng = np.random.default_rng(seed)
    variables = [Variable(f"X{i}", ("a", "b", "c")) for i in range(n_variables)]
    parent = {
        "chain": lambda i: i - 1,
        "star": lambda i: 0,
        "random": lambda i: int(rng.integers(i)),
    }[shape]
    parents = {f"X{i}": f"X{parent(i)}" for i in range(1, n_variables)}
    return fill_randomly(Structure(variables, parents), seed, share_of_zeros=0.0)


@pytest.mark.parametrize("shape", ["chain", "star", "random"])
def test_two_thousand_variables(shape):
    network = large_tree(2000, shape)
    rng = np.random.default_rng(1)
    evidence = {f"X{i}": Code(rng.integers(3)) for i in range(1000, 2000)}
    answer = network.query(["X0", "X7"], evidence)
    assert answer.shape == (3, 3)
    assert answer.sum() == pytest.approx(1.0)
    assert len(network.most_probable(evidence)) == 1000


def test_late_evidence_overturns_odds_beyond_the_range_of_floats():
    n = 2000
    variables = [Variable.hidden("Y", 2)] + [Variable(f"X{i}", ("a", "b")) for i in range(n)]
    tables = {f"X{i}": [[0.9, 0.1], [0.1, 0.9]] for i in range(n)} | {"Y": [0.5, 0.5]}
    network = Network.from_tables(variables, {f"X{i}": "Y" for i in range(n)}, tables)
    evidence = {f"X{i}": Code(int(i >= n // 2)) for i in range(n)}
    np.testing.assert_allclose(network.query("Y", evidence), [0.5, 0.5], rtol=1e-9)


def test_tables_that_would_not_fit_are_refused():
    network = large_tree(60, "random")
    with pytest.raises(ModelError, match=r"needs a table of about 10\^29 cells"):
        network.query(network.names)


def test_sums_that_couple_too_many_targets_are_refused():
    network = large_tree(31, "star")
    with pytest.raises(ModelError, match="around 'X0'; at most 33554432 are supported"):
        network.most_probable(targets=network.names[1:])
