"""From a forest and pattern columns to the flat arrays of the kernel.

The only place that knows both the names of variables and the layout of the kernels' arrays.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from latentforest.inference.blocks import (
    GaussianBlock,
    count_sums,
    find_blocks,
    list_gaps,
    list_scales,
    list_tasks,
)
from latentforest.inference.columns import ColumnSummary
from latentforest.inference.patterns import Grouping, Mask, PatternColumn, PatternStore
from latentforest.kernels import layout as P
from latentforest.kernels.forest.layout import FREE_FACT, N_FACTS, PATTERNS_FACT, lay_out_forest
from latentforest.kernels.forest.plan import Plan
from latentforest.kernels.forest.propagation import make_steps
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.types import FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES
from latentforest.model.structure import Structure


@dataclass(eq=False)
class Node:
    """A node of the plan before it is laid out in arrays."""

    kind: int
    card: int
    width: int
    mask: Mask  # observed variables at and below the node
    name: str = ""  # empty for a product node
    children: list[Node] = field(default_factory=list)
    is_root: bool = False
    columns: tuple[str, ...] = ()  # of a Gaussian node or a block
    parts: tuple[Mask, ...] = ()  # and their masks
    block: GaussianBlock | None = None
    laid: Laid | None = None


MOST_BELOW = 256  # nodes that a node keeps lists of


class Below(NamedTuple):
    """All that is below a node, or the nodes of whole trees: parents before children.

    ``facts`` are those of each node that `layout.lay_out_forest` wants. ``links`` are the patterns
    of each child in those of its parent.
    """

    nodes: list[Node]
    names: list[str]
    facts: list[LongArray]
    links: list[IntArray]


class Laid(NamedTuple):
    """A node over a chunk of rows: its patterns, facts and links, and what is below it.

    The last is not kept by product nodes, nor if it is much.
    """

    store: PatternStore
    column: PatternColumn
    facts: LongArray
    links: list[IntArray]
    n_below: int
    below: Below | None


GroupChildren = Callable[[tuple[Mask, ...]], Grouping]
Summarize = Callable[[str], ColumnSummary]
# Inner nodes by what they are made of: the candidates of a search have most subtrees in common.
KnownNodes = dict[tuple[object, ...], Node]


def draw_forest(
    structure: Structure,
    bits: Mapping[str, Mask],
    group: GroupChildren,
    dense: Collection[str] = (),
    known: KnownNodes | None = None,
) -> list[Node]:
    """Make the nodes of every tree: hidden, leaf, dense, Gaussian, block and product nodes.

    The continuous children of a variable are one node, but for those that depend on other
    continuous variables, which are blocks. Nodes of variables without a parent are each below a
    root of a single state; these come last.

    Parameters
    ----------
    structure
        A forest.
    bits
        Mask of the column of each observed variable.
    group
        Groups the masks of a node's children.
    dense
        Variables whose subtree is replaced by its messages.
    known
        Nodes of other forests over the same table; new ones are added.
    """
    known = {} if known is None else known
    shapes, children_of = structure.shapes, structure.all_children
    continuous = {name: bits[name] for name in structure.continuous}
    blocks = find_blocks(structure) if continuous else ()
    reached = _reach(structure, dense) if dense else structure.order
    drawn: dict[str, Node] = {}
    key: tuple[object, ...]
    for name in reversed(reached):
        if name in continuous:
            continue
        shape, below, own = shapes[name], children_of[name], bits.get(name, 0)
        card, is_root = shape[-1], len(shape) == 1
        if name in dense:
            drawn[name] = Node(P.DENSE, card, shape[0], _find_mask(structure, name, bits), name)
        elif own and not is_root and not below:
            key = (name, shape)
            drawn[name] = known.get(key) or known.setdefault(
                key, Node(P.LEAF, card, shape[0], own, name)
            )
        else:
            children = [drawn[child] for child in below if child in drawn]
            # A node in the dictionary keeps its children, so that nothing else has their ids.
            key = (name, shape, *map(id, children))
            measures: list[str] = []
            if continuous:
                measures = [child for child in below if child in continuous]
                key = (*key, *measures, *(block for block in blocks if block.parent == name))
            node = known.get(key)
            if node is None:
                children += _draw_gaussians(measures, card, continuous, blocks)
                children += _draw_blocks(name, card, continuous, blocks)
                if own:
                    children.append(Node(P.DENSE, card, card, own))
                if not children:
                    children.append(Node(P.DENSE, card, card, 0))
                mask = _union(child.mask for child in children)
                children = _gather(children, card, group)
                node = Node(P.HIDDEN, card, shape[0], mask, name, children, is_root)
                known[key] = node
            drawn[name] = node
    alone = _draw_gaussians(structure.roots, 1, continuous, blocks)
    alone += _draw_blocks(None, 1, continuous, blocks)
    roots = [drawn[root] for root in structure.roots if root in drawn]
    return roots + [Node(P.HIDDEN, 1, 1, n.mask, children=[n], is_root=True) for n in alone]


def _draw_gaussians(
    names: Iterable[str],
    width: int,
    continuous: Mapping[str, Mask],
    blocks: Sequence[GaussianBlock],
) -> list[Node]:
    """Make a node of the continuous variables outside blocks among some names."""
    inside = {name for block in blocks for name in block.names}
    columns = tuple(name for name in names if name in continuous and name not in inside)
    return [_draw(P.GAUSSIAN, columns, width, continuous)] if columns else []


def _draw_blocks(
    parent: str | None,
    width: int,
    continuous: Mapping[str, Mask],
    blocks: Sequence[GaussianBlock],
) -> list[Node]:
    """Make nodes of the blocks below a variable."""
    here = [block for block in blocks if block.parent == parent]
    return [_draw(P.BLOCK, block.names, width, continuous, block) for block in here]


def _draw(
    kind: int,
    columns: tuple[str, ...],
    width: int,
    continuous: Mapping[str, Mask],
    block: GaussianBlock | None = None,
) -> Node:
    parts = tuple(continuous[name] for name in columns)
    return Node(kind, len(columns), width, _union(parts), columns=columns, parts=parts, block=block)


def _union(masks: Iterable[Mask]) -> Mask:
    return functools.reduce(operator.or_, masks, 0)


def _find_mask(structure: Structure, name: str, bits: Mapping[str, Mask]) -> Mask:
    """Return the observed variables at and below a variable."""
    mask, stack = 0, [name]
    while stack:
        here = stack.pop()
        mask |= bits.get(here, 0)
        stack += structure.children(here)
    return mask


def _reach(structure: Structure, dense: Collection[str]) -> list[str]:
    """List the variables that are not below a dense one, parents first."""
    below: set[str] = set()
    reached = []
    for name in structure.order:
        parents = structure.parents(name)
        if parents and (parents[0] in dense or parents[0] in below):
            below.add(name)
        else:
            reached.append(name)
    return reached


def _gather(children: list[Node], card: int, group: GroupChildren) -> list[Node]:
    """Put product nodes between a node and its children."""
    by_mask = {child.mask: child for child in children if child.mask}
    if len(by_mask) <= 2:
        return children
    grouping = group(tuple(by_mask))
    for left, right in grouping.merges:
        pair = [by_mask[left], by_mask[right]]
        by_mask[left | right] = Node(P.PRODUCT, card, card, left | right, children=pair)
    without_data = [child for child in children if not child.mask]
    return [by_mask[mask] for mask in grouping.tops] + without_data


def lay_trees(roots: Sequence[Node], store: PatternStore) -> Below:
    """Find the patterns of all nodes of some trees."""
    done: dict[int, Laid] = {}
    for root in roots:
        _lay_tree(root, store, done)
    return _gather_nodes(roots, done)


def _lay_tree(root: Node, store: PatternStore, done: dict[int, Laid]) -> None:
    """Find the patterns of a tree; nodes remember what was found last."""
    stack = [root]
    while stack:
        node = stack[-1]
        laid = node.laid
        if laid is None or laid.store is not store or (laid.below is None and node.children):
            waiting = [child for child in node.children if id(child) not in done]
            if waiting:
                stack += waiting
                continue
            if laid is None or laid.store is not store:
                laid = node.laid = _lay_node(node, done, store)
        done[id(stack.pop())] = laid


def _lay_node(node: Node, done: Mapping[int, Laid], store: PatternStore) -> Laid:
    """Find the patterns of a node whose children are done."""
    parts = [(child.mask, done[id(child)].column) for child in node.children]
    same = [column for mask, column in parts if mask == node.mask]
    column = same[0] if same else store.column(node.mask, [mask for mask, _ in parts])
    is_free, degree = _is_free(node, None), len(parts)
    facts = [node.kind, node.card, node.width, node.is_root, is_free, degree, column.n_patterns]
    links = [_pattern_in(column, node.mask, *part) for part in parts]
    n_below, below = sum(1 + done[id(child)].n_below for child in node.children), None
    if node.kind != P.PRODUCT and n_below <= MOST_BELOW:
        below = _gather_nodes(node.children, done)
        below = below._replace(facts=[np.concatenate(below.facts)] if below.facts else [])
    return Laid(store, column, np.array(facts, np.int64), links, n_below, below)


def _gather_nodes(tops: Sequence[Node], done: Mapping[int, Laid]) -> Below:
    """List some nodes and all below them."""
    nodes, names = list[Node](), list[str]()
    facts, links = list[LongArray](), list[IntArray]()
    stack = list(reversed(tops))
    while stack:
        node = stack.pop()
        laid = done[id(node)]
        nodes.append(node)
        names.append(node.name)
        facts.append(laid.facts)
        links += laid.links
        if laid.below is None:
            stack += reversed(node.children)
        else:
            nodes += laid.below.nodes
            names += laid.below.names
            facts += laid.below.facts
            links += laid.below.links
    return Below(nodes, names, facts, links)


def _pattern_in(column: PatternColumn, mask: Mask, part: Mask, below: PatternColumn) -> IntArray:
    """Return the pattern of a part for each pattern of the whole."""
    if part == mask:
        return np.arange(column.n_patterns, dtype=np.int32)
    if not part:
        return np.zeros(column.n_patterns, np.int32)
    return below.codes[column.first]


def build_plan(
    structure: Structure,
    laid: Below,
    store: PatternStore,
    weights: FloatArray,
    free: Collection[str] | None = None,
    dense: Mapping[str, FloatArray] | None = None,
    summarize: Summarize | None = None,
    is_variational: bool = False,
) -> Plan:
    """Lay the nodes out in arrays, with the patterns of one chunk of rows.

    Parameters
    ----------
    structure
        Gives the place of each table in the flat parameter vector.
    laid
        From ``lay_trees``, for the same chunk.
    store
        Pattern columns of the chunk.
    weights
        Weights of the chunk's rows.
    free
        Variables whose tables are estimated; default all.
    dense
        Messages of the subtrees that ``draw_forest`` replaced, ``(n_patterns, n_states of
        the parent)`` each.
    summarize
        Describes a continuous column; needed for blocks.
    is_variational
        Whether Gaussian leaves and blocks take potentials of a posterior instead of parameters.
    """
    facts = np.concatenate(laid.facts).reshape(-1, N_FACTS)
    if free is not None:
        facts[:, FREE_FACT] = [_is_free(node, free) for node in laid.nodes]
    fields, child, place, sizes = lay_out_forest(facts, _find_parameters(structure, laid))
    pattern_weights = [
        _weigh_patterns(store.column(node.mask), weights) for node in laid.nodes if node.is_root
    ]
    evidence, steps = _join_evidence(laid.nodes, facts, dense or {}), make_steps()
    if structure.continuous:
        further = _add_continuous(
            structure, laid, store, weights, free, summarize, fields, steps, evidence, len(child)
        )
        child, place = (np.concatenate(both) for both in zip((child, place), further, strict=True))
    if is_variational:
        _expect_potentials(steps)
    return Plan(
        fields,
        child,
        place,
        _concatenate(laid.links, np.int32),
        _concatenate(pattern_weights, np.float64),
        _concatenate(evidence, np.float64),
        sizes,
        steps,
    )


def _add_continuous(
    structure: Structure,
    laid: Below,
    store: PatternStore,
    weights: FloatArray,
    free: Collection[str] | None,
    summarize: Summarize | None,
    fields: LongArray,
    steps: LongArray,
    evidence: list[FloatArray],
    n_slots: int,
) -> tuple[LongArray, LongArray]:
    """Complete a plan by its Gaussian nodes and blocks.

    Returns what follows the slots: places of tables, then tasks of blocks; places of sums.
    """
    _place_measures(fields, steps, sum(map(len, evidence)))
    evidence += _join_measures(laid.nodes, store, weights)
    tables, sums = _place_columns(structure, laid.nodes)
    tasks: list[int] = []
    for node, record in zip(laid.nodes, fields.reshape(-1, P.N_FIELDS), strict=True):
        if node.block is not None and summarize is not None:
            record[P.PARAMETERS] = n_slots + len(tables) + len(tasks)
            record[P.WEIGHTS] = sum(map(len, evidence))
            about = [summarize(name) for name in node.columns]
            entries, data = _describe_block(
                structure, node, store, weights, free, about, record[P.WEIGHTS]
            )
            tasks += entries
            evidence += data
    if tasks:
        from latentforest.kernels.gaussian import block_steps  # compiles, so only when needed

        steps[P.FILL_BLOCKS] = block_steps.FILL_ADDRESS
        steps[P.COLLECT_BLOCKS] = block_steps.COLLECT_ADDRESS
    return np.concatenate([tables, _integers(tasks)]), sums


def _expect_potentials(steps: LongArray) -> None:
    """Let Gaussian leaves and blocks take potentials of a posterior instead of parameters."""
    if steps[P.FILL_LEAVES]:
        from latentforest.kernels.variational import leaf_steps  # compiles, so only when needed

        steps[P.FILL_LEAVES] = leaf_steps.FILL_ADDRESS
    if steps[P.FILL_BLOCKS]:
        from latentforest.kernels.variational import block_steps

        steps[P.FILL_BLOCKS] = block_steps.FILL_ADDRESS


def _describe_block(
    structure: Structure,
    node: Node,
    store: PatternStore,
    w: FloatArray,
    free: Collection[str] | None,
    about: Sequence[ColumnSummary],
    place: int,
) -> tuple[list[int], list[FloatArray]]:
    """Tasks of a block; weights of its patterns, scales and scaled values, to lie at a place."""
    assert node.block is not None  # for the type checker
    tasks = list_tasks(structure, node.block, place_sums(structure)[0][node.columns[0]], free)
    weights, scales = _weigh_patterns(store.column(node.mask), w), list_scales(about)
    means, deviations = scales.reshape(2, -1)
    values = (store.values(node.mask, node.parts) - means) / deviations
    (n_gaps, *gaps), data = list_gaps(values, place + len(weights) + len(scales))
    tasks[P.N_GAPS], tasks[P.GAPS] = n_gaps, len(tasks)
    return tasks + gaps, [weights, scales, *data]


def _find_parameters(structure: Structure, laid: Below) -> LongArray:
    """Place of each node's table; of a Gaussian node the entry of its first column."""
    places = structure.offsets
    if not structure.continuous:
        return np.array([places.get(name, 0) for name in laid.names], np.int64)
    entry = len(laid.links)
    result = []
    for node in laid.nodes:
        if node.kind == P.GAUSSIAN:
            result.append(entry)
            entry += len(node.columns)
        else:
            result.append(places.get(node.name, -1 if node.is_root else 0))
    return np.array(result, np.int64)


