"""Labels: texts for people that stand beside the names of variables and states."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ModelError
from latentforest.files import write_atomically
from latentforest.model.files.json_values import Mismatch, describe, get, parse

FORMAT = "latentforest-labels"
VERSION = 1


@dataclass(frozen=True)
class Labels:
    """Texts for variables and their states. They are shown, and never used to find a value.

    Parameters
    ----------
    variables
        Texts of columns and latent variables, by name.
    states
        Texts of values and latent states: by variable, then by state. Empty texts count as none.

    Examples
    --------
    >>> labels = Labels({"Q1": "Do you smoke?"}, {"class": {"1": "smokers"}})
    >>> labels.variable("Q1"), labels.variable("Q2"), labels.state("class", "1")
    ('Do you smoke?', 'Q2', 'smokers')
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        states = {name: _read_texts(texts, name) for name, texts in self.states.items()}
        kept = {name: texts for name, texts in states.items() if texts}
        object.__setattr__(self, "variables", _read_texts(self.variables, "variables"))
        object.__setattr__(self, "states", MappingProxyType(kept))

    def __bool__(self) -> bool:
        return bool(self.variables or self.states)

    def __reduce__(self) -> tuple[Any, ...]:
        found = self.to_dict()
        return Labels, (found["variables"], found["states"])

    def variable(self, name: str) -> str:
        """Return the text of a variable, or its name if it has none."""
        return self.variables.get(name, name)

    def state(self, name: str, state: str) -> str:
        """Return the text of a variable's state, or the state if it has none."""
        return self.states.get(name, {}).get(state, state)

    def merged(self, other: Labels) -> Labels:
        """Return these labels with those of another, which win."""
        found, more = self.to_dict(), other.to_dict()
        states = found["states"]
        for name, texts in more["states"].items():
            states[name] = {**states.get(name, {}), **texts}
        return Labels({**found["variables"], **more["variables"]}, states)

    def renamed(self, mapping: Mapping[str, str]) -> Labels:
        """Return the labels for other names of some variables."""
        found = self.to_dict()
        return Labels(
            {mapping.get(name, name): text for name, text in found["variables"].items()},
            {mapping.get(name, name): texts for name, texts in found["states"].items()},
        )

    def reordered(self, name: str, states: Sequence[str], order: Sequence[int]) -> Labels:
        """Return the labels after state ``k`` of a variable has become what ``order[k]`` was."""
        texts, old = self.states.get(name, {}), [states[code] for code in order]
        moved = {new: texts[was] for new, was in zip(states, old, strict=True) if was in texts}
        return Labels(self.variables, {**self.states, name: moved})

    def select(self, variables: Sequence[Variable]) -> Labels:
        """Keep the labels of some variables, and of the states that they have."""
        known = {variable.name: variable.states or () for variable in variables}
        return self._filter(lambda name: name in known, lambda name, state: state in known[name])

    def check(self, variables: Sequence[Variable]) -> None:
        """Refuse labels of variables or states that are not there."""
        known = {variable.name: variable.states or () for variable in variables}
        for name in (*self.variables, *self.states):
            if name not in known:
                raise ModelError(f"a label is given for {name!r}, which is not a variable")
        for name, texts in self.states.items():
            for state in texts:
                if state not in known[name]:
                    raise ModelError(f"a label is given for {state!r}, no state of {name!r}")

    def _filter(self, is_kept: Callable[[str], bool], has: Callable[[str, str], bool]) -> Labels:
        return Labels(
            {name: text for name, text in self.variables.items() if is_kept(name)},
            {
                name: {state: text for state, text in texts.items() if has(name, state)}
                for name, texts in self.states.items()
                if is_kept(name)
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the labels as plain dictionaries."""
        states = {name: dict(texts) for name, texts in self.states.items()}
        return {"variables": dict(self.variables), "states": states}

    @classmethod
    def from_dict(cls, entry: object, where: str = "labels") -> Labels:
        """Make labels of what `to_dict` gives; a key that is left out has none."""
        if not isinstance(entry, dict):
            raise Mismatch(f"{where}: expected an object, found {describe(entry)}")
        variables, states = entry.get("variables", {}), entry.get("states", {})
        _check_texts(variables, f"{where}.variables")
        if not isinstance(states, dict):
            raise Mismatch(f"{where}.states: expected an object, found {describe(states)}")
        for name, texts in states.items():
            _check_texts(texts, f"{where}.states of {name!r}")
        return cls(variables, states)

    def save(self, path: str | os.PathLike[str], table: str | None = None) -> None:
        """Write the labels to a JSON file, such as the page of a report writes.

        Parameters
        ----------
        path
            The file.
        table
            `Dataset.hash` of the table that the labels are about, if it is known.
        """
        document = {"format": FORMAT, "version": VERSION, "table": table, **self.to_dict()}
        write_atomically(path, json.dumps(document, indent=1) + "\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Labels:
        """Read a file that `save` or the page of a report wrote.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "names.json")
        >>> Labels({"class": "habits"}).save(path)
        >>> Labels.read(path).variable("class")
        'habits'
        """
        document = parse(Path(path), "labels")
        try:
            kind = get(document, "format", str, "the document")
            if kind != FORMAT:
                raise Mismatch(f"format: expected {FORMAT!r}, found {kind!r}")
            version = get(document, "version", int, "the document")
            if version != VERSION:
                raise Mismatch(f"version: expected {VERSION}, found {version!r}")
            return cls.from_dict(document, "the document")
        except Mismatch as error:
            raise FileFormatError(f"{os.fspath(path)}: {error}") from None


def _read_texts(texts: Mapping[str, str], what: str) -> Mapping[str, str]:
    """Return a copy that stays as it is, without empty texts."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ModelError(f"label of {name!r} ({what}): expected a text, got {text!r}")
    return MappingProxyType({name: text for name, text in texts.items() if text.strip()})


def _check_texts(texts: object, where: str) -> None:
    if not isinstance(texts, dict):
        raise Mismatch(f"{where}: expected an object, found {describe(texts)}")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise Mismatch(f"{where}, {name!r}: expected a string, found {describe(text)}")
