"""Candidates of searches over latent trees with pouches, and their local fits.

A candidate knows the tree that it leads to, the tables that are free, and guesses of these tables.
Everything else is frozen and becomes, for each latent variable of the region, one vector for
each row; local EM runs on the small network that is left.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import Limb, PouchTree, Tables, assemble
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.model import Model
from latentforest.search.trees.tree import Rules

LOCAL_TOLERANCE = 1e-6  # gain per row at which local EM stops


@dataclass(frozen=True)
class PouchCandidate(Candidate):
    """One way to edit a tree with pouches.

    Attributes
    ----------
    after
        The edited tree.
    hub
        Latent variable at which the network is rooted; the region is around it.
    limbs
        The limbs whose tables are free.
    """

    after: PouchTree
    hub: str
    limbs: tuple[Limb, ...]

    @classmethod
    def view(cls, model: Model) -> PouchTree:
        return PouchTree.of(model.network.structure)

    @classmethod
    @abstractmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[PouchCandidate]:
        """Yield the candidates of this operator, regular models only."""

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        """Guess the free tables, in one or more ways; here, by the posterior of the hub."""
        return [guess_limbs(evidence, self.limbs, evidence.posteriors[self.hub])]

    def estimate(self, evidence: Evidence) -> float:
        """Estimate the gain of log-likelihood from completed rows; many are not judged further."""
        return np.inf

    @property
    def root(self) -> str:
        return self.hub

    @property
    def region(self) -> tuple[str, ...]:
        return tuple(name for limb in self.limbs for name in limb)

    def edit(self, network: Network) -> Network:
        """Apply the operator; the free tables are left empty."""
        return assemble(self.after, self.root, network.rooted_at(self.root), self.region)


def name_rests(n: int) -> list[str]:
    """Names of the frozen parts of regions, which no column has."""
    return [f"\0rest {i}" for i in range(n)]


def fit_locally(
    evidence: Evidence, data: PatternedData, candidate: PouchCandidate, effort: LocalEffort
) -> Proposal:
    """Fit the free tables of a candidate by local EM (restricted likelihood).

    ``data`` has rows for the frozen parts (``PatternedData.with_rows``).
    """
    edited = candidate.edit(evidence.rooted_at(candidate.root))
    tree, root, region = candidate.after, candidate.root, candidate.region
    rests = evidence.send_up(edited, tree, root, region)
    names = dict(zip(rests, data.rows, strict=False))
    structure = _cut_out(edited.structure, tree, rests, region, names)
    offset, dense = 0.0, {}
    for latent, logs in rests.items():
        largest = logs.max(axis=1)
        offset += float(evidence.weights @ largest)
        dense[names[latent]] = _split(np.exp(logs - largest[:, None]), data)
    forest = Forest(structure, data, free=region, dense=dense)
    frozen = np.zeros(structure.n_values)
    for name in structure.names:
        table = structure.table_view(frozen, name)
        table[...] = 1.0 if name in data.rows else edited.table_view(name)
    starts = _stack(structure, frozen, candidate.guess(evidence, effort))
    settings = EMSettings(max_iterations=effort.nu, tolerance=LOCAL_TOLERANCE, accelerate=False)
    result = fit(forest, starts, settings=settings, names_bounded=False)
    tables = [structure.table_view(result.parameters, name).ravel() for name in region]
    return Proposal(candidate, result.log_likelihood + offset, np.concatenate(tables))


def _cut_out(
    structure: Structure,
    tree: PouchTree,
    inside: Iterable[str],
    region: Sequence[str],
    rests: dict[str, str],
) -> Structure:
    """The region: its latent variables, its free columns, and a frozen part below each latent."""
    latents = [name for name in structure.order if name in set(inside)]
    leaves = [name for name in structure.names if name in region and name not in tree.cards]
    parents = {name: structure.parents(name) for name in (*latents, *leaves)}
    parents |= {rests[name]: (name,) for name in latents}
    variables = [structure.variable(name) for name in (*latents, *leaves)]
    variables += [Variable.hidden(rests[name], 1) for name in latents]
    pouches = [pouch for pouch in structure.pouches if pouch[0] in region]
    return Structure(variables, parents, pouches)


def _split(rows: FloatArray, data: PatternedData) -> list[FloatArray]:
    """Cut an array of rows into the chunks of a table."""
    edges = [data.first_row(b) for b in range(1, len(data.chunks))]
    return np.split(rows, edges)


def _stack(structure: Structure, frozen: FloatArray, guesses: Sequence[Tables]) -> FloatArray:
    starts = np.tile(frozen, (len(guesses), 1))
    for start, guess in zip(starts, guesses, strict=True):
        for name, table in guess.items():
            structure.table_view(start, name)[...] = table
    return starts


def guess_limbs(
    evidence: Evidence, limbs: Iterable[Limb], shares: FloatArray
) -> dict[str, FloatArray]:
    """Guess the tables of limbs, given shares of the rows in the states of their parent."""
    tables: dict[str, FloatArray] = {}
    for limb in limbs:
        if limb[0] in evidence.tree.cards:
            counts = (shares * evidence.weights[:, None]).T @ evidence.posteriors[limb[0]]
            counts += 1e-3
            tables[limb[0]] = soften(counts / counts.sum(axis=1, keepdims=True))
        else:
            tables |= evidence.guess(limb, shares)
    return tables
