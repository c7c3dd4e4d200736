"""Small models on tables of counts, against row by row sums."""

import numpy as np
import pytest

from latentforest import Dataset
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.estimation.small import SmallEffort, SmallFits, count_parameters, count_patterns
from latentforest.inference.forest import PatternedData
from reference.enumeration import enumerate_rows
from reference.latent_class import fit_latent_class
from reference.log_domain import propagate_logs
from reference.small import as_structure, log_likelihood_of_rows

FAR = np.array([False, False, True, True])


def draw(missing=0.0, weighted=True):
    network = random_latent_tree(4, depth=2, width=2, n_states=[2, 3], strength=0.8, random_state=3)
    table = with_missing(generate(network, 150, random_state=1), missing, random_state=1)
    weights = np.random.default_rng(0).integers(1, 4, table.n_rows) if weighted else None
    return table.with_weights(weights)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_patterns_are_counted(missing):
    table = draw(missing)
    counts = count_patterns(PatternedData(table), [2, 0])
    found = {}
    for p, weight in enumerate(counts.weights):
        found[tuple(int(c) for c in counts.codes[p])] = weight
    expected = {}
    for row, weight in enumerate(table.weights):
        key = tuple(
            int(table.columns[j][row])
            if table.columns[j][row] >= 0
            else table.variables[j].n_states
            for j in (2, 0)
        )
        expected[key] = expected.get(key, 0.0) + weight
    assert found == expected


def test_a_single_column_is_counted():
    table = draw()
    counts = count_patterns(PatternedData(table), [1])
    np.testing.assert_array_equal(
        np.bincount(counts.codes[:, 0], counts.weights), table.counts(table.names[1])
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("n_near", "n_far"), [(1, 1), (2, 1), (3, 1), (2, 2), (2, 3)])
def test_log_likelihood_is_that_of_the_rows(missing, n_near, n_far):
    table = draw(missing)
    is_far = FAR if n_far > 1 else None
    counts = count_patterns(PatternedData(table), range(4))
    model = SmallFits(0).fit(counts, n_near, n_far, is_far)
    structure, theta = as_structure(table, model)
    assert model.log_likelihood == pytest.approx(log_likelihood_of_rows(table, structure, theta))
    assert model.dimension == structure.dimension
    assert model.bic(10.0) == pytest.approx(
        model.log_likelihood - 0.5 * structure.dimension * np.log(10)
    )


@pytest.mark.parametrize(("n_near", "n_far"), [(2, 1), (2, 2)])
def test_em_stops_at_a_stationary_point(n_near, n_far):
    table = draw(0.1)
    is_far = FAR if n_far > 1 else None
    counts = count_patterns(PatternedData(table), range(4))
    fits = SmallFits(0, SmallEffort(max_iterations=5000, tolerance=1e-10))
    structure, theta = as_structure(table, fits.fit(counts, n_near, n_far, is_far))
    _, expected = enumerate_rows(structure, theta, table)
    for name in structure.names:
        table_of = structure.table_view(expected, name)
        next_one = table_of / table_of.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(next_one, structure.table_view(theta, name), atol=2e-4)


def test_as_good_as_plain_em():
    table = draw()
    counts = count_patterns(PatternedData(table), range(4))
    best, _, _ = fit_latent_class(table, 2, n_starts=5, n_iterations=500)
    assert SmallFits(0).fit(counts, 2).log_likelihood > best - 0.1


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_no_model_is_more_likely_than_the_bound(missing):
    counts = count_patterns(PatternedData(draw(missing)), range(4))
    model = SmallFits(0).fit(counts, 6)
    assert model.log_likelihood <= counts.highest


def test_the_bound_is_reached_by_frequencies():
    table = draw(weighted=False).select(draw().names[:1])
    share = table.counts(table.names[0]) / table.n_rows
    counts = count_patterns(PatternedData(table), [0])
    assert counts.highest == pytest.approx(table.n_rows * np.sum(share * np.log(share)))


def test_posteriors():
    table = draw(0.2)
    data = PatternedData(table)
    counts = count_patterns(data, range(4))
    model = SmallFits(0).fit(counts, 2)
    structure, theta = as_structure(table, model)
    posteriors = data.spread([model.posteriors(counts)])
    for row in (0, 7, 40):
        one = Dataset(table.variables, [column[row : row + 1] for column in table.columns])
        _, expected = enumerate_rows(structure, theta, one)
        np.testing.assert_allclose(posteriors[row], structure.table_view(expected, "near"))


def test_parameters_are_counted():
    assert count_parameters(np.array([2, 3]), 2, 1, np.zeros(2, bool)) == 1 + 2 * (1 + 2)
    assert count_parameters(np.array([2, 3]), 2, 3, np.array([0, 1], bool)) == 1 + 4 + 2 + 3 * 2


@pytest.mark.parametrize("n_far", [1, 2])
def test_many_columns_do_not_underflow(n_far):
    """400 columns of eight states: a row has a probability of about 8 to the minus 400."""
    truth = random_latent_tree(400, depth=1, n_states=8, strength=0.2, random_state=1)
    table = with_missing(generate(truth, 40, random_state=1), 0.05, random_state=1)
    is_far = np.arange(400) % 2 == 1
    counts = count_patterns(PatternedData(table), range(400))
    fits = SmallFits(0, SmallEffort(n_starts=2, max_iterations=100, tolerance=1e-9))
    model = fits.fit(counts, 2, n_far, is_far if n_far > 1 else None)
    structure, theta = as_structure(table, model)
    values, expected = propagate_logs(structure, theta, table)
    assert np.isfinite(model.log_likelihood)
    assert model.log_likelihood == pytest.approx(table.weights @ values.sum(axis=1), rel=1e-9)
    for name in structure.names:
        found = structure.table_view(expected, name)
        found = found / found.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(found, structure.table_view(theta, name), atol=1e-3)
