"""Chow-Liu trees over continuous and mixed tables."""

from itertools import product

import numpy as np
import pytest

import latentforest as lf
from latentforest.datasets.generate import with_missing
from latentforest.errors import ParameterError
from latentforest.model.spanning import layered_forest


def draw_table(n_rows=300, seed=0):
    """Two categorical and three continuous columns that depend on each other."""
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=n_rows)
    b = np.where(rng.random(n_rows) < 0.6, a, rng.integers(3, size=n_rows))
    x = 1.5 * a + rng.normal(size=n_rows)
    y = 0.8 * x + rng.normal(size=n_rows)
    z = rng.normal(size=n_rows)
    return lf.Dataset.from_table(
        {"y": y, "a": a.astype(str), "x": x, "b": b.astype(str), "z": 100.0 * z},
        weights=rng.choice([0.5, 1.0, 2.0], n_rows),
    )


def family_score(data, child, parent, penalty):
    """Maximum log-likelihood of a column given another one, less the price of its parameters."""
    w, numbers = data.weights, {v.name for v in data.variables if not v.is_categorical}
    values = data.column(child)
    if child in numbers:
        if parent in numbers:
            design = np.column_stack([np.ones(len(w)), data.column(parent)])
            root = np.sqrt(w)[:, None]
            beta = np.linalg.lstsq(design * root, values * root[:, 0], rcond=None)[0]
            return gaussian(values - design @ beta, w) - 3 * penalty
        codes = data.column(parent) if parent else np.zeros(len(w), int)
        groups = np.unique(codes)
        total = 0.0
        for k in groups:
            here = codes == k
            total += gaussian(values[here] - np.average(values[here], weights=w[here]), w[here])
        return total - 2 * len(groups) * penalty
    codes = data.column(parent) if parent else np.zeros(len(w), int)
    total = 0.0
    for k in np.unique(codes):
        counts = np.bincount(values[codes == k], w[codes == k], 3)
        seen = counts[counts > 0]
        total += float(seen @ np.log(seen / seen.sum()))
    return total - 2 * len(np.unique(codes)) * penalty


def gaussian(residuals, w):
    variance = np.average(residuals**2, weights=w)
    return -0.5 * w.sum() * (np.log(2 * np.pi * variance) + 1.0)


def search_all(data, penalty):
    """The best score over all forests in which no continuous column is above a categorical one."""
    names = data.names
    numbers = {v.name for v in data.variables if not v.is_categorical}
    options = []
    for child in names:
        above = [None, *(p for p in names if p != child and (p not in numbers or child in numbers))]
        options.append([(p, family_score(data, child, p, penalty)) for p in above])
    best = -np.inf
    for choice in product(*options):
        parents = {child: p for child, (p, _) in zip(names, choice, strict=True)}
        if not has_cycle(parents):
            best = max(best, sum(score for _, score in choice))
    return best


def has_cycle(parents):
    for name in parents:
        seen = set()
        while name is not None and name not in seen:
            seen.add(name)
            name = parents[name]
        if name is not None:
            return True
    return False


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["likelihood", "bic"])
def test_no_legal_forest_is_better(criterion, seed):
    data = draw_table(seed=seed)
    model = lf.ChowLiu(criterion).fit(data)
    penalty = 0.5 * np.log(data.total_weight) if criterion == "bic" else 0.0
    found = model.bic_ if criterion == "bic" else model.log_likelihood_
    assert found == pytest.approx(search_all(data, penalty), rel=1e-6)
    if criterion == "bic":
        assert model.network_.structure.neighbours("z") == ()


@pytest.mark.parametrize("seed", range(20))
def test_layered_forests_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    gains = rng.normal(0.3, 1.0, (5, 5))
    gains = gains + gains.T
    is_lower = rng.random(5) < 0.5
    best = -np.inf
    for parents in product(range(-1, 5), repeat=5):
        named = {i: (p if p >= 0 else None) for i, p in enumerate(parents)}
        legal = all(p is None or (p != i and is_lower[i] >= is_lower[p]) for i, p in named.items())
        if legal and not has_cycle(named):
            best = max(best, sum(gains[i, p] for i, p in named.items() if p is not None))
    edges = layered_forest(gains, is_lower, 0.0)
    assert sum(gains[edge] for edge in edges) == pytest.approx(best)


def test_gains_are_those_of_the_likelihood():
    data = draw_table()
    model, alone = lf.ChowLiu().fit(data), lf.Independence().fit(data)
    assert model.log_likelihood_ - alone.log_likelihood_ == pytest.approx(
        sum(model.edges_["gain"]), rel=1e-6
    )


def test_missing_values_and_units():
    data = with_missing(draw_table(), 0.15, random_state=1)
    model = lf.ChowLiu("bic").fit(data)
    columns = [
        0.001 * c if not v.is_categorical else c
        for v, c in zip(data.variables, data.columns, strict=True)
    ]
    other = lf.ChowLiu("bic").fit(lf.Dataset(data.variables, columns, data.weights))
    n_values = sum(
        data.weights @ ~np.isnan(c)
        for v, c in zip(data.variables, data.columns, strict=True)
        if not v.is_categorical
    )
    assert other.network_.structure == model.network_.structure
    assert other.bic_ == pytest.approx(model.bic_ + n_values * np.log(1000.0), rel=1e-6)
    assert model.monitor_.converged


def test_roots():
    data = draw_table()
    assert lf.ChowLiu(root="b").fit(data).network_.structure.roots == ("b",)
    with pytest.raises(ParameterError, match="continuous column cannot be above categorical"):
        lf.ChowLiu(root="x").fit(data)
    numbers = data.select(["x", "y", "z"])
    assert lf.ChowLiu(root="z").fit(numbers).network_.structure.roots == ("z",)


def test_settings_for_categorical_columns_only():
    data = draw_table()
    with pytest.raises(ParameterError, match="criterion 'bde' is for categorical columns"):
        lf.ChowLiu("bde").fit(data)
    with pytest.raises(ParameterError, match="n_rounds must be 1"):
        lf.ChowLiu(n_rounds=2).fit(data)


def test_it_is_a_start_of_a_search():
    data = draw_table()
    model = lf.EAST(start="chow-liu", max_steps=1, mu=2, nu=5, random_state=0).fit(data)
    assert np.isfinite(model.bic_)
