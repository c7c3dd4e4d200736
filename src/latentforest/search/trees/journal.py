"""The steps of a search on file, so that it can go on where it was stopped.

A journal is a text file with one JSON object in each line: first what was searched for in which
data, then one line for each step with the fitted network. A resumed search runs the same
algorithm again but takes the results of its first steps from the journal, so it ends at the same
model as a search that was never stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from latentforest.data.dataset import Dataset
from latentforest.errors import FileFormatError, ParameterError
from latentforest.files import write_atomically

FORMAT = "latentforest-search"


class Journal:
    """A file of steps; without a path nothing is kept.

    Parameters
    ----------
    path
        File to write.
    header
        What identifies the search: learner, settings, data. A journal of another search is
        refused.
    resume
        Read the steps that are there and go on behind them; otherwise the file is started anew.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, header: Mapping[str, Any], resume: bool
    ) -> None:
        self.path = None if path is None else Path(path)
        self.steps: list[dict[str, Any]] = []
        if self.path is None:
            if resume:
                raise ParameterError("resume needs the file of a checkpoint")
            return
        first = {"format": FORMAT, **json.loads(json.dumps(header, default=_to_plain))}
        if resume and self.path.exists():
            self.steps = _read(self.path, first)
        lines = [first, *self.steps]
        write_atomically(self.path, "".join(json.dumps(line) + "\n" for line in lines))

    def recall(self, number: int) -> dict[str, Any] | None:
        """Return a step of an earlier run, if there is one."""
        return self.steps[number] if number < len(self.steps) else None

    def write(self, step: Mapping[str, Any]) -> None:
        """Append a step."""
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(step) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(f"cannot write {self.path}: {error.strerror}") from error


def _to_plain(value: Any) -> Any:
    """Turn a number of numpy into one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise ParameterError(f"a checkpoint cannot hold the setting {value!r}")


def _read(path: Path, expected: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the steps; a last line that was cut short is left out."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (UnicodeDecodeError, IsADirectoryError):
        raise FileFormatError(f"{path} is not the checkpoint of a search") from None
    entries = []
    for number, line in enumerate(lines[:-1], start=1):  # a complete file ends with a line end
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise FileFormatError(f"{path}, line {number}: not JSON ({error.msg})") from None
        if not isinstance(entry, dict):
            raise FileFormatError(f"{path}, line {number}: not a step of a search")
        entries.append(entry)
    if not entries or entries[0].get("format") != FORMAT:
        raise FileFormatError(f"{path} is not the checkpoint of a search")
    for key, value in expected.items():
        if entries[0].get(key) != value:
            raise ParameterError(
                f"{path} belongs to another search: its {key} is {entries[0].get(key)!r}, "
                f"not {value!r}"
            )
    for number, entry in enumerate(entries[1:]):
        if entry.get("step") != number:
            raise FileFormatError(f"{path}, line {number + 2}: step {number} is missing")
    return entries[1:]


def fingerprint(dataset: Dataset) -> str:
    """A short text that differs for different tables."""
    digest = hashlib.sha256()
    for variable, column in zip(dataset.variables, dataset.columns, strict=True):
        digest.update(repr((variable.name, variable.states)).encode())
        digest.update(column.astype("<i4" if variable.is_categorical else "<f8").tobytes())
    digest.update(dataset.weights.astype("<f8").tobytes())
    return digest.hexdigest()[:16]
