"""Information criteria. All but MDL are of the size of a log-likelihood: higher is better.

Programs that report ``-2 log L + …`` differ by the factor -2 and prefer lower values.
``N`` is the total weight of the rows, ``d`` the number of free parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from latentforest.errors import ParameterError


@dataclass(frozen=True)
class FitSummary:
    """The numbers that criteria are made of.

    Parameters
    ----------
    log_likelihood
        Of all rows, weighted.
    dimension
        Number of free parameters.
    total_weight
        Sum of the weights of the rows.
    entropy
        Sum over rows of the entropy of the latent variables' posterior; needed by ICL only.
    """

    log_likelihood: float
    dimension: int
    total_weight: float
    entropy: float = 0.0


def bic(fit: FitSummary) -> float:
    """Bayesian information criterion, log L - d/2 log N.

    Examples
    --------
    >>> round(bic(FitSummary(-504.47, 9, 216)), 2)
    -528.66
    """
    return fit.log_likelihood - 0.5 * fit.dimension * math.log(fit.total_weight)


def aic(fit: FitSummary) -> float:
    """Akaike's information criterion, log L - d."""
    return fit.log_likelihood - fit.dimension


def aic3(fit: FitSummary) -> float:
    """AIC with a penalty of three halves for each parameter, log L - 3d/2."""
    return fit.log_likelihood - 1.5 * fit.dimension


def caic(fit: FitSummary) -> float:
    """Consistent AIC, log L - d/2 (log N + 1)."""
    return fit.log_likelihood - 0.5 * fit.dimension * (math.log(fit.total_weight) + 1)


def sabic(fit: FitSummary) -> float:
    """Sample-size adjusted BIC, log L - d/2 log((N + 2) / 24)."""
    return fit.log_likelihood - 0.5 * fit.dimension * math.log((fit.total_weight + 2) / 24)


def mdl(fit: FitSummary) -> float:
    """Minimum description length in nats, d/2 log N - log L: lower is better."""
    return -bic(fit)


def icl(fit: FitSummary) -> float:
    """Integrated completed likelihood: BIC less the entropy of the posterior."""
    return bic(fit) - fit.entropy


CRITERIA: dict[str, Callable[[FitSummary], float]] = {
    "bic": bic,
    "aic": aic,
    "aic3": aic3,
    "caic": caic,
    "sabic": sabic,
    "mdl": mdl,
    "icl": icl,
}


def evaluate(criterion: str, fit: FitSummary) -> float:
    """Return the value of a criterion such that higher is better."""
    if criterion not in CRITERIA:
        raise ParameterError(f"unknown criterion {criterion!r}; known are {', '.join(CRITERIA)}")
    value = CRITERIA[criterion](fit)
    return -value if criterion == "mdl" else value
