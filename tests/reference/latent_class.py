"""Latent class analysis by plain EM on rows, from the definitions: slow, but easy to check."""

from itertools import product

import numpy as np


def fit_latent_class(dataset, n_classes, n_starts=10, n_iterations=2000, prior=0.0, seed=0):
    """Return the best log-likelihood over some starts, the class sizes and the tables."""
    runs = [
        run_from(dataset, n_classes, n_iterations, prior, np.random.default_rng([seed, s]))
        for s in range(n_starts)
    ]
    return max(runs, key=lambda run: run[0])


def run_from(dataset, n_classes, n_iterations, prior, rng):
    """Run EM from one random start."""
    seen = [one_hot(dataset, name) for name in dataset.names]
    sizes = rng.dirichlet(np.full(n_classes, 5.0))
    tables = [rng.dirichlet(np.ones(each.shape[1]), n_classes) for each in seen]
    for _ in range(n_iterations):
        joint = joint_with_class(seen, sizes, tables)
        posterior = dataset.weights[:, None] * joint / joint.sum(axis=1, keepdims=True)
        sizes = posterior.sum(axis=0) + prior
        sizes = sizes / sizes.sum()
        tables = [posterior.T @ each + prior for each in seen]
        tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    rows = joint_with_class(seen, sizes, tables).sum(axis=1)
    return float(dataset.weights @ np.log(rows)), sizes, tables


def one_hot(dataset, name):
    """One column for each state; all zero where the value is missing."""
    codes = dataset.column(name)
    return (codes[:, None] == np.arange(dataset.variable(name).n_states)).astype(float)


def joint_with_class(seen, sizes, tables):
    """P(class, row), one row for each row of the table."""
    joint = np.repeat(sizes[None, :], len(seen[0]), axis=0)
    for each, table in zip(seen, tables, strict=True):
        is_there = each.any(axis=1)
        joint[is_there] *= each[is_there] @ table.T
    return joint


def count_cells(dataset):
    """Weight of every cell of the full table, empty ones too."""
    counts = np.zeros([variable.n_states for variable in dataset.variables])
    for row in range(dataset.n_rows):
        cell = tuple(int(column[row]) for column in dataset.columns)
        counts[cell] += dataset.weights[row]
    return counts


def compare_cells(counts, expected):
    """G² and X² over all cells, empty ones too."""
    g_squared = x_squared = 0.0
    for cell in product(*map(range, counts.shape)):
        n, e = counts[cell], expected[cell]
        if e == 0:
            if n > 0:
                return np.inf, np.inf
            continue
        x_squared += (n - e) ** 2 / e
        if n > 0:
            g_squared += 2 * n * np.log(n / e)
    return g_squared, x_squared
