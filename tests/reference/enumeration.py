"""Likelihoods and expected counts by enumerating all states of all variables of a tree."""

import numpy as np


def trees_of(structure):
    """List the names in each tree, one list for each root."""
    trees = {root: [root] for root in structure.roots}
    home = {root: root for root in structure.roots}
    for name in structure.order:
        for child in structure.children(name):
            home[child] = home[name]
            trees[home[child]].append(child)
    return list(trees.values())


def tree_joint(structure, theta, names):
    """Multiply the tables of a tree out: one axis for each name."""
    joint = np.ones([structure.shape(name)[-1] for name in names])
    for name in names:
        axes = [names.index(each) for each in (*structure.parents(name), name)]
        table = structure.table_view(theta, name)
        shape = np.ones(len(names), int)
        shape[axes] = table.shape
        joint = joint * table.transpose(np.argsort(axes)).reshape(shape)
    return joint


def is_leaf(structure, name):
    """Tell whether a row without a value for this variable adds nothing to its counts."""
    is_observed = not structure.variable(name).latent
    return is_observed and bool(structure.parents(name)) and not structure.children(name)


def enumerate_rows(structure, theta, dataset):
    """Return log P(row), ``(n_rows, n_trees)``, and the expected counts of all tables."""
    trees = trees_of(structure)
    values = np.full((dataset.n_rows, len(trees)), -np.inf)
    counts = np.zeros(structure.n_values)
    for t, names in enumerate(trees):
        joint = tree_joint(structure, theta, names)
        for row, weight in enumerate(dataset.weights):
            code = {
                name: -1 if structure.variable(name).latent else int(dataset.column(name)[row])
                for name in names
            }
            cell = tuple(
                slice(None) if code[name] < 0 else slice(code[name], code[name] + 1)
                for name in names
            )
            likelihood = joint[cell].sum()
            if likelihood == 0.0:
                continue
            values[row, t] = np.log(likelihood)
            posterior = np.zeros_like(joint)
            posterior[cell] = joint[cell] / likelihood
            for name in names:
                if not (is_leaf(structure, name) and code[name] < 0):
                    family = [names.index(each) for each in (*structure.parents(name), name)]
                    rest = tuple(axis for axis in range(len(names)) if axis not in family)
                    table = posterior.sum(axis=rest).transpose(np.argsort(np.argsort(family)))
                    structure.table_view(counts, name)[...] += weight * table
    return values, counts
