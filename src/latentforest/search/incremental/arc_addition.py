"""Arc addition (AA): a variable becomes the parent of the root of another tree.

A continuous variable is no parent of a categorical one.
"""

from __future__ import annotations

import numpy as np

from latentforest.estimation.bayes.posterior_vector import find_prior, read_family, write_family
from latentforest.kernels.types import FloatArray
from latentforest.model.conjugate import Dirichlet, NormalGamma
from latentforest.model.structure import Structure
from latentforest.search.incremental.candidate import (
    JoinCandidate,
    fit_candidate,
    join_tops,
    start_from,
)
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.incremental.tree import TreeTop, put_family


def is_allowed(context: GrowthContext, parent: TreeTop, child: TreeTop) -> bool:
    """Whether an arc may go from one root to another."""
    return parent.variable.is_categorical or not child.variable.is_categorical


def add_arc(context: GrowthContext, parent: TreeTop, child: TreeTop) -> JoinCandidate:
    """Join two trees by an arc from one root to the other."""
    parts, a, b = (parent, child), parent.root, child.root
    is_known = a in context.complete and child.is_bare  # in closed form
    if is_known and not parent.variable.is_categorical:
        bound = parent.bound + context.given(b, a)[1]
        return JoinCandidate("AA", parts, parent.structure, parent.posterior, bound, {b: a})
    structure = join_tops(parts, [], {b: a})
    q = start_from(context, parts, structure)
    if is_known:
        put_family(context, structure, q, b, a)
        return JoinCandidate("AA", parts, structure, q, parent.bound + context.given(b, a)[1], {})
    _spread(context, child, structure, q)
    return fit_candidate(context, "AA", parts, structure, q)


def _spread(context: GrowthContext, child: TreeTop, structure: Structure, q: FloatArray) -> None:
    """Let the child start from its own posterior, whatever the value of its new parent."""
    name, (parent,) = child.root, structure.parents(child.root)
    now = read_family(child.structure, child.posterior, name)
    before = find_prior(child.structure, context.priors, name)
    if isinstance(now, Dirichlet):
        assert isinstance(before, Dirichlet)
        table = structure.table_view(q, name)
        table += (now.concentration - before.concentration) / table.shape[0]
        return
    assert isinstance(now, NormalGamma)
    if parent in structure.continuous:
        write_family(structure, q, name, context.given(name, parent)[0])
        return
    n_rows = structure.shape(name)[0]
    kept = read_family(structure, q, name)
    assert isinstance(before, NormalGamma)
    assert isinstance(kept, NormalGamma)
    shape = kept.shape + (now.shape - before.shape) / n_rows
    weight = kept.weight + (now.weight - before.weight) / n_rows
    mean = np.full(n_rows, float(now.mean))
    write_family(structure, q, name, NormalGamma(mean, weight, shape, shape * now.variance))
