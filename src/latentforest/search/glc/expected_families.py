"""Families scored on the table that a model completes: the expected counts of structural EM.

Latent variables have their posteriors in every row. A family then has expected counts, and a
highest expected log-likelihood. If the posteriors are exact, what a change of families raises that
sum by, the log-likelihood of the changed model is raised by at least (Friedman 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network

MOST_WEIGHTS = 1 << 25  # numbers in the joint posterior of a family's latent variables

Family = tuple[str, frozenset[str]]  # child, parents


class ExpectedFamilies:
    """Expected log-likelihoods of families over one table, given a model.

    Rows in which a member of the family is missing are left out. Joint posteriors of latent
    variables are exact where they are members of one family of the model, otherwise products.

    Parameters
    ----------
    network
        The model that completes the table.
    data
        The table; its columns are categorical in the families asked for.
    known
        Scores of families without latent variables, which are the same for every model; filled.
    """

    def __init__(self, network: Network, data: PatternedData, known: dict[Family, float]) -> None:
        self._data, self._known = data, known
        self._scores: dict[Family, float] = {}
        self._joints: dict[frozenset[str], FloatArray | None] = {}
        self._network = network
        structure = network.structure
        self.sizes = {name: structure.shape(name)[-1] for name in structure.names}
        self._latents = frozenset(structure.latents)
        self._columns: dict[str, LongArray] = {
            name: np.asarray(data.dataset.column(name)).astype(np.int64)
            for name in structure.observed
            if name not in structure.continuous
        }
        engine = make_engine(structure, data)
        found = engine.posteriors(network.parameters, structure.latents)
        self._posteriors = {
            name: data.gather(np.nan_to_num(each))
            for name, each in zip(structure.latents, found, strict=True)
        }
        self._families = self._find_exact(engine.family_posteriors)

    def score(self, child: str, parents: frozenset[str]) -> float:
        """Return the highest expected log-likelihood of a family; minus infinity if too large."""
        key = child, parents
        known = self._scores if self._latents & {child, *parents} else self._known
        if key not in known:
            known[key] = self._compute(child, parents)
        return known[key]

    def count_parameters(self, child: str, parents: Iterable[str]) -> int:
        """Count the free parameters of a family."""
        return (self.sizes[child] - 1) * int(np.prod([self.sizes[name] for name in parents]))

    def is_exact(self, names: Collection[str]) -> bool:
        """Whether the joint posterior of the latent ones among some variables is exact."""
        latents = self._latents.intersection(names)
        return len(latents) < 2 or any(latents <= family for family in self._families)

    def _find_exact(self, ask: Callable[..., list[FloatArray]]) -> dict[frozenset[str], FloatArray]:
        """Find the joint posteriors of latent variables that are members of one family.

        Axes are in the order of the names.
        """
        structure, found = self._network.structure, {}
        for name in structure.names:
            members = (*structure.parents(name), name)
            latents = self._latents.intersection(members)
            n_cells = self._data.n_rows * int(np.prod([self.sizes[each] for each in members]))
            if len(latents) < 2 or n_cells > MOST_WEIGHTS or name in structure.continuous:
                continue
            (joint,) = ask(self._network.parameters, (name,))
            joint = self._data.gather(np.nan_to_num(joint))
            given = tuple(i for i, each in enumerate(members, 1) if each not in latents)
            order = np.argsort([each for each in members if each in latents])
            found[latents] = joint.sum(axis=given).transpose(0, *(1 + order))
        return found

    def _join(self, latents: frozenset[str]) -> FloatArray | None:
        """Return the weighted joint posterior of latent variables, ``(n_rows, n_joint_states)``."""
        if latents not in self._joints:
            joint = self._multiply(latents)
            if joint is not None:
                joint = joint.reshape(len(joint), -1) * self._data.dataset.weights[:, None]
            self._joints[latents] = joint
        return self._joints[latents]

    def _multiply(self, latents: frozenset[str]) -> FloatArray | None:
        for family, joint in self._families.items():
            if latents <= family:
                gone = [i for i, name in enumerate(sorted(family), 1) if name not in latents]
                return np.asarray(joint.sum(axis=tuple(gone)))
        n_rows = self._data.n_rows
        if n_rows * np.prod([float(self.sizes[name]) for name in latents]) > MOST_WEIGHTS:
            return None
        product = np.ones((n_rows, 1))
        for name in sorted(latents):
            product = (product[:, :, None] * self._posteriors[name][:, None]).reshape(n_rows, -1)
        return product

    def _compute(self, child: str, parents: frozenset[str]) -> float:
        latents = sorted(self._latents & {child, *parents})
        manifest = sorted((parents | {child}) - self._latents)
        joint = self._join(frozenset(latents))
        shape = [self.sizes[name] for name in (*latents, *manifest)]
        if joint is None or np.prod([float(size) for size in shape]) > MOST_WEIGHTS:
            return -np.inf
        codes, n_codes, is_there = self._number(manifest)
        if not is_there.all():
            joint, codes = joint[is_there], codes[is_there]
        counts = np.stack([np.bincount(codes, column, n_codes) for column in joint.T])
        table = counts.reshape(shape)
        above = table.sum(axis=[*latents, *manifest].index(child))
        return float(xlogy(table, table).sum() - xlogy(above, above).sum())

    def _number(self, manifest: list[str]) -> tuple[LongArray, int, NDArray[np.bool_]]:
        """Number the joint states of columns in every row, and say where none is missing."""
        codes, n_codes = np.zeros(self._data.n_rows, np.int64), 1
        is_there = np.ones(self._data.n_rows, bool)
        for name in manifest:
            codes = codes * self.sizes[name] + self._columns[name]
            is_there &= self._columns[name] >= 0
            n_codes *= self.sizes[name]
        return codes, n_codes, is_there
