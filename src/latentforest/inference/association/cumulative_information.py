"""What several columns tell about a latent variable together, from rows drawn from the network.

One sample serves all latent variables. In a tree, columns become known one after the other, and
only the messages on the way from a column to the latent variable change. In other networks the
posterior is computed anew for each number of columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import xlogy

from latentforest.data.dataset import Dataset
from latentforest.inference.association.pair_tables import PairTables, is_tree_like
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray
from latentforest.model.gaussian import Joint, find_components, join_gaussians
from latentforest.model.graphs import find_way
from latentforest.model.network import Network

N_ROWS = 4000  # of the sample
SEED = 0


class SampledInformation:
    """A sample of rows, and what the columns in it tell.

    Parameters
    ----------
    network
        Any network.
    tables
        Its pairs.
    n_rows
        Size of the sample, always the same rows.
    """

    def __init__(self, network: Network, tables: PairTables, n_rows: int = N_ROWS) -> None:
        self._network, self._tables = network, tables
        self._drawn = network.sample(n_rows, random_state=SEED)
        self._plain = Network.trusted(network.structure, np.array(network.parameters))
        self._is_tree = is_tree_like(network.structure)
        self._blocks = _find_blocks(network) if self._is_tree else {}

    def told_by_all(self, latents: Sequence[str]) -> FloatArray:
        """Information that all columns together hold of each latent variable, in bits."""
        posteriors = Rows(self._plain, PatternedData(self._drawn)).posteriors(latents)
        return np.array([self._tell(*each) for each in zip(latents, posteriors, strict=True)])

    def accumulate(self, latent: str, names: Sequence[str]) -> FloatArray:
        """Information in the first one, two, … columns; more columns never tell less."""
        told = np.zeros(len(names))
        known = _Known(self, latent) if self._is_tree else None
        for k, name in enumerate(names):
            posterior = self._judge(latent, names[: k + 1]) if known is None else known.add(name)
            told[k] = self._tell(latent, posterior)
        return np.asarray(np.maximum.accumulate(told)) if len(told) else told

    def _tell(self, latent: str, posterior: FloatArray) -> float:
        """Entropy of a latent variable, less what is left of it on average."""
        sizes = self._tables.marginal(latent)
        left = -xlogy(posterior, posterior).sum() / len(posterior)
        return max(0.0, (-float(xlogy(sizes, sizes).sum()) - float(left)) / math.log(2.0))

    def _judge(self, latent: str, names: Sequence[str]) -> FloatArray:
        drawn, nothing = self._drawn, np.full(self._drawn.n_rows, np.nan)
        columns = [
            column if name in names else (nothing if v.states is None else np.full(len(column), -1))
            for name, v, column in zip(drawn.names, drawn.variables, drawn.columns, strict=True)
        ]
        rows = Rows(self._plain, PatternedData(Dataset(drawn.variables, columns)))
        return rows.posteriors([latent])[0]


def _find_blocks(network: Network) -> Mapping[str, Joint]:
    """The joint Gaussian of each continuous variable that depends on at most one other kind."""
    found: dict[str, Joint] = {}
    structure = network.structure
    for names in find_components(structure, structure.continuous):
        above = {p for name in names for p in structure.categorical_parents(name)}
        if len(above) <= 1:
            joint = join_gaussians(structure, network.parameters, names)
            found |= dict.fromkeys(names, joint)
    return found


@dataclass
class _Known:
    """Columns that are known in all rows of a sample, seen from one latent variable.

    ``into`` has for each variable the likelihoods that it got from each side away from the latent
    one, ``(n_rows, n_states)`` each.
    """

    sample: SampledInformation
    latent: str
    into: dict[str, dict[str, FloatArray]] = field(default_factory=dict)
    seen: dict[int, list[str]] = field(default_factory=dict)

    def add(self, name: str) -> FloatArray:
        """Get to know one more column; return the posterior of the latent variable."""
        variable = self.sample._network.structure.variable(name)
        if variable.is_categorical:
            codes = self.sample._drawn.column(name)
            self._put(name, name, np.eye(variable.n_states)[codes])
        else:
            self._put_number(name)
        weights = self.sample._tables.marginal(self.latent) * self._multiply(self.latent)
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(weights / np.where(total > 0, total, 1.0))

    def _put_number(self, name: str) -> None:
        joint = self.sample._blocks.get(name)
        if joint is None or not joint.scope:
            return
        known = self.seen.setdefault(id(joint), [])
        known.append(name)
        values = {each: self.sample._drawn.column(each)[:, None] for each in known}
        logs = _log_densities(joint, values)
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        self._put(joint.scope[0], joint.names[0], likelihood)

    def _put(self, name: str, source: str, likelihood: FloatArray) -> None:
        """Set what a variable gets from one side, and all messages from there on."""
        self.into.setdefault(name, {})[source] = likelihood
        way = find_way(self.sample._network.structure, name, self.latent) or ()
        for name, after in itertools.pairwise(way):
            joint = self.sample._tables.joint(after, name)
            total = joint.sum(axis=1, keepdims=True)
            given = joint / np.where(total > 0, total, 1.0)
            self.into.setdefault(after, {})[name] = self._multiply(name) @ given.T

    def _multiply(self, name: str) -> FloatArray:
        product: FloatArray = np.ones(1)
        for likelihood in self.into.get(name, {}).values():
            product = product * likelihood
        if product.ndim == 1:  # nothing is known of it
            product = np.ones((self.sample._drawn.n_rows, len(self.sample._tables.marginal(name))))
        return product


def _log_densities(joint: Joint, values: Mapping[str, FloatArray]) -> FloatArray:
    """Log-densities of some variables for each row and state of the scope."""
    keep = [joint.names.index(name) for name in values]
    x = np.concatenate(list(values.values()), axis=1)
    logs = []
    for mean, covariance in zip(joint.means, joint.covariances, strict=True):
        root = np.linalg.cholesky(covariance[np.ix_(keep, keep)])
        z = np.linalg.solve(root, (x - mean[keep]).T)
        logs.append(-0.5 * (z * z).sum(axis=0) - np.log(np.diagonal(root)).sum())
    return np.stack(logs, axis=1)
