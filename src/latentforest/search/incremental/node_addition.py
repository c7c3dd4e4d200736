"""Node addition (NA): a new latent variable of two states above two roots."""

from __future__ import annotations

from latentforest.data.variable import Variable
from latentforest.search.incremental.bench import Bench
from latentforest.search.incremental.candidate import (
    NEW,
    Candidate,
    draw_starts,
    fit_candidate,
    join_tops,
    start_from,
)
from latentforest.search.incremental.tree import Top


def add_node(bench: Bench, parts: tuple[Top, Top]) -> Candidate:
    """Join two trees below a new latent variable."""
    a, b = parts[0].root, parts[1].root
    structure = join_tops(parts, [Variable.hidden(NEW, 2)], {a: NEW, b: NEW})
    base = start_from(bench, parts, structure)
    starts = draw_starts(bench, structure, base, NEW, (a, b))
    return fit_candidate(bench, "NA", parts, structure, starts)
