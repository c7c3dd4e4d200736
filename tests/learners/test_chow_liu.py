"""Chow-Liu trees: the best of all trees, exact with missing values."""

import itertools

import numpy as np
import pytest

from latentforest import ChowLiu, Dataset, Variable, datasets
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.model import Network, Structure
from latentforest.scores.criteria import FitSummary, evaluate
from reference.expectation_maximization import objective_of, run_em
from reference.information import information_of_columns
from reference.reported import reported
from reference.spanning import kruskal

ROLE = datasets.load("role-conflict")


@pytest.fixture(scope="module")
def tree():
    """A tree over six columns."""
    variables = [Variable(f"x{i}", tuple("abc"[: 2 + i % 2])) for i in range(6)]
    parents = {"x1": "x0", "x2": "x0", "x3": "x1", "x4": "x1", "x5": "x4"}
    structure = Structure(variables, parents)
    tables = {"x0": np.array([0.4, 0.6])}
    for name in parents:
        table = 0.2 + np.eye(*structure.shape(name))
        tables[name] = table / table.sum(axis=1, keepdims=True)
    return Network.from_tables(variables, parents, tables)


@pytest.fixture(scope="module")
def table(tree):
    return tree.sample(600, random_state=1)


def edges_of(model):
    return set(zip(model.edges_["left"], model.edges_["right"], strict=True))


def fit_counts(structure, table):
    """Maximum-likelihood value of any forest over complete columns, from relative frequencies."""
    value = 0.0
    for name in structure.names:
        above = structure.parents(name)
        groups = table.column(above[0]) if above else np.zeros(table.n_rows, int)
        for group in np.unique(groups):
            here = groups == group
            counts = np.bincount(table.column(name)[here], table.weights[here])
            counts = counts[counts > 0]
            value += counts @ np.log(counts / counts.sum())
    return value


def all_trees(names):
    """Every tree over four names, rooted at the first, once for each way to choose parents."""
    for choice in itertools.product(names, repeat=len(names) - 1):
        parents = dict(zip(names[1:], choice, strict=True))
        try:
            yield parents, Structure([ROLE.variable(name) for name in names], parents)
        except ValueError:  # a cycle
            continue


def test_no_tree_has_a_higher_likelihood():
    values = [fit_counts(structure, ROLE) for _, structure in all_trees(list(ROLE.names))]
    assert len(values) == 16
    model = ChowLiu().fit(ROLE)
    assert model.log_likelihood_ == pytest.approx(max(values))
    forest = Forest(model.network_.structure, PatternedData(ROLE))
    assert forest.log_likelihood(model.network_.parameters)[0] == pytest.approx(max(values))


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_no_forest_has_a_higher_score(criterion):
    scores = []
    for parents, _ in all_trees(list(ROLE.names)):
        for n in range(len(parents) + 1):
            for kept in itertools.combinations(parents, n):
                arcs = {name: parents[name] for name in kept}
                structure = Structure(ROLE.variables, arcs)
                value = fit_counts(structure, ROLE)
                fit = FitSummary(value, structure.dimension, ROLE.total_weight)
                scores.append(evaluate(criterion, fit))
    model = ChowLiu(criterion=criterion).fit(ROLE)
    fit = FitSummary(model.log_likelihood_, model.n_parameters_, ROLE.total_weight)
    assert evaluate(criterion, fit) == pytest.approx(max(scores))
    assert min(model.edges_["gain"]) > 0


def test_the_true_tree_is_found(tree, table):
    true = {tuple(sorted((name, tree.structure.parents(name)[0]))) for name in tree.names[1:]}
    for criterion in ("likelihood", "bic", "aic", "bde"):
        assert edges_of(ChowLiu(criterion=criterion).fit(table)) == true


def test_independent_columns_stay_apart():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 400) for _ in range(5)]
    noise = Dataset([Variable(f"x{i}", ("a", "b")) for i in range(5)], columns)
    assert len(ChowLiu().fit(noise).edges_) == 4
    for criterion in ("bic", "bde"):
        model = ChowLiu(criterion=criterion).fit(noise)
        assert len(model.edges_) == 0
        assert len(model.network_.structure.roots) == 5


