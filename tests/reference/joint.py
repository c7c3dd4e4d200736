"""The joint distribution of a small network, by multiplying all its tables out."""

import numpy as np


def joint_table(network):
    """Return P(all variables): one axis for each, in the order of ``network.names``."""
    names = list(network.names)
    cards = [variable.n_states for variable in network.variables]
    joint = np.zeros(cards)
    for cell in np.ndindex(*cards):
        code = dict(zip(names, cell, strict=True))
        joint[cell] = 1.0
        for name in names:
            row = tuple(code[parent] for parent in network.structure.parents(name))
            joint[cell] *= network.cpd(name)[(*row, code[name])]
    return joint


def marginal_table(network, names):
    """Return P(names), axes in the order of ``names``."""
    joint = joint_table(network)
    keep = [network.names.index(name) for name in names]
    rest = tuple(axis for axis in range(joint.ndim) if axis not in keep)
    return joint.sum(axis=rest).transpose(np.argsort(np.argsort(keep)))
