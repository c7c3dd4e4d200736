"""Arc addition (AA): a variable becomes the parent of the root of another tree.

A continuous variable is no parent of a categorical one, and none at all if it has gaps.
"""

from __future__ import annotations

from latentforest.estimation.variational import pack_priors
from latentforest.inference.plan import place_sums
from latentforest.kernels.gaussian import N_ROWS
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.incremental.bench import Bench
from latentforest.search.incremental.candidate import (
    Candidate,
    fit_candidate,
    join_tops,
    start_from,
)
from latentforest.search.incremental.tree import Top, put_family


def is_allowed(bench: Bench, parent: Top, child: Top) -> bool:
    """Whether an arc may go from one root to another."""
    if parent.variable.is_categorical:
        return True
    return not child.variable.is_categorical and parent.root in bench.complete


def add_arc(bench: Bench, parent: Top, child: Top) -> Candidate:
    """Join two trees by an arc from one root to the other."""
    parts, a, b = (parent, child), parent.root, child.root
    if not parent.variable.is_categorical:
        bound = parent.bound + bench.given(b, a)[1]
        return Candidate("AA", parts, parent.structure, parent.posterior, bound, {b: a})
    structure = join_tops(parts, [], {b: a})
    q = start_from(bench, parts, structure)
    if a in bench.complete and child.is_bare:
        put_family(bench, structure, q, b, a)
        return Candidate("AA", parts, structure, q, parent.bound + bench.given(b, a)[1], {})
    _spread(bench, child, structure, q)
    return fit_candidate(bench, "AA", parts, structure, q)


def _spread(bench: Bench, child: Top, structure: Structure, q: FloatArray) -> None:
    """Let the child start from its own posterior, whatever the state of its new parent."""
    own, name = child.structure, child.root
    prior = pack_priors(structure, bench.priors)
    table, before = structure.table_view(q, name), structure.table_view(prior, name)
    alone, n_rows = own.table_view(child.posterior, name), table.shape[0]
    if name not in structure.continuous:
        table[...] = before + (alone - before) / n_rows
        return
    here, there = place_sums(structure)[0][name], place_sums(own)[0][name]
    rows = q[here : here + N_ROWS * n_rows].reshape(n_rows, N_ROWS)
    rest = prior[here : here + N_ROWS]
    rows[...] = rest + (child.posterior[there : there + N_ROWS] - rest) / n_rows
    table[:, 0] = alone[0]
    table[:, 1] = before[:, 1] + (alone[1] - before[:, 1]) / n_rows
