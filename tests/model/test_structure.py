import pickle

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Structure

Y = Variable.hidden("Y", 3)
A = Variable("A", ("no", "yes"))
B = Variable("B", ("low", "middle", "high", "top"))
C = Variable("C", ("no", "yes"))


@pytest.fixture
def structure():
    return Structure([A, Y, B, C], {"A": "Y", "B": ["Y"], "C": ("B", "A")})


def test_relations(structure):
    assert structure.names == ("A", "Y", "B", "C")
    assert structure.parents("C") == ("B", "A")
    assert structure.children("Y") == ("A", "B")
    assert structure.neighbours("A") == ("Y", "C")
    assert structure.roots == ("Y",)
    assert structure.latents == ("Y",)
    assert structure.observed == ("A", "B", "C")
    assert structure.variable("B") is B
    assert structure.states("A") == ("no", "yes")


def test_order_puts_parents_first(structure):
    assert structure.order == ("Y", "A", "B", "C")


def test_layout_follows_the_variables(structure):
    assert [structure.shape(name) for name in structure.names] == [(3, 2), (3,), (3, 4), (4, 2, 2)]
    assert [structure.offset(name) for name in structure.names] == [0, 6, 9, 21]
    assert structure.n_values == 37
    assert structure.dimension == 3 + 2 + 9 + 8


def test_table_view_shares_memory(structure):
    flat = np.arange(37.0)
    view = structure.table_view(flat, "C")
    assert view.shape == (4, 2, 2)
    assert view[1, 0, 1] == flat[21 + 5]
    assert np.shares_memory(view, flat)


def test_forest_has_at_most_one_parent_each(structure):
    assert not structure.is_forest
    assert structure.with_parents({"C": "B"}).is_forest


def test_equal_by_value(structure):
    twin = Structure([A, Y, B, C], {"C": ["B", "A"], "B": "Y", "A": "Y"})
    assert twin == structure
    assert hash(twin) == hash(structure)
    assert twin != Structure([Y, A, B, C], {"A": "Y", "B": "Y", "C": ("B", "A")})
    assert twin != twin.with_parents({"C": ("A", "B")})
    assert twin != "structure"


def test_pickle_gives_an_equal_structure(structure):
    assert pickle.loads(pickle.dumps(structure)) == structure


def test_add_and_remove_are_inverse(structure):
    d = Variable.hidden("D", 2)
    larger = structure.add([d], {"D": "Y", "B": ["Y", "D"]})
    assert larger.parents("B") == ("Y", "D")
    assert larger.remove(["D"]) == structure
    assert larger.remove("D") == structure


def test_edits_leave_the_original(structure):
    structure.with_parents({"C": ()})
    assert structure.parents("C") == ("B", "A")


def test_thousands_of_variables_in_a_chain():
    variables = [Variable.hidden(f"Y{i}", 2) for i in range(5000)]
    chain = Structure(variables, {f"Y{i}": f"Y{i - 1}" for i in range(1, 5000)})
    assert chain.order == chain.names
    assert chain.dimension == 1 + 4999 * 2


def test_contains_length_and_repr(structure):
    assert "A" in structure
    assert "Z" not in structure
    assert len(structure) == 4
    assert repr(structure) == "Structure(4 variables, 1 of them latent, 4 arcs)"


@pytest.mark.parametrize(
    ("variables", "parents", "message"),
    [
        ([], {}, "at least one variable, got none"),
        (["A"], {}, "must be Variable objects, got 'A'"),
        ([A, A], {}, "two variables are named 'A'; names must be unique"),
        ([A], {"Z": "A"}, "parents are given for 'Z', which is not among the variables"),
        ([A], {"A": "Z"}, "parent 'Z' of 'A' is not among the variables"),
        ([A], {"A": [["Y"]]}, r"parent \['Y'\] of 'A' is not among the variables"),
        ([A], {"A": None}, "parents of 'A' must be a name or names, got None"),
        ([A], {"A": "A"}, "variable 'A' is its own parent"),
        ([A, B], {"A": ["B", "B"]}, r"'A' has a repeated parent: \('B', 'B'\)"),
        ([A, B, C], {"A": "C", "B": "A", "C": "B"}, "form a cycle: A -> B -> C -> A"),
        ([A, B, C], {"A": "B", "B": "C", "C": "B"}, "form a cycle: B -> C -> B"),
        (
            [A, Variable("height")],
            {"A": "height"},
            "variable 'A' is categorical and cannot have the continuous parent 'height'",
        ),
        (
            [A, Variable("height", latent=True)],
            {},
            "'height' is latent and continuous; latent variables must be categorical",
        ),
    ],
)
def test_what_is_not_a_network_is_refused(variables, parents, message):
    with pytest.raises(ModelError, match=message):
        Structure(variables, parents)


def test_too_many_parents_are_refused():
    many = [Variable(f"X{i}", ("a",)) for i in range(33)]
    with pytest.raises(ModelError, match="'X0' has 32 parents; at most 31"):
        Structure(many, {"X0": [v.name for v in many[1:]]})


@pytest.mark.parametrize("method", ["variable", "parents", "children", "shape", "offset", "states"])
def test_unknown_names_are_refused(structure, method):
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        getattr(structure, method)("Z")


def test_removing_an_unknown_name_is_refused(structure):
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        structure.remove(["Z"])


def test_quick_edits_give_what_checked_ones_give():
    variables = [Variable.hidden("Y", 2), *(Variable(name, ("no", "yes")) for name in "ABCD")]
    parents = dict.fromkeys("ABCD", "Y")
    plain = Structure(variables, parents)
    wide = plain.with_variable(Variable.hidden("Y", 3))
    new, changes = Variable.hidden("Z", 2), {"Z": ("Y",), "A": ("Z",), "B": ("Z",)}
    quick = wide.with_latent(new, changes)
    expected = [
        Structure([Variable.hidden("Y", 3), *variables[1:]], parents),
        wide.add([new], changes),
    ]
    for found, checked in zip([wide, quick], expected, strict=True):
        assert found == checked
        assert hash(found) == hash(checked)
        assert found.order == checked.order
        assert found.latents == checked.latents
        assert found.dimension == checked.dimension
        for name in checked.names:
            assert found.children(name) == checked.children(name)
            assert (found.shape(name), found.offset(name)) == (
                checked.shape(name),
                checked.offset(name),
            )
    assert plain == Structure(variables, parents)  # edits leave the original alone
