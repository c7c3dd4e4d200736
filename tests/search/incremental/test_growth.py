"""Growing forests: trees, candidates and where they meet."""

import sys

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.estimation.conjugate_priors import Priors
from latentforest.estimation.em import EMSettings
from latentforest.estimation.posterior_vector import pack_priors
from latentforest.estimation.variational import find_divergence, find_potentials
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.incremental.arc_addition import add_arc, is_allowed
from latentforest.search.incremental.candidate import join_trees
from latentforest.search.incremental.context import GrowthContext, GrowthEffort
from latentforest.search.incremental.growth import GrowingForest
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.states import introduce_state, remove_state
from latentforest.search.incremental.tree import (
    compute_root_posterior,
    find_possible_roots,
    fit_tree,
    make_single_tree,
    reroot,
)


def make_table(n_rows=300, seed=0, missing=0.0):
    """Two hidden classes that depend on each other, each over columns of both kinds."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_rows)
    z = np.where(generator.random(n_rows) < 0.8, y, 1 - y)
    columns, variables = [], []
    for j in range(6):
        hidden = (y, z)[j % 2]
        noise = generator.random(n_rows)
        codes = np.where(noise < 0.75, hidden, generator.integers(0, 3, n_rows)).astype(np.int32)
        columns.append(np.where(generator.random(n_rows) < missing, -1, codes))
        variables.append(Variable(f"c{j}", ("0", "1", "2")))
    for j in range(4):
        values = (2.0 + j) * (y, z)[j % 2] + generator.normal(size=n_rows)
        columns.append(np.where(generator.random(n_rows) < missing, np.nan, values))
        variables.append(Variable(f"x{j}"))
    return Dataset(variables, columns)


def make_context(table, **effort):
    return GrowthContext(PatternedData(table), Priors(table), GrowthEffort(**effort), 0)


def grow(forest, n_steps):
    """Take the best moves; return the gains that were promised and those that came."""
    promised, came = [], []
    for _ in range(n_steps):
        before = forest.score
        move = max(forest.judge(forest.all_pairs()), key=lambda move: move.gain)
        forest.take(move.candidate)
        promised.append(move.gain)
        came.append(forest.score - before)
    return np.array(promised), np.array(came)


def measure(context, structure, q, lines):
    """Bound of a tree at a posterior, from its definition."""
    forest, prior = (
        Forest(structure, context.data, is_variational=True),
        pack_priors(structure, context.priors),
    )
    value, lost = forest.log_likelihood(find_potentials(forest, q))
    assert lost == 0
    value -= find_divergence(forest, prior, q)
    return value + sum(context.given(child, parent)[1] for child, parent in lines.items())


def test_lines_with_gaps_count_where_trees_meet():
    context = make_context(make_table(missing=0.1))
    forest = GrowingForest(context, turns=True)
    forest.take(add_arc(context, forest._tops["x0"], forest._tops["x2"]))
    tree = forest.trees["x0"]
    assert tree.structure.parents("x2") == ("x0",)
    assert not tree.lines
    above = add_node(context, (tree.top, forest._tops["x1"]))
    rest = tree.bound - tree.top.bound
    bound = measure(context, *join_trees(context, above, (tree, forest.trees["x1"])))
    assert bound == pytest.approx(above.bound + rest, abs=1e-6)
    wider = introduce_state(context, above, above.involved[0])
    assert wider.structure.shape("x0") == (3, 2)


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_gains_of_candidates_are_those_of_the_whole_forest(missing, turns):
    """Where trees meet, everything else counts as it was: the bound of the parts is the whole's."""
    context = make_context(make_table(missing=missing))
    forest = GrowingForest(context, turns)
    for _ in range(7):
        move = max(forest.judge(forest.all_pairs()), key=lambda move: move.gain)
        trees = [forest.trees[forest.home[top.root]] for top in move.candidate.parts]
        trees[1] = reroot(context, trees[1], move.candidate.parts[1].root)
        if move.candidate.operator == "NA":
            trees[0] = reroot(context, trees[0], move.candidate.parts[0].root)
        if sum(len(tree.names) for tree in trees) > 2 or move.candidate.operator == "NA":
            bound = measure(context, *join_trees(context, move.candidate, tuple(trees)))
            rest = sum(tree.bound - tree.top.bound for tree in trees)
            if trees[0].root != move.candidate.parts[0].root:  # an arc from inside a tree
                rest = trees[0].bound + trees[1].bound - sum(t.bound for t in move.candidate.parts)
            assert bound == pytest.approx(move.candidate.bound + rest, abs=1e-6)
        forest.take(move.candidate)


