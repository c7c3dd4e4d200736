"""Growing forests: trees, candidates and where they meet."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.estimation.conjugate_priors import Priors
from latentforest.estimation.em import EMSettings
from latentforest.estimation.posterior_vector import pack_priors
from latentforest.estimation.variational import find_divergence, find_potentials
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.incremental.arc_addition import add_arc, is_allowed
from latentforest.search.incremental.bench import Bench, Effort
from latentforest.search.incremental.candidate import put_together
from latentforest.search.incremental.growth import GrowingForest
from latentforest.search.incremental.node_addition import add_node
from latentforest.search.incremental.shares import find_shares
from latentforest.search.incremental.states import introduce_state, remove_state
from latentforest.search.incremental.tree import find_ports, plant, raise_tree, reroot


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


def make_bench(table, **effort):
    return Bench(PatternedData(table), Priors(table), Effort(**effort), 0)


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


def measure(bench, structure, q, lines):
    """Bound of a tree at a posterior, from its definition."""
    forest, prior = Forest(structure, bench.data), pack_priors(structure, bench.priors)
    value, lost = forest.log_likelihood(find_potentials(forest, q))
    assert lost == 0
    value -= find_divergence(forest, prior, q)
    return value + sum(bench.given(child, parent)[1] for child, parent in lines.items())


def test_lines_with_gaps_count_where_trees_meet():
    bench = make_bench(make_table(missing=0.1))
    forest = GrowingForest(bench, turns=True)
    forest.take(add_arc(bench, forest._tops["x0"], forest._tops["x2"]))
    tree = forest.trees["x0"]
    assert tree.structure.parents("x2") == ("x0",)
    assert not tree.lines
    above = add_node(bench, (tree.top, forest._tops["x1"]))
    rest = tree.bound - tree.top.bound
    bound = measure(bench, *put_together(bench, above, (tree, forest.trees["x1"])))
    assert bound == pytest.approx(above.bound + rest, abs=1e-6)
    wider = introduce_state(bench, above, above.involved[0])
    assert wider.structure.shape("x0") == (3, 2)


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_gains_of_candidates_are_those_of_the_whole_forest(missing, turns):
    """Where trees meet, everything else counts as it was: the bound of the parts is the whole's."""
    bench = make_bench(make_table(missing=missing))
    forest = GrowingForest(bench, turns)
    for _ in range(7):
        move = max(forest.judge(forest.all_pairs()), key=lambda move: move.gain)
        trees = [forest.trees[forest.home[top.root]] for top in move.candidate.parts]
        trees[1] = reroot(bench, trees[1], move.candidate.parts[1].root)
        if move.candidate.operator == "NA":
            trees[0] = reroot(bench, trees[0], move.candidate.parts[0].root)
        if sum(len(tree.names) for tree in trees) > 2 or move.candidate.operator == "NA":
            bound = measure(bench, *put_together(bench, move.candidate, tuple(trees)))
            rest = sum(tree.bound - tree.top.bound for tree in trees)
            if trees[0].root != move.candidate.parts[0].root:  # an arc from inside a tree
                rest = trees[0].bound + trees[1].bound - sum(t.bound for t in move.candidate.parts)
            assert bound == pytest.approx(move.candidate.bound + rest, abs=1e-6)
        forest.take(move.candidate)


def test_local_is_never_above_full():
    bench = make_bench(make_table(), step=EMSettings(200, 1e-9))
    promised, came = grow(GrowingForest(bench, turns=True), 8)
    assert np.all(came >= promised - 1e-7)
    assert came.max() > 1.0


def test_an_arc_between_complete_columns_is_the_same_in_closed_form_and_by_vbem():
    bench = make_bench(make_table())
    for a, b in (("c0", "c2"), ("c0", "x0")):
        candidate = add_arc(bench, plant(bench, a).top, plant(bench, b).top)
        tree = raise_tree(bench, candidate.structure, candidate.posterior, {})
        assert tree.bound == pytest.approx(candidate.bound, abs=1e-8)
        start = pack_priors(candidate.structure, bench.priors)
        again = raise_tree(bench, candidate.structure, start, {})
        assert again.bound == pytest.approx(candidate.bound, abs=1e-8)


