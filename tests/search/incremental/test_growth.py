"""Growing forests: trees, candidates and where they meet."""

import sys

import numpy as np
import pytest

from latentforest.estimation.bayes.posterior_vector import pack_priors
from latentforest.estimation.bayes.variational import find_divergence, find_potentials
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import Forest
from latentforest.search.incremental.arc_addition import add_arc
from latentforest.search.incremental.candidate import join_trees
from latentforest.search.incremental.growth import GrowingForest
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.states import introduce_state
from latentforest.search.incremental.tree import (
    reroot,
)
from reference.growth import make_context, make_table


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
