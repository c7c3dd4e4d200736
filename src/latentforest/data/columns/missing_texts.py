"""Which texts mean "no value": in all columns, in some, or only among numbers."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from latentforest.data.columns.state_names import DEFAULT_MISSING, is_bool, name_value
from latentforest.errors import ParameterError

#: What callers pass: texts for all columns, or further texts by column.
Missing: TypeAlias = Collection[object] | Mapping[str, Collection[object]]

_ERROR_VALUES = ("#N/A", "#N/A N/A", "#NA", "#DIV/0!", "#NUM!", "#VALUE!", "#REF!", "#NULL!")
#: Mean "no value" in a column whose other values are all numbers; elsewhere they are states.
AMONG_NUMBERS = (".", "..", "-", "--", "None", "none", "NONE", "n.a.", "N.A.", *_ERROR_VALUES)
#: Those that are worth a question where they are states.
DOUBTFUL = frozenset((".", "None", *_ERROR_VALUES))


class MissingTexts(tuple[str, ...]):
    """Texts that mean "no value" in every column, with further ones for some columns.

    Examples
    --------
    >>> texts = MissingTexts(["NA"], {"age": ("-99",)})
    >>> texts.of("age"), texts.of("sex")
    (('NA', '-99'), ('NA',))
    """

    by_column: Mapping[str, tuple[str, ...]]

    def __new__(
        cls, texts: Iterable[str], by_column: Mapping[str, tuple[str, ...]] | None = None
    ) -> MissingTexts:
        """Make it of texts."""
        made = super().__new__(cls, tuple(texts))
        made.by_column = dict(by_column or {})
        return made

    def of(self, name: str) -> tuple[str, ...]:
        """All texts that mean "no value" in a column."""
        return (*self, *self.by_column.get(name, ()))


def texts_of(missing: Collection[str], name: str) -> Collection[str]:
    """Texts that mean "no value" in a column."""
    return missing.of(name) if isinstance(missing, MissingTexts) else missing


def check_missing(missing: Missing) -> MissingTexts:
    """Texts that mean "no value"; anything but texts and numbers is an error.

    A mapping has further texts by column, on top of the usual ones.
    """
    if isinstance(missing, MissingTexts):
        return missing
    if isinstance(missing, Mapping):
        by_column = {name: list_texts(texts, missing) for name, texts in missing.items()}
        return MissingTexts(DEFAULT_MISSING, by_column)
    return MissingTexts(list_texts(missing, missing))


def list_texts(texts: object, given: object) -> tuple[str, ...]:
    """Names of a list of texts and numbers."""
    usable = isinstance(texts, Iterable) and not isinstance(texts, str | bytes)
    listed: tuple[object, ...] = tuple(texts) if usable else ()  # type: ignore[arg-type]
    if not usable or not all(isinstance(t, str | numbers.Real) and not is_bool(t) for t in listed):
        raise ParameterError(
            f"missing: got {given!r}, expected a collection of texts such as ['NA', '-9'], or a "
            "mapping from columns to such collections"
        )
    return tuple(name_value(text) for text in listed)
