import numpy as np
from hypothesis import given

from latentforest.data.variable import Variable
from latentforest.model import Network, Structure
from reference.random_networks import fill_randomly, networks


def uniform(variables, parents):
    structure = Structure(variables, parents)
    shapes = {name: structure.shape(name) for name in structure.names}
    tables = {name: np.full(shape, 1.0 / shape[-1]) for name, shape in shapes.items()}
    return Network.from_tables(variables, parents, tables)


def test_tree_with_latents_leaves_and_a_lone_variable():
    variables = [
        Variable.hidden("Y1", 2),
        Variable.hidden("Y2", 4),
        Variable("A", ("0", "1")),
        Variable("B", ("0", "1", "2")),
        Variable("C", ("0", "1")),
        Variable("D", ("0", "1")),
        Variable("E", ("0", "1")),
        Variable("alone", ("0", "1")),
    ]
    parents = {"Y2": "Y1", "A": "Y1", "B": "Y1", "C": "Y2", "E": "Y1", "D": "E"}
    assert str(uniform(variables, parents)).splitlines() == [
        "alone (2)",
        "Y1 (latent, 2 states: 0.50 0.50)",
        "├── A (2), B (3)",
        "├── Y2 (latent, 4 states: 0.25 0.25 0.25 0.25)",
        "│   └── C (2)",
        "└── E (2)",
        "    └── D (2)",
    ]


def test_long_lists_of_leaves_are_wrapped_under_the_branch():
    variables = [Variable.hidden("Y", 1)] + [Variable(f"item {i}", ("0", "1")) for i in range(20)]
    lines = str(uniform(variables, {v.name: "Y" for v in variables[1:]})).splitlines()
    assert lines[0] == "Y (latent, 1 state: 1.00)"
    assert lines[1].startswith("└── item 0 (2), item 1 (2)")
    assert lines[2].startswith("    item ")
    assert max(map(len, lines)) <= 88


def test_many_latent_states_are_shortened():
    network = uniform([Variable.hidden("Y", 20)], {})
    assert str(network) == f"Y (latent, 20 states: {' '.join(['0.05'] * 8)} …)"


def test_networks_that_are_no_forest_list_their_families():
    variables = [Variable("C", ("0", "1")), Variable.hidden("Y", 2), Variable("A", ("0", "1"))]
    tables = {"Y": [0.25, 0.75], "A": [0.5, 0.5], "C": [[[0.5, 0.5]] * 2] * 2}
    network = Network.from_tables(variables, {"C": ("Y", "A")}, tables)
    assert str(network).splitlines() == [
        "Y (latent, 2 states: 0.25 0.75)",
        "A (2)",
        "C (2) <- Y, A",
    ]


@given(network=networks(max_parents=2))
def test_every_variable_is_in_both_pictures(network):
    for picture in (str(network), network.to_dot()):
        assert all(name in picture for name in network.names)


def test_deep_trees_are_drawn():
    variables = [Variable.hidden(f"Y{i}", 1) for i in range(1500)]
    structure = Structure(variables, {f"Y{i}": f"Y{i - 1}" for i in range(1, 1500)})
    assert len(str(fill_randomly(structure, seed=0)).splitlines()) == 1500


def test_dot_quotes_names_and_marks_latents():
    variables = [Variable.hidden('the "best" \\', 1), Variable("two\nlines", ("0",))]
    network = uniform(variables, {"two\nlines": 'the "best" \\'})
    assert network.to_dot() == (
        "digraph network {\n"
        "    node [shape=box];\n"
        '    "the \\"best\\" \\\\" [shape=ellipse];\n'
        '    "two\\nlines";\n'
        '    "the \\"best\\" \\\\" -> "two\\nlines";\n'
        "}\n"
    )


def test_pouches_have_lines_of_their_own():
    names = ["a", "b", "c", "d"]
    structure = Structure(
        [Variable.hidden("Y", 2), *map(Variable, names)], dict.fromkeys(names, "Y"), [("b", "d")]
    )
    gaussian = [[0.0, 1.0], [1.0, 1.0]]
    pouched = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    tables = {"Y": [0.5, 0.5], "a": gaussian, "c": gaussian, "b": pouched}
    tables["d"] = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    network = Network.from_tables(
        structure.variables, dict.fromkeys(names, "Y"), tables, structure.pouches
    )
    assert str(network).splitlines() == [
        "Y (latent, 2 states: 0.50 0.50)",
        "├── a (continuous), c (continuous)",
        "└── pouch: b, d",
    ]
