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


def measure_clear(top: FloatArray, weights: FloatArray) -> float:
    """Share of the rows, by weight, whose likeliest state has enough probability."""
    return float(weights @ (top >= CLEAR - SLACK) / weights.sum())


def describe_certainty(subject: Subject) -> list[dict[str, Any]]:
    """Rows by the probability of their likeliest state, for each latent variable."""
    if subject.data is None:
        return []
    found = []
    for name, rows in subject.assignments.latents.items():
        places = np.ceil((rows.top - SLACK) * N_BINS).astype(np.intp) - 1
        bins = np.bincount(np.clip(places, 0, N_BINS - 1), subject.weights, minlength=N_BINS)
        clear = measure_clear(rows.top, subject.weights)
        found.append(
            {
                "latent": subject.places[name],
                "bins": round_values(bins),
                "clear": round_values(clear),
            }
        )
    return found
