"""Bridges: a tree over the latent variables of islands, by Chow and Liu's algorithm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.small import Counts, SmallModel
from latentforest.estimation.small_rows import RowModel, SmallRows
from latentforest.inference.association.information import joint_counts, posterior_information
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.spanning import direct, spanning_forest

PSEUDO_COUNT = 1e-3  # keeps the guessed tables of the bridges positive


def bridge(
    data: PatternedData,
    islands: Sequence[Sequence[int]],
    counts: Sequence[Counts | SmallRows],
    models: Sequence[SmallModel | RowModel],
    names: Sequence[str],
) -> Network:
    """Join latent class models to a tree.

    Mutual information of latent variables is that of posterior pseudo-frequencies, each posterior
    given the variable's own island.

    Parameters
    ----------
    data
        The table.
    islands, counts, models
        Members of the islands, and their latent class models.
    names
        Of the latent variables.
    """
    posteriors = [_find_posteriors(*pair) for pair in zip(models, counts, strict=True)]
    weights = data.dataset.weights
    information = posterior_information(posteriors, posteriors, weights)
    above = direct(spanning_forest(information), len(information))
    columns = data.dataset.variables
    latents = [Variable.hidden(n, m.n_near) for n, m in zip(names, models, strict=True)]
    parents, tables = dict[str, str](), dict[str, FloatArray]()
    for i, (name, members, model) in enumerate(zip(names, islands, models, strict=True)):
        for place, j in enumerate(members):
            parents[columns[j].name] = name
            tables[columns[j].name] = model.table(place)
        if above[i] < 0:
            tables[name] = model.sizes
        else:
            parents[name] = names[above[i]]
            joint = joint_counts(posteriors[above[i]], posteriors[i], weights) + PSEUDO_COUNT
            tables[name] = joint / joint.sum(axis=1, keepdims=True)
    for variable in columns:
        if variable.name in tables:
            continue
        if variable.is_categorical:
            tables[variable.name] = np.full(variable.n_states, 1.0 / variable.n_states)
        else:
            about = data.summary(variable.name)
            tables[variable.name] = np.array([about.mean, about.variance])
    return Network.from_tables([*latents, *columns], parents, tables)


def _find_posteriors(model: SmallModel | RowModel, table: Counts | SmallRows) -> FloatArray:
    if isinstance(model, SmallModel):
        assert isinstance(table, Counts)  # for the type checker: it was fitted to them
        return model.posteriors(table)
    return model.posteriors(table)