def place_sums(
    structure: Structure, blocks: Sequence[GaussianBlock] | None = None
) -> tuple[dict[str, int], int]:
    """Say where the sums of each Gaussian lie in the vector of counts, and how long that is.

    They follow the counts of the tables: three for each state of the parent. All variables of
    a block have the place of the block's sums. By default, blocks are those of a forest.
    """
    places: dict[str, int] = {}
    taken = structure.n_values
    if blocks is None:
        blocks = find_blocks(structure) if structure.continuous else ()
    for block in blocks:
        places.update(dict.fromkeys(block.own, taken))
        taken += count_sums(structure, block)
    for name in structure.continuous:
        if name not in places:
            places[name] = taken
            taken += N_ROWS * math.prod(structure.shape(name)[:-1])
    return places, taken


def _place_columns(structure: Structure, nodes: list[Node]) -> tuple[LongArray, LongArray]:
    """Say where the tables and the sums of the Gaussian columns lie."""
    sums, _ = place_sums(structure)
    names = [name for node in nodes if node.kind == P.GAUSSIAN for name in node.columns]
    return _integers(map(structure.offset, names)), _integers(sums[name] for name in names)


def _place_measures(fields: LongArray, steps: LongArray, taken: int) -> None:
    """Give the data of each Gaussian node its place behind so much other evidence."""
    for record in fields.reshape(-1, P.N_FIELDS):
        if record[P.KIND] == P.GAUSSIAN:
            from latentforest.kernels.gaussian import leaf_steps  # compiles, so only when needed

            steps[P.FILL_LEAVES] = leaf_steps.FILL_ADDRESS
            steps[P.COLLECT_LEAVES] = leaf_steps.COLLECT_ADDRESS
            record[P.WEIGHTS] = taken
            taken += record[P.N_PATTERNS] * (1 + record[P.CARD])


