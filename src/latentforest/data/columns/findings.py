"""What is odd about columns: one warning for each kind of oddity, with the option that changes it.

The same findings are told by ``inspect``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from latentforest.errors import DataWarning

if TYPE_CHECKING:
    from latentforest.data.columns.recipe import Recipe

_LISTED = 8


@dataclass(frozen=True, slots=True)
class Oddity:
    """A kind of oddity: what all such columns have in common, and what to do.

    ``{column}`` and ``{code}`` stand for the first column's name and its first code, as Python
    writes them. ``short`` is for a table of columns.
    """

    short: str
    about: str
    advice: str
    leaves_out: bool = False


_KEEP = "keep one with kinds={{{column}: 'categorical'}}"
_DROP = "leave them out with exclude=[{column}] if so"
ODDITIES: Mapping[str, Oddity] = MappingProxyType(
    {
        "dates": Oddity(
            "dates or times",
            "columns of dates or times are left out",
            f"turn them into numbers (such as days) or categories (such as the month), or {_KEEP}",
            leaves_out=True,
        ),
        "unique text": Oddity(
            "every text is another",
            "columns in which every text is another, like names or keys, are left out",
            _KEEP,
            leaves_out=True,
        ),
        "no value": Oddity(
            "no value at all",
            "columns without any value are left out",
            "list them in exclude=[{column}] to avoid this message",
            leaves_out=True,
        ),
        "constant number": Oddity(
            "one number only",
            "columns with a single number have no density and are left out",
            "list them in exclude=[{column}] to avoid this message",
            leaves_out=True,
        ),
        "rounded number": Oddity(
            "one number only as 64-bit floats",
            "columns of whole numbers beyond 2^53 that are all the same 64-bit float have no "
            "density and are left out",
            _KEEP + ", which tells them apart",
            leaves_out=True,
        ),
        "doubtful states": Oddity(
            "states that may mean 'no value'",
            "texts that may mean 'no value' count as states",
            "if they mean no value, pass missing={{{column}: [{code}]}}",
        ),
        "sentinels": Oddity(
            "numbers that may mean 'no value'",
            "numbers that look like codes for 'no value' count as values",
            "if they mean no value, pass missing={{{column}: [{code}]}}; if not, "
            "missing={{{column}: []}}",
        ),
        "mostly numbers": Oddity(
            "categorical because of a few texts",
            "columns are categorical because of a few texts among numbers",
            "if they mean no value, pass missing={{{column}: [{code}]}}; "
            "kinds={{{column}: 'categorical'}} avoids this message",
        ),
        "ambiguous marks": Oddity(
            "marks that are read one of two ways",
            "numbers with a comma or a point before three digits can be read in two ways",
            "pass decimal=',' or decimal='.' to say which mark is the decimal one",
        ),
        "units": Oddity(
            "read without its sign",
            "columns are read as numbers without their signs",
            "kinds={{{column}: 'categorical'}} keeps the texts",
        ),
        "row numbers": Oddity(
            "like a number of cases",
            "columns look like numbers of cases, not measurements",
            _DROP + "; kinds={{{column}: 'continuous'}} avoids this message",
        ),
        "compact dates": Oddity(
            "dates as numbers",
            "columns of numbers look like dates",
            _DROP + "; kinds={{{column}: 'continuous'}} avoids this message",
        ),
        "weights": Oddity(
            "named like row weights",
            "columns are named like row weights but are modelled",
            "pass weights={column} if they are; kinds={{{column}: 'continuous'}} avoids this "
            "message",
        ),
        "identifiers": Oddity(
            "named like an identifier",
            "columns are named like identifiers but are modelled",
            _DROP + "; kinds={{{column}: 'categorical'}} avoids this message",
        ),
        "many states": Oddity(
            "nearly as many states as rows",
            "columns with nearly as many states as rows, like names or numbers of cases",
            "leave them out with exclude=[{column}]",
        ),
        "free text": Oddity(
            "many long texts",
            "columns of many long texts look like free text",
            _DROP + "; kinds={{{column}: 'categorical'}} avoids this message",
        ),
        "mostly blank": Oddity(
            "mostly blank text",
            "columns of text are nearly always blank",
            _DROP + "; kinds={{{column}: 'categorical'}} avoids this message",
        ),
        "constant": Oddity(
            "a single observed value",
            "columns with a single observed value tell nothing",
            "",
        ),
        "copies": Oddity(
            "a copy of another column",
            "columns are copies of others",
            "they count twice; leave one out with exclude=[{column}]",
        ),
        "near copies": Oddity(
            "nearly a copy of another column",
            "columns are nearly copies of others",
            "if they are not measured separately, they count twice; leave one out with "
            "exclude=[{column}]",
        ),
        "linear": Oddity(
            "a linear function of other columns",
            "columns are linear functions of others, so that densities and BIC have no meaning",
            "leave them out with exclude=[{column}]",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity of one column; ``detail`` says what was seen, ``code`` the first such value."""

    oddity: str
    column: str
    detail: str = ""
    code: str = ""

    def describe(self) -> str:
        """Say it in a few words."""
        short = ODDITIES[self.oddity].short
        return f"{short}: {self.detail}" if self.detail else short


@dataclass(frozen=True)
class Origin:
    """What a table was before it was encoded.

    Attributes
    ----------
    names
        Names of all columns that were to be encoded, in their order, also those left out.
    left_out
        Why columns were left out, by name.
    recipe
        How the table was read, if not in the usual way.
    explicit
        Columns whose kind or states the caller stated.
    findings
        What was odd.
    ordered
        Columns whose states somebody put in order.
    """

    names: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    recipe: Recipe | None = None
    explicit: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()
    ordered: frozenset[str] = frozenset()


def explain_left_out(findings: Iterable[Finding]) -> dict[str, str]:
    """Why columns are left out, by name."""
    return {
        found.column: found.describe() for found in findings if ODDITIES[found.oddity].leaves_out
    }


def group_findings(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings by oddity."""
    groups: dict[str, list[Finding]] = {}
    for found in findings:
        groups.setdefault(found.oddity, []).append(found)
    return groups


def warn_of(findings: Iterable[Finding]) -> None:
    """One warning for each oddity."""
    for oddity, group in group_findings(findings).items():
        warnings.warn(describe_group(oddity, group), DataWarning, stacklevel=_find_level())


def describe_group(oddity: str, group: list[Finding]) -> str:
    """One sentence on columns with the same oddity."""
    kind = ODDITIES[oddity]
    listed = [
        f"{found.column!r} ({found.detail})" if found.detail else repr(found.column)
        for found in group[:_LISTED]
    ]
    more = f" and {len(group) - _LISTED} more" if len(group) > _LISTED else ""
    advice = kind.advice.format(column=repr(group[0].column), code=repr(group[0].code))
    return f"{kind.about}: {', '.join(listed)}{more}" + (f"; {advice}" if advice else "")


def _find_level() -> int:
    """How far up the first caller outside of the package is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(name: str) -> bool:
    return name.split(".", 1)[0] == "latentforest"
