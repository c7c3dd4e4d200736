"""Structures as text: ``X[2] -> A, B, C; A, C -> D``.

Statements end with a semicolon or with the line, unless a comma or an arrow goes on. Several names
may stand on either side of an arrow, and arrows may follow each other. A name with characters other
than letters, digits, ``_`` and ``.`` stands in quotes (doubled inside the name). A name that is no
column is a latent variable, with its number of states in brackets once. ``#`` begins a comment.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from latentforest.data.lookup import list_briefly
from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ModelError
from latentforest.model.structure import MAX_PARENTS, Structure

MAX_STATES = 10_000  # of a latent variable
_BARE = re.compile(r"[\w.]+")
_TOKEN = re.compile(
    r"""(?P<blank>[^\S\n]+|\#[^\n]*)
      | (?P<name>[\w.]+|"(?:[^"\n]|"")*"|'(?:[^'\n]|'')*')
      | (?P<sign>->|[,;\[\]\n])""",
    re.VERBOSE,
)


def parse_structure(text: str, variables: Sequence[Variable], source: str = "") -> Structure:
    """Read a structure of the columns that are named, and of latent variables.

    Parameters
    ----------
    text
        The structure, see above. A statement without an arrow names variables that may stand alone.
    variables
        All columns of the table. Those that the text does not name are left out.
    source
        Name of the file that the text comes from, for messages.

    Returns
    -------
    Structure
        The latent variables in the order in which they are named, then columns in their own
        order. Parents of a variable are in the order of the text.

    Examples
    --------
    >>> columns = [Variable(name, ("no", "yes")) for name in "ABCD"]
    >>> structure = parse_structure("X[2] -> A, B, C; A, C -> D", columns)
    >>> structure.names, structure.parents("D")
    (('X', 'A', 'B', 'C', 'D'), ('A', 'C'))
    >>> parse_structure("X[2] -> A, b", columns)
    Traceback (most recent call last):
    ...
    latentforest.errors.ModelError: structure, line 1, column 12: there is no column 'b' (did you \
mean 'B'?); if it is latent, say how many states it has, as in b[2]
      X[2] -> A, b
                 ^
    """
    place = _Place(text, source or "structure")
    known = {variable.name: variable for variable in variables}
    draft = _Draft(place, known)
    for statement in _Reader(place).statements():
        for mention in (each for side in statement for each in side):
            draft.mention(mention)
        for parents, children in pairwise(statement):
            for child in children:
                for parent in parents:
                    draft.link(parent, child)
    return draft.finish(variables)


def read_structure(source: str | os.PathLike[str], variables: Sequence[Variable]) -> Structure:
    """Read a structure from a text, or from a file of text.

    Parameters
    ----------
    source
        The text; or the path of a file. Text without an arrow that is the name of a file is taken
        as that.
    variables
        All columns of the table.
    """
    if isinstance(source, str) and ("->" in source or not _is_file(source)):
        return parse_structure(source, variables)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is no text in UTF-8: {error.reason}") from None
    return parse_structure(text, variables, str(path))


def write_structure(structure: Structure) -> str:
    """Write a structure as text that ``parse_structure`` reads.

    Variables with the same parents share a statement; the order of parents is kept. Names of
    latent states are not written, and there is no sign for pouches.

    Examples
    --------
    >>> columns = [Variable(name, ("no", "yes")) for name in ("A", "of age", "C")]
    >>> parents = {"A": ["X"], "of age": ["X"], "C": ["A", "X"]}
    >>> write_structure(Structure([Variable.hidden("X", 2), *columns], parents))
    "X[2] -> A, 'of age'; A, X -> C"
    """
    if structure.pouches:
        raise ModelError(
            f"{list_briefly(structure.pouches[0])} are in one pouch, which has no sign in text"
        )
    families: dict[tuple[str, ...], list[str]] = {}
    for name in structure.order:
        if structure.parents(name) or not structure.children(name):
            families.setdefault(structure.parents(name), []).append(name)
    counted: set[str] = set()

    def write(name: str) -> str:
        text = _quote(name)
        if name in structure.latents and name not in counted:
            counted.add(name)
            text += f"[{len(structure.states(name))}]"
        return text

    def join(names: Sequence[str]) -> str:
        return ", ".join(map(write, names))

    return "; ".join(
        f"{join(parents)} -> {join(children)}" if parents else join(children)
        for parents, children in families.items()
    )


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or with a null character
        return False


def _quote(name: str) -> str:
    if _BARE.fullmatch(name):
        return name
    if "\n" in name:
        raise ModelError(f"the name {name!r} has two lines and cannot be written in text")
    quote = '"' if "'" in name else "'"
    return quote + name.replace(quote, 2 * quote) + quote


@dataclass(frozen=True)
class _Place:
    """A text, and how to point at a position in it."""

    text: str
    source: str

    def refuse(self, position: int, problem: str) -> ModelError:
        """Return an error that shows the line with a mark under the position."""
        before = self.text[:position]
        line, column = before.count("\n") + 1, position - before.rfind("\n")
        shown = self.text.split("\n")[line - 1].rstrip("\r")
        mark = re.sub(r"[^\t]", " ", shown[: column - 1]) + "^"
        return ModelError(
            f"{self.source}, line {line}, column {column}: {problem}\n  {shown}\n  {mark}"
        )


@dataclass(frozen=True)
class _Mention:
    """A name where it stands in the text, with the number of states given there."""

    name: str
    position: int
    n_states: int | None = None
    number_at: int = 0


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


class _Reader:
    """Reads statements: lists of names, one more than arrows."""

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._tokens = [*self._split(), _Token("end", "", len(place.text))]
        self._next = 0

    def statements(self) -> Iterator[list[list[_Mention]]]:
        """Yield the statements."""
        is_empty = True
        while self._peek().kind != "end":
            if self._peek().text in (";", "\n"):
                self._take()
                continue
            is_empty = False
            yield self._read_statement()
        if is_empty:
            raise self._place.refuse(0, "the text is empty; expected such as X[2] -> A, B")

    def _split(self) -> Iterator[_Token]:
        text, position = self._place.text, 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise self._place.refuse(position, _explain_character(text[position]))
            kind = str(found.lastgroup)
            if kind != "blank":
                yield _Token(kind, found.group(), position)
            position = found.end()

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _goes_on(self, sign: str) -> bool:
        """Take a sign if it follows, in the next line perhaps, and the ends of lines around it."""
        ahead = self._next
        while self._tokens[ahead].text == "\n":
            ahead += 1
        if self._tokens[ahead].text != sign:
            return False
        self._next = ahead + 1
        while self._peek().text == "\n":
            self._take()
        return True

    def _read_statement(self) -> list[list[_Mention]]:
        sides = [self._read_names()]
        while self._goes_on("->"):
            sides.append(self._read_names())
        token = self._peek()
        if token.kind != "end" and token.text not in (";", "\n"):
            raise self._place.refuse(
                token.position, f"expected ',', '->' or ';', got {token.text!r}"
            )
        return sides

    def _read_names(self) -> list[_Mention]:
        names = [self._read_name()]
        while self._goes_on(","):
            names.append(self._read_name())
        return names

    def _read_name(self) -> _Mention:
        token = self._take()
        if token.kind != "name":
            raise self._place.refuse(token.position, f"expected a name, got {_describe(token)}")
        name = token.text
        if name[0] in "\"'":
            name = name[1:-1].replace(2 * name[0], name[0])
            if not name:
                raise self._place.refuse(token.position, "the name is empty")
        if self._peek().text != "[":
            return _Mention(name, token.position)
        self._take()
        number = self._take()
        n_states = int(number.text) if re.fullmatch("[0-9]{1,9}", number.text) else 0
        if not 1 <= n_states <= MAX_STATES:
            raise self._place.refuse(
                number.position,
                f"expected a number of states from 1 to {MAX_STATES:,}, got {_describe(number)}",
            )
        closing = self._take()
        if closing.text != "]":
            raise self._place.refuse(closing.position, f"expected ']', got {_describe(closing)}")
        return _Mention(name, token.position, n_states, number.position)


@dataclass
class _Draft:
    """The structure so far."""

    place: _Place
    columns: dict[str, Variable]
    first: dict[str, _Mention] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)

    def mention(self, mention: _Mention) -> None:
        """Take note of a name and of its number of states."""
        name, n_states = mention.name, mention.n_states
        self.first.setdefault(name, mention)
        self.parents.setdefault(name, {})
        if n_states is None:
            return
        if name in self.columns:
            self._check_column(mention)
        elif self.numbers.setdefault(name, n_states) != n_states:
            raise self.place.refuse(
                mention.number_at,
                f"latent variable {name!r} had {self.numbers[name]} states before, "
                f"now it has {n_states}",
            )

    def _check_column(self, mention: _Mention) -> None:
        states = self.columns[mention.name].states
        if states is None:
            problem = "is continuous and has no states"
        elif len(states) != mention.n_states:
            problem = f"has {len(states)} states, not {mention.n_states}"
        else:
            return
        raise self.place.refuse(mention.number_at, f"column {mention.name!r} {problem}")

    def link(self, parent: _Mention, child: _Mention) -> None:
        """Add a link; refuse one that closes a cycle or that has no distribution."""
        if parent.name == child.name:
            raise self.place.refuse(child.position, f"{child.name!r} cannot depend on itself")
        if self._is_continuous(parent.name) and not self._is_continuous(child.name):
            kind = "categorical" if child.name in self.columns else "latent, so categorical,"
            raise self.place.refuse(
                parent.position,
                f"{parent.name!r} is continuous; {child.name!r} is {kind} and cannot depend on it",
            )
        path = self._find_path(child.name, parent.name)
        if path:
            cycle = " -> ".join([*path, child.name])
            raise self.place.refuse(child.position, f"this link closes a cycle: {cycle}")
        self.parents[child.name][parent.name] = None
        if len(self.parents[child.name]) > MAX_PARENTS:
            raise self.place.refuse(
                child.position, f"{child.name!r} has more than {MAX_PARENTS} parents"
            )

    def finish(self, variables: Sequence[Variable]) -> Structure:
        """Make the structure; refuse names that are no columns but have no states or children."""
        for name, mention in self.first.items():
            if name not in self.columns:
                self._check_latent(name, mention.position)
        latents = [Variable.hidden(name, number) for name, number in self._latent_numbers()]
        named = [variable for variable in variables if variable.name in self.first]
        parents = {name: tuple(above) for name, above in self.parents.items()}
        return Structure([*latents, *named], parents)

    def _latent_numbers(self) -> list[tuple[str, int]]:
        return [(name, self.numbers[name]) for name in self.first if name not in self.columns]

    def _check_latent(self, name: str, position: int) -> None:
        if name not in self.numbers:
            near = difflib.get_close_matches(name.lower(), [each.lower() for each in self.columns])
            similar = [each for each in self.columns if each.lower() in near][:3]
            hint = f" (did you mean {list_briefly(similar)}?)" if similar else ""
            raise self.place.refuse(
                position,
                f"there is no column {name!r}{hint}; if it is latent, say how many states it has, "
                f"as in {_quote(name)}[2]",
            )
        if not any(name in above for above in self.parents.values()):
            raise self.place.refuse(
                position, f"latent variable {name!r} has no children, so the data say nothing of it"
            )

    def _is_continuous(self, name: str) -> bool:
        return name in self.columns and not self.columns[name].is_categorical

    def _find_path(self, top: str, bottom: str) -> list[str]:
        """Find the names on a way of links from one variable down to another, if there is any."""
        ways = {bottom: [bottom]}
        waiting = [bottom]
        while waiting:
            here = waiting.pop()
            for parent in self.parents[here]:
                if parent not in ways:
                    ways[parent] = [parent, *ways[here]]
                    waiting.append(parent)
        return ways.get(top, [])


def _describe(token: _Token) -> str:
    if token.kind == "end":
        return "the end"
    return "the end of the line" if token.text == "\n" else repr(token.text)


def _explain_character(character: str) -> str:
    if character in "\"'":
        return "the quote is not closed on this line"
    if character in "<-=":
        return (
            "expected an arrow ->, which points from parents to children; a name with other "
            "characters than letters, digits, _ and . goes in quotes"
        )
    return f"{character!r} cannot stand here; a name with such characters goes in quotes"
