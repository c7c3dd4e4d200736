"""Scores of fitted networks: information criteria, goodness of fit, predictive likelihood."""

from latentforest.scores.criteria import CRITERIA, FitSummary, evaluate
from latentforest.scores.goodness import (
    GoodnessOfFit,
    compute_bivariate_residuals,
    compute_goodness_of_fit,
)
from latentforest.scores.validation import ValidationResult, cross_validate, hold_out

__all__ = [
    "CRITERIA",
    "FitSummary",
    "GoodnessOfFit",
    "ValidationResult",
    "compute_bivariate_residuals",
    "compute_goodness_of_fit",
    "cross_validate",
    "evaluate",
    "hold_out",
]
