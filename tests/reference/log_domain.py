"""Message passing row by row on the plain tree, all in logarithms: slow, but never underflows."""

import numpy as np

from reference.enumeration import is_leaf, trees_of


def log_sum(values, axis):
    """Logarithm of a sum of exponentials; minus infinity is a zero."""
    largest = values.max(axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(values - largest).sum(axis=axis, keepdims=True)) + largest
    return sums.squeeze(axis)


def sums_of_others(terms, start):
    """For each term: ``start`` plus the sum of all other terms, without subtractions."""
    before, after = [start], [np.zeros_like(start)]
    for term in terms:
        before.append(before[-1] + term)
    for term in reversed(terms):
        after.append(after[-1] + term)
    return [before[i] + after[len(terms) - 1 - i] for i in range(len(terms))]


def propagate_logs(structure, theta, dataset):
    """Return log P(row), ``(n_rows, n_trees)``, and the expected counts of all tables."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(theta))
    tables = {name: structure.table_view(logs, name) for name in structure.names}
    belief, message, outside = {}, {}, {}
    for name in reversed(structure.order):
        belief[name] = own_evidence(structure, dataset, name)
        for child in structure.children(name):
            belief[name] = belief[name] + message[child]
        if structure.parents(name):
            message[name] = log_sum(tables[name][None] + belief[name][:, None, :], 2)
    roots = [tree[0] for tree in trees_of(structure)]
    values = np.stack([log_sum(tables[root] + belief[root], 1) for root in roots], axis=1)
    counts = np.zeros(structure.n_values)
    for root, value in zip(roots, values.T, strict=True):
        outside[root] = tables[root] - np.where(np.isfinite(value), value, 0.0)[:, None]
        posterior = np.exp(outside[root] + belief[root])
        structure.table_view(counts, root)[...] = dataset.weights @ posterior
    for name in structure.order:
        children = structure.children(name)
        here = outside[name] + own_evidence(structure, dataset, name)
        others = sums_of_others([message[child] for child in children], here)
        for child, cavity in zip(children, others, strict=True):
            pairs = np.exp(cavity[:, :, None] + tables[child] + belief[child][:, None, :])
            if is_leaf(structure, child):
                pairs[dataset.column(child) < 0] = 0.0
            table = np.tensordot(dataset.weights, pairs, 1)
            structure.table_view(counts, child)[...] = table
            outside[child] = log_sum(cavity[:, :, None] + tables[child], 1)
    return values, counts


def own_evidence(structure, dataset, name):
    """Zero for the states that the row allows, minus infinity for others."""
    result = np.zeros((dataset.n_rows, structure.shape(name)[-1]))
    if not structure.variable(name).latent:
        codes = dataset.column(name).astype(int)
        result[codes >= 0] = -np.inf
        result[codes >= 0, codes[codes >= 0]] = 0.0
    return result
