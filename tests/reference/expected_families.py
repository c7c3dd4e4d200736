"""Expected log-likelihoods of families, row by row, over all joint states of the latent ones."""

import numpy as np

from reference.joint import joint_table


def posteriors_of_rows(network, table):
    """P(all latent variables | row) of each row, an axis for each variable."""
    joint = joint_table(network)
    places = [network.names.index(name) for name in network.latents]
    return [posterior_of_row(network, joint, row, places) for row in list_rows(table)]


def list_rows(table):
    """List the codes of each row by name."""
    return [{name: int(table.column(name)[r]) for name in table.names} for r in range(table.n_rows)]


def posterior_of_row(network, joint, row, places):
    """Slice the joint distribution at what is observed."""
    missing = tuple(i for i, name in enumerate(network.names) if row.get(name) == -1)
    index = tuple(
        slice(None) if row.get(name, -1) < 0 else slice(row[name], row[name] + 1)
        for name in network.names
    )
    part = joint[index].sum(axis=missing, keepdims=True)
    part = np.moveaxis(part, places, range(len(places)))
    part = part.reshape([joint.shape[place] for place in places])
    return part / part.sum()


def expected_score(network, table, posteriors, child, parents):
    """Count a family in the completed table, cell by cell; its highest log-likelihood."""
    members = [*parents, child]
    counts = np.zeros([network.structure.shape(name)[-1] for name in members])
    for row, weight, posterior in zip(list_rows(table), table.weights, posteriors, strict=True):
        if any(row.get(name, 0) < 0 for name in members):
            continue
        for cell in np.ndindex(*posterior.shape):
            state = row | dict(zip(network.latents, cell, strict=True))
            counts[tuple(state[name] for name in members)] += weight * posterior[cell]
    above = counts.sum(axis=-1, keepdims=True)
    some = counts > 0
    return float(np.sum(counts[some] * np.log((counts / np.where(above > 0, above, 1))[some])))


def multiply_margins(posterior):
    """Return the product of the margins of each axis."""
    product = np.ones_like(posterior)
    for axis in range(posterior.ndim):
        others = tuple(i for i in range(posterior.ndim) if i != axis)
        product = product * posterior.sum(axis=others, keepdims=True)
    return product
