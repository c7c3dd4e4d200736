"""What any network says of rows, by multiplying all its tables out."""

import numpy as np

from reference.joint import joint_table


def list_cells(network, table):
    """For each row, the part of the joint table that agrees with it."""
    observed = set(network.observed)
    for row in range(table.n_rows):
        codes = [table.column(n)[row] if n in observed else -1 for n in network.names]
        yield tuple(slice(None) if code < 0 else slice(int(code), int(code) + 1) for code in codes)


def row_likelihoods(network, table):
    """P(row) of every row."""
    joint = joint_table(network)
    return np.array([joint[cell].sum() for cell in list_cells(network, table)])


def row_posterior(network, cell, names):
    """P(names | row): one axis for each name; nothing for an impossible row."""
    joint = joint_table(network)
    posterior = np.zeros_like(joint)
    posterior[cell] = joint[cell] / joint[cell].sum()
    axes = [network.names.index(name) for name in names]
    rest = tuple(axis for axis in range(joint.ndim) if axis not in axes)
    return posterior.sum(axis=rest).transpose(np.argsort(np.argsort(axes)))


def expected_counts(network, table):
    """Expected counts of all tables; a row without a value for a leaf adds nothing to it."""
    structure = network.structure
    counts = np.zeros(structure.n_values)
    for row, cell in enumerate(list_cells(network, table)):
        for name in structure.names:
            is_leaf = name in structure.observed and not structure.children(name)
            if is_leaf and table.column(name)[row] < 0:
                continue
            family = (*structure.parents(name), name)
            posterior = row_posterior(network, cell, family)
            structure.table_view(counts, name)[...] += table.weights[row] * posterior
    return counts
