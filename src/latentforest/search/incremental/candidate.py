"""A candidate: two trees joined, with the posterior where they meet.

Local VBEM: the tables of both tops are free, everything below is frozen. The gain depends on the
tops alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.bayes.posterior_vector import copy_families, pack_priors
from latentforest.estimation.bayes.variational import fit_posterior, from_parameters
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.incremental.context import GrowthContext
from latentforest.search.incremental.tree import (
    GrowingTree,
    TreeTop,
    count_labellings,
    fit_tree,
)

NEW = "\0"  # stands for the name of a new latent variable until a candidate is taken


@dataclass(frozen=True, eq=False)
class JoinCandidate:
    """Two trees as one.

    Attributes
    ----------
    operator
        "NA" or "AA", and "SI" or "SR" after that.
    parts
        The tops of the trees; of an arc, the parent's is the first.
    structure, posterior
        Where they meet: both tops, and a new latent variable above or an arc between the roots.
    bound
        Of that.
    lines
        A continuous variable with a new continuous parent.
    """

    operator: str
    parts: tuple[TreeTop, TreeTop]
    structure: Structure
    posterior: FloatArray
    bound: float
    lines: Mapping[str, str]

    @cached_property
    def gain(self) -> float:
        """What joining the trees adds to the penalized bound."""
        before = sum(top.bound - _penalize(top.structure) for top in self.parts)
        return self.bound - _penalize(self.structure) - before

    @property
    def involved(self) -> tuple[str, ...]:
        """The latent variables among the two that were joined and the new one."""
        (root,) = self.structure.roots
        names = dict.fromkeys([root, *(top.root for top in self.parts)])
        return tuple(name for name in names if name in self.structure.latents)

    @property
    def messages(self) -> dict[str, list[FloatArray]]:
        """Messages from below."""
        return {**self.parts[0].messages, **self.parts[1].messages}


def _penalize(structure: Structure) -> float:
    return count_labellings(structure.shape(name)[-1] for name in structure.latents)


def join_tops(
    parts: tuple[TreeTop, TreeTop], new: Sequence[Variable], parents: Mapping[str, str]
) -> Structure:
    """Put the tops of two trees into one structure, with new variables and arcs between roots."""
    variables = [variable for top in parts for variable in top.structure.variables]
    families = {name: top.structure.parents(name) for top in parts for name in top.structure.names}
    return Structure([*new, *variables], {**families, **{k: (v,) for k, v in parents.items()}})


def start_from(
    context: GrowthContext, parts: tuple[TreeTop, TreeTop], structure: Structure
) -> FloatArray:
    """Make the prior of a structure with the posteriors of both tops, where shapes are the same."""
    q = pack_priors(structure, context.priors)
    for top in parts:
        same = [n for n in top.free if structure.shape(n) == top.structure.shape(n)]
        copy_families(top.structure, top.posterior, structure, q, tuple(same))
    return q


def draw_starts(
    context: GrowthContext,
    structure: Structure,
    base: FloatArray,
    root: str,
    children: Sequence[str],
) -> FloatArray:
    """Make starts that are random in the tables of a root and some children, otherwise ``base``."""
    names = (root, *children)
    few = Structure([structure.variable(name) for name in names], dict.fromkeys(children, root))
    seed = (
        context.seed + zlib.crc32("\0".join(sorted(children)).encode(errors="surrogatepass"))
    ) % (1 << 31)
    thetas = random_starts(few, context.table, context.effort.n_starts, seed)
    prior, weight = pack_priors(few, context.priors), context.data.total_weight
    starts = np.tile(base, (len(thetas), 1))
    for start, theta in zip(starts, thetas, strict=True):
        q = from_parameters(few, theta, prior, weight)
        copy_families(few, q, structure, start, names)
    return starts


def fit_candidate(
    context: GrowthContext,
    operator: str,
    parts: tuple[TreeTop, TreeTop],
    structure: Structure,
    starts: FloatArray,
) -> JoinCandidate:
    """Local VBEM."""
    messages = {**parts[0].messages, **parts[1].messages}
    masks = {**parts[0].masks, **parts[1].masks}
    free = [name for name in structure.names if name not in messages]
    forest = Forest(structure, context.data, free, messages, masks, is_variational=True)
    prior = pack_priors(structure, context.priors)
    result = fit_posterior(forest, starts, prior, context.effort.local)
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    return JoinCandidate(operator, parts, structure, result.parameters, result.objective, {})


def adopt(
    context: GrowthContext,
    candidate: JoinCandidate,
    trees: tuple[GrowingTree, GrowingTree],
    deadline: float | None = None,
) -> GrowingTree:
    """Make a tree of a candidate and the two trees, rooted where they are to be joined.

    The first one of an arc may have its root elsewhere, if the parent has no gaps.
    """
    return fit_tree(context, *join_trees(context, candidate, trees), deadline=deadline)


def join_trees(
    context: GrowthContext, candidate: JoinCandidate, trees: tuple[GrowingTree, GrowingTree]
) -> tuple[Structure, FloatArray, dict[str, str]]:
    """Return structure, posterior and lines of two trees joined by a candidate."""
    lines = {**trees[0].lines, **trees[1].lines, **candidate.lines}
    new, known = candidate.structure, {v.name: v for v in candidate.structure.variables}
    parents: dict[str, tuple[str, ...]] = {}
    for tree in trees:
        for variable in tree.structure.variables:
            known.setdefault(variable.name, variable)
        parents.update({name: tree.structure.parents(name) for name in tree.structure.names})
    parents.update({name: new.parents(name) for name in new.names if new.parents(name)})
    kept = [variable for variable in known.values() if variable.name not in lines]
    names = {variable.name for variable in kept}
    structure = Structure(kept, {name: parents.get(name, ()) for name in names})
    q = pack_priors(structure, context.priors)
    for tree in trees:
        old = tuple(name for name in tree.structure.names if name in names)
        same = [name for name in old if structure.shape(name) == tree.structure.shape(name)]
        copy_families(tree.structure, tree.posterior, structure, q, tuple(same))
    fitted = [
        name
        for name in new.names
        if name in names
        and name not in candidate.messages
        and new.parents(name) == structure.parents(name)
    ]
    copy_families(new, candidate.posterior, structure, q, tuple(fitted))
    return structure, q, lines


def rename(candidate: JoinCandidate, name: str) -> JoinCandidate:
    """Give the new latent variable a name."""
    old = candidate.structure
    names = {each: name if each == NEW else each for each in old.names}
    structure = Structure(
        [v if v.name != NEW else Variable.hidden(name, v.n_states) for v in old.variables],
        {names[each]: tuple(names[p] for p in old.parents(each)) for each in old.names},
    )
    return replace(candidate, structure=structure)
