"""The hash of a table: the same for any order of rows and columns, equal rows merged or not."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.variable import Variable

Words = NDArray[np.uint64]
DIGITS = 9  # of weights: sums of the same weights in another order agree in so many

# Each value becomes two words of 64 bits, made of the column's name and kind and of the value.
# Words of a row are added up and stirred, so the order of columns does not matter; rows are
# sorted by the first word, so theirs does not matter either.


def hash_table(
    variables: Sequence[Variable],
    columns: Sequence[NDArray[Any]],
    weights: NDArray[np.float64],
) -> str:
    """Return the SHA-256 of what a table says, in hexadecimal digits.

    Parameters
    ----------
    variables, columns, weights
        As of `Dataset`. States count by their names, so neither codes nor unseen states matter;
        rows of weight zero do not count.
    """
    rows = np.zeros((2, len(weights)), np.uint64)
    for variable, column in zip(variables, columns, strict=True):
        hash_column = _hash_numbers if variable.states is None else _hash_codes
        rows += hash_column(variable, column)
    rows = _stir(rows)
    first, order, inverse = np.unique(rows[0], return_index=True, return_inverse=True)
    sums = np.bincount(inverse, weights=weights).astype(np.float64)
    counted = sums > 0
    digest = hashlib.sha256()
    for name, kind in sorted((each.name, _name_kind(each)) for each in variables):
        digest.update(_hash_text(kind, name))
    for part in (first[counted], rows[1, order][counted], _round(sums[counted])):
        digest.update(np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _name_kind(variable: Variable) -> str:
    return "categorical" if variable.is_categorical else "continuous"


def _hash_codes(variable: Variable, codes: NDArray[Any]) -> Words:
    """Words of the states by name; the last is of a missing value."""
    states = variable.states or ()
    digests = [_hash_text("state", variable.name, state) for state in states]
    digests.append(_hash_text("missing", variable.name))
    words = np.frombuffer(b"".join(each[:16] for each in digests), "<u8").reshape(-1, 2)
    return words.astype(np.uint64).T[:, codes]


def _hash_numbers(variable: Variable, values: NDArray[Any]) -> Words:
    """Words of numbers: equal numbers have equal ones, also 0 and -0, and missing is missing."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
    seeds = np.frombuffer(_hash_text("number", variable.name)[:16], "<u8").astype(np.uint64)
    return _stir(plain.view(np.uint64) ^ seeds[:, None])


def _hash_text(*parts: str) -> bytes:
    """Hash texts one after the other; their lengths keep them apart."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def _stir(words: Words) -> Words:
    """Spread each bit of a word over all of it (a bijection of multiplications and shifts)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _round(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to a number of significant digits."""
    units = 10.0 ** (np.floor(np.log10(sums)) - DIGITS + 1)
    return np.where(sums == np.rint(sums), sums, np.rint(sums / units) * units)
