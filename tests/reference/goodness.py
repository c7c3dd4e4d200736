"""Jacobians by finite differences and saturated models by plain EM: slow, but easy to check."""

from itertools import product

import numpy as np

from reference.joint import marginal_table


def free_rows(structure):
    """Places of the parameters of each row of each table."""
    places = np.arange(structure.n_values)
    for name in structure.names:
        yield from structure.table_view(places, name).reshape(-1, structure.shape(name)[-1])


def jacobian_by_differences(network, step=1e-6):
    """Derivatives of the cells' log-probabilities by the log-odds of states against the last."""
    columns = []
    for row in free_rows(network.structure):
        for state in row[:-1]:
            sides = []
            for move in (step, -step):
                theta = network.parameters.copy()
                theta[state] *= np.exp(move)
                theta[row] /= theta[row].sum()
                moved = network.with_parameters(theta)
                sides.append(np.log(marginal_table(moved, network.observed)).ravel())
            columns.append((sides[0] - sides[1]) / (2 * step))
    return np.stack(columns, axis=1)


def saturated_by_em(table, start, n_iterations=20_000):
    """Share rows with missing values out among all cells; probabilities and log-likelihood."""
    cards = [variable.n_states for variable in table.variables]
    rows = []
    for row in range(table.n_rows):
        codes = [int(column[row]) for column in table.columns]
        spans = [range(n) if c < 0 else [c] for c, n in zip(codes, cards, strict=True)]
        rows.append([np.ravel_multi_index(cell, cards) for cell in product(*spans)])
    p, weights = start.ravel().copy(), table.weights
    for _ in range(n_iterations):
        counts = np.zeros_like(p)
        for weight, cells in zip(weights, rows, strict=True):
            counts[cells] += weight * p[cells] / p[cells].sum()
        p = counts / counts.sum()
    log_rows = np.log([p[cells].sum() for cells in rows])
    return p.reshape(cards), float(weights @ log_rows)


def rank_of_marginals(table):
    """Free parameters of the saturated model that the rows of a table determine, by rank."""
    cards = [variable.n_states for variable in table.variables]
    cells = list(product(*map(range, cards)))
    seen = {tuple(codes) for codes in (np.stack(table.columns, axis=1) >= 0).tolist()}
    rows = []
    for kind in seen:
        for values in {
            tuple(c if k else -1 for c, k in zip(cell, kind, strict=True)) for cell in cells
        }:
            rows.append(
                [all(v in (-1, c) for v, c in zip(values, cell, strict=True)) for cell in cells]
            )
    return int(np.linalg.matrix_rank(np.array(rows, float))) - 1
