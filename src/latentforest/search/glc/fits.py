"""Fits of drafts: EM from the parameters of a model nearby, and from random ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.glc.draft import Draft

SHARE = 0.6  # of random numbers in the tables of random starts
NOISE = (0.05, 0.5)  # shares of random numbers in the tables of transferred starts


@dataclass(frozen=True)
class GlcFit:
    """A draft with maximum-likelihood parameters.

    ``score`` is what the search raises: BIC, AIC or the log-likelihood of held-out rows.
    """

    draft: Draft
    network: Network
    log_likelihood: float
    dimension: int
    score: float


@dataclass(frozen=True)
class FitEffort:
    """How much work a fit may be: random starts, transferred ones, and EM's settings."""

    n_random: int
    n_transferred: int
    settings: EMSettings
    deadline: float | None = None


@dataclass
class Fitter:
    """Fits structures over one table.

    Attributes
    ----------
    n_fits
        Runs of EM so far.
    """

    data: PatternedData
    seed: int
    n_fits: int = field(default=0, init=False)

    def fit(
        self,
        structure: Structure,
        origin: Network | None,
        effort: FitEffort,
        free: Collection[str] | None = None,
    ) -> tuple[Network, float]:
        """Fit the families of some variables (all by default) by EM from several starts.

        Parameters
        ----------
        structure
            What to fit.
        origin
            A model nearby, whose parameters are transferred.
        effort
            Starts and settings.
        free
            Variables whose families are estimated; the others keep the origin's parameters.
        """
        self.n_fits += 1
        starts = self._make_starts(structure, origin, effort)
        if free is not None and origin is not None:
            held = transfer(structure, origin.structure, origin.parameters)
            for name in structure.names:
                if name not in free:
                    for start in starts:
                        structure.table_view(start, name)[...] = structure.table_view(held, name)
        engine = make_engine(structure, self.data, free)
        result = fit(
            engine,
            starts,
            settings=effort.settings,
            deadline=effort.deadline,
            names_bounded=False,
        )
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        return Network.trusted(structure, result.parameters), result.log_likelihood

    def _make_starts(
        self, structure: Structure, origin: Network | None, effort: FitEffort
    ) -> FloatArray:
        rng = np.random.default_rng([self.seed, structure.n_values])
        starts = np.empty((0, structure.n_values))
        if origin is not None:
            near = transfer(structure, origin.structure, origin.parameters)
            shares = np.resize(NOISE, effort.n_transferred)
            starts = _mix(structure, near, shares, rng)
        n_random = max(effort.n_random, 1 - len(starts))
        if structure.continuous:
            dataset, summary = self.data.dataset, self.data.summary
            more = random_starts(structure, dataset, n_random, self.seed, summary)
        else:
            more = _mix(structure, self._find_base(structure), np.full(n_random, SHARE), rng)
        return np.concatenate([starts, more])

    def _find_base(self, structure: Structure) -> FloatArray:
        """Return parameters in which every variable has its frequencies, whatever its parents."""
        base = np.empty(structure.n_values)
        for name in structure.names:
            structure.table_view(base, name)[...] = self._find_frequencies(structure, name)
        return base

    def _find_frequencies(self, structure: Structure, name: str) -> FloatArray | float:
        n_states = structure.shape(name)[-1]
        if name in structure.latents:
            return 1.0 / n_states
        if name not in self._frequencies:
            counts = np.asarray(self.data.dataset.counts(name), np.float64)
            total = counts.sum()
            self._frequencies[name] = (
                counts / total if total > 0 else np.full(n_states, 1.0 / n_states)
            )
        return self._frequencies[name]

    _frequencies: dict[str, FloatArray] = field(default_factory=dict, init=False)


def transfer(structure: Structure, old: Structure, parameters: FloatArray) -> FloatArray:
    """Write the tables of a network into those of a structure nearby, as far as they fit.

    A parent that is gone is averaged out, a new one makes no difference, a new state is like the
    last one, a new latent variable is uniform.
    """
    new = np.empty(structure.n_values)
    for name in structure.names:
        view = structure.table_view(new, name)
        if name not in old:
            view[...] = 1.0
        else:
            view[...] = _reshape(structure, old, old.table_view(parameters, name), name)
        if name not in structure.continuous:
            view /= view.sum(axis=-1, keepdims=True)
    return new


def _reshape(structure: Structure, old: Structure, table: FloatArray, name: str) -> FloatArray:
    """Give a table the axes of another structure."""
    before, after = list(old.parents(name)), structure.parents(name)
    for parent in [each for each in before if each not in after]:
        table = table.mean(axis=before.index(parent))
        before.remove(parent)
    order = [before.index(each) for each in after if each in before]
    table = table.transpose([*order, len(before)])
    for place, parent in enumerate(after):
        if parent not in before:
            table = np.expand_dims(table, place)
    shape = structure.shape(name)
    for axis, size in enumerate(shape):
        if table.shape[axis] not in (1, size):
            chosen = np.minimum(np.arange(size), table.shape[axis] - 1)
            table = np.take(table, chosen, axis=axis)
    return np.broadcast_to(table, shape)


def _mix(
    structure: Structure, parameters: FloatArray, shares: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Mix tables with random ones, once for each share; Gaussians stay as they are."""
    noise = rng.standard_exponential((len(shares), structure.n_values))
    begins = np.concatenate([_find_rows(structure, name) for name in structure.names])
    lengths = np.diff(begins, append=structure.n_values)
    noise /= np.repeat(np.add.reduceat(noise, begins, axis=1), lengths, axis=1)
    mixed = (1 - shares[:, None]) * parameters + shares[:, None] * noise
    for name in structure.continuous:
        begin = structure.offset(name)
        place = slice(begin, begin + math.prod(structure.shape(name)))
        mixed[:, place] = parameters[place]
    return np.asarray(mixed)


def _find_rows(structure: Structure, name: str) -> NDArray[np.intp]:
    """Return where the distributions of a table begin."""
    *rows, n_states = structure.shape(name)
    return structure.offset(name) + n_states * np.arange(math.prod(rows))


def list_free(new: Structure, old: Structure) -> list[str]:
    """List the variables of a local fit: those whose families changed, and all around them.

    A latent variable in a changed family is free with its children.
    """
    changed = {
        name
        for name in new.names
        if name not in old
        or set(new.parents(name)) != set(old.parents(name))
        or sorted(new.shape(name)) != sorted(old.shape(name))
    }
    touched = {each for name in changed for each in (name, *new.parents(name))} & set(new.latents)
    touched |= {parent for name in changed if name in old for parent in old.parents(name)} & set(
        new.latents
    )
    around = {child for name in touched for child in new.children(name)}
    return [name for name in new.names if name in changed | touched | around]


def describe_change(new: Structure, old: Structure, free: Collection[str]) -> Hashable:
    """Tell a change apart from others: the families around it before and after."""
    names = {*free, *(name for name in old.names if name not in new)}
    return frozenset(
        (name, *(_describe_family(each, name) for each in (old, new))) for name in names
    )


def _describe_family(structure: Structure, name: str) -> Hashable:
    if name not in structure:
        return None
    shape = structure.shape(name)
    return shape[-1], frozenset(zip(structure.parents(name), shape[:-1], strict=False))
