"""Latent class models of two-way tables against EM on the rows."""

import numpy as np
import pytest

from latentforest import Dataset, LatentClass, Variable
from latentforest.estimation.two_way import choose_classes, fit_classes

COUNTS = np.array([[30.0, 4, 2, 1], [5, 25, 3, 2], [1, 2, 20, 18], [0, 3, 16, 22]])


def as_rows(counts):
    left, right = np.indices(counts.shape).reshape(2, -1)
    variables = [
        Variable(name, tuple("abcdef"[:k])) for name, k in zip("xy", counts.shape, strict=True)
    ]
    return Dataset(variables, [left, right], counts.ravel())


def log_likelihood(counts, model):
    cells = np.einsum("k,ka,kb->ab", model.weights, model.left, model.right)
    return float((counts[counts > 0] * np.log(cells[counts > 0])).sum())


@pytest.mark.parametrize("n_states", [1, 2, 3])
def test_as_good_as_em_on_the_rows(n_states):
    model = fit_classes(COUNTS, n_states, n_starts=16, max_iterations=2000, tolerance=1e-12)
    slow = LatentClass(n_states, random_state=0).fit(as_rows(COUNTS))
    assert model.log_likelihood == pytest.approx(slow.log_likelihood_, abs=1e-3)
    assert model.log_likelihood == pytest.approx(log_likelihood(COUNTS, model), rel=1e-12)
    assert model.bic == pytest.approx(slow.bic_, abs=1e-3)
    for table in (model.weights[None], model.left, model.right):
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


def test_more_iterations_never_lower_the_likelihood():
    values = [fit_classes(COUNTS, 3, 1, 5, n, 0.0).log_likelihood for n in range(1, 40)]
    assert np.all(np.diff(values) >= -1e-9)
    assert values[-1] > values[0] + 1


def test_the_best_number_of_classes_is_chosen():
    chosen = choose_classes(COUNTS, 4, n_starts=16)
    scores = [fit_classes(COUNTS, n, n_starts=16).bic for n in (1, 2, 3, 4)]
    assert chosen.n_states == 1 + int(np.argmax(scores))
    assert chosen.bic == pytest.approx(max(scores), abs=0.01)


def test_no_number_is_tried_that_cannot_win(monkeypatch):
    tried = []
    real = fit_classes
    monkeypatch.setattr(
        "latentforest.estimation.two_way.fit_classes",
        lambda counts, n, *rest: tried.append(n) or real(counts, n, *rest),
    )
    independent = np.outer([10.0, 20], [5.0, 5])
    assert choose_classes(independent, 10).n_states == 1
    assert tried == [1]


def test_at_most_so_many_classes():
    assert choose_classes(np.diag([50.0] * 5), 5).n_states == 5
    assert choose_classes(np.diag([50.0] * 5), 3).n_states == 3
    assert choose_classes(np.diag([50.0] * 5)[:, :2], 5).n_states <= 2


def test_states_that_nobody_has_and_empty_tables():
    counts = np.zeros((3, 2))
    counts[0, 0] = counts[2, 1] = 40.0
    model = choose_classes(counts, 2)
    assert model.n_states == 2
    assert np.isfinite(model.left).all()
    assert log_likelihood(counts, model) == pytest.approx(80 * np.log(0.5), abs=1e-3)
    assert choose_classes(np.zeros((3, 2)), 2).n_states == 1
