"""Neighbours of generalized latent class structures, their rules, and keys of drafts."""

import pytest

from latentforest.data import Variable
from latentforest.model.notation import read_structure
from latentforest.search.glc.draft import Draft, find_first_equivalent
from latentforest.search.glc.neighbours import GlcRules, Screen, list_neighbours
from latentforest.search.glc.shapes import check_generalized

COLUMNS = [Variable(name, ("no", "yes")) for name in "ABCD"]
START = "X[2] -> A, B, C, D"
OPEN = Screen.open("ABCD")


def draft(text):
    return Draft.of(read_structure(text, COLUMNS))


def list_operators(text, rules=None, screen=OPEN):
    return [each.operator for each in list_neighbours(draft(text), rules or GlcRules(), screen)]


def find_keys(text, rules=None):
    return {each.draft.key for each in list_neighbours(draft(text), rules or GlcRules(), OPEN)}


def test_all_steps_from_a_latent_class_model():
    operators = list_operators(START)
    assert operators.count("link removal") == 4
    assert operators.count("link addition") == 12
    assert operators.count("parent replacement") == 12  # X -> A becomes B -> A, and so on
    assert operators.count("state introduction") == 1
    assert "state deletion" not in operators
    for operator in ("root introduction", "node introduction", "node introduction, no link"):
        assert operators.count(operator) == 6 + 4


@pytest.mark.parametrize(
    "text",
    [
        "X[2] -> A, B, C; A -> B",
        "X[3] -> A, B, C, D; A -> B",
        "X[2] -> Y[2], A, B; Y -> C, D",
        "X[2] -> A, B, C, D; Y[2] -> C, D, A",
    ],
)
def test_neighbours_are_sound_and_lead_back(text):
    for each in list_neighbours(draft(text), GlcRules(), OPEN):
        check_generalized(each.draft.build(COLUMNS))
        if each.operator in ("link addition", "link reversal", "parent replacement"):
            back = (other.draft.key for other in list_neighbours(each.draft, GlcRules(), OPEN))
            assert draft(text).key in back


SCREENED = Screen.of_pairs("ABCD", [])


def list_steps(text, operator, screen=SCREENED):
    found = list_neighbours(draft(text), GlcRules(), screen)
    return {str(each.change): each.draft for each in found if each.operator == operator}


def test_a_latent_variable_in_the_place_of_links():
    found = list_steps("X[2] -> B, D; A -> B; B -> C", "node for links")
    assert set(found) == {"Y1 -> A, B, C"}
    (new,) = found.values()
    assert new.links == {("X", "B"), ("X", "D"), ("Y1", "A"), ("Y1", "B"), ("Y1", "C")}
    assert not list_steps("X[2] -> B, D; A -> B; B -> C", "node for links", OPEN)


def test_a_column_joins_those_it_is_linked_with():
    found = list_steps("X[2] -> A, B; B -> C; D -> A", "latent for links")
    assert set(found) == {"X -> C", "X -> D"}
    assert found["X -> C"].links == {("X", "A"), ("X", "B"), ("X", "C"), ("D", "A")}
    assert found["X -> D"].links == {("X", "A"), ("X", "B"), ("X", "D"), ("B", "C")}


def test_nothing_is_cyclic():
    assert draft("X[2] -> A, B, C; A -> B; C -> A; B -> D").is_acyclic()
    assert not draft("X[2] -> A, B, C; A -> B").rewired({"A": frozenset("XB")}).is_acyclic()


@pytest.mark.parametrize(
    ("text", "rules", "fault"),
    [
        ("X[2] -> A, B, C; A -> D", GlcRules(attached=True), "without a latent parent"),
        ("X[2] -> A, B, C, D; A -> B", GlcRules("ls"), "link between columns"),
        ("X[2] -> A, B, C, D; Y[2] -> A, B", GlcRules("hlc"), "not a tree"),
        ("X[2] -> A, B, Y[2]; Y -> C, D", GlcRules("lc"), "several latent variables"),
        ("X[3] -> A, B, C, D", GlcRules(max_states=2), "more than 2 states"),
        ("X[2], Y[2] -> A, B, C, D", GlcRules(max_latent_parents=1), "more than 1 latent"),
        (START, GlcRules(required=frozenset([("A", "B")])), "lacks the required link A -> B"),
        (START, GlcRules(forbidden=frozenset([("X", "B")])), "forbidden link X -> B"),
        ("X[2] -> A; A -> B, C, D", GlcRules(), "no latent variable with two children"),
    ],
)
def test_rules_say_what_is_broken(text, rules, fault):
    assert fault in rules.find_fault(draft(text))


def test_neighbours_obey_the_rules():
    rules = GlcRules(required=frozenset([("A", "B")]), forbidden=frozenset([("C", "D")]))
    for each in list_neighbours(draft("X[2] -> A, B, C, D; A -> B"), rules, OPEN):
        assert ("A", "B") in each.draft.links
        assert ("C", "D") not in each.draft.links


def test_families_are_closed():
    assert find_keys(START, GlcRules("lc")) == {draft("X[3] -> A, B, C, D").key}
    trees = find_keys(START, GlcRules("hlc"))
    assert draft("X[2] -> A, B, Y[2]; Y -> C, D").key in trees
    assert draft("X[2] -> A, B, C, D; A -> B").key not in trees


def test_a_screen_keeps_links_to_pairs():
    screen = Screen.of_pairs("ABCD", [("A", "B")])
    found = list(list_neighbours(draft(START), GlcRules(), screen))
    added = {str(each.change) for each in found if each.operator == "link addition"}
    assert added == {"A -> B", "B -> A"}


def test_keys_do_not_depend_on_names_of_latent_variables():
    one = draft("X[2] -> A, B, Y[3]; Y -> C, D; A -> C")
    other = draft("Q[3] -> C, D; P[2] -> A, B, Q; A -> C")
    assert one.key == other.key
    assert one.exact_key != other.exact_key
    assert one.key != draft("X[3] -> A, B, Y[2]; Y -> C, D; A -> C").key


def test_keys_are_those_of_equivalence_classes():
    assert draft("X[2] -> A, B, C; A -> B").key == draft("X[2] -> A, B, C; B -> A").key
    assert draft("X[2] -> A, B, C; A -> D").key != draft("X[2] -> A, B, C; A, B -> D").key
    for a, b in (("A -> D; D -> B", "B -> D; D -> A"),):
        first, second = (draft(f"{START}; {text}") for text in (a, b))
        assert first.key == second.key
        assert find_first_equivalent(first).links == find_first_equivalent(second).links


def test_keys_agree_with_the_cpdag():
    texts = [
        f"X[2] -> {below}; {more}"
        for below in ("A, B, C", "A, B, C, D")
        for more in ("A -> B", "B -> A", "A -> D", "A, C -> D", "C -> A; A -> D", "D -> A; A -> C")
    ]
    for one in texts:
        for other in texts:
            same = read_structure(one, COLUMNS).cpdag() == read_structure(other, COLUMNS).cpdag()
            assert (draft(one).key == draft(other).key) == same


def test_dimensions_are_those_of_structures():
    cards = dict.fromkeys("ABCD", 2)
    for each in list_neighbours(draft("X[3] -> A, B, C; A -> D"), GlcRules(), OPEN):
        assert each.draft.compute_dimension(cards) == each.draft.build(COLUMNS).dimension
