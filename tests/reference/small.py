"""Small models of one or two latent variables as ordinary networks, for the slow oracles."""

from __future__ import annotations

import numpy as np

from latentforest import Structure, Variable


def as_structure(dataset, model):
    """Structure and parameters of a fitted small model over all columns of a table."""
    has_two = model.n_far > 1
    variables = [Variable.hidden("near", model.n_near)]
    parents = {}
    if has_two:
        variables.append(Variable.hidden("far", model.n_far))
        parents["far"] = "near"
    for variable, is_far in zip(dataset.variables, model.is_far, strict=True):
        variables.append(variable)
        parents[variable.name] = "far" if is_far else "near"
    structure = Structure(variables, parents)
    if has_two:
        return structure, model.theta
    return structure, np.concatenate([model.theta[: model.n_near], model.theta[2 * model.n_near :]])


def log_likelihood_of_rows(dataset, structure, theta):
    """Multiply out row by row: sum over the states of both latent variables."""
    total = 0.0
    for row, weight in enumerate(dataset.weights):
        likelihood = 0.0
        root = structure.table_view(theta, "near")
        for y, p_y in enumerate(root):
            far = structure.table_view(theta, "far")[y] if "far" in structure else [1.0]
            for z, p_z in enumerate(far):
                product = p_y * p_z
                for name, codes in zip(dataset.names, dataset.columns, strict=True):
                    if codes[row] >= 0:
                        parent = z if structure.parents(name) == ("far",) else y
                        product *= structure.table_view(theta, name)[parent, codes[row]]
                likelihood += product
        total += weight * np.log(likelihood)
    return total
