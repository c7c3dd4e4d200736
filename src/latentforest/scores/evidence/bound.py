"""The variational lower bound of the evidence, by VBEM from several starts."""

from __future__ import annotations

import math

import numpy as np

from latentforest.errors import ModelError
from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.estimation.bayes.posterior_vector import find_inside, pack_priors
from latentforest.estimation.bayes.variational import fit_posterior, from_parameters
from latentforest.estimation.em import FitResult
from latentforest.inference.engine import make_engine
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.scores.evidence.maximum import Question


def fit_bound(question: Question) -> FitResult:
    """Fit the posterior; its ``objective`` is the bound."""
    structure = question.structure
    check_bound(structure)
    prior = _pack(question)
    engine = make_engine(structure, question.data, is_variational=True)
    weight = question.data.total_weight
    starts = [from_parameters(structure, t, prior, weight) for t in question.draw_starts()]
    result = fit_posterior(
        engine, np.stack(starts), prior, question.settings, deadline=question.deadline
    )
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    return result


def check_bound(structure: Structure) -> None:
    """Refuse continuous variables that depend on each other."""
    inside = find_inside(structure)
    if inside:
        raise ModelError(
            f"the variational bound takes continuous variables that are independent of each other "
            f"given the categorical ones; {sorted(inside)[0]!r} is not"
        )


def _pack(question: Question) -> FloatArray:
    """Dirichlet priors as given; of a Gaussian what one observation of its column is worth."""
    structure = question.structure
    if not structure.continuous:
        return question.prior
    vector = pack_priors(structure, Priors(question.table))
    for name in structure.names:
        if name not in structure.continuous:
            structure.table_view(vector, name)[...] = structure.table_view(question.prior, name)
    return vector


def count_labels(structure: Structure) -> float:
    """Sum of log K! over the latent variables: the ways to name their states."""
    return sum(math.lgamma(structure.shape(name)[-1] + 1) for name in structure.latents)
