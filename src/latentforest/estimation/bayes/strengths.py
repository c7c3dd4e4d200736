"""How much the priors of columns are worth: what the evidence says.

A column's prior has the form of the column; its strength is how many observations it counts as.
Given the posterior of the parameters, the strength that gives the highest lower bound of the
evidence is found for each column by itself, and the bound does not fall.
"""

from __future__ import annotations

from collections.abc import Mapping

from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.model.conjugate import Conjugate, Dirichlet, NormalGamma, NormalRegression
from latentforest.model.structure import Structure

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def choose_strengths(
    priors: Priors, structure: Structure, posteriors: Mapping[str, Conjugate]
) -> dict[str, float]:
    """Return the strength of each column's prior with the highest bound.

    Parameters
    ----------
    priors
        Those of the posteriors; experts' priors stay.
    structure, posteriors
        A forest with the distributions of its parameters.
    """
    best = {name: (-float("inf"), 1.0) for name in priors.strengths}
    for strength in STRENGTHS:
        tried = priors.with_strengths(dict.fromkeys(priors.strengths, strength))
        for name in best:
            parents = structure.continuous_parents(name)
            value = _judge(tried, name, posteriors[name], parents)
            best[name] = max(best[name], (value, strength), key=lambda found: found[0])
    return {name: strength for name, (_, strength) in best.items()}


def _judge(priors: Priors, name: str, q: Conjugate, parents: tuple[str, ...]) -> float:
    if isinstance(q, Dirichlet):
        return priors.of_table(name).expect(q)
    if isinstance(q, NormalRegression):
        return priors.of_line(name, parents[0]).expect(q)
    assert isinstance(q, NormalGamma)
    return priors.of_gaussian(name).expect(q)
