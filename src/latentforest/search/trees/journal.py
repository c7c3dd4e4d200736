"""The steps of a search on file, so that it can go on where it was stopped.

A journal is a text file with one JSON object in each line: first what was searched for in which
data, then one line for each step with the fitted network. A resumed search runs the same
algorithm again but takes the results of its first steps from the journal, so it ends at the same
model as a search that was never stopped. One process at a time works on a journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from latentforest.data.dataset import Dataset
from latentforest.errors import CheckpointWarning, FileFormatError, ParameterError
from latentforest.files import write_atomically
from latentforest.locks import FileLock

SEARCH = "search"
RESULT = "result"  # in the header: the digest of the model file that was made of the steps


class Journal:
    """A file of steps; without a path nothing is kept.

    It is locked until ``close``, or the end of a ``with`` block. What cannot be written once the
    search is under way (a full disk, a folder that is gone) is told by a warning and written
    with a later step, if that is possible.

    Parameters
    ----------
    path
        File to write.
    header
        What identifies the search: learner, settings, data. A journal of another search is
        refused.
    resume
        Read the steps that are there and go on behind them; otherwise the file is started anew,
        if it is a journal at all.
    kind
        What the steps are of.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        header: Mapping[str, Any],
        resume: bool,
        kind: str = SEARCH,
    ) -> None:
        self.path = None if path is None else Path(path)
        self._kind = kind
        self.steps: list[dict[str, Any]] = []
        self._lock: FileLock | None = None
        self._waiting: list[str] = []  # lines that could not be written yet
        self._warned = False
        if self.path is None:
            if resume:
                raise ParameterError("resume needs the file of a checkpoint")
            return
        first = {"format": _name_format(kind), **json.loads(json.dumps(header, default=_to_plain))}
        if self.path.is_file() or not self.path.exists():  # others, such as pipes, are not locked
            self._lock = FileLock(self.path)
        try:
            self._size = self._begin(self.path, first, resume)
        except BaseException:
            self.close()
            raise

    def _begin(self, path: Path, first: dict[str, Any], resume: bool) -> int:
        """Write the header and the steps that are known; return the size of the file."""
        if path.exists():
            if resume:
                found, self.steps = _read(path, first, self._kind)
                first |= {key: found[key] for key in (RESULT,) if key in found}
            else:
                _check_journal(path, self._kind)
        text = "".join(json.dumps(line) + "\n" for line in (first, *self.steps))
        write_atomically(path, text)
        return len(text)  # of ASCII characters, as JSON is written here

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes have the file."""
        if self._lock is not None:
            self._lock.release()

    def recall(self, number: int) -> dict[str, Any] | None:
        """Return a step of an earlier run, if there is one."""
        return self.steps[number] if number < len(self.steps) else None

    def write(self, step: Mapping[str, Any]) -> None:
        """Append a step; if that fails, the search is worth more than its checkpoint."""
        if self.path is None:
            return
        self._waiting.append(json.dumps(step) + "\n")
        try:
            self._append(self.path, "".join(self._waiting).encode())
        except OSError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"the checkpoint {self.path} cannot be written: {error.strerror}; the "
                    f"{self._kind} goes on, but could not be resumed behind this step",
                    CheckpointWarning,
                    stacklevel=2,
                )
        else:
            self._waiting.clear()

    def _append(self, path: Path, data: bytes) -> None:
        """Write behind the last complete step, whatever a write that failed left there."""
        with path.open("r+b") as file:  # a file that was removed is not begun without its header
            file.seek(self._size)
            file.truncate()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(data)


def note_result(path: Path, model: Path) -> None:
    """Enter in a journal which file was made of its steps."""
    lock = FileLock(path)
    try:
        with path.open(encoding="utf-8") as file:
            header, rest = json.loads(file.readline()), file.read()
        header[RESULT] = _digest(model)
        write_atomically(path, json.dumps(header) + "\n" + rest)
    finally:
        lock.release()


def is_result(path: Path, model: Path) -> bool:
    """Whether a model file was made of the steps of a journal, and is as it was then."""
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        return isinstance(header, dict) and header.get(RESULT) == _digest(model)
    except (OSError, ValueError):
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _name_format(kind: str) -> str:
    return f"latentforest-{kind}"


def _check_journal(path: Path, kind: str) -> None:
    """Refuse to begin anew over a file that is something else."""
    if path.is_file() and path.stat().st_size > 0:
        with path.open("rb") as file:
            start = file.read(1000)
        if f'"format": "{_name_format(kind)}"'.encode() not in start:
            raise FileFormatError(
                f"{path} is there already and is not the checkpoint of a {kind}; choose another "
                "file"
            )


def _to_plain(value: Any) -> Any:
    """Turn a number of numpy into one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise ParameterError(f"a checkpoint cannot hold the setting {value!r}")


def _read(
    path: Path, expected: dict[str, Any], kind: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the header and the steps; a last line that was cut short is left out."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (UnicodeDecodeError, IsADirectoryError):
        raise FileFormatError(f"{path} is not the checkpoint of a {kind}") from None
    entries = []
    for number, line in enumerate(lines[:-1], start=1):  # a complete file ends with a line end
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise FileFormatError(f"{path}, line {number}: not JSON ({error.msg})") from None
        if not isinstance(entry, dict):
            raise FileFormatError(f"{path}, line {number}: not a step of a {kind}")
        entries.append(entry)
    if not entries or entries[0].get("format") != _name_format(kind):
        raise FileFormatError(f"{path} is not the checkpoint of a {kind}")
    for key, value in expected.items():
        if entries[0].get(key) != value:
            raise ParameterError(
                f"{path} belongs to another {kind}: its {key} is {entries[0].get(key)!r}, "
                f"not {value!r}"
            )
    for number, entry in enumerate(entries[1:]):
        if entry.get("step") != number:
            raise FileFormatError(f"{path}, line {number + 2}: step {number} is missing")
    return entries[0], entries[1:]


def fingerprint(dataset: Dataset) -> str:
    """A short text that differs for different tables."""
    digest = hashlib.sha256()
    for variable, column in zip(dataset.variables, dataset.columns, strict=True):
        digest.update(repr((variable.name, variable.states)).encode())
        digest.update(column.astype("<i4" if variable.is_categorical else "<f8").tobytes())
    digest.update(dataset.weights.astype("<f8").tobytes())
    return digest.hexdigest()[:16]
