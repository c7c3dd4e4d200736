"""Plain EM and the pyramid of starts, from the definitions."""

import math

import numpy as np

from reference.log_domain import propagate_logs


def objective_of(structure, theta, dataset, prior):
    """Log-likelihood plus Σ pseudo-count · log probability."""
    values, _ = propagate_logs(structure, theta, dataset)
    with np.errstate(divide="ignore"):
        logs = np.log(theta[prior > 0])
    counted = dataset.weights > 0
    log_likelihood = dataset.weights[counted] @ values[counted].sum(axis=1)
    return float(log_likelihood + prior[prior > 0] @ logs)


def em_step(structure, theta, dataset, prior, free=None):
    """Return the parameters after one EM iteration."""
    _, counts = propagate_logs(structure, theta, dataset)
    result = theta.copy()
    for name in structure.names if free is None else free:
        table = structure.table_view(counts + prior, name)
        sums = table.sum(axis=-1, keepdims=True)
        np.divide(table, sums, out=structure.table_view(result, name), where=sums > 0)
    return result


def run_em(structure, theta, dataset, prior, n_iterations, free=None):
    """Return the parameters after some EM iterations."""
    for _ in range(n_iterations):
        theta = em_step(structure, theta, dataset, prior, free)
    return theta


def choose_start(structure, starts, dataset, prior):
    """Return the number of the start that the pyramid chooses, and its parameters by then.

    Levels have 2, 3, 5, 9, … iterations; a start is judged by the objective before the last one.
    """
    alive, thetas, n_next = list(range(len(starts))), list(starts), 1
    while len(alive) > 1:
        judged = {}
        for i in alive:
            thetas[i] = run_em(structure, thetas[i], dataset, prior, n_next)
            judged[i] = objective_of(structure, thetas[i], dataset, prior)
            thetas[i] = em_step(structure, thetas[i], dataset, prior)
        alive.sort(key=lambda i: -judged[i])
        alive = alive[: math.ceil(len(alive) / 2)]
        n_next *= 2
    return alive[0], thetas[alive[0]]
