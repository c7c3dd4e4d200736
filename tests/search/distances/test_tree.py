"""Trees with lengths: contraction, structures."""

from latentforest import Variable
from latentforest.search.distances.tree import DistanceTree, Edge, build_structure, contract


def test_contraction():
    edges = [Edge(0, 4, 0.0, 1.0), Edge(1, 4, 0.5, 1.0), Edge(4, 5, 0.5, 1.0)]
    edges += [Edge(2, 5, 5.0, 1.0), Edge(3, 5, 5.0, 1.0)]
    leaves = contract(edges, 4, 1.0, True)
    assert (leaves.n_nodes, {edge[:2] for edge in leaves.edges}) == (
        5,
        {(0, 4), (1, 4), (2, 4), (3, 4)},
    )
    inner = contract(edges, 4, 1.0, False)
    assert (inner.n_nodes, {edge[:2] for edge in inner.edges}) == (4, {(1, 0), (2, 0), (3, 0)})
    assert contract(edges, 4, 0.1, True).n_nodes == 6


def test_a_structure_of_a_tree():
    edges = (Edge(0, 3, 1.0, 0.0), Edge(1, 3, 1.0, 0.0), Edge(2, 3, 1.0, 0.0))
    variables = [Variable(name, ("0", "1")) for name in ("a", "Y1", "c", "alone")]
    moved = tuple(Edge(e.a, 4, e.length, e.error) for e in edges)
    structure = build_structure(DistanceTree(4, 5, moved), variables)
    assert structure.latents == ("Y2",)
    assert structure.neighbours("Y2") == ("a", "Y1", "c")
    assert structure.neighbours("alone") == ()


def test_continuous_columns_have_no_children():
    variables = [Variable("a", ("0", "1")), *map(Variable, "xyz")]
    edges = (Edge(0, 1, 1.0, 0.1), Edge(2, 3, 1.0, 0.1))
    structure = build_structure(DistanceTree(4, 4, edges), variables)
    assert {name: structure.parents(name) for name in "axyz"} == {
        "a": (),
        "x": ("a",),
        "y": (),
        "z": (),
    }
