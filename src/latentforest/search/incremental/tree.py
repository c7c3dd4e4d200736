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
variables of one kind without gaps (its *ports*). This turns arcs around and changes a few families
that are known in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.estimation.posterior_vector import (
    copy_families,
    pack,
    pack_priors,
    write_family,
)
from latentforest.estimation.variational import find_divergence, find_potentials, fit_posterior
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.incremental.bench import Bench


@dataclass(frozen=True, eq=False)
class Top:
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
class Tree:
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
    top: Top

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


def make_bare_top(bench: Bench, name: str) -> Top:
    """Make the top of a column that stands for itself."""
    structure = Structure([bench.table.variable(name)], {})
    family, evidence = bench.alone(name)
    return Top(name, structure, pack(structure, {name: family}), evidence)


def plant(bench: Bench, name: str) -> Tree:
    """Make the tree of a column alone."""
    top = make_bare_top(bench, name)
    return Tree(name, top.structure, top.posterior, {}, top.bound, top)


def raise_tree(
    bench: Bench,
    structure: Structure,
    posterior: FloatArray,
    lines: Mapping[str, str],
    settings: EMSettings | None = None,
    deadline: float | None = None,
) -> Tree:
    """Make a tree of its structure: VBEM on all of it, its bound, and its top.

    Parameters
    ----------
    bench
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
    evidence = sum(bench.given(name, parent)[1] for name, parent in lines.items())
    if len(structure) == 1:
        top = make_bare_top(bench, root)
        return Tree(root, structure, top.posterior, lines, top.bound + evidence, top)
    prior = pack_priors(structure, bench.priors)
    forest = Forest(structure, bench.data)
    settings = bench.effort.step if settings is None else settings
    result = fit_posterior(forest, posterior, prior, settings, deadline=deadline)
    if result.monitor.was_interrupted:
        raise KeyboardInterrupt
    bound = result.objective + evidence
    if root in bench.complete:
        top = make_bare_top(bench, root)
    else:
        top = _cut_top(bench, forest, root, result.parameters)
    return Tree(root, structure, result.parameters, lines, bound, top)


def _cut_top(bench: Bench, forest: Forest, root: str, posterior: FloatArray) -> Top:
    """Keep the root, its children and the messages of their children."""
    whole = forest.structure
    below = [g for c in whole.children(root) for g in whole.children(c)]
    frozen = [name for name in below if name not in whole.continuous]
    messages = forest.messages(find_potentials(forest, posterior), frozen)
    masks = _find_masks(whole, bench.data, frozen)
    names = {root, *whole.children(root), *frozen}
    for name in whole.order:  # lines stay whole
        if name in whole.continuous and set(whole.parents(name)) & (names - set(frozen)):
            names.add(name)
    structure = Structure(
        [variable for variable in whole.variables if variable.name in names],
        {name: whole.parents(name) for name in names},
    )
    prior = pack_priors(structure, bench.priors)
    q, free = prior.copy(), tuple(name for name in structure.names if name not in messages)
    copy_families(whole, posterior, structure, q, free)
    here = Forest(structure, bench.data, free, messages, masks)
    value, _ = here.log_likelihood(find_potentials(here, q))
    bound = value - find_divergence(here, prior, q, free)
    return Top(root, structure, q, bound, messages, masks)


def _find_masks(structure: Structure, data: PatternedData, names: list[str]) -> dict[str, Mask]:
    """Columns at and below some variables."""
    masks: dict[str, Mask] = {}
    for name in reversed(structure.order):
        masks[name] = data.bits[name] if name in structure.observed else 0
        for child in structure.children(name):
            masks[name] |= masks[child]
    return {name: masks[name] for name in names}


def find_ports(bench: Bench, tree: Tree) -> dict[str, float]:
    """List where a tree may be rooted, with what that changes of its bound."""
    ports = {tree.root: 0.0}
    if tree.root not in bench.complete:
        return ports
    is_categorical = bench.is_categorical(tree.root)
    if not is_categorical and len(tree.structure) > 1:  # there are gaps along its lines
        return ports
    for name in (*tree.structure.order, *_sort_lines(tree)):
        parent = tree.parent(name)
        if parent not in ports or name not in bench.complete:
            continue
        if bench.is_categorical(name) == is_categorical:
            turned = bench.alone(name)[1] + bench.given(parent, name)[1]
            straight = bench.alone(parent)[1] + bench.given(name, parent)[1]
            ports[name] = ports[parent] + turned - straight
    return ports


def _sort_lines(tree: Tree) -> list[str]:
    """Continuous variables with continuous parents, parents first."""
    order, waiting = [], dict(tree.lines)
    while waiting:
        ready = [name for name, parent in waiting.items() if parent not in waiting]
        order += ready
        for name in ready:
            del waiting[name]
    return order


def reroot(bench: Bench, tree: Tree, port: str) -> Tree:
    """Root a tree at one of its ports."""
    path = [port]
    while path[-1] != tree.root:
        parent = tree.parent(path[-1])
        assert parent is not None  # for the type checker: only the root has none
        path.append(parent)
    if len(path) == 1:
        return tree
    top, bound = make_bare_top(bench, port), tree.bound + find_ports(bench, tree)[port]
    if not bench.is_categorical(port):
        lines = {name: parent for name, parent in tree.lines.items() if name not in path}
        lines.update(zip(path[1:], path[:-1], strict=True))
        return Tree(port, top.structure, top.posterior, lines, bound, top)
    changes = {name: (parent,) for name, parent in zip(path[1:], path[:-1], strict=True)}
    structure = tree.structure.rewired({**changes, port: ()})
    q = pack_priors(structure, bench.priors)
    same = tuple(name for name in structure.names if name not in path)
    copy_families(tree.structure, tree.posterior, structure, q, same)
    structure.table_view(q, port)[...] = top.posterior
    for name, parent in zip(path[1:], path[:-1], strict=True):
        put_family(bench, structure, q, name, parent)
    return Tree(port, structure, q, tree.lines, bound, top)


def put_family(bench: Bench, structure: Structure, q: FloatArray, name: str, parent: str) -> None:
    """Write the posterior of a column given another one that has no gaps."""
    write_family(structure, q, name, bench.given(name, parent)[0])
