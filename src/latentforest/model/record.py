"""The record of a network: how it was learned, in values that JSON knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from latentforest.data.results.table import to_plain
from latentforest.model.files.json_values import Mismatch, describe


@dataclass(frozen=True)
class Record:
    """How a network was learned. A learner's ``fit`` makes it; ``network_.record`` has it.

    Parameters
    ----------
    learner
        Name of the learner's class.
    settings
        Its parameters, without those that cannot change the result (``n_jobs``, ``progress``).
    seed
        The ``random_state``, if it was a number.
    versions
        Of latentforest, Python, NumPy and Numba.
    source
        Name of the file that was read, without its folder.
    table
        Facts about the rows and columns that were modelled: ``hash`` (`Dataset.hash`), ``n_rows``,
        ``n_columns``, ``total_weight``, ``is_weighted``, ``missing_share``.
    log_likelihood, n_parameters, bic, seconds, interrupted, converged
        What the learner says of its result; ``converged`` only if it is known.
    history
        The rows of ``history_``.
    notes
        The sentences of ``notes_``.
    comparisons
        Other models that were fitted to the same rows: ``name``, ``detail``, ``n_states`` (or
        none), ``n_parameters``, ``log_likelihood``, ``bic``.
    command
        The command line that made it.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> model = LatentClass(2, random_state=7).fit(datasets.load("hiv-tests"))
    >>> record = model.network_.record
    >>> record.learner, record.seed, record.settings["n_states"], record.table["n_columns"]
    ('LatentClass', 7, 2, 4)
    """

    learner: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    log_likelihood: float | None = None
    n_parameters: int | None = None
    bic: float | None = None
    seconds: float | None = None
    interrupted: bool = False
    converged: bool | None = None
    history: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    comparisons: Sequence[Mapping[str, Any]] | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = _freeze(to_plain(getattr(self, each.name)))
            object.__setattr__(self, each.name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_dict(),)

    def renamed(self, mapping: Mapping[str, str]) -> Record:
        """Return the record with other names for the variables of its steps."""
        history = []
        for row in self.history:
            names = row.get("variables")
            is_list = isinstance(names, tuple)
            new = [mapping.get(name, name) for name in names or ()] if is_list else names
            history.append({**row, "variables": new} if is_list else row)
        return replace(self, history=history)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as lists, dictionaries, texts and numbers."""
        return {each.name: _thaw(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_dict(cls, entry: object) -> Record:
        """Make a record of what `to_dict` gives; keys that are not known are ignored."""
        if not isinstance(entry, dict):
            raise Mismatch(f"record: expected an object, found {describe(entry)}")
        if not isinstance(entry.get("learner"), str):
            raise Mismatch("record: expected a key 'learner' with a string")
        for key, kind in _KINDS.items():
            value = entry.get(key)
            if value is not None and not _is_kind(value, kind):
                raise Mismatch(f"record.{key}: expected {_NAMES[kind]}, found {describe(value)}")
        known = {each.name for each in fields(cls)}
        given = {key: value for key, value in entry.items() if key in known}
        optional = {key: value for key, value in given.items() if value is not None}
        return cls(**optional)


_KINDS: dict[str, type] = {
    **dict.fromkeys(("settings", "versions", "table"), dict),
    **dict.fromkeys(("history", "notes", "comparisons"), list),
    **dict.fromkeys(("source", "command"), str),
    **dict.fromkeys(("log_likelihood", "n_parameters", "bic", "seconds", "seed"), float),
    **dict.fromkeys(("interrupted", "converged"), bool),
}
_NAMES = {dict: "an object", list: "a list", str: "a string", float: "a number", bool: "a truth"}


def _is_kind(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


def _restore(entry: dict[str, Any]) -> Record:
    return Record(**entry)


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: _freeze(each) for key, each in value.items()})
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(each) for key, each in value.items()}
    return list(map(_thaw, value)) if isinstance(value, tuple) else value
