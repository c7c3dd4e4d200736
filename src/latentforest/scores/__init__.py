"""Scores of networks: criteria, goodness of fit, predictive likelihood, distances."""

from latentforest.scores.comparison import empirical_kl, log_score, tree_distance
from latentforest.scores.criteria import CRITERIA, FitSummary, evaluate
from latentforest.scores.effective_dimension import compute_effective_dimension
from latentforest.scores.evidence import MarginalLikelihood, marginal_likelihood
from latentforest.scores.goodness import GoodnessOfFit, goodness_of_fit
from latentforest.scores.residuals import compute_bivariate_residuals, compute_cell_residuals
from latentforest.scores.validation import ValidationResult, cross_validate, hold_out

__all__ = [
    "CRITERIA",
    "FitSummary",
    "GoodnessOfFit",
    "MarginalLikelihood",
    "ValidationResult",
    "compute_bivariate_residuals",
    "compute_cell_residuals",
    "compute_effective_dimension",
    "cross_validate",
    "empirical_kl",
    "evaluate",
    "goodness_of_fit",
    "hold_out",
    "log_score",
    "marginal_likelihood",
    "tree_distance",
]
