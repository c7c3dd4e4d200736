"""What the latent variables of a hierarchy mean: their words, their shares, their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from latentforest.data.table import Table
from latentforest.inference.information import table_information
from latentforest.inference.messages import find_marginals
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model import Network

Layers = Sequence[Sequence[str]]  # names of the latent variables, from the words upwards


def describe_topics(network: Network, layers: Layers, n_words: int) -> Table:
    """List the topics from the top layer down, the most frequent first in each layer.

    Words are those below a topic that have the most mutual information with it in the model.
    """
    given = find_words(network, layers)
    marginals = find_marginals(network)
    rows = []
    for level in range(len(layers), 0, -1):
        for name in sorted(layers[level - 1], key=lambda name: marginals[name][0]):
            words = choose_words(marginals[name], given[name], n_words)
            is_top = level == len(layers)  # whose links are no hierarchy
            rows.append(
                {
                    "level": level,
                    "topic": name,
                    "parent": "" if is_top else network.structure.parents(name)[0],
                    "share": float(1.0 - marginals[name][0]),
                    "words": " ".join(words),
                }
            )
    return Table.from_rows(rows)


def find_words(network: Network, layers: Layers) -> dict[str, dict[str, FloatArray]]:
    """Return P(word | topic) for every topic and every column below it in the hierarchy."""
    structure = network.structure
    layer = {name: number for number, names in enumerate(layers) for name in names}
    given: dict[str, dict[str, FloatArray]] = {name: {} for name in network.latents}
    for name in network.observed:
        table, child = np.eye(structure.shape(name)[-1]), name
        while parents := structure.parents(child):
            (above,) = parents
            if child in layer and layer[above] <= layer[child]:  # a link within the top layer
                break
            table = network.cpd(child) @ table
            given[above][name] = table
            child = above
    return given


def choose_words(sizes: FloatArray, given: Mapping[str, FloatArray], n_words: int) -> list[str]:
    """Return the columns that say most about a topic."""
    scores = {
        name: float(table_information(sizes[:, None] * table)) for name, table in given.items()
    }
    return sorted(scores, key=lambda name: -scores[name])[:n_words]


def switch_on(network: Network, layers: Layers) -> Network:
    """Order the states of all latent variables so that the last has the most words.

    A word is there if its column has any state but the first.
    """
    structure, orders = network.structure, dict[str, LongArray]()
    for name, words in find_words(network, layers).items():
        absent = np.sum([table[:, 0] for table in words.values()], axis=0)
        orders[name] = np.argsort(-absent, kind="stable") if words else np.arange(len(absent))
    parameters = np.array(network.parameters)
    for name in structure.names:
        table = structure.table_view(parameters, name)
        for parent in structure.parents(name):
            table[...] = table[orders[parent]]
        if name in orders:
            table[...] = table[..., orders[name]]
    return network.with_parameters(parameters)


def assign_topics(
    posteriors: Mapping[str, FloatArray],
    layers: Layers,
    level: int | None,
    threshold: float,
) -> Table:
    """List the topics of each row with a probability of at least ``threshold``."""
    parts: list[tuple[int, int, str, float]] = []
    for number, names in enumerate(layers, 1):
        if level is None or level == number:
            for name in names:
                probability = 1.0 - posteriors[name][:, 0]
                found = np.flatnonzero(probability >= threshold)
                parts += [(int(i), number, name, float(probability[i])) for i in found]
    parts.sort(key=lambda part: (part[0], -part[1], -part[3]))
    columns = list(zip(*parts, strict=True)) if parts else [(), (), (), ()]
    titles = ("document", "level", "topic", "probability")
    return Table(dict(zip(titles, columns, strict=True)))