def test_the_edges_are_those_of_kruskal(table):
    taken = kruskal(information_of_columns(table).tolist())
    names = table.names
    assert edges_of(ChowLiu().fit(table)) == {(names[i], names[j]) for i, j in taken}


@pytest.mark.parametrize("root", ["x0", "x3", "x5"])
def test_the_root_changes_nothing_but_the_arcs(table, root):
    model, other = ChowLiu().fit(table), ChowLiu(root=root).fit(table)
    assert other.network_.structure.roots == (root,)
    assert edges_of(other) == edges_of(model)
    np.testing.assert_allclose(
        reported(other).score_samples(table), reported(model).score_samples(table)
    )


def test_weights_are_repeats(table):
    weights = np.arange(table.n_rows) % 3
    repeated = table.take(np.repeat(np.arange(table.n_rows), weights))
    a, b = ChowLiu().fit(table, sample_weight=weights), ChowLiu().fit(repeated)
    assert a.edges_["left"] == b.edges_["left"]
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_)


def test_smoothing_is_added_to_the_counts(table):
    model = ChowLiu(prior=2.0).fit(table)
    structure = model.network_.structure
    name = next(name for name in structure.names if structure.parents(name))
    (parent,) = structure.parents(name)
    counts = np.zeros(structure.shape(name))
    np.add.at(counts, (table.column(parent), table.column(name)), 1.0)
    counts += 2.0
    np.testing.assert_allclose(model.network_.cpd(name), counts / counts.sum(axis=1, keepdims=True))


# Missing values


def test_missing_values_by_em(table):
    gaps = with_missing(table, 0.2, random_state=2)
    model = ChowLiu(tolerance=1e-12, max_iterations=5000).fit(gaps)
    structure = model.network_.structure
    none = np.zeros(structure.n_values)
    uniform = np.concatenate(
        [np.full(structure.shape(n), 1 / structure.shape(n)[-1]).ravel() for n in structure.names]
    )
    theta = run_em(structure, uniform, gaps, none, 60)
    assert model.log_likelihood_ == pytest.approx(objective_of(structure, theta, gaps, none))
    assert model.monitor_.converged


def test_rounds_never_lower_the_likelihood(table):
    gaps = with_missing(table, 0.5, random_state=3)
    model = ChowLiu(n_rounds=6, tolerance=1e-10).fit(gaps)
    values = model.history_["log_likelihood"]
    assert values == sorted(values)
    assert values[0] == pytest.approx(ChowLiu(tolerance=1e-10).fit(gaps).log_likelihood_)


def test_without_missing_values_one_round_is_enough(table):
    assert ChowLiu(n_rounds=5).fit(table).history_["round"] == [1]


@pytest.mark.filterwarnings("ignore::latentforest.errors.DataWarning")
def test_an_empty_column():
    variables = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    model = ChowLiu().fit(Dataset(variables, [[0, 1, 1], [-1, -1, -1]]))
    assert model.log_likelihood_ == pytest.approx(np.log(1 / 3) + 2 * np.log(2 / 3))


def test_it_is_a_network_of_the_columns(table):
    model = ChowLiu().fit(table)
    assert isinstance(model.network_, Network)
    assert model.network_.latents == ()
    assert not hasattr(model, "transform")
    assert model.sample(5, random_state=0).names == table.names


def test_a_time_limit_gives_a_tree(table):
    gaps = with_missing(table, 0.3, random_state=3)
    model = ChowLiu(n_rounds=10, time_limit=1e-9).fit(gaps)
    assert len(model.edges_) == 5
    assert len(model.history_) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "x"}, "unknown criterion 'x'"),
        ({"n_rounds": 0}, "n_rounds must be at least 1, got 0"),
        ({"equivalent_size": 0}, "equivalent_size must be positive, got 0"),
        ({"root": "Q"}, "'Q'"),
        ({"root": ["A", "B"]}, r"two columns of one tree: \['A', 'B'\]"),
        ({"smoothing": -1}, "smoothing must be finite"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises((ParameterError, ValueError, KeyError), match=message):
        ChowLiu(**settings).fit(ROLE)
