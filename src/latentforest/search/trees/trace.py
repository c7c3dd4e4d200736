"""The trace of a search: one row for each model that it fitted, and the best of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from latentforest.search.changes import Change
from latentforest.search.trees.model import Model
from latentforest.ties import is_higher


class Trace:
    """Rows of fitted models. Those on the way from the start to the best one are accepted."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.best: Model | None = None
        self._places: WeakKeyDictionary[Model, int] = WeakKeyDictionary()
        self._origins: list[int] = []

    @property
    def n_steps(self) -> int:
        """Number of steps so far, the start included; one step may have fitted several models."""
        return int(self.rows[-1]["step"]) + 1 if self.rows else 0

    def add(self, model: Model, origin: Model | None, about: Mapping[str, Any]) -> None:
        """Add a model; ``origin`` is the one that the operator was applied to."""
        place = len(self.rows)
        self._places[model] = place
        self._origins.append(place if origin is None else self._places.get(origin, 0))
        self.rows.append(
            {
                "step": about["step"],
                "phase": about["phase"],
                "operator": about["operator"],
                "variables": about["variables"],
                "n_states": about["n_states"],
                "accepted": False,
                "log_likelihood": model.log_likelihood,
                "n_parameters": model.dimension,
                "bic": model.bic,
                "n_latents": len(model.network.latents),
                "candidates": about["candidates"],
                "seconds": about["seconds"],
            }
        )
        if self.best is None or is_higher(model.bic, self.best.bic):
            self.accept(model)

    def note(self, model: Model, origin: Model | None, phase: str, began: float) -> None:
        """Add a model that no operator led to."""
        about = {
            "step": self.n_steps,
            "phase": phase,
            **Change().to_columns(),
            "candidates": 0,
            "seconds": round(time.monotonic() - began, 3),
        }
        self.add(model, origin, about)

    def accept(self, model: Model) -> None:
        """Take a model for the best, and mark the way from the start to it."""
        self.best = model
        place, way = self._places[model], set[int]()
        while place not in way:  # a start is its own origin
            way.add(place)
            place = self._origins[place]
        for number, row in enumerate(self.rows):
            row["accepted"] = number in way
