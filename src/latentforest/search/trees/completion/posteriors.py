"""What rows tell of variables, to screen candidates where there are continuous columns.

What a latent variable leaves unexplained of its neighbours is correlated, and a relocation is
judged by the information of posteriors. Rougher than data completion (``gaussians``), but only the
order matters, and only that of the best.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from latentforest.inference.association.information import indicators, posterior_information
from latentforest.inference.association.mixed_information import gaussian_gain
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray


class Posteriors:
    """What is known of all variables row by row, computed when it is needed.

    ``messages`` are those of the current model; ``check`` may raise an exception to end the work.
    """

    def __init__(self, messages: Messages, check: Callable[[], None]) -> None:
        self.messages, self.check = messages, check
        self.dataset, self.weights = messages.data.dataset, messages.values.weights
        self.structure = messages.network.structure
        self._known: dict[str, FloatArray] = {}
        self._pairs: dict[str, tuple[dict[str, int], FloatArray]] = {}
        self._information: dict[tuple[str, str], float] = {}

    def of(self, name: str) -> FloatArray:
        """Probabilities of the states of a latent variable, or of a categorical column."""
        if name not in self._known:
            self.check()
            is_latent = name in self.messages.number
            known = self.messages.posterior(name) if is_latent else indicators(self.dataset, name)
            self._known[name] = known
        return self._known[name]

    def unexplained(self, hub: str, left: str, right: str) -> float:
        """Half of N times the squared correlations of what a hub leaves of two neighbours."""
        if hub not in self._pairs:
            self._pairs[hub] = self._correlate(hub)
        number, gains = self._pairs[hub]
        return float(gains[number[left], number[right]])

    def _correlate(self, hub: str) -> tuple[dict[str, int], FloatArray]:
        around, share = self.messages.neighbours(hub), self.of(hub)
        parts = [self._residuals(hub, z, share) for z in around]
        joined = np.concatenate(parts, axis=1)
        joined = joined / np.maximum(np.sqrt(self.weights @ joined**2), np.finfo(float).tiny)
        squares = ((joined * self.weights[:, None]).T @ joined) ** 2
        starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
        sums = np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1)
        number = {z: i for i, z in enumerate(around)}
        return number, 0.5 * float(self.weights.sum()) * sums

    def _residuals(self, hub: str, z: str, share: FloatArray) -> FloatArray:
        """Values of a neighbour less those that the hub lets expect; zero where missing."""
        table = self.messages.table(hub, z)
        if z in self.structure.continuous:
            away = self.dataset.column(z) - share @ table[:, 0]
            return np.where(np.isnan(away), 0.0, away)[:, None]
        rows = self.of(z)
        seen = rows.sum(axis=1, keepdims=True)
        residuals: FloatArray = (rows - seen * (share @ table))[:, : max(table.shape[1] - 1, 1)]
        return residuals

    def information(self, name: str, latent: str) -> float:
        """What a row tells on average of a variable through a latent one, in nats."""
        key = name, latent
        if key not in self._information:
            if name in self.structure.continuous:
                values, share = self.dataset.column(name), self.of(latent)
                used = ~np.isnan(values) & (self.weights > 0)
                least = self.messages.data.summary(name).least_variance
                gain = gaussian_gain(values[used], share[used], self.weights[used], least)
            else:
                gain = posterior_information([self.of(name)], [self.of(latent)], self.weights)[0, 0]
            self._information[key] = float(gain)
        return self._information[key]
