"""Node addition (NA): a new latent variable of two states above two roots."""

from __future__ import annotations

from latentforest.data.variable import Variable
from latentforest.search.incremental.candidate import (
    NEW,
    JoinCandidate,
    draw_starts,
    fit_candidate,
    join_tops,
    start_from,
)
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.incremental.tree import TreeTop


def add_node(context: GrowthContext, parts: tuple[TreeTop, TreeTop]) -> JoinCandidate:
    """Join two trees below a new latent variable."""
    a, b = parts[0].root, parts[1].root
    structure = join_tops(parts, [Variable.hidden(NEW, 2)], {a: NEW, b: NEW})
    base = start_from(context, parts, structure)
    starts = draw_starts(context, structure, base, NEW, (a, b))
    return fit_candidate(context, "NA", parts, structure, starts)