def test_local_is_never_above_full():
    context = make_context(make_table(), step=EMSettings(200, 1e-9))
    promised, came = grow(GrowingForest(context, turns=True), 8)
    assert np.all(came >= promised - 1e-7)
    assert came.max() > 1.0


def test_an_arc_between_complete_columns_is_the_same_in_closed_form_and_by_vbem():
    context = make_context(make_table())
    for a, b in (("c0", "c2"), ("c0", "x0")):
        candidate = add_arc(
            context, make_single_tree(context, a).top, make_single_tree(context, b).top
        )
        tree = fit_tree(context, candidate.structure, candidate.posterior, {})
        assert tree.bound == pytest.approx(candidate.bound, abs=1e-8)
        start = pack_priors(candidate.structure, context.priors)
        again = fit_tree(context, candidate.structure, start, {})
        assert again.bound == pytest.approx(candidate.bound, abs=1e-8)


def test_arcs_go_where_they_may():
    context = make_context(make_table(missing=0.1))
    tops = {name: make_single_tree(context, name).top for name in context.table.names}
    assert is_allowed(context, tops["c0"], tops["x0"])
    assert not is_allowed(context, tops["x0"], tops["c0"])
    assert is_allowed(context, tops["x0"], tops["x1"])


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


def test_states_that_come_and_go():
    context = make_context(make_table())
    candidate = add_node(
        context, (make_single_tree(context, "c0").top, make_single_tree(context, "x0").top)
    )
    (name,) = candidate.involved
    more = introduce_state(context, candidate, name)
    less = remove_state(context, more, name)
    assert more.structure.shape(name) == (3,)
    assert less.structure == candidate.structure
    assert less.bound == pytest.approx(candidate.bound, abs=1e-2)


def test_a_third_state_is_found():
    generator = np.random.default_rng(3)
    z = generator.integers(0, 3, 400)
    values = [4.0 * z + generator.normal(size=400), -3.0 * z + generator.normal(size=400)]
    context = make_context(Dataset([Variable("x"), Variable("y")], values))
    candidate = add_node(
        context, (make_single_tree(context, "x").top, make_single_tree(context, "y").top)
    )
    (name,) = candidate.involved
    more = introduce_state(context, candidate, name)
    means = np.sort(more.structure.table_view(more.posterior, "x")[:, 0])
    assert more.gain > candidate.gain + 50
    assert np.allclose(means, [0, 4, 8], atol=0.5)


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


def test_what_is_known_of_a_pair_is_kept_until_it_changes():
    context = make_context(make_table())
    forest = GrowingForest(context, turns=False)
    grow(forest, 1)
    n_first = forest.n_candidates
    grow(forest, 1)
    assert forest.n_candidates - n_first < 0.4 * n_first
    fresh = GrowingForest(context, turns=False)
    grow(fresh, 2)
    assert fresh.score == forest.score


def interrupt(function, wanted, *arguments):
    """Call a function with Ctrl-C pressed at one of its instructions; tell whether it was."""
    n_done = 0

    def trace(frame, event, argument):
        nonlocal n_done
        if frame.f_code is not function.__code__:
            return None
        frame.f_trace_opcodes = True
        n_done += event == "opcode"
        if n_done == wanted:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_no_tree_is_lost_whenever_the_user_interrupts():
    context = make_context(make_table(n_rows=60))
    joined = GrowingForest(context, turns=True)
    tree = joined.take(add_arc(context, joined._tops["c0"], joined._tops["c2"]))
    wanted = 0
    is_over = False
    while not is_over:
        wanted += 1
        forest = GrowingForest(context, turns=True)
        is_over = not interrupt(GrowingForest._put, wanted, forest, tree, ("c0", "c2"))
        names = [name for each in forest.trees.values() for name in each.names]
        assert sorted(names) == sorted(context.table.names)
        assert sorted(forest.posteriors()) == sorted(context.table.names)
    assert wanted > 50
    assert list(forest.trees) == list(joined.trees)
