"""The marginal likelihood of a network, its parameters integrated out; a file for each method."""

from latentforest.scores.evidence.marginal import (
    EVIDENCE_CRITERIA,
    METHODS,
    MarginalLikelihood,
    approximate,
    check_method,
    marginal_likelihood,
)

__all__ = [
    "EVIDENCE_CRITERIA",
    "METHODS",
    "MarginalLikelihood",
    "approximate",
    "check_method",
    "marginal_likelihood",
]
