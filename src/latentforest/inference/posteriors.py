"""Posterior distributions of chosen variables, and of pairs along edges, for every row.

After an upward pass, the way down from the root to a chosen variable is followed for all root
patterns at once, in the log domain.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import ModelError
from latentforest.inference.plan import Node
from latentforest.kernels.forest.plan import Workspace
from latentforest.kernels.layout import (
    COLUMN,
    FIRST_SLOT,
    HIDDEN,
    LEAF,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    WEIGHTS,
)
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.questions.elimination import compute_joint
from latentforest.model.structure import Structure

if TYPE_CHECKING:
    from latentforest.inference.forest import Forest

FEW = 8  # variables to which the way down is followed one by one


def compute_posteriors(forest: Forest, theta: FloatArray, names: Sequence[str]) -> list[FloatArray]:
    """Return ``P(variable | row)`` for each categorical name, ``(n_rows, n_states)`` each.

    A row of probability zero gets ``nan``.
    """
    if len(names) > FEW and set(names) <= set(forest.structure.latents):
        found = _compute_all(forest, theta)
        return [forest.data.spread([found[name]]) for name in names]
    return _compute(forest, theta, names, pairs=False)


def compute_family_posteriors(
    forest: Forest, theta: FloatArray, names: Sequence[str]
) -> list[FloatArray]:
    """Return ``P(parent, variable | row)``, ``(n_rows, n_parent_states, n_states)`` each.

    For a root it is ``P(variable | row)``.
    """
    structure = forest.structure
    found: dict[str, FloatArray] = {}
    for pairs in (False, True):
        some = [name for name in names if bool(structure.parents(name)) == pairs]
        found |= dict(zip(some, _compute(forest, theta, some, pairs), strict=True))
    return [found[name] for name in names]


def _compute(
    forest: Forest, theta: FloatArray, names: Sequence[str], pairs: bool
) -> list[FloatArray]:
    paths = [_find_path(forest, name) for name in names]
    results: list[list[FloatArray]] = [[] for _ in names]
    for b, plan in enumerate(forest.plans if names else ()):
        work = forest.take_workspace(b)
        _, doubtful = forest.judge(b, work, theta)
        for path, result in zip(paths, results, strict=True):
            descent = _Descent(forest, theta, b, work)
            values = descent.follow(path, pairs)
            first = plan.nodes[descent.record[id(path[0])] + WEIGHTS]
            here = doubtful[(doubtful >= first) & (doubtful < first + len(values))] - first
            codes = forest.data.chunks[b].store.column(path[0].mask).codes
            _repair(forest, theta, b, path, pairs, values, here)
            result.append(values[codes])
        forest.give_back(b, work)
    return [forest.data.spread(result) for result in results]


def _compute_all(forest: Forest, theta: FloatArray) -> dict[str, FloatArray]:
    """Return ``P(variable | row)`` of all latent variables, ``(n_merged_rows, n_states)`` each.

    One way down for all of them: the cost grows with their number, not with its square.
    """
    latents = forest.structure.latents
    parts: dict[str, list[FloatArray]] = {name: [] for name in latents}
    paths: dict[str, list[Node]] | None = None
    for b in range(len(forest.plans)):
        work = forest.take_workspace(b)
        _, doubtful = forest.judge(b, work, theta)
        descent = _Descent(forest, theta, b, work)
        found = descent.follow_all()
        forest.give_back(b, work)
        if len(doubtful):
            paths = paths or _find_paths(forest)
            for name in latents:
                _repair_rows(forest, theta, b, paths[name], found[name], doubtful)
        for name in latents:
            parts[name].append(found[name])
    return {name: np.concatenate(some) for name, some in parts.items()}


def _find_paths(forest: Forest) -> dict[str, list[Node]]:
    """Return the nodes of the plan from a root down to each variable that is not a leaf."""
    paths: dict[str, list[Node]] = {}
    stack = [[root] for root in forest.roots]
    while stack:
        path = stack.pop()
        if path[-1].kind == HIDDEN:
            paths[path[-1].name] = path
        stack += [[*path, child] for child in path[-1].children if child.children]
    return paths


def _repair_rows(
    forest: Forest,
    theta: FloatArray,
    b: int,
    path: list[Node],
    rows: FloatArray,
    doubtful: AnyArray,
) -> None:
    """Compute the rows of doubtful root patterns by elimination."""
    column = forest.data.chunks[b].store.column(path[0].mask)
    first = 0
    for root in forest.roots:
        if root is path[0]:
            break
        first += forest.data.chunks[b].store.column(root.mask).n_patterns
    here = doubtful[(doubtful >= first) & (doubtful < first + column.n_patterns)] - first
    if len(here):
        values = np.zeros((column.n_patterns, rows.shape[1]))
        _repair(forest, theta, b, path, False, values, here)
        is_doubtful = np.isin(column.codes, here)
        rows[is_doubtful] = values[column.codes[is_doubtful]]


def _find_path(forest: Forest, name: str) -> list[Node]:
    """Return the nodes of the plan from a root down to a variable."""
    stack = [[root] for root in forest.roots]
    while stack:
        path = stack.pop()
        if path[-1].name == name:
            return path
        stack += [[*path, child] for child in path[-1].children]
    raise ValueError(f"variable {name!r} is not in the forest")


class _Descent:
    """The way down from a root to one variable, for all root patterns of a chunk."""

    def __init__(self, forest: Forest, theta: FloatArray, b: int, work: Workspace) -> None:
        self.structure, self.theta = forest.structure, theta
        self.store = forest.data.chunks[b].store
        self.plan = forest.plans[b]
        self.buffer = work.buffer
        self.forest, self.b = forest, b
        self.record = {id(node): u * N_FIELDS for u, node in enumerate(forest.nodes)}

    def follow_all(self) -> dict[str, FloatArray]:
        """Return the posteriors of all hidden variables for each row of the chunk.

        From parent to child: P(child | row) is the sum over the parent's states of P(parent | row)
        P(child | parent, evidence below the child).
        """
        result: dict[str, FloatArray] = {}
        for root in self.forest.roots:
            if not root.name:  # continuous columns that are alone
                continue
            codes = self.store.column(root.mask, [c.mask for c in root.children]).codes
            stack = [(root, root, codes)]
            while stack:
                node, above, pattern = stack.pop()
                if node.kind == HIDDEN:
                    result[node.name] = self._follow_one(node, above, pattern, result)
                    above = node
                for slot, child in enumerate(node.children):
                    if child.children:
                        stack.append((child, above, self._links(node, slot)[pattern]))
        return result

    def _follow_one(
        self, node: Node, above: Node, pattern: AnyArray, known: dict[str, FloatArray]
    ) -> FloatArray:
        """Go from the parent's posterior to the child's."""
        n_patterns = self.plan.nodes[self.record[id(node)] + N_PATTERNS]
        log_belief = np.zeros((n_patterns, node.card))
        for slot, child in enumerate(node.children):
            log_belief += self._log_rows(child)[self._links(node, slot)]
        if node.is_root:
            return _normalize(log_belief + self.log_table(node))[pattern]
        tables = _normalize_last(log_belief[:, None, :] + self.log_table(node)[None])
        result: FloatArray = np.matmul(known[above.name][:, None, :], tables[pattern])[:, 0]
        return result

    def _links(self, node: Node, slot: int) -> AnyArray:
        """Return the pattern of a child for each pattern of a node."""
        fields = self.plan.nodes[self.record[id(node)] :][:N_FIELDS]
        start = self.plan.slot_index[fields[FIRST_SLOT] + slot]
        links: AnyArray = self.plan.links[start : start + fields[N_PATTERNS]]
        return links

    def _log_rows(self, child: Node) -> FloatArray:
        """Return the logarithms of the messages of a node, for each of its patterns."""
        fields = self.plan.nodes[self.record[id(child)] :][:N_FIELDS]
        start, n = fields[MESSAGES], fields[N_PATTERNS]
        rows = self.buffer[start : start + n * fields[COLUMN]].reshape(n, -1)
        return _log(rows[:, : child.width])

    def follow(self, path: list[Node], pairs: bool) -> FloatArray:
        """Return the posterior of the last variable (with its parent's) for each root pattern."""
        root, target = path[0], path[-1]
        pattern: AnyArray = np.arange(self.store.column(root.mask).n_patterns)
        outside = np.repeat(self.log_table(root)[None, :], len(pattern), axis=0)
        for node, child in itertools.pairwise(path):
            if node.kind == HIDDEN and not node.is_root:
                outside = _sum_out(outside[:, :, None] + self.log_table(node)[None])
            for other in node.children:
                if other is not child:
                    outside += self.log_messages(node, other, pattern)
            pattern = self.child_pattern(node, child, pattern)
        if target.is_root:
            joint = outside + self.log_belief(target, pattern)
        else:
            joint = outside[:, :, None] + self.log_table(target)[None]
            joint += self.log_belief(target, pattern)[:, None, :]
            if not pairs:
                joint = _sum_out(joint)
        return _normalize(joint)

    def log_table(self, node: Node) -> FloatArray:
        return _log(self.structure.table_view(self.theta, node.name))

    def child_pattern(self, node: Node, child: Node, pattern: AnyArray) -> AnyArray:
        if child.mask == node.mask:
            return pattern
        if not child.mask:
            return np.zeros_like(pattern)
        first = self.store.column(node.mask).first
        return self.store.column(child.mask).codes[first[pattern]]

    def log_messages(self, node: Node, child: Node, pattern: AnyArray) -> FloatArray:
        result: FloatArray = self._log_rows(child)[self.child_pattern(node, child, pattern)]
        return result

    def log_belief(self, node: Node, pattern: AnyArray) -> FloatArray:
        """Sum the logarithms of the evidence at and below a node."""
        result = np.zeros((len(pattern), node.card))
        if node.kind == LEAF:  # its patterns are its states, then the missing value
            seen = pattern < node.card
            result[seen] = -np.inf
            result[seen, pattern[seen]] = 0.0
        for child in node.children:
            result += self.log_messages(node, child, pattern)
        return result


def _repair(
    forest: Forest,
    theta: FloatArray,
    b: int,
    path: list[Node],
    pairs: bool,
    values: FloatArray,
    doubtful: AnyArray,
) -> None:
    """Compute the few rows that fast arithmetic cannot do by elimination, one by one.

    Elimination wants parameters; under potentials such rows stay as they are.
    """
    if forest.is_variational:
        return
    store, name = forest.data.chunks[b].store, path[-1].name
    column = store.column(path[0].mask)
    dataset, offset = forest.data.dataset, forest.data.first_row(b)
    structure = forest.structure
    targets = [*structure.parents(name), name] if pairs else [name]
    for p in doubtful:
        rows = np.flatnonzero(column.codes == p)
        if len(rows) == 0:  # a state that no row has
            continue
        row = offset + int(rows[0])
        values[p] = _eliminate(structure, theta, dataset, row, targets, values.shape[1:])


def _eliminate(
    structure: Structure,
    theta: FloatArray,
    dataset: Dataset,
    row: int,
    targets: list[str],
    shape: tuple[int, ...],
) -> FloatArray:
    found = {name: dataset.column(name)[row].item() for name in structure.observed}
    evidence = {
        name: value
        for name, value in found.items()
        if (value == value if name in structure.continuous else value >= 0)
    }
    asked = tuple(name for name in targets if name not in evidence)
    result = np.zeros(shape)
    place = tuple(evidence.get(name, slice(None)) for name in targets)
    try:
        result[place] = compute_joint(structure, theta, asked, evidence)
    except ModelError:  # the row has probability zero
        result[...] = np.nan
    return result


def _log(values: FloatArray) -> FloatArray:
    """Logarithm, with -inf for zero."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def _sum_out(joint: FloatArray) -> FloatArray:
    """Sum log values over the parent's axis."""
    largest = joint.max(axis=1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return _log(np.exp(joint - largest).sum(axis=1)) + largest[:, 0]


def _normalize_last(joint: FloatArray) -> FloatArray:
    """Turn log values into distributions along the last axis; without any, uniform ones."""
    largest = joint.max(axis=-1, keepdims=True)
    is_possible = np.isfinite(largest)
    values: FloatArray = np.exp(np.where(is_possible, joint - np.where(is_possible, largest, 0), 0))
    values /= values.sum(axis=-1, keepdims=True)
    return values


def _normalize(joint: FloatArray) -> FloatArray:
    flat = joint.reshape(len(joint), -1)
    largest = flat.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        values: FloatArray = np.exp(flat - largest)
    values /= values.sum(axis=1, keepdims=True)
    return values.reshape(joint.shape)
