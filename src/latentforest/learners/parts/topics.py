"""What the latent variables of a hierarchy mean: their words, their shares, their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from latentforest.data.results.table import Table
from latentforest.inference.association.information import table_information
from latentforest.inference.messages import find_marginals
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model import Network
from latentforest.model.gaussian import information_of_mixtures

Layers = Sequence[Sequence[str]]  # names of the latent variables, from the words upwards


class TopicGaussian(NamedTuple):
    """A continuous column given a topic: a mixture of the Gaussians given its own parent."""

    weights: FloatArray  # P(state of the parent | topic)
    means: FloatArray
    variances: FloatArray


Word = FloatArray | TopicGaussian  # P(column | topic), a row for each state of the topic


def describe_topics(network: Network, layers: Layers, n_words: int) -> Table:
    """List the topics from the top layer down, the most frequent first in each layer.

    Words are those below a topic that have the most mutual information with it in the model. With
    continuous columns there are also ``means``: of such a column in each state of the topic.
    """
    given = find_words(network, layers)
    has_numbers = bool(network.structure.continuous)
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
                    **({"means": describe_means(words, given[name])} if has_numbers else {}),
                }
            )
    columns = ("level", "topic", "parent", "share", "words", *(["means"] if has_numbers else []))
    return Table({name: [row[name] for row in rows] for name in columns})


def find_words(network: Network, layers: Layers) -> dict[str, dict[str, Word]]:
    """Return P(word | topic) for every topic and every column below it in the hierarchy."""
    structure = network.structure
    layer = {name: number for number, names in enumerate(layers) for name in names}
    given: dict[str, dict[str, Word]] = {name: {} for name in network.latents}
    for name in network.observed:
        is_number, shape = name in structure.continuous, structure.shape(name)
        table, child = np.eye(shape[0] if is_number else shape[-1]), name
        while parents := structure.parents(child):
            (above,) = parents
            if child in layer and layer[above] <= layer[child]:  # a link within the top layer
                break
            if child == name and is_number:  # a mixture of its Gaussians, however far below
                means, variances = network.table_view(name).T
            else:
                table = network.table_view(child) @ table
            given[above][name] = TopicGaussian(table, means, variances) if is_number else table
            child = above
    return given


def choose_words(sizes: FloatArray, given: Mapping[str, Word], n_words: int) -> list[str]:
    """Return the columns that say most about a topic."""
    scores = {name: _measure(sizes, word) for name, word in given.items()}
    return sorted(scores, key=lambda name: -scores[name])[:n_words]


def _measure(sizes: FloatArray, word: Word) -> float:
    """Mutual information of a topic and a column."""
    if isinstance(word, TopicGaussian):
        return information_of_mixtures(sizes, *word)
    return float(table_information(sizes[:, None] * word))


def describe_means(words: Sequence[str], given: Mapping[str, Word]) -> str:
    """List the means of the continuous ones among some columns, in each state of a topic."""
    parts = []
    for name in words:
        word = given[name]
        if isinstance(word, TopicGaussian):
            parts.append(" ".join([name, *(f"{mean:.4g}" for mean in word.weights @ word.means)]))
    return ", ".join(parts)


def switch_on(network: Network, layers: Layers) -> Network:
    """Order the states of all latent variables so that the last has the most words.

    A word is there if its column has any state but the first, or a value above the mean of all.
    """
    structure, orders = network.structure, dict[str, LongArray]()
    marginals = find_marginals(network)
    for name, words in find_words(network, layers).items():
        absent = np.sum([_find_absence(marginals[name], word) for word in words.values()], axis=0)
        orders[name] = np.argsort(-absent, kind="stable") if words else np.arange(len(absent))
    parameters = np.array(network.parameters)
    for name in structure.names:
        table = structure.table_view(parameters, name)
        for parent in structure.parents(name):
            table[...] = table[orders[parent]]
        if name in orders:
            table[...] = table[..., orders[name]]
    return network.with_parameters(parameters)


def _find_absence(sizes: FloatArray, word: Word) -> FloatArray:
    """Probability that a word is not there, in each state of a topic."""
    if not isinstance(word, TopicGaussian):
        return word[:, 0]
    middle = sizes @ word.weights @ word.means
    absence: FloatArray = word.weights @ ndtr((middle - word.means) / np.sqrt(word.variances))
    return absence


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
