"""The end of a learner that found a structure: EM on the whole."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from latentforest.errors import VarianceWarning
from latentforest.estimation.em import EMSettings, FitResult, Monitor, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.engine import make_engine
from latentforest.inference.rooting import reroot
from latentforest.learners.common.base import Work
from latentforest.learners.common.interruption import make_late
from latentforest.model import Network

FINAL_TOLERANCE = 1e-9


def finish(
    work: Work,
    network: Network,
    log_likelihood: float,
    prior: Smoothing,
    settings: EMSettings,
    was_interrupted: bool = False,
    keeps_roots: bool = False,
) -> tuple[FitResult, Network]:
    """Run EM to the end on a fitted network, with pseudo-counts if asked for.

    After Ctrl-C, or when the time is up, that is a single iteration.

    Parameters
    ----------
    work
        The table, the clock and whom to tell.
    network, log_likelihood
        What was found, fitted by maximum likelihood.
    prior
        As for ``pseudo_counts``.
    settings
        Of the EM so far; the last one goes on for longer and to a higher precision.
    was_interrupted
        Whether to hurry.
    keeps_roots
        Whether links keep their directions; otherwise a forest gets the cheapest roots.
    """
    try:
        result, network = _finish(
            make_late(work) if was_interrupted else work, network, prior, settings, keeps_roots
        )
    except KeyboardInterrupt:  # before the first iteration was over
        monitor = Monitor(reason="it was interrupted", was_interrupted=True)
        result = FitResult(network.parameters, log_likelihood, log_likelihood, monitor)
    warn_of_bounds(result)
    return result, network.with_parameters(result.parameters)


def _finish(
    work: Work, network: Network, prior: Smoothing, settings: EMSettings, keeps_roots: bool
) -> tuple[FitResult, Network]:
    if not keeps_roots:
        network = reroot(network, work.data)
    counts = pseudo_counts(network.structure, prior)
    settings = EMSettings(10 * settings.max_iterations, min(settings.tolerance, FINAL_TOLERANCE))
    engine = make_engine(network.structure, work.data)
    return fit(engine, network.parameters, counts, settings, deadline=work.deadline), network


def warn_of_bounds(result: FitResult) -> None:
    """Tell which columns have variances, or covariances, at their lower bound."""
    if result.bounded:
        warnings.warn(
            "some states have nearly the same value in all their rows of the columns "
            f"{_list(result.bounded)}; their variances were kept from shrinking further (fewer "
            "states, or prior=, may avoid this)",
            VarianceWarning,
            stacklevel=5,
        )
    if result.collinear:
        warnings.warn(
            f"the columns {_list(result.collinear)} are nearly linear functions of each other (or "
            "hardly ever observed together), and the model has their joint distribution; its "
            "covariances were kept from being singular (leave some of the columns out to avoid "
            "this)",
            VarianceWarning,
            stacklevel=5,
        )


def _list(names: Sequence[str]) -> str:
    return f"{', '.join(names[:10])}{' …' if len(names) > 10 else ''}"
