"""The completed data set written out, and all scores of data completion counted from it.

``completed`` has one axis for each variable of the network, in the order of ``network.names``: the
weight of all rows that are completed to this assignment.
"""

import itertools

import numpy as np

from reference.enumeration import tree_joint


def complete(network, dataset):
    """Spread the weight of each row over all assignments that agree with it.

    Rows that the network rules out are left out.
    """
    names = list(network.names)
    joint = tree_joint(network.structure, network.parameters, names)
    completed = np.zeros_like(joint)
    for row, weight in enumerate(dataset.weights):
        cell = [slice(None)] * len(names)
        for name in network.observed:
            code = int(dataset.column(name)[row])
            if code >= 0:
                cell[names.index(name)] = slice(code, code + 1)
        part = joint[tuple(cell)]
        if part.sum() > 0:
            completed[tuple(cell)] += weight * part / part.sum()
    return completed


def count(completed, names, wanted):
    """Joint counts of the variables wanted, in that order."""
    axes = [list(names).index(name) for name in wanted]
    rest = tuple(axis for axis in range(completed.ndim) if axis not in axes)
    return completed.sum(axis=rest).transpose(np.argsort(np.argsort(axes)))


def expected_log_likelihood(structure, completed, names):
    """Maximum over the parameters: Σ n log (n / total of the family's row)."""
    value = 0.0
    for name in structure.names:
        counts = count(completed, names, (*structure.parents(name), name))
        totals = np.broadcast_to(counts.sum(axis=-1, keepdims=True), counts.shape)
        some = counts > 0
        value += (counts[some] * np.log(counts[some] / totals[some])).sum()
    return value


def merge_states(completed, axis, i, j):
    """Replace state ``j`` of a variable by state ``i``."""
    merged = np.array(completed)
    target, source = [slice(None)] * merged.ndim, [slice(None)] * merged.ndim
    target[axis], source[axis] = i, j
    merged[tuple(target)] += merged[tuple(source)]
    return np.delete(merged, j, axis=axis)


def best_merging(structure, completed, names, hub):
    """Highest expected log-likelihood of a structure whose hub has one state less."""
    axis = list(names).index(hub)
    pairs = itertools.combinations(range(completed.shape[axis]), 2)
    return max(
        expected_log_likelihood(structure, merge_states(completed, axis, i, j), names)
        for i, j in pairs
    )


def g2(counts):
    """Likelihood ratio statistic that the first two axes are independent given the third."""
    statistic = 0.0
    for y in range(counts.shape[2]):
        table = counts[:, :, y]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        for cell in zip(*np.nonzero(table), strict=True):
            statistic += 2 * table[cell] * np.log(table[cell] * table.sum() / expected[cell])
    return statistic


def divergence(counts, joint):
    """Kullback-Leibler divergence of the shares of counts from a distribution."""
    shares = counts / counts.sum()
    some = shares > 0
    return (shares[some] * np.log(shares[some] / joint[some])).sum()
