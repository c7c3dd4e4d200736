"""The approximation of Cheeseman and Stutz (1996) at the most probable parameters.

With D' the table whose open cells are filled by their expected counts at theta,

    log P(D') + log P(D | theta) - log P(D' | theta),

the first term in closed form. It is the variational bound of the posterior of the open cells at
theta (the last two terms are its entropy, the first is the best that any distribution of the
parameters reaches). So it is a lower bound of the evidence, and not above the best variational
bound, at any theta, in any coordinates.
"""

from __future__ import annotations

from scipy.special import xlogy

from latentforest.scores.evidence.closed_form import integrate
from latentforest.scores.evidence.maximum import Maximum, Question, find_maximum


def approximate(question: Question) -> tuple[float, Maximum]:
    """Return the approximation at the maximum, and the maximum."""
    point = find_maximum(question)
    return approximate_at(question, point), point


def approximate_at(question: Question, point: Maximum) -> float:
    """Return the approximation at some parameters."""
    completed = float(xlogy(point.counts, point.theta).sum())
    closed = integrate(question.structure, question.prior, point.counts)
    return closed + point.log_likelihood - completed
