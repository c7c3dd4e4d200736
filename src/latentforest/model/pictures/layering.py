"""Where the variables of a directed graph stand: in layers from left to right, few crossings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

Parents = Mapping[str, Sequence[str]]
Way = tuple[str, ...]  # from a parent through the layers between to its child

ROUNDS = 12


def choose_layers(order: Sequence[str], parents: Parents) -> dict[str, int]:
    """Give each variable a layer behind its parents, so that arcs are short.

    Parameters
    ----------
    order
        The variables, parents before their children.
    parents
        Parents of each.
    """
    children: dict[str, list[str]] = {name: [] for name in order}
    layers: dict[str, int] = {}
    for name in order:
        layers[name] = max((layers[each] + 1 for each in parents[name]), default=0)
        for each in parents[name]:
            children[each].append(name)
    for _ in range(ROUNDS):
        for name in reversed(order):
            low = max((layers[each] + 1 for each in parents[name]), default=0)
            high = min((layers[each] - 1 for each in children[name]), default=layers[name])
            if len(children[name]) > len(parents[name]):
                layers[name] = max(high, low)
            elif len(children[name]) < len(parents[name]):
                layers[name] = low
    first = min(layers.values(), default=0)
    return {name: layer - first for name, layer in layers.items()}


def make_ways(order: Sequence[str], parents: Parents, layers: Mapping[str, int]) -> list[Way]:
    """Name a place in each layer that an arc passes."""
    ways = []
    for child in order:
        for parent in parents[child]:
            between = range(layers[parent] + 1, layers[child])
            ways.append((parent, *(f"{parent}\0{child}\0{k}" for k in between), child))
    return ways


def sort_layers(
    order: Sequence[str], layers: Mapping[str, int], ways: Sequence[Way]
) -> list[list[str]]:
    """Order the places of each layer, so that few arcs cross: barycentres, to and fro."""
    n_layers = max(layers.values(), default=0) + 1
    columns: list[list[str]] = [[] for _ in range(n_layers)]
    for name in order:
        columns[layers[name]].append(name)
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for way in ways:
        for k, name in enumerate(way[1:-1], start=layers[way[0]] + 1):
            columns[k].append(name)
        for one, other in itertools.pairwise(way):
            before.setdefault(other, []).append(one)
            after.setdefault(one, []).append(other)
    best, fewest = [list(column) for column in columns], _count_crossings(columns, after)
    for k in range(ROUNDS):
        sweep = range(1, n_layers) if k % 2 == 0 else range(n_layers - 2, -1, -1)
        for layer in sweep:
            _sort_by_means(columns, layer, before if k % 2 == 0 else after)
        crossings = _count_crossings(columns, after)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    return best


def _sort_by_means(columns: list[list[str]], layer: int, linked: Mapping[str, list[str]]) -> None:
    places = {name: k / len(column) for column in columns for k, name in enumerate(column)}
    own = columns[layer]
    means = {}
    for name in own:
        others = linked.get(name, [])
        means[name] = sum(map(places.__getitem__, others)) / len(others) if others else places[name]
    own.sort(key=lambda name: round(means[name], 9))


def _count_crossings(columns: list[list[str]], after: Mapping[str, list[str]]) -> int:
    total = 0
    for left, right in itertools.pairwise(columns):
        places = {name: k for k, name in enumerate(right)}
        ends = [
            places[each]
            for name in left
            for each in sorted(after.get(name, []), key=places.__getitem__)
        ]
        total += sum(a > b for k, a in enumerate(ends) for b in ends[k + 1 :])
    return total


def place_rows(
    columns: Sequence[Sequence[str]], heights: Mapping[str, float], ways: Sequence[Way]
) -> dict[str, float]:
    """Choose heights of places near those that they are linked with, without overlap."""
    linked: dict[str, list[str]] = {name: [] for column in columns for name in column}
    for way in ways:
        for one, other in itertools.pairwise(way):
            linked[one].append(other)
            linked[other].append(one)
    ys: dict[str, float] = {}
    for column in columns:
        gaps = _gaps(column, heights)
        total = sum(gaps)
        cursor = -total / 2
        for name, gap in zip(column, [*gaps, 0.0], strict=False):
            ys[name] = cursor
            cursor += gap
    for k in range(2 * ROUNDS):
        for column in columns if k % 2 == 0 else reversed(columns):
            wanted = [
                sum(ys[each] for each in linked[name]) / len(linked[name])
                if linked[name]
                else ys[name]
                for name in column
            ]
            ys.update(zip(column, keep_apart(wanted, _gaps(column, heights)), strict=True))
    return ys


def _gaps(column: Sequence[str], heights: Mapping[str, float]) -> list[float]:
    sizes = [heights[name] for name in column]
    return [(one + other) / 2 for one, other in itertools.pairwise(sizes)]


def keep_apart(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Find the places nearest to those wanted (least squares) that keep the gaps between them.

    Examples
    --------
    >>> keep_apart([0.0, 0.0, 10.0], [2.0, 2.0])
    [-1.0, 1.0, 10.0]
    """
    shifts = [0.0]
    for gap in gaps:
        shifts.append(shifts[-1] + gap)
    blocks: list[tuple[float, int]] = []  # mean and number of places that are held together
    for place, shift in zip(wanted, shifts, strict=False):
        mean, n = place - shift, 1
        while blocks and blocks[-1][0] > mean:
            other, m = blocks.pop()
            mean, n = (mean * n + other * m) / (n + m), n + m
        blocks.append((mean, n))
    flat = [mean for mean, n in blocks for _ in range(n)]
    return [mean + shift for mean, shift in zip(flat, shifts, strict=False)]
