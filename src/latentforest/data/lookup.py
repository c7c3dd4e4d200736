"""Finds columns by name, and says what is known when a name is not found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from latentforest.errors import DataError

_MANY = 12


def list_briefly(items: Iterable[object], limit: int = _MANY) -> str:
    """Items in quotes, the rest counted: ``'a', 'b' and 5 more``."""
    listed = [repr(item) for item in items]
    text = ", ".join(listed[:limit])
    return text if len(listed) <= limit else f"{text} and {len(listed) - limit} more"


def find_name(name: object, known: Sequence[str]) -> int:
    """Position of a column name; a helpful error if there is no such column."""
    try:
        return known.index(name)
    except ValueError:
        near = difflib.get_close_matches(str(name), known, n=3)
    hint = f"did you mean {list_briefly(near)}?" if near else f"columns: {list_briefly(known)}"
    raise DataError(f"there is no column {name!r}; {hint}")


def check_unique(names: Sequence[str]) -> None:
    """Raise an error that names the repeated columns."""
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"column names must be unique; repeated: {list_briefly(repeated)}")
