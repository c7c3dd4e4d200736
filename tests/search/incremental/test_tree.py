"""Growing trees and their roots."""

import numpy as np
import pytest

from latentforest.estimation.bayes.variational import find_potentials
from latentforest.inference.forest import Forest
from latentforest.search.incremental.arc_addition import add_arc
from latentforest.search.incremental.growth import GrowingForest
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.tree import (
    compute_root_posterior,
    find_possible_roots,
    fit_tree,
    reroot,
)
from reference.growth import make_context, make_table


def test_rooting_a_tree_anew_changes_its_bound_as_said():
    context = make_context(make_table())
    forest = GrowingForest(context, turns=True)
    for a, b in (("c0", "c2"), ("c2", "c4"), ("c4", "x0"), ("x1", "x3"), ("x3", "x2")):
        forest.take(add_arc(context, forest._tops[a], forest._tops[b]))
    tree, line = forest.trees["c0"], forest.trees["x1"]
    assert set(find_possible_roots(context, tree)) == {"c0", "c2", "c4"}
    assert set(find_possible_roots(context, line)) == {"x1", "x3", "x2"}
    for each in (tree, line):
        for port in find_possible_roots(context, each):
            turned = reroot(context, each, port)
            again = fit_tree(context, turned.structure, turned.posterior, turned.lines)
            assert turned.root == again.root == port
            assert again.bound == pytest.approx(turned.bound, abs=1e-8)
            assert set(turned.names) == set(each.names)


def test_rooting_lines_anew_costs_nothing():
    context = make_context(make_table())
    forest = GrowingForest(context, turns=True)
    for a, b in (("x1", "x3"), ("x3", "x2")):
        forest.take(add_arc(context, forest._tops[a], forest._tops[b]))
    assert np.allclose(list(forest.possible_roots["x1"].values()), 0.0, atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_shares_of_a_latent_root_are_its_posterior(missing):
    context = make_context(make_table(missing=missing))
    forest = GrowingForest(context, turns=True)
    forest.take(add_node(context, (forest._tops["c0"], forest._tops["x0"])))
    tree = forest.take(add_arc(context, forest._tops["Y1"], forest._tops["c2"]))
    shares = compute_root_posterior(context, tree)
    plan = Forest(tree.structure, context.data, is_variational=True)
    phi = find_potentials(plan, tree.posterior)
    logs = np.log(tree.structure.table_view(phi, "Y1"))[None].repeat(300, axis=0)
    for name in ("c0", "c2"):
        codes, table = context.table.column(name), np.log(tree.structure.table_view(phi, name))
        logs = logs + np.where(codes[:, None] >= 0, table.T[codes], 0.0)
    # The only Gaussian: minus its mean, the factor of the distance, the constant.
    rows = phi[tree.structure.n_values :].reshape(2, 3)
    y = (context.table.column("x0")[:, None] + rows[:, 0]) * rows[:, 1]
    logs = logs + np.nan_to_num(rows[:, 2] - y * y)
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(shares, expected, atol=1e-10)
