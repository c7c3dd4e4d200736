"""Minus the Hessian of the log-posterior in softmax coordinates, from all completions (Louis 1982).

Of a row of a table with theta and the total n of its expected counts and pseudo-counts, a complete
table would give n (diag(theta) - theta theta'). The covariance of the gradient over the completions
of each observation comes off.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import softmax

from latentforest.kernels.types import FloatArray, IntArray
from latentforest.scores.evidence.coordinates import TableRows
from latentforest.scores.evidence.units import Openings

BLOCK = 1 << 22  # numbers of gradients that are held at once


def find_information(
    prior: FloatArray, theta: FloatArray, openings: Openings, rows: TableRows
) -> FloatArray:
    """Return the matrix, ``(d, d)``."""
    d, total = len(rows.free), prior + openings.base
    spread = np.zeros((d, d))
    for cells, copies in _list_blocks(openings, len(theta)):
        p = softmax(np.log(theta)[cells].sum(axis=-1), axis=1)
        shares = copies[:, None] * p
        total += np.bincount(
            cells.ravel(), np.broadcast_to(shares[..., None], cells.shape).ravel(), len(theta)
        )
        gradients = _find_gradients(cells, theta, rows)
        mean = np.einsum("uc,ucd->ud", p, gradients)
        flat = gradients.reshape(-1, d)
        spread += (flat * shares.reshape(-1, 1)).T @ flat - (mean * copies[:, None]).T @ mean
    share, n = theta[rows.free], rows.spread(total)[rows.free]
    same = rows.row_of[rows.free]
    complete = np.diag(n * share) - np.where(same[:, None] == same, np.outer(n * share, share), 0.0)
    return np.asarray(complete - spread, np.float64)


def _find_gradients(cells: IntArray, theta: FloatArray, rows: TableRows) -> FloatArray:
    """Gradient of the log-probability of each completion, ``(n_units, n_completions, d)``."""
    flat = cells.reshape(-1, cells.shape[-1])
    each = np.arange(len(flat))[:, None]
    hits, touched = np.zeros((len(flat), len(theta))), np.zeros((len(flat), rows.n_rows))
    hits[each, flat] = 1.0  # completions count in one cell of a table
    touched[each, rows.row_of[flat]] = 1.0
    gradients = hits[:, rows.free] - touched[:, rows.row_of[rows.free]] * theta[rows.free]
    return gradients.reshape(*cells.shape[:-1], len(rows.free))


def _list_blocks(openings: Openings, n_values: int) -> Iterator[tuple[IntArray, FloatArray]]:
    """List units of one shape: ``(n_units, n_completions, width)`` cells, and their weights."""
    units, n = openings.units, len(openings.copies)
    begin = 0
    while begin < n:
        width, n_completions = int(units.width[begin]), int(units.n_completions[begin])
        most = begin + max(1, BLOCK // (n_completions * n_values))
        end = begin + 1
        while end < min(n, most) and (units.width[end], units.n_completions[end]) == (
            width,
            n_completions,
        ):
            end += 1
        start, size = int(units.start[begin]), (end - begin) * width * n_completions
        cells = units.cells[start : start + size].reshape(-1, n_completions, width)
        yield cells, openings.copies[begin:end]
        begin = end