def _join_measures(nodes: list[Node], store: PatternStore, w: FloatArray) -> list[FloatArray]:
    """Weights and values of the patterns of the Gaussian nodes."""
    parts: list[FloatArray] = []
    for node in nodes:
        if node.kind == P.GAUSSIAN:
            values = store.values(node.mask, node.parts)
            parts += [_weigh_patterns(store.column(node.mask), w), values.ravel()]
    return parts


def _integers(values: Iterable[int]) -> LongArray:
    return np.fromiter(values, np.int64)


def _is_free(node: Node, free: Collection[str] | None) -> bool:
    if node.columns:
        return free is None or any(name in free for name in node.columns)
    return bool(node.name) and node.kind != P.DENSE and (free is None or node.name in free)


def _weigh_patterns(column: PatternColumn, weights: FloatArray) -> FloatArray:
    """Sum the weights of the rows with each pattern."""
    sums = np.bincount(column.codes, weights=weights, minlength=column.n_patterns)
    return sums.astype(np.float64, copy=False)


def _concatenate(parts: list[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.zeros(0, kind)


def _indicators(node: Node, n_patterns: int) -> FloatArray:
    """Messages of a variable's own value: one for the state it has, ones if it is missing.

    A node without anything below it gets the ones too.
    """
    rows = np.ones((n_patterns, node.width))
    if node.mask:
        rows[: node.width] = np.eye(node.width)
    return rows


def _join_evidence(
    nodes: list[Node], facts: LongArray, dense: Mapping[str, FloatArray]
) -> list[FloatArray]:
    """Messages of the dense nodes."""
    parts = []
    for u in np.flatnonzero(facts[:, P.KIND] == P.DENSE):
        node, n_patterns = nodes[u], facts[u, PATTERNS_FACT]
        rows = np.zeros((n_patterns, -(-node.width // LANES) * LANES))
        rows[:, : node.width] = dense[node.name] if node.name else _indicators(node, n_patterns)
        parts.append(rows.ravel())
    return parts
