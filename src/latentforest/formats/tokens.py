"""The text of a model file, cut into tokens by one regular expression; lines on demand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from latentforest.errors import FileFormatError

_QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENT = re.compile(rf"({_QUOTED})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(rf'{_QUOTED}|[{{}}()\[\];|"]|[^{{}}()\[\];|"]+', re.DOTALL)
SIGNS = frozenset("{}()[];|")
_PLAIN = re.compile(r'[^\s{}()\[\];|",\\]+')


class TokenReader:
    """Goes through the tokens of a text: quoted strings, single signs, and all between them.

    White space between tokens is left out, and comments (``//`` and ``/* */``) are white space.

    Parameters
    ----------
    text
        The whole text.
    source
        Where it comes from, for error messages.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        if "/*" in text or "//" in text:
            text = _COMMENT.sub(_blank, text)
        self._all: list[str] = _TOKEN.findall(text)
        self._tokens = [token for token in self._all if not token.isspace()]
        self._tokens.append("")  # the end
        self.place = 0  # of the next token
        self._check_ends()

    def _check_ends(self) -> None:
        """Refuse quotes and comments that never end."""
        if '"' in self._tokens:
            self.fail("this quote is never closed", self._tokens.index('"'))
        for place, token in enumerate(self._tokens):
            if "/*" in token and token[0] != '"':
                self.fail("a comment that begins here is never closed", place)

    def peek(self) -> str:
        """Return the next token; an empty one is the end of the file."""
        return self._tokens[self.place]

    def take(self) -> str:
        """Return the next token and go on."""
        token = self._tokens[self.place]
        if not token:
            self.fail("the file ends too early")
        self.place += 1
        return token

    def take_word(self) -> str:
        """Return the first word of the next token and leave the rest of it."""
        words = self.take().split(None, 1)
        if len(words) == 2:
            self.place -= 1
            self._tokens[self.place] = words[1]
        return words[0]

    def expect(self, wanted: str) -> None:
        """Go past a sign that must come next."""
        found = self.take()
        if found != wanted:
            self.fail(f"expected {wanted!r}, found {shorten(found)}", self.place - 1)

    def take_until(self, end: str) -> list[str]:
        """Return the tokens before a sign and go past it."""
        try:
            stop = self._tokens.index(end, self.place)
        except ValueError:
            self.fail(f"expected {end!r} after this, found none")
        found = self._tokens[self.place : stop]
        self.place = stop + 1
        return found

    def take_names(self, end: str) -> list[str]:
        """Return the tokens before a sign, which must be names, and go past it."""
        start, found = self.place, self.take_until(end)
        for place, token in enumerate(found, start):
            if token in SIGNS:
                self.fail(
                    f"expected names up to {end!r}, found {token!r}; names with one of "
                    '{}()[];|," must be in quotes',
                    place,
                )
        return found

    def fail(self, problem: str, place: int | None = None) -> NoReturn:
        """Raise an error that names the line of a token, by default of the next one."""
        line = self.line(self.place if place is None else place)
        raise FileFormatError(f"{self.source}, line {line}: {problem}")

    def line(self, place: int) -> int:
        """Return the line on which a token begins, counted from 1."""
        line, seen = 1, 0
        for token in self._all:
            if not token.isspace():
                if seen == place:
                    return line + token[: len(token) - len(token.lstrip())].count("\n")
                seen += 1
            line += token.count("\n")
        return line


def _blank(found: re.Match[str]) -> str:
    """Replace a comment by its line ends; leave a quoted string."""
    return found.group(1) or " " + "\n" * found.group().count("\n")


def split_names(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names in a list: as commas separate them, and as spaces do, too.

    A quoted name is one in either.
    """
    by_commas: list[str] = []
    by_spaces: list[str] = []
    for token in tokens:
        if token[0] == '"':
            name = re.sub(r'\\(["\\])', r"\1", token[1:-1])
            by_commas.append(name)
            by_spaces.append(name)
        else:
            pieces = (" ".join(piece.split()) for piece in token.split(","))
            by_commas.extend(filter(None, pieces))
            by_spaces.extend(token.replace(",", " ").split())
    return by_commas, by_spaces


def quote(name: str) -> str:
    """Write a name so that `split_names` gives it back; plain ones stay as they are."""
    if _PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def shorten(text: str) -> str:
    """Show a piece of text briefly."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
