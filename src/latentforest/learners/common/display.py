"""Learners as text and in notebooks: what was found, and what to make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latentforest.data.results.table_text import escape_html
from latentforest.model.showing.notebook import write_network
from latentforest.model.showing.printing import write_profiles

if TYPE_CHECKING:
    from latentforest.learners.common.base import NetworkLearner


def describe_model(learner: NetworkLearner) -> str:
    """Describe a fitted learner: its scores, its network, what its latent states mean."""
    parts = [f"{summarize_model(learner)}\n{learner.network_}"]
    profiles = write_profiles(learner.network_)
    return "\n".join([*parts, *([profiles] if profiles else []), *map(_indent, learner.notes_)])


def _indent(note: str) -> str:
    return f"\nNote: {note}"


def summarize_model(learner: Any) -> str:
    """Name a learner, with the scores of its network if it has any."""
    name = type(learner).__name__
    if not hasattr(learner, "log_likelihood_"):
        return f"{name}:"
    return (
        f"{name}: log-likelihood {learner.log_likelihood_:,.2f}, "
        f"{learner.n_parameters_:,} parameters, BIC {learner.bic_:,.2f}"
    )


def write_model(learner: NetworkLearner, diagram: str) -> str:
    """Write a learner for a notebook: what was found, below it the diagram of its settings."""
    if not is_fitted(learner):
        return diagram
    notes = "".join(f"<p>{escape_html(note)}</p>" for note in learner.notes_)
    found = f"<p>{escape_html(summarize_model(learner))}</p>{notes}"
    return f"<div>{found}{write_network(learner.network_)}{diagram}</div>"


def is_fitted(learner: NetworkLearner) -> bool:
    """Whether a learner has a network to show."""
    try:
        return learner.network_ is not None
    except (AttributeError, ValueError):  # not yet fitted; a Predictor without a network
        return False
