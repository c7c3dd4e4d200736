"""The posterior of a latent root in every row."""

from __future__ import annotations

import numpy as np

from latentforest.estimation.variational import find_potentials
from latentforest.inference.forest import Forest
from latentforest.kernels.forest.propagation import propagate
from latentforest.kernels.layout import (
    COLUMN,
    FIRST_SLOT,
    LAST_SLOT,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    TABLE,
)
from latentforest.kernels.types import FloatArray
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.incremental.tree import GrowingTree

NOTHING = np.empty(0)
SMALLEST = 1e-300


def compute_root_posterior(context: GrowthContext, tree: GrowingTree) -> FloatArray:
    """Return the posterior of a categorical root, ``(n_rows, n_states)``."""
    forest = Forest(tree.structure, context.data)
    potentials = find_potentials(forest, tree.posterior)
    n_states, parts = tree.structure.shape(tree.root)[-1], []
    for b, plan in enumerate(forest.plans):
        work = forest.take_workspace(b)
        propagate(plan, work, potentials, NOTHING, NOTHING, 0.0, True)
        root = plan.nodes[:N_FIELDS]
        n, row = int(root[N_PATTERNS]), int(root[COLUMN])
        belief = np.tile(work.buffer[root[TABLE] : root[TABLE] + row], (n, 1))
        for slot in range(root[FIRST_SLOT], root[LAST_SLOT]):
            child = plan.nodes[plan.slot_child[slot] : plan.slot_child[slot] + N_FIELDS]
            place, count = int(child[MESSAGES]), int(child[N_PATTERNS])
            messages = work.buffer[place : place + count * row].reshape(count, row)
            start = plan.slot_index[slot]
            belief *= messages[plan.links[start : start + n]]
            belief /= np.maximum(belief.max(axis=1, keepdims=True), SMALLEST)
        forest.give_back(b, work)
        codes = context.data.chunks[b].store.column(forest.roots[0].mask).codes
        parts.append(_normalize(belief[:, :n_states])[codes])
    return context.data.spread(parts)


def _normalize(belief: FloatArray) -> FloatArray:
    """Divide rows by their sums; one that underflowed tells nothing."""
    belief = np.where(belief.sum(axis=1, keepdims=True) > 0, belief, 1.0)
    return np.asarray(belief / belief.sum(axis=1, keepdims=True))
