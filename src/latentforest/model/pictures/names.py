"""Texts of variables and states in pictures: labels where there are any, without repetition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from latentforest.visible import make_label

if TYPE_CHECKING:
    from latentforest.model.network import Network

SHORTEST_BEGINNING = 12
FEWEST_COLUMNS = 3
LONGEST_NAME = 2000


def name_variables(network: Network) -> dict[str, str]:
    """The text of each variable: its label, or its name."""
    labels = network.labels
    return {name: make_label(labels.variable(name)[:LONGEST_NAME]) for name in network.names}


def name_states(network: Network, name: str) -> list[str]:
    """The texts of a variable's states: labels, or names."""
    states = network.structure.states(name)
    return [make_label(network.labels.state(name, state)[:LONGEST_NAME]) for state in states]


def drop_beginnings(texts: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Leave out a long beginning, such as a question, that three columns or more have in common.

    Examples
    --------
    >>> asked = "How much do you like: "
    >>> texts = {"a": asked + "tea", "b": asked + "milk", "c": asked + "ale", "d": "age"}
    >>> drop_beginnings(texts, ["a", "b", "c", "d"])
    {'a': 'tea', 'b': 'milk', 'c': 'ale', 'd': 'age'}
    """
    found = {name: _list_beginnings(texts[name]) for name in columns}
    counts = Counter(each for listed in found.values() for each in listed)
    short = dict(texts)
    for name, listed in found.items():
        common = [each for each in listed if counts[each] >= FEWEST_COLUMNS]
        if common:
            short[name] = texts[name][len(common[-1]) :]
    return short


def _list_beginnings(text: str) -> list[str]:
    """Beginnings that end like a question or a heading, the shortest first."""
    ends = [match.end() for match in re.finditer(r"(?:[:?]|\s[-–—])\s+(?=\S)", text)]
    return [text[:end] for end in ends if len(text[:end].rstrip()) >= SHORTEST_BEGINNING]


def drop_card(text: str, card: str) -> str:
    """Leave out what the card beside a column says already.

    Examples
    --------
    >>> drop_card("Car, premium", "Car"), drop_card("Carpet", "Car")
    ('premium', 'Carpet')
    """
    if not text.startswith(card):
        return text
    rest = text[len(card) :]
    cut = re.match(r"\s*[,:;/|–—-]\s*(?=\S)", rest)
    return rest[cut.end() :] if cut else text
