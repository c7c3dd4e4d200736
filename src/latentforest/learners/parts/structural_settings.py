"""Settings of structural EM: latent variables that are given, and what makes no sense."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from latentforest.data import Dataset, Variable
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings
from latentforest.scores.families import FAMILY_CRITERIA
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.structural.steps import check_method

CRITERIA = tuple(name for name in FAMILY_CRITERIA if name != "bde")  # has no prior network here
FULL_VARIABLES = 12  # up to so many, each neighbour may be fitted
WORDS = {
    "structure_step": ("search", "one"),
    "evaluation": ("expected", "full"),
}
LEAST = {"n_restarts": 0, "search_restarts": 0, "n_starts": 1, "max_states": 2, "max_steps": 0}


def read_latents(latents: Any, table: Dataset) -> tuple[Variable, ...]:
    """Return the latent variables that are given; none for "auto"."""
    if latents is None or latents == "auto":
        return ()
    if not isinstance(latents, Mapping):
        raise ParameterError(
            f'latents must be None, "auto" or numbers of states by name, such as '
            f'{{"H": 3}}; got {latents!r}'
        )
    for name, n_states in latents.items():
        if not isinstance(name, str) or name in table.names:
            raise ParameterError(
                f"latents: names must be texts that are not names of columns, got {name!r}"
            )
        if not (isinstance(n_states, numbers.Integral) and int(n_states) >= 2):
            raise ParameterError(
                f"latents: {name!r} needs a whole number of states from 2, got {n_states!r}"
            )
    return tuple(Variable.hidden(name, int(latents[name])) for name in sorted(latents))


def check_settings(learner: Any, table: Dataset, latents: tuple[Variable, ...]) -> None:
    """Refuse settings of structural EM that make no sense."""
    _check_words(learner)
    _check_numbers(learner)
    EMSettings(learner.max_iterations, learner.tolerance)
    names = [*table.names, *(variable.name for variable in latents)]
    check_method(learner.method, len(names))
    read_constraints(names, learner.required, learner.forbidden, learner.max_parents, learner.tiers)
    if learner.evaluation == "full" and len(names) > FULL_VARIABLES:
        raise ParameterError(
            f'evaluation="full" runs EM on every neighbour, which is possible for up to '
            f'{FULL_VARIABLES} variables, got {len(names)}; use "expected"'
        )


def _check_words(learner: Any) -> None:
    for name, known in {**WORDS, "criterion": CRITERIA}.items():
        if getattr(learner, name) not in known:
            listed = ", ".join(map(repr, known))
            raise ParameterError(f"{name} must be one of {listed}, got {getattr(learner, name)!r}")


def _check_numbers(learner: Any) -> None:
    for name, least in LEAST.items():
        value = getattr(learner, name)
        if value is None and name in ("max_steps", "n_restarts"):
            continue
        if not isinstance(value, numbers.Integral) or value < least:
            raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
    for name in ("epsilon", "equivalent_sample_size"):
        value = getattr(learner, name)
        if not (isinstance(value, numbers.Real) and 0 <= float(value) < float("inf")):
            raise ParameterError(f"{name} must be a number from 0, got {value!r}")
