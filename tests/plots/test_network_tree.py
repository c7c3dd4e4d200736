"""Pictures of networks: everything has its place, nothing covers anything."""

import numpy as np
import pytest

import latentforest as lf
from latentforest import datasets, plots
from plots.boxes import check, texts_of


def make_graph(n):
    """A network in which variables have up to two parents, and one stands alone."""
    rng = np.random.default_rng(n)
    names = [f"column number {k}" for k in range(n)]
    parents = {
        name: sorted({names[j] for j in rng.integers(max(k - 6, 0), k, 2)})
        for k, name in enumerate(names)
        if 0 < k < n - 1
    }
    variables = [lf.Variable(name, ("a", "b")) for name in names]
    structure = lf.Structure(variables, parents)
    tables = {name: rng.dirichlet([1, 1], structure.shape(name)[:-1]) for name in names}
    return lf.Network.from_tables(variables, parents, tables)


def make_chain(n):
    """A tree of columns alone, as deep as can be."""
    variables = [lf.Variable(f"x{k}", ("a", "b")) for k in range(n)]
    parents = {f"x{k}": f"x{k - 1}" for k in range(1, n)}
    tables = {f"x{k}": [[0.9, 0.1], [0.2, 0.8]] for k in range(1, n)} | {"x0": [0.5, 0.5]}
    return lf.Network.from_tables(variables, parents, tables)


@pytest.mark.parametrize("n", [4, 14, 60, 61, 150])
def test_one_latent_variable_over_many_columns(n):
    ax = plots.tree(datasets.random_latent_class(n, 3, random_state=0))
    check(ax)
    shown = [text for text in texts_of(ax) if text[0] == "X" and "+" not in text]
    assert len(shown) == min(n, 61 if n == 61 else 60)
    assert (f"{n - 60:,} more" in texts_of(ax)) == (n > 61)


@pytest.mark.parametrize("n", [16, 30, 60, 90, 300])
def test_trees_of_any_size(n):
    network = datasets.random_latent_tree(n, depth=3, width=4, random_state=0)
    ax = plots.tree(network)
    check(ax)
    if n <= 60:
        assert set(network.observed) <= set(texts_of(ax))
    if n == 300:
        assert any(" + " in text for text in texts_of(ax))


def test_forests_and_columns_that_are_linked_to_nothing():
    ax = plots.tree(datasets.random_latent_forest(3, 12, random_state=0))
    check(ax)
    independent = lf.Independence().fit(datasets.load("hiv-tests"))
    check(plots.tree(independent))
    assert "Linked to nothing: A, B, C, D" in texts_of(plots.tree(independent))


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_chains_of_columns(n):
    ax = plots.tree(make_chain(n))
    check(ax)
    if n < 20:
        assert {f"x{k}" for k in range(n)} <= set(texts_of(ax))


@pytest.mark.parametrize("n", [4, 20, 60])
def test_graphs_in_layers(n):
    ax = plots.tree(make_graph(n))
    check(ax)
    words = " ".join(texts_of(ax))
    assert words.count("column") >= n


def test_of_large_graphs_it_is_said_what_is_left_out():
    ax = plots.tree(make_graph(130))
    check(ax)
    assert "30 variables with weaker arcs are left out." in texts_of(ax)


def test_widths_grow_with_information(ax):
    weak, strong = [[0.8, 0.2], [0.2, 0.8]], [[0.99, 0.01], [0.01, 0.99]]
    variables = [lf.Variable.hidden("Y1", 2), *(lf.Variable(x, ("a", "b")) for x in "uv")]
    tables = {"Y1": [0.5, 0.5], "u": weak, "v": strong}
    network = lf.Network.from_tables(variables, {"u": "Y1", "v": "Y1"}, tables)
    plots.tree(network, ax=ax)
    widths = sorted(
        patch.get_linewidth() for patch in ax.patches if type(patch).__name__ == "PathPatch"
    )
    bits = dict(zip(*[network.edge_information()[key] for key in ("child", "bits")], strict=True))
    assert widths[-1] == pytest.approx(11 * 0.75)
    assert any(width == pytest.approx(11 * 0.75 * bits["u"] / bits["v"]) for width in widths)


def test_numbers_are_small_densities_and_pouches_have_a_line(mixed):
    ax = plots.tree(mixed)
    check(ax)
    polygons = [patch for patch in ax.patches if type(patch).__name__ == "Polygon"]
    assert len(polygons) == 3  # two columns, and one in the key
    assert "vary together within a state" in texts_of(ax)


def test_labels_take_the_place_of_names(mixed):
    from latentforest.model.labels import Labels

    texts = {"Y1": "Mood", "word": "Mood, said", "size": "Size of the house"}
    ax = plots.tree(mixed.with_labels(Labels(texts)))
    found = texts_of(ax)
    assert "Mood" in found
    assert "said" in found  # what the card says already is left out
    assert "Y1" in found  # small, beside the bar
