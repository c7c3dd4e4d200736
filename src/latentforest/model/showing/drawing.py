"""Pictures of a network: as text, and in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from latentforest.model.questions.marginals import compute_marginals
from latentforest.model.structure import Structure
from latentforest.visible import make_label

Floats = NDArray[np.float64]

WIDTH = 88
# Narrowest column in which leaves are still listed, however deep the tree.
MIN_WIDTH = 30
# Latent variables with more states show only the probabilities of the first ones.
MAX_SHOWN = 8


def draw_text(structure: Structure, parameters: Floats) -> str:
    """Draw a forest with box characters, or list the parents of each variable of a network."""
    probabilities = compute_marginals(structure, parameters, structure.latents)
    labels = {name: _label(structure, name, probabilities) for name in structure.names}
    lines = _draw_forest if structure.is_forest else _list_families
    return "\n".join(lines(structure, labels))


def _label(structure: Structure, name: str, probabilities: Mapping[str, Floats]) -> str:
    n_states = structure.shape(name)[-1]
    if name in structure.continuous:
        return f"{make_label(name)} (continuous)"
    if name not in probabilities:
        return f"{make_label(name)} ({n_states})"
    shown = [f"{value:.2f}" for value in probabilities[name][:MAX_SHOWN]]
    if n_states > MAX_SHOWN:
        shown.append("…")
    plural = "s" if n_states > 1 else ""
    return f"{make_label(name)} (latent, {n_states} state{plural}: {' '.join(shown)})"


def _list_families(structure: Structure, labels: Mapping[str, str]) -> Iterator[str]:
    for name in structure.order:
        parents = structure.parents(name)
        yield (
            f"{labels[name]} <- {', '.join(map(make_label, parents))}" if parents else labels[name]
        )


def _draw_forest(structure: Structure, labels: Mapping[str, str]) -> Iterator[str]:
    """Walk the trees depth first, with a stack because they may be deep."""
    # An entry: the name (or the leaves) to draw, the margin of its lines, and whether it is last.
    stack: list[tuple[str | list[str], str | None, bool]]
    stack = [(item, None, True) for item in reversed(_list_items(structure, structure.roots))]
    while stack:
        item, margin, is_last = stack.pop()
        first, rest = _prefixes(margin, is_last)
        if isinstance(item, list):
            lines = _wrap_leaves(structure, item, labels, max(WIDTH - len(rest), MIN_WIDTH))
            yield from (f"{rest if k else first}{line}" for k, line in enumerate(lines))
            continue
        yield f"{first}{labels[item]}"
        items = _list_items(structure, structure.children(item))
        stack.extend((each, rest, k == 0) for k, each in enumerate(reversed(items)))


def _prefixes(margin: str | None, is_last: bool) -> tuple[str, str]:
    """Return what goes before an item's first line, and before the lines under it."""
    if margin is None:
        return "", ""
    return (f"{margin}└── ", f"{margin}    ") if is_last else (f"{margin}├── ", f"{margin}│   ")


def _list_items(structure: Structure, names: Sequence[str]) -> list[str | list[str]]:
    """Leaves that share lines, then those of each pouch, then the others one by one."""
    inner, leaves = _split_leaves(structure, names)
    single = [name for name in leaves if len(structure.pouch(name)) == 1]
    pouches = dict.fromkeys(structure.pouch(name) for name in leaves if name not in single)
    items: list[str | list[str]] = [single] if single else []
    for pouch in pouches:
        items.append([name for name in pouch if name in leaves])
    items.extend(inner)
    return items


def _split_leaves(structure: Structure, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate the observed variables without children, which share lines, from the others."""
    leaves = [
        name
        for name in names
        if not structure.children(name) and not structure.variable(name).latent
    ]
    together = set(leaves)
    return [name for name in names if name not in together], leaves


def _wrap_leaves(
    structure: Structure, names: Sequence[str], labels: Mapping[str, str], width: int
) -> list[str]:
    """List leaves, those of a pouch with a word before the first."""
    if len(structure.pouch(names[0])) == 1:
        return _wrap(names, labels, width)
    named = {name: make_label(name) for name in names}
    named[names[0]] = f"pouch: {named[names[0]]}"
    return _wrap(names, named, width)


def _wrap(names: Sequence[str], labels: Mapping[str, str], width: int) -> list[str]:
    """List labels, several to a line; a label is never broken."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(labels[name]) + 2 <= width:
            lines[-1] += f", {labels[name]}"
        else:
            lines.append(labels[name])
    return lines


def draw_dot(structure: Structure) -> str:
    """Describe the graph in the DOT language."""
    lines = ["digraph network {", "    node [shape=box];"]
    for variable in structure.variables:
        shape = " [shape=ellipse]" if variable.latent else ""
        lines.append(f"    {quote(variable.name)}{shape};")
    for name in structure.names:
        lines.extend(f"    {quote(parent)} -> {quote(name)};" for parent in structure.parents(name))
    return "\n".join([*lines, "}"]) + "\n"


def quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
