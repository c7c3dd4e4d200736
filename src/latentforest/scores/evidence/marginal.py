"""The marginal likelihood of a structure by any of the methods: reads the question, reports."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, LatentForestWarning, ModelError, ParameterError
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData, check_columns
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.scores.evidence import annealing, cheeseman_stutz, laplace
from latentforest.scores.evidence.annealing import AnnealingEffort
from latentforest.scores.evidence.bound import check_bound, count_labels, fit_bound
from latentforest.scores.evidence.closed_form import count_complete, integrate, is_complete
from latentforest.scores.evidence.maximum import Question, check_count
from latentforest.scores.evidence.priors import Prior, read_dirichlets

SETTINGS = EMSettings(max_iterations=5000, tolerance=1e-11)
N_STARTS = 16  # random starts of EM, by default
FEW_RUNS = 2.0  # effective sample size below which an estimate is not trusted


@dataclass(frozen=True)
class MarginalLikelihood:
    """The logarithm of a marginal likelihood, and how it was found.

    Attributes
    ----------
    value
        log P(data | structure), as the method gives it; ``nan`` if it gives none.
    method
        The method that was used.
    is_lower_bound
        Whether the marginal likelihood is known not to be below the value.
    standard_error, effective_sample_size
        Of annealing: the standard error of the value, and how many runs share the weight.
    is_negative_definite
        Of Laplace's method: whether the Hessian is, without which it has no value.
    converged
        Whether EM met its tolerance, where a method uses EM.
    notes
        What is wrong with the value, in words; these are warnings, too.
    """

    value: float
    method: str
    is_lower_bound: bool = False
    standard_error: float = 0.0
    effective_sample_size: float = np.nan
    is_negative_definite: bool | None = None
    converged: bool = True
    notes: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.value


def marginal_likelihood(
    network: Network | Structure,
    data: Any,
    method: str | None = None,
    prior: Prior = 1.0,
    *,
    equivalent_sample_size: float = 1.0,
    n_starts: int = N_STARTS,
    n_runs: int = 8,
    n_chains: int | None = None,
    n_sweeps: int = 50,
    random_state: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> MarginalLikelihood:
    """Compute or approximate the probability of a table given a structure.

    Parameters
    ----------
    network
        Its structure is judged; its parameters are one of the points where searches start.
    data
        The table. Cells may be missing, unless the method is "exact".
    method
        "exact": closed form, for complete tables of categorical columns. "cs": Cheeseman and Stutz
        at the most probable parameters, a lower bound. "laplace": Laplace's approximation there.
        "elbo": the variational lower bound. "elbo+": the same plus log K! for each latent variable
        of K states, since its states can be named in so many ways; no bound. "ais": annealed
        importance sampling, slow, the yardstick of the others. By default "exact" where there is
        nothing to fill in, "elbo" with continuous columns, otherwise "cs".
    prior
        Dirichlet distributions of all rows of tables: a number for each cell (1: uniform); "bdeu":
        the equivalent sample size shared equally by the cells of each table; arrays by variable
        (one for variables that are not named); or a network over the same variables, whose joint
        probabilities times the equivalent sample size are taken (BDe). For "elbo", a Gaussian has
        the prior that one observation of its column is worth.
    equivalent_sample_size
        Of "bdeu" and of a prior network.
    n_starts
        Random starts of EM.
    n_runs, n_chains, n_sweeps
        Of annealing: independent runs, chains in each of them (by default as many as cost little,
        16 to 128), and how often a chain draws what it filled in again. All make the estimate
        better; the standard error tells how good it is.
    random_state
        Seed.
    n_jobs
        Threads; the result does not depend on it.
    time_limit
        Seconds after which EM stops and no further chains begin.

    Returns
    -------
    MarginalLikelihood
        Has the ``value``, a natural logarithm; ``float()`` gives it, too.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> table = datasets.load("role-conflict")
    >>> network = LatentClass(2, random_state=0).fit(table).network_
    >>> round(marginal_likelihood(network, table, "cs").value, 1)
    -527.2
    """
    structure, start = _read_network(network)
    if method is not None and method not in METHODS:
        raise ParameterError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    table = _read_table(structure, data)
    method = method or _choose_method(structure, table)
    check_method(method, structure)
    question = Question(
        structure,
        read_dirichlets(structure, prior, equivalent_sample_size),
        PatternedData(table, n_jobs),
        start,
        check_count("n_starts", n_starts, 0 if start is not None else 1),
        check_count("random_state", random_state, 0),
        SETTINGS,
        read_limit(time_limit),
    )
    effort = AnnealingEffort(
        check_count("n_runs", n_runs, 1),
        None if n_chains is None else check_count("n_chains", n_chains, 1),
        check_count("n_sweeps", n_sweeps, 0),
        n_jobs,
    )
    result = METHODS[method](question, effort)
    for note in result.notes:
        warnings.warn(note, LatentForestWarning, stacklevel=2)
    return result


def approximate(
    network: Network, data: PatternedData, method: str, seed: int, deadline: float | None = None
) -> MarginalLikelihood:
    """Approximate the evidence of a fitted network under a uniform prior of all tables.

    The notes of the result are not given as warnings.
    """
    structure, start = _read_network(network)
    prior = read_dirichlets(structure, 1.0)
    question = Question(structure, prior, data, start, N_STARTS, seed, SETTINGS, deadline)
    return METHODS[method](question, AnnealingEffort())


def check_method(method: str, structure: Structure) -> None:
    """Refuse continuous columns where a method does not take them."""
    if method in ("elbo", "elbo+"):
        check_bound(structure)
    elif structure.continuous:
        raise ModelError(
            f"the marginal likelihood by {method!r} takes categorical columns only, and "
            f"{structure.continuous[0]!r} is continuous; 'elbo' takes both, in a forest"
        )


def _by_closed_form(question: Question, _: AnnealingEffort) -> MarginalLikelihood:
    structure, table = question.structure, question.table
    if not is_complete(structure, table):
        what = "latent variables" if structure.latents else "missing values"
        raise DataError(
            f"the closed form needs complete rows, and there are {what}; "
            "use 'cs', 'laplace', 'elbo' or 'ais'"
        )
    value = integrate(structure, question.prior, count_complete(structure, table))
    return MarginalLikelihood(value, "exact")


def _by_completion(question: Question, _: AnnealingEffort) -> MarginalLikelihood:
    value, point = cheeseman_stutz.approximate(question)
    return MarginalLikelihood(value, "cs", is_lower_bound=True, converged=point.converged)


def _by_laplace(question: Question, _: AnnealingEffort) -> MarginalLikelihood:
    found = laplace.approximate(question)
    notes = [] if found.is_negative_definite else [_describe_hessian(found.least_curvature)]
    return MarginalLikelihood(
        found.value,
        "laplace",
        is_negative_definite=found.is_negative_definite,
        converged=found.point.converged,
        notes=tuple(notes),
    )


def _describe_hessian(curvature: float) -> str:
    return (
        "the Hessian at the most probable parameters is not negative definite (lowest curvature "
        f"{curvature:.2g}): Laplace's approximation has no value here"
    )


def _by_bound(question: Question, _: AnnealingEffort) -> MarginalLikelihood:
    result = fit_bound(question)
    converged = result.monitor.converged
    return MarginalLikelihood(result.objective, "elbo", is_lower_bound=True, converged=converged)


def _by_labelled_bound(question: Question, _: AnnealingEffort) -> MarginalLikelihood:
    result = fit_bound(question)
    value = result.objective + count_labels(question.structure)
    return MarginalLikelihood(value, "elbo+", converged=result.monitor.converged)


def _by_annealing(question: Question, effort: AnnealingEffort) -> MarginalLikelihood:
    found = annealing.estimate(question, effort)
    size, notes = found.effective_sample_size, list[str]()
    if len(found.log_weights) < effort.n_runs:
        notes.append(f"only {len(found.log_weights)} of {effort.n_runs} runs came to an end")
    elif effort.n_runs >= 2 * FEW_RUNS and size < FEW_RUNS:
        notes.append(
            f"the weight of {effort.n_runs} runs lies on few of them (effective sample size "
            f"{size:.1f}): raise n_sweeps or n_chains"
        )
    return MarginalLikelihood(
        found.value,
        "ais",
        standard_error=found.standard_error,
        effective_sample_size=size,
        notes=tuple(notes),
    )


METHODS: dict[str, Callable[[Question, AnnealingEffort], MarginalLikelihood]] = {
    "exact": _by_closed_form,
    "cs": _by_completion,
    "laplace": _by_laplace,
    "elbo": _by_bound,
    "elbo+": _by_labelled_bound,
    "ais": _by_annealing,
}


EVIDENCE_CRITERIA = ("cs", "laplace", "elbo", "elbo+")  # that choose among models


def _choose_method(structure: Structure, table: Dataset) -> str:
    if structure.continuous:
        return "elbo"
    return "exact" if is_complete(structure, table) else "cs"


def read_limit(time_limit: float | None) -> float | None:
    """Turn seconds from now on into a time."""
    if time_limit is None:
        return None
    if not (isinstance(time_limit, numbers.Real) and time_limit > 0):
        raise ParameterError(f"time_limit must be positive seconds, got {time_limit!r}")
    return time.monotonic() + float(time_limit)


def _read_network(network: Network | Structure) -> tuple[Structure, Any]:
    if isinstance(network, Structure):
        return network, None
    if not isinstance(network, Network):
        kind = type(network).__name__
        raise ParameterError(
            f"network must be a Network or a Structure, got {kind}; a learner has network_"
        )
    return network.structure, np.array(network.parameters)


def _read_table(structure: Structure, data: Any) -> Dataset:
    """Take the structure's columns of a table; rows of weight zero say nothing."""
    variables = [structure.variable(name) for name in structure.observed]
    if not isinstance(data, Dataset):
        data = encode_like(data, variables)
    table: Dataset = data.select([name for name in structure.observed if name in data.names])
    check_columns(structure, PatternedData(table))
    return table.take(table.weights > 0) if np.any(table.weights == 0) else table
