"""What scores of data completion have in common: expected BIC.

Relocations and deletions are judged by it, introductions by what the current model leaves
unexplained (section 4 of Chen, Zhang and Wang 2008); each operator has its own score.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.completion.counts import Completion, Place


def compare_families(
    completion: Completion,
    candidates: Sequence[Candidate],
    gone: Sequence[Sequence[Place]],
    new: Sequence[Sequence[Place]],
) -> list[float]:
    """Expected BIC of candidates whose families are new for others that are gone."""
    fits = completion.fit_pairs(itertools.chain(*gone, *new))
    gains = (
        sum(fits[place] for place in after) - sum(fits[place] for place in before)
        for before, after in zip(gone, new, strict=True)
    )
    return [penalise(completion, c, gain) for c, gain in zip(candidates, gains, strict=True)]


def penalise(completion: Completion, candidate: Candidate, gain: float) -> float:
    """Take what BIC asks for more parameters off a gain of log-likelihood."""
    return gain - 0.5 * candidate.change * math.log(completion.total_weight)
