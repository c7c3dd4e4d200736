"""How sure the model is of the state of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values

CLEAR = 0.9  # probability from which a row is called clear
N_BINS = 20
SLACK = 1e-9  # rounding that must not decide on which side of a border a row is


def measure_clear(posterior: FloatArray, weights: FloatArray, least: float = CLEAR) -> float:
    """Share of the rows, by weight, whose likeliest state has at least some probability."""
    is_clear = posterior.max(axis=1) >= least - SLACK
    return float(weights @ is_clear / weights.sum())


def describe_certainty(subject: Subject) -> list[dict[str, Any]]:
    """Rows by the probability of their likeliest state, for each latent variable."""
    if subject.data is None:
        return []
    found = []
    for name in subject.network.latents:
        posterior = subject.posteriors[name]
        top = np.ceil((posterior.max(axis=1) - SLACK) * N_BINS).astype(np.intp) - 1
        bins = np.bincount(np.clip(top, 0, N_BINS - 1), subject.weights, minlength=N_BINS)
        clear = measure_clear(posterior, subject.weights)
        found.append(
            {
                "latent": subject.places[name],
                "bins": round_values(bins),
                "clear": round_values(clear),
            }
        )
    return found
