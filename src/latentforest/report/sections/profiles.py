"""Profiles: what the states of each latent variable mean, by the columns that tell most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from latentforest.inference.association.cumulative_information import N_ROWS, SampledInformation
from latentforest.inference.association.pair_tables import entropy_of, is_tree_like
from latentforest.kernels.types import FloatArray
from latentforest.model.graphs import find_way
from latentforest.report.sections.mixtures import (
    draw_density,
    find_components,
    find_range,
    measure_information,
)
from latentforest.report.sections.variables import count_states
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values

MOST_COLUMNS = 30  # of a profile
LEAST_COLUMNS = 6
WEAK = 0.005  # of the bits of the best column: what is below is left out
MOST_NUMBERS = 150_000  # of all profiles: fewer columns for each where there are many
MOST_DENSITIES = 14  # states for which densities are drawn
SLOW_LATENTS = 12  # so many at most have cumulative information outside of trees
TOGETHER = 12  # columns that are added up there


def describe_profiles(subject: Subject) -> list[dict[str, Any]]:
    """Describe the latent variables, in the order of the network."""
    return [] if not subject.network.latents else _Profiles(subject).describe()


class _Profiles:
    """What all profiles share: how many columns they have, and a sample of rows."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.structure = subject, subject.network.structure
        self.latents = subject.network.latents
        numbers = set(self.structure.continuous)
        self.columns = [name for name in subject.network.observed if name not in numbers]
        self.numbers = list(self.structure.continuous)

    def describe(self) -> list[dict[str, Any]]:
        chosen = {name: self._choose(name) for name in self.latents}
        return [self._describe(name, *chosen[name]) for name in self.latents]

    @cached_property
    def most_columns(self) -> int:
        """Columns of each profile, so that the page does not become too large."""
        cards = [self.structure.shape(name)[-1] for name in self.columns]
        mean = np.mean([*cards, *(50.0 for _ in self.numbers)]) if cards or self.numbers else 1.0
        states = sum(self.structure.shape(name)[-1] for name in self.latents)
        return int(np.clip(MOST_NUMBERS / (mean * states), LEAST_COLUMNS, MOST_COLUMNS))

    @cached_property
    def sample(self) -> SampledInformation:
        return SampledInformation(self.subject.network, self.subject.tables, N_ROWS // 2)

    @cached_property
    def told_by_all(self) -> dict[str, float]:
        found = self.sample.told_by_all(self.latents)
        return dict(zip(self.latents, found.tolist(), strict=True))

    def _choose(self, latent: str) -> tuple[list[str], list[float]]:
        """The columns that tell most, with their bits."""
        found = self.subject.tables.information(latent, self.columns)
        order = np.argsort(-found.round(9), kind="stable")[: self.most_columns]
        bits = {self.columns[i]: float(found[i]) for i in order.tolist()}
        bits |= self._measure_numbers(latent, list(bits.values()))
        best = sorted(bits, key=lambda name: -round(bits[name], 9))[: self.most_columns]
        least = WEAK * bits[best[0]] if best else 0.0
        kept = [n for i, n in enumerate(best) if i < LEAST_COLUMNS or bits[n] >= least]
        return kept, [bits[name] for name in kept]

    def _measure_numbers(self, latent: str, found: list[float]) -> dict[str, float]:
        """Bits of continuous columns; those that cannot be among the best are not measured.

        A column tells no more than the variables that it depends on.
        """
        blocks = self.subject.blocks
        bounds = {
            name: float(self.subject.tables.information(latent, scope)[0])
            if name in blocks and len(scope := blocks[name].scope) == 1 and scope[0] != latent
            else np.inf
            for name in self.numbers
        }
        bits: dict[str, float] = {}
        for name in sorted(bounds, key=lambda each: -bounds[each]):
            if len(found) >= self.most_columns and bounds[name] < found[self.most_columns - 1]:
                break
            bits[name] = measure_information(self.subject, latent, name)
            found = sorted([*found, bits[name]], reverse=True)
        return bits

    def _describe(self, latent: str, names: Sequence[str], bits: Sequence[float]) -> dict[str, Any]:
        subject, sizes = self.subject, self.subject.tables.marginal(latent)
        entropy = entropy_of(sizes)
        together = self._add_up(latent, names, entropy)
        columns = []
        for place, name in enumerate(names):
            way = self._find_neighbour(latent, name)
            about = {
                "variable": subject.places[name],
                "bits": round_values(bits[place]),
                "share": round_values(min(bits[place] / entropy, 1.0) if entropy > 0 else 0.0),
                "together": round_values(together[place]),
                "through": None if way is None else subject.places[way],
            }
            columns.append(about | self._show(latent, name))
        return {
            "latent": subject.places[latent],
            "sizes": round_values(sizes),
            "counts": round_values(count_states(subject, latent)),
            "entropy": round_values(entropy),
            "next": self._list_next(latent),
            "columns": columns,
        }

    def _list_next(self, latent: str) -> list[dict[str, Any]]:
        """Neighbours that are latent, the closest first."""
        near = [each for each in self.structure.neighbours(latent) if each in self.latents]
        bits = self.subject.tables.information(latent, near)
        order = sorted(range(len(near)), key=lambda i: (-round(float(bits[i]), 9), i))
        return [
            {"variable": self.subject.places[near[i]], "bits": round_values(bits[i])} for i in order
        ]

    def _add_up(self, latent: str, names: Sequence[str], entropy: float) -> list[float | None]:
        """Share of all there is to know that the first columns tell together."""
        is_tree = is_tree_like(self.structure)
        is_slow = not is_tree and len(self.latents) > SLOW_LATENTS
        if is_slow or entropy == 0.0 or not names:
            return [None] * len(names)
        told = self.sample.accumulate(latent, names if is_tree else names[:TOGETHER])
        most = max(self.told_by_all[latent], *told.tolist(), 0.0)
        shares = [each / most if most > 0 else 0.0 for each in told.tolist()]
        return [*shares, *[None] * (len(names) - len(shares))]

    def _find_neighbour(self, latent: str, name: str) -> str | None:
        """The neighbour of a latent variable that stands between it and a column of its tree."""
        way = find_way(self.structure, latent, name) if self.structure.is_forest else None
        return way[1] if way is not None and len(way) > 2 else None

    def _show(self, latent: str, name: str) -> dict[str, Any]:
        """The distribution of a column in each state."""
        if name in self.columns:
            joint = self.subject.tables.joint(latent, name)
            total = joint.sum(axis=1, keepdims=True)
            given = np.where(total > 0, joint / np.where(total > 0, total, 1.0), joint.sum(axis=0))
            return {"given": round_values(given.T, 5)}
        found = find_components(self.subject, latent, name)
        if found is None:
            return {"means": [], "sds": [], "densities": None}
        mixtures = [found.mixture(state) for state in range(len(found.weights))]
        limits, densities = find_range(self.subject, name), None
        if len(mixtures) <= MOST_DENSITIES:
            densities = [round_values(draw_density(each, limits), 4) for each in mixtures]
        spread: FloatArray = np.sqrt([each.variance for each in mixtures])
        return {
            "means": round_values([each.mean for each in mixtures]),
            "sds": round_values(spread),
            "densities": densities,
        }
