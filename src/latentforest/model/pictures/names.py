"""Texts of variables and states in pictures: labels where there are any, without repetition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from latentforest.model.showing.suggestions import drop_beginnings, suggest_names
from latentforest.visible import make_label

if TYPE_CHECKING:
    from latentforest.model.network import Network

LONGEST_NAME = 2000


def name_variables(network: Network) -> dict[str, str]:
    """The text of each variable: its label, a suggestion for a latent one, or its name."""
    labels = suggest_names(network).merged(network.labels)
    return {name: make_label(labels.variable(name)[:LONGEST_NAME]) for name in network.names}


def name_fully(network: Network) -> dict[str, str]:
    """The same texts, each with the name in the model behind it where a latent one has another."""
    return {
        name: text
        if text == name or name not in network.latents
        else f"{text} · {make_label(name)}"
        for name, text in name_variables(network).items()
    }


def shorten_columns(network: Network, texts: Mapping[str, str]) -> dict[str, str]:
    """Leave out a long beginning, such as a question, that three columns or more have in common."""
    columns = network.observed
    short = drop_beginnings([texts[name] for name in columns])
    return {**texts, **dict(zip(columns, short, strict=True))}


def name_states(network: Network, name: str) -> list[str]:
    """The texts of a variable's states: labels, or names."""
    states = network.structure.states(name)
    return [make_label(network.labels.state(name, state)[:LONGEST_NAME]) for state in states]


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
