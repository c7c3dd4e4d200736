"""Annealed importance sampling against enumeration."""

import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp
from tests.reference.evidence import network_evidence
from tests.reference.tiny_tables import CASES, draw_rows, evidence_of, latent_class

from latentforest import Dataset, Structure, Variable, marginal_likelihood
from latentforest.errors import DataError, ParameterError
from latentforest.kernels.annealing import FEW
from latentforest.learners.latent_class import make_structure
from latentforest.scores.evidence import annealing
from latentforest.scores.evidence.units import find_openings


@pytest.mark.parametrize(("structure", "table"), CASES.values(), ids=CASES.keys())
def test_within_a_tenth_of_the_evidence(structure, table):
    exact = evidence_of(structure, table, 1.0)
    found = marginal_likelihood(structure, table, "ais")
    assert found.value == pytest.approx(exact, abs=0.1)
    assert abs(found.value - exact) < 4 * found.standard_error
    assert 1 < found.effective_sample_size <= 8


@pytest.mark.parametrize("n_sweeps", [0, 3, 60])
def test_rows_that_are_alike(n_sweeps):
    table = Dataset(
        [Variable(n, ("0", "1")) for n in "ab"], [[0, 1, 0], [0, 1, 1]], [5.0, 4.0, 1.0]
    )
    structure = make_structure(table.variables, 2)
    exact = network_evidence(structure, np.ones(structure.n_values), table)
    found = marginal_likelihood(structure, table, "ais", n_sweeps=n_sweeps, n_chains=64)
    assert found.value == pytest.approx(exact, abs=0.1)


@pytest.mark.parametrize("n", [100, 300])
def test_both_kinds_of_sweeps(n):
    assert 100 * 1.5 < FEW < 300  # above, equal rows are drawn at once
    table = Dataset([Variable("a", ("0", "1"))], [[0, 1]], [n, n / 2])
    structure = make_structure(table.variables, 2)
    exact = one_column_evidence(n, n // 2)
    found = marginal_likelihood(structure, table, "ais", n_sweeps=100, n_chains=48)
    assert found.value == pytest.approx(exact, abs=0.1)


def one_column_evidence(n_zeros, n_ones):
    """Sum over how many of the zeros and of the ones are in the first class; uniform priors."""
    i, j = np.arange(n_zeros + 1)[:, None], np.arange(n_ones + 1)
    first, second = betaln(1 + i, 1 + j), betaln(1 + n_zeros - i, 1 + n_ones - j)
    sizes = betaln(1 + i + j, 1 + n_zeros + n_ones - i - j)
    ways = log_choose(n_zeros, i) + log_choose(n_ones, j)
    return float(logsumexp(first + second + sizes + ways))


def log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def test_long_rows_do_not_underflow():
    random = np.random.default_rng(0)
    items = [Variable(f"x{j}", ("0", "1")) for j in range(1200)]
    table = Dataset(items, list(random.integers(0, 2, (1200, 2))))
    structure = make_structure(items, 2)
    exact = network_evidence(structure, np.ones(structure.n_values), table)
    found = marginal_likelihood(structure, table, "ais", n_runs=2)
    assert found.value == pytest.approx(exact, abs=0.1)


def test_open_cells_without_a_value_below_are_left_alone():
    structure, table = latent_class(2, 20, 0, missing=0.5)
    units = find_openings(structure, table).units
    assert set(units.n_completions) == {2}  # the class alone, never a missing item


def test_blocks_that_do_not_depend_on_each_other_are_apart():
    table = draw_rows(10, 0)
    latents = [Variable.hidden("Y", 2), Variable.hidden("Z", 3)]
    parents = {"a": "Y", "b": "Y", "c": "Z", "d": "Z"}
    structure = Structure([*latents, *table.variables], parents)
    openings = find_openings(structure, table)
    assert set(openings.units.n_completions) == {2, 3}
    assert openings.copies.sum() == 20


def test_neither_the_order_of_rows_nor_threads_matter():
    structure, table = latent_class(3, 40, 1, missing=0.2)
    first = marginal_likelihood(structure, table, "ais", n_runs=3)
    backwards = table.take(np.arange(40)[::-1])
    assert marginal_likelihood(structure, backwards, "ais", n_runs=3) == first
    assert marginal_likelihood(structure, table, "ais", n_runs=3, n_jobs=2) == first
    assert marginal_likelihood(structure, table, "ais", n_runs=3, random_state=1) != first


def test_when_time_is_up_the_runs_that_are_done_count():
    structure, table = latent_class(2, 40, 0)
    with pytest.warns(match="only 1 of 8 runs came to an end"):
        found = marginal_likelihood(structure, table, "ais", time_limit=1e-6)
    assert np.isfinite(found.value)


def test_ctrl_c_keeps_the_runs_that_are_done(monkeypatch):
    structure, table = latent_class(2, 40, 0)
    run, calls = annealing.run_chains, []

    def stop_in_the_third(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(*arguments)

    monkeypatch.setattr(annealing, "run_chains", stop_in_the_third)
    with pytest.warns(match="only 2 of 8 runs came to an end"):
        marginal_likelihood(structure, table, "ais")


def test_broken_weights():
    structure, table = latent_class(2, 10, 0)
    with pytest.raises(DataError, match="annealing needs whole weights"):
        marginal_likelihood(structure, table.with_weights(np.full(10, 0.5)), "ais")


def test_too_many_completions(monkeypatch):
    monkeypatch.setattr("latentforest.scores.evidence.units.MOST_CELLS", 10)
    structure, table = latent_class(2, 10, 0)
    with pytest.raises(ParameterError, match="'cs', 'laplace' and 'elbo' take such networks"):
        marginal_likelihood(structure, table, "ais")
