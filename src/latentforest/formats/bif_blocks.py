"""The blocks of a BIF file as they stand in it: variables, and probabilities by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from latentforest.data.variable import Variable
from latentforest.errors import DataError
from latentforest.formats.tokens import TokenReader, shorten, split_names

_NUMBER = r"\s*([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)\s*"
_POSITION = re.compile(rf"position\s*=?\s*\({_NUMBER},{_NUMBER}\)\s*", re.IGNORECASE)


class ProbabilityEntry(NamedTuple):
    """Numbers for one combination of the parents' states, for all, or for those not mentioned."""

    kind: str  # row, table or default
    place: int
    states: list[str]
    numbers: str


class ProbabilityBlock(NamedTuple):
    """What a probability block says, before its names are looked up."""

    place: int
    child: list[str]
    parents: list[str]
    entries: list[ProbabilityEntry]


@dataclass
class BifBlocks:
    """All blocks of a file, and its tokens, which know the line of a place.

    Blocks may stand in any order, so names are looked up when all have been read.
    """

    tokens: TokenReader
    variables: dict[str, Variable] = field(default_factory=dict)
    families: list[ProbabilityBlock] = field(default_factory=list)
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)

    def read(self) -> None:
        """Read all blocks."""
        readers = {
            "network": self._read_network,
            "variable": self._read_variable,
            "probability": self._read_family,
        }
        while self.tokens.peek():
            place, word = self.tokens.place, self.tokens.take_word()
            if word not in readers:
                expected = "'network', 'variable' or 'probability'"
                self.tokens.fail(f"expected {expected}, found {shorten(word)}", place)
            readers[word]()
        if not self.variables:
            self.tokens.fail("expected a network with variables, found none")

    def choose_names(self, found: list[str], count: int, what: str, place: int) -> list[str]:
        """Split names at commas or at spaces, whatever gives their number."""
        by_commas, by_spaces = split_names(found)
        if len(by_commas) == count:
            return by_commas
        if len(by_spaces) != count:
            text = shorten(", ".join(by_commas))
            self.tokens.fail(f"expected {count} {what}, found {len(by_commas)}: {text}", place)
        return by_spaces

    def _list_attributes(self, *expected: str) -> Iterator[tuple[int, str]]:
        """Yield the place and the first word of each attribute, up to the end of the block."""
        place, word = self.tokens.place, self.tokens.take_word()
        while word != "}":
            if word not in expected:
                listed = ", ".join(map(repr, expected))
                self.tokens.fail(f"expected {listed} or '}}', found {shorten(word)}", place)
            yield place, word
            place, word = self.tokens.place, self.tokens.take_word()

    def _read_network(self) -> None:
        self.tokens.take_names("{")
        for _ in self._list_attributes("property"):
            self.tokens.take_until(";")

    def _read_variable(self) -> None:
        tokens, start = self.tokens, self.tokens.place
        name = self.choose_names(tokens.take_names("{"), 1, "name of a variable", start)[0]
        states, latent = None, False
        for place, word in self._list_attributes("type", "property"):
            if word == "property":
                words = tokens.take_until(";")
                latent = latent or _is_latent(words)
                self._read_position(name, words)
            elif states is not None:
                tokens.fail(f"variable {name!r} has a second type", place)
            else:
                states = self._read_states(name, place)
        if states is None:
            tokens.fail(f"variable {name!r} has no type", start)
        if name in self.variables:
            tokens.fail(f"a second variable is named {name!r}", start)
        try:
            self.variables[name] = Variable(name, tuple(states), latent)
        except DataError as error:
            tokens.fail(str(error), start)

    def _read_position(self, name: str, words: list[str]) -> None:
        """Keep the place of a variable in a drawing, if that is what a property says."""
        found = _POSITION.fullmatch("".join(words))
        if found:
            self.positions[name] = (float(found.group(1)), float(found.group(2)))

    def _read_states(self, name: str, place: int) -> list[str]:
        """Read what follows ``type``."""
        tokens = self.tokens
        kind = tokens.take_word()
        if kind != "discrete":
            tokens.fail(
                f"variable {name!r}: expected the type 'discrete', found {shorten(kind)}", place
            )
        tokens.expect("[")
        number = " ".join(tokens.take_until("]")).strip()
        if not re.fullmatch("[0-9]{1,9}", number):
            tokens.fail(f"variable {name!r}: expected a number of states, found {number!r}", place)
        tokens.expect("{")
        found = tokens.take_names("}")
        tokens.expect(";")
        return self.choose_names(found, int(number), f"states of variable {name!r}", place)

    def _read_family(self) -> None:
        tokens, start = self.tokens, self.tokens.place
        tokens.expect("(")
        head, entries = tokens.take_until(")"), []
        bar = head.index("|") if "|" in head else len(head)
        tokens.expect("{")
        for place, word in self._list_attributes("(", "table", "default", "property"):
            states = tokens.take_names(")") if word == "(" else []
            numbers = " ".join(tokens.take_until(";"))
            if word != "property":
                kind = "row" if word == "(" else word
                entries.append(ProbabilityEntry(kind, place, states, numbers))
        self.families.append(ProbabilityBlock(start, head[:bar], head[bar + 1 :], entries))


def _is_latent(property_: list[str]) -> bool:
    """Whether a property says that a variable is latent, with or without ``=`` and quotes."""
    text = re.sub(r'[="\s]+', " ", " ".join(property_))
    return text.strip().lower() == "latent true"
