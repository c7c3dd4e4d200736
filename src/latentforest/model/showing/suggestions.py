"""Suggested names of latent variables, made of the columns that tell most about them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latentforest.model.labels import Labels
from latentforest.model.questions.forest_tables import ForestTables
from latentforest.model.showing.centre import find_ways
from latentforest.model.showing.profiles import compute_profiles
from latentforest.model.showing.telling import rank_columns

if TYPE_CHECKING:
    from latentforest.model.network import Network

LONGEST = 40  # characters of a stem
MOST = 3  # parts of a name
OWN = 0.5  # of what the best column tells, which own columns must tell to give their name
SHARED = 12, 3  # characters of a beginning, and columns that have it, for it to be dropped
_GENERATED = re.compile(r"class|[A-Za-z]{1,2}[0-9_]*")
_STEM = re.compile(r"^(.+?)(?:[,;:(/]|\s[-–—]\s|\s\+\s)")
_BEGINNING = re.compile(r"[:?]\s*|\s[-–—]\s")


def suggest_names(network: Network) -> Labels:
    """Suggest texts for latent variables that have none.

    If the columns that hang on a variable tell at least half of what its best column tells, it is
    named after the best of them: by what stands before a comma, colon, dash or bracket. Otherwise
    after its two strongest neighbours away from the centre of the tree. No suggestion is the text
    of a column, and no two are the same. A variable whose name says something already (neither
    ``class`` nor one or two letters with a number) keeps it.

    Parameters
    ----------
    network
        Any network; its labels stand for the names of columns.

    Examples
    --------
    >>> from latentforest import LatentClass
    >>> table = {"Car, price": [1, 1, 2, 2] * 9, "Car, size": [1, 1, 2, 2] * 9, "Age": [1, 2] * 18}
    >>> network = LatentClass(2, random_state=0).fit(table).network_
    >>> suggest_names(network).variables["class"]
    'Car'
    """
    given = network.labels.variables
    wanted = [name for name in network.latents if _is_wanted(name, given)]
    others = [name for name in network.names if name not in wanted]
    taken = {*network.observed, *map(network.labels.variable, others)}
    stems, found = _find_stems(network), dict[str, str]()
    for choice in _choose_parts(network, wanted):
        text = next(each for each in _vary(choice, stems) if each not in taken)
        taken.add(text)
        found[choice.latent] = text
        stems[choice.latent] = text.partition(" + ")[0].removesuffix(" (hidden)")
    return Labels({name: found[name] for name in wanted})


def _is_wanted(name: str, given: Mapping[str, str]) -> bool:
    return name not in given and _GENERATED.fullmatch(name) is not None


@dataclass(frozen=True)
class _Parts:
    """The variables that give a latent one its name, the strongest first."""

    latent: str
    parts: Sequence[str]
    n_least: int


def _vary(choice: _Parts, stems: Mapping[str, str]) -> Iterator[str]:
    """Yield names to choose from, the shortest first."""
    name = choice.latent
    parts = list(dict.fromkeys(stems[each] for each in choice.parts)) or [name]
    for number in range(choice.n_least, min(len(parts), MOST) + 1):
        yield " + ".join(parts[:number])
    yield f"{parts[0]} (hidden)"
    yield f"{parts[0]} ({name})"
    yield from (f"{parts[0]} ({name}, {number})" for number in itertools.count(2))


def _choose_parts(network: Network, wanted: Iterable[str]) -> list[_Parts]:
    """Say what each name is made of; those whose names others use come first."""
    structure = network.structure
    tables = ForestTables(structure, network.parameters) if structure.is_forest else None
    toward, depths = find_ways(structure)
    found = []
    for latent in wanted:
        around = [*structure.parents(latent), *structure.children(latent)]
        away = [name for name in around if name != toward.get(latent)]
        near = compute_profiles(network, latent, away)
        own = [each for each in near if not structure.variable(each.name).latent]
        best = next(rank_columns(network, latent, tables), None)
        strength = own[0].information if own else 0.0
        is_own = best is not None and own and strength >= OWN * best.information
        parts = [each.name for each in (own if is_own else near[:2])]
        found.append((-depths.get(latent, 0), -round(strength, 9), latent, parts, is_own))
    found.sort(key=lambda each: each[:3])
    return [_Parts(latent, parts, 1 if is_own else 2) for *_, latent, parts, is_own in found]


def _find_stems(network: Network) -> dict[str, str]:
    """Stems of the texts of variables."""
    texts = {name: network.labels.variable(name) for name in network.names}
    short = drop_beginnings([texts[name] for name in network.observed])
    texts |= dict(zip(network.observed, short, strict=True))
    return {name: _cut(find_stem(text)) for name, text in texts.items()}


def find_stem(text: str) -> str:
    """Return what stands before a comma, colon, dash or bracket.

    Examples
    --------
    >>> find_stem("Car, premium"), find_stem("Age"), find_stem("smokes (yes or no)")
    ('Car', 'Age', 'smokes')
    """
    plain = " ".join(text.split()) or text
    match = _STEM.match(plain)
    return match[1].strip() if match else plain


def drop_beginnings(texts: Sequence[str]) -> list[str]:
    """Drop long beginnings that several texts share, such as the question of a block of items.

    A beginning has 12 or more characters, ends in a colon, dash or question mark, and is shared
    by three or more texts.

    Examples
    --------
    >>> question = "How much do you like this: "
    >>> drop_beginnings([question + each for each in ("tea", "milk", "beer")])
    ['tea', 'milk', 'beer']
    """
    least, n_columns = SHARED
    counts: dict[str, int] = {}
    ends = [
        [match.end() for match in _BEGINNING.finditer(text) if least <= match.end() < len(text)]
        for text in texts
    ]
    for text, places in zip(texts, ends, strict=True):
        for place in places:
            counts[text[:place]] = counts.get(text[:place], 0) + 1
    return [
        text[max((place for place in places if counts[text[:place]] >= n_columns), default=0) :]
        for text, places in zip(texts, ends, strict=True)
    ]


def _cut(text: str) -> str:
    """Cut a long text in the middle."""
    if len(text) <= LONGEST:
        return text
    head = (LONGEST - 1) * 2 // 5
    return f"{text[:head].rstrip()}…{text[head + 1 - LONGEST :].lstrip()}"