def test_arcs_go_where_they_may():
    bench = make_bench(make_table(missing=0.1))
    tops = {name: plant(bench, name).top for name in bench.table.names}
    assert is_allowed(bench, tops["c0"], tops["x0"])
    assert not is_allowed(bench, tops["x0"], tops["c0"])
    assert is_allowed(bench, tops["x0"], tops["x1"])


def test_rooting_a_tree_anew_changes_its_bound_as_said():
    bench = make_bench(make_table())
    forest = GrowingForest(bench, turns=True)
    for a, b in (("c0", "c2"), ("c2", "c4"), ("c4", "x0"), ("x1", "x3"), ("x3", "x2")):
        forest.take(add_arc(bench, forest._tops[a], forest._tops[b]))
    tree, line = forest.trees["c0"], forest.trees["x1"]
    assert set(find_ports(bench, tree)) == {"c0", "c2", "c4"}
    assert set(find_ports(bench, line)) == {"x1", "x3", "x2"}
    for each in (tree, line):
        for port in find_ports(bench, each):
            turned = reroot(bench, each, port)
            again = raise_tree(bench, turned.structure, turned.posterior, turned.lines)
            assert turned.root == again.root == port
            assert again.bound == pytest.approx(turned.bound, abs=1e-8)
            assert set(turned.names) == set(each.names)


def test_rooting_lines_anew_costs_nothing():
    bench = make_bench(make_table())
    forest = GrowingForest(bench, turns=True)
    for a, b in (("x1", "x3"), ("x3", "x2")):
        forest.take(add_arc(bench, forest._tops[a], forest._tops[b]))
    assert np.allclose(list(forest.ports["x1"].values()), 0.0, atol=1e-8)


def test_states_that_come_and_go():
    bench = make_bench(make_table())
    candidate = add_node(bench, (plant(bench, "c0").top, plant(bench, "x0").top))
    (name,) = candidate.involved
    more = introduce_state(bench, candidate, name)
    less = remove_state(bench, more, name)
    assert more.structure.shape(name) == (3,)
    assert less.structure == candidate.structure
    assert less.bound == pytest.approx(candidate.bound, abs=1e-2)


def test_a_third_state_is_found():
    generator = np.random.default_rng(3)
    z = generator.integers(0, 3, 400)
    values = [4.0 * z + generator.normal(size=400), -3.0 * z + generator.normal(size=400)]
    bench = make_bench(Dataset([Variable("x"), Variable("y")], values))
    candidate = add_node(bench, (plant(bench, "x").top, plant(bench, "y").top))
    (name,) = candidate.involved
    more = introduce_state(bench, candidate, name)
    means = np.sort(more.structure.table_view(more.posterior, "x")[:, 0])
    assert more.gain > candidate.gain + 50
    assert np.allclose(means, [0, 4, 8], atol=0.5)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_shares_of_a_latent_root_are_its_posterior(missing):
    bench = make_bench(make_table(missing=missing))
    forest = GrowingForest(bench, turns=True)
    forest.take(add_node(bench, (forest._tops["c0"], forest._tops["x0"])))
    tree = forest.take(add_arc(bench, forest._tops["Y1"], forest._tops["c2"]))
    shares = find_shares(bench, tree)
    plan = Forest(tree.structure, bench.data)
    phi = find_potentials(plan, tree.posterior)
    logs = np.log(tree.structure.table_view(phi, "Y1"))[None].repeat(300, axis=0)
    for name in ("c0", "c2"):
        codes, table = bench.table.column(name), np.log(tree.structure.table_view(phi, name))
        logs = logs + np.where(codes[:, None] >= 0, table.T[codes], 0.0)
    # The only Gaussian: minus its mean, the factor of the distance, the constant.
    rows = phi[tree.structure.n_values :].reshape(2, 3)
    y = (bench.table.column("x0")[:, None] + rows[:, 0]) * rows[:, 1]
    logs = logs + np.nan_to_num(rows[:, 2] - y * y)
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(shares, expected, atol=1e-10)


def test_what_is_known_of_a_pair_is_kept_until_it_changes():
    bench = make_bench(make_table())
    forest = GrowingForest(bench, turns=False)
    grow(forest, 1)
    n_first = forest.n_candidates
    grow(forest, 1)
    assert forest.n_candidates - n_first < 0.4 * n_first
    fresh = GrowingForest(bench, turns=False)
    grow(fresh, 2)
    assert fresh.score == forest.score
