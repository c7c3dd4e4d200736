"""A tree of a growing forest, with the posterior of its parameters.

The bound of a forest is the sum of the bounds of its trees. A candidate joins two trees, so nothing
else needs to be looked at.

What a candidate may change of a tree, its *top*, are the tables of the root and its children. What
is below these is reduced to messages to the children, computed once. An observed variable without
gaps separates what is below it from what is above: a root like that is a top by itself. So is an
observed root without children.

A continuous variable with a continuous parent is not part of the structure that messages are
passed in: the parent has no gaps, so its posterior is known in closed form (``lines``).

A tree may be rooted at any variable that is connected with the root by arcs between observed
variables of one kind without gaps (its *possible roots*). This turns arcs around and changes a few
families that are known in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.bayes.posterior_vector import (
    copy_families,
    pack,
    pack_priors,
    write_family,
)
from latentforest.estimation.bayes.variational import (
    find_divergence,
    find_potentials,
    fit_posterior,
)
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.incremental.context import GrowthContext


@dataclass(frozen=True, eq=False)
class TreeTop:
    """The root of a tree, its children, and the messages to these from below.

    Attributes
    ----------
    bound
        Its share of the tree's bound, up to the factors that messages leave out.
    messages, masks
        Of the frozen variables to their parents; the columns below them.
    """

    root: str
    structure: Structure
    posterior: FloatArray
    bound: float
    messages: Mapping[str, list[FloatArray]] = field(default_factory=dict)
    masks: Mapping[str, Mask] = field(default_factory=dict)

    @property
    def variable(self) -> Variable:
        """The root."""
        return self.structure.variable(self.root)

    @property
    def is_bare(self) -> bool:
        """Whether it is an observed variable that stands for itself."""
        return len(self.structure) == 1

    @property
    def free(self) -> tuple[str, ...]:
        """Variables whose tables a candidate may change."""
        return tuple(name for name in self.structure.names if name not in self.messages)


@dataclass(frozen=True, eq=False)
class GrowingTree:
    """One tree.

    Attributes
    ----------
    structure, posterior
        What messages are passed in.
    lines
        Continuous variables with continuous parents, and these.
    bound
        Evidence lower bound of all its columns.
    """

    root: str
    structure: Structure
    posterior: FloatArray
    lines: Mapping[str, str]
    bound: float
    top: TreeTop

    @property
    def score(self) -> float:
        """The bound less log K! for each latent variable of K states."""
        structure = self.structure
        return self.bound - count_labellings(structure.shape(n)[-1] for n in structure.latents)

    @property
    def names(self) -> tuple[str, ...]:
        """All variables."""
        return (*self.structure.names, *self.lines)

    def parent(self, name: str) -> str | None:
        """Parent of a variable."""
        if name in self.lines:
            return self.lines[name]
        return next(iter(self.structure.parents(name)), None)


def count_labellings(cards: Iterable[int]) -> float:
    """Logarithm of the number of ways to name the states of latent variables with so many."""
    return sum(math.lgamma(card + 1.0) for card in cards)


def make_bare_top(context: GrowthContext, name: str) -> TreeTop:
    """Make the top of a column that stands for itself."""
    structure = Structure([context.table.variable(name)], {})
    family, evidence = context.alone(name)
    return TreeTop(name, structure, pack(structure, {name: family}), evidence)


def make_single_tree(context: GrowthContext, name: str) -> GrowingTree:
    """Make the tree of a column alone."""
    top = make_bare_top(context, name)
    return GrowingTree(name, top.structure, top.posterior, {}, top.bound, top)


def fit_tree(
    context: GrowthContext,
    structure: Structure,
    posterior: FloatArray,
    lines: Mapping[str, str],
    settings: EMSettings | None = None,
    deadline: float | None = None,
) -> GrowingTree:
    """Make a tree of its structure: VBEM on all of it, its bound, and its top.

    Parameters
    ----------
    context
        The table and the priors.
    structure, posterior
        One tree, with what VBEM starts from.
    lines
        Continuous variables with continuous parents.
    settings
        Of VBEM; by default as after a step.
    deadline
        When to stop.
    """
    (root,) = structure.roots
    evidence = sum(context.given(name, parent)[1] for name, parent in lines.items())
    if len(structure) == 1:
        top = make_bare_top(context, root)
        return GrowingTree(root, structure, top.posterior, lines, top.bound + evidence, top)
    prior = pack_priors(structure, context.priors)
    forest = Forest(structure, context.data, is_variational=True)
    settings = context.effort.step if settings is None else settings
    result = fit_posterior(forest, posterior, prior, settings, deadline=deadline)
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    bound = result.objective + evidence
    if root in context.complete:
        top = make_bare_top(context, root)
    else:
        top = _cut_top(context, forest, root, result.parameters)
    return GrowingTree(root, structure, result.parameters, lines, bound, top)


def compute_root_posterior(context: GrowthContext, tree: GrowingTree) -> FloatArray:
    """Return the posterior of a latent root in every row; uniform where it is not known."""
    forest = Forest(tree.structure, context.data, is_variational=True)
    potentials = find_potentials(forest, tree.posterior)
    (posterior,) = forest.posteriors(potentials, [tree.root])
    return np.asarray(np.nan_to_num(posterior, nan=1.0 / posterior.shape[1]))


def _cut_top(context: GrowthContext, forest: Forest, root: str, posterior: FloatArray) -> TreeTop:
    """Keep the root, its children and the messages of their children."""
    whole = forest.structure
    below = [g for c in whole.children(root) for g in whole.children(c)]
    frozen = [name for name in below if name not in whole.continuous]
    messages = forest.messages(find_potentials(forest, posterior), frozen)
    masks = _find_masks(whole, context.data, frozen)
    names = {root, *whole.children(root), *frozen}
    for name in whole.order:  # lines stay whole
        if name in whole.continuous and set(whole.parents(name)) & (names - set(frozen)):
            names.add(name)
    structure = Structure(
        [variable for variable in whole.variables if variable.name in names],
        {name: whole.parents(name) for name in names},
    )
    prior = pack_priors(structure, context.priors)
    q, free = prior.copy(), tuple(name for name in structure.names if name not in messages)
    copy_families(whole, posterior, structure, q, free)
    here = Forest(structure, context.data, free, messages, masks, is_variational=True)
    value, _ = here.log_likelihood(find_potentials(here, q))
    bound = value - find_divergence(here, prior, q, free)
    return TreeTop(root, structure, q, bound, messages, masks)


def _find_masks(structure: Structure, data: PatternedData, names: list[str]) -> dict[str, Mask]:
    """Columns at and below some variables."""
    masks: dict[str, Mask] = {}
    for name in reversed(structure.order):
        masks[name] = data.bits[name] if name in structure.observed else 0
        for child in structure.children(name):
            masks[name] |= masks[child]
    return {name: masks[name] for name in names}


def find_possible_roots(context: GrowthContext, tree: GrowingTree) -> dict[str, float]:
    """List where a tree may be rooted, with what that changes of its bound."""
    possible_roots = {tree.root: 0.0}
    if tree.root not in context.complete:
        return possible_roots
    is_categorical = context.is_categorical(tree.root)
    if not is_categorical and len(tree.structure) > 1:  # there are gaps along its lines
        return possible_roots
    for name in (*tree.structure.order, *_sort_lines(tree)):
        parent = tree.parent(name)
        if parent not in possible_roots or name not in context.complete:
            continue
        if context.is_categorical(name) == is_categorical:
            turned = context.alone(name)[1] + context.given(parent, name)[1]
            straight = context.alone(parent)[1] + context.given(name, parent)[1]
            possible_roots[name] = possible_roots[parent] + turned - straight
    return possible_roots


def _sort_lines(tree: GrowingTree) -> list[str]:
    """Continuous variables with continuous parents, parents first."""
    order, waiting = [], dict(tree.lines)
    while waiting:
        ready = [name for name, parent in waiting.items() if parent not in waiting]
        order += ready
        for name in ready:
            del waiting[name]
    return order


def reroot(context: GrowthContext, tree: GrowingTree, new_root: str) -> GrowingTree:
    """Root a tree at one of its possible roots."""
    path = [new_root]
    while path[-1] != tree.root:
        parent = tree.parent(path[-1])
        assert parent is not None  # for the type checker: only the root has none
        path.append(parent)
    if len(path) == 1:
        return tree
    top = make_bare_top(context, new_root)
    bound = tree.bound + find_possible_roots(context, tree)[new_root]
    if not context.is_categorical(new_root):
        lines = {name: parent for name, parent in tree.lines.items() if name not in path}
        lines.update(zip(path[1:], path[:-1], strict=True))
        return GrowingTree(new_root, top.structure, top.posterior, lines, bound, top)
    changes = {name: (parent,) for name, parent in zip(path[1:], path[:-1], strict=True)}
    structure = tree.structure.rewired({**changes, new_root: ()})
    q = pack_priors(structure, context.priors)
    same = tuple(name for name in structure.names if name not in path)
    copy_families(tree.structure, tree.posterior, structure, q, same)
    structure.table_view(q, new_root)[...] = top.posterior
    for name, parent in zip(path[1:], path[:-1], strict=True):
        put_family(context, structure, q, name, parent)
    return GrowingTree(new_root, structure, q, tree.lines, bound, top)


def put_family(
    context: GrowthContext, structure: Structure, q: FloatArray, name: str, parent: str
) -> None:
    """Write the posterior of a column given another one that has no gaps."""
    write_family(structure, q, name, context.given(name, parent)[0])
