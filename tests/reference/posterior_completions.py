"""Completions of rows by multiplying all tables of a network out."""

from collections import defaultdict

import numpy as np

from reference.general import list_cells
from reference.joint import joint_table


def complete_by_enumeration(network, table):
    """Return the total weight of each complete row, as a dictionary of tuples of codes."""
    joint, weights = joint_table(network), defaultdict(float)
    for cell, weight in zip(list_cells(network, table), table.weights, strict=True):
        inside = np.zeros_like(joint)
        inside[cell] = joint[cell]
        for codes in np.argwhere(inside > 0):
            weights[tuple(codes.tolist())] += weight * inside[tuple(codes)] / inside.sum()
    return dict(weights)
