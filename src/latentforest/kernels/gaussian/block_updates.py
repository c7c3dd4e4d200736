"""The M-step of blocks, compiled only when there are some. See ``blocks``.

Behind means and deviations of the columns, ``scales`` holds their correlations over all rows, then
for each family its bound: of a variable the least scaled variance around its line, of a pouch the
matrix that turns its least covariance into ones (covariances minus the least one must stay positive
semidefinite). Pseudo-observations of a family have the means and variances of all rows, and their
correlations times a share. For each state of the parent, their number and that share are the first
two pseudo-counts of that row.
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray

from latentforest.kernels.compilation import part
from latentforest.kernels.gaussian.blocks import (
    factorize,
    fill_tables,
    invert_factor,
    read_covariance,
)
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import (
    CORE,
    FAMILIES,
    FAMILY_KIND,
    HAS_STATES,
    IS_ESTIMATED,
    IS_SHARED,
    LENGTH,
    LOG_PRIOR,
    MEMBERS,
    N_COLUMNS,
    N_FAMILIES,
    N_MEMBERS,
    N_PARENTS,
    N_STATES,
    NUMBERS,
    POUCH,
    SUMS,
    UPDATE,
)
from latentforest.kernels.types import FloatArray, LongArray

FEWEST = 1e-200  # weight of a state below which it keeps its parameters
COLLINEAR = 1e-10  # share of a parent's variance that others must leave for it to get a slope
NEGLIGIBLE = 1e-13  # the same of its variance over all rows: what constants leave by rounding
SHRINKING = 0.01  # an extrapolated variance is at least this share of the one it starts from
N_SWEEPS = 30
CONVERGED = 1e-28


@part
def _sum_up(
    tasks: LongArray,
    first: int,
    family: int,
    begin: int,
    end: int,
    tables: FloatArray,
    scales: FloatArray,
    place: int,
    counts: FloatArray,
    pseudo: int,
    m: FloatArray,
    s: FloatArray,
) -> float:
    """Sums of a family's variables and parents over some states, around the first one's center.

    Variables first, then parents; pseudo-observations are added. Returns the weight.
    """
    d, n = tasks[first + N_COLUMNS], tasks[family + N_MEMBERS] + tasks[family + N_PARENTS]
    n_pseudo, share, size = scales[pseudo], scales[pseudo + 1], 1 + d + d * d
    weight: float = n_pseudo
    for a in range(n):
        i = _position(tasks, family, a)
        shift = -tables[begin * size + 1 + i]
        m[a] = n_pseudo * shift
        for b in range(n):
            j = _position(tasks, family, b)
            other = -tables[begin * size + 1 + j]
            s[a * n + b] = n_pseudo * (_correlate(scales, place, d, i, j, share) + shift * other)
    for k in range(begin, end):
        sums = tasks[first + SUMS] + k * size
        here = counts[sums]
        weight += here
        for a in range(n):
            i = _position(tasks, family, a)
            shift = tables[k * size + 1 + i] - tables[begin * size + 1 + i]
            m[a] += counts[sums + 1 + i] + here * shift
            for b in range(n):
                j = _position(tasks, family, b)
                other = tables[k * size + 1 + j] - tables[begin * size + 1 + j]
                value = counts[sums + 1 + d + max(i, j) * d + min(i, j)]
                value += shift * counts[sums + 1 + j] + other * counts[sums + 1 + i]
                s[a * n + b] += value + here * shift * other
    return weight


@part
def _correlate(scales: FloatArray, place: int, d: int, i: int, j: int, share: float) -> float:
    """Correlation of two columns in pseudo-observations."""
    factor = 1.0 if i == j else share
    value: float = factor * scales[place + 2 * d + i * d + j]
    return value


@part
def _position(tasks: LongArray, family: int, a: int) -> int:
    """Position in the block of a variable of a family, or of one of its parents."""
    n = tasks[family + N_MEMBERS]
    result: int = tasks[family + MEMBERS + 2 * a] if a < n else tasks[family + MEMBERS + n + a]
    return result


@part
def _center_sums(n: int, weight: float, m: FloatArray, s: FloatArray) -> None:
    """Replace sums by means and covariances."""
    for a in range(n):
        m[a] /= weight
    for a in range(n):
        for b in range(n):
            s[a * n + b] = s[a * n + b] / weight - m[a] * m[b]


@part
def _update_line(
    tasks: LongArray,
    first: int,
    family: int,
    k: int,
    tables: FloatArray,
    scales: FloatArray,
    place: int,
    least: float,
    m: FloatArray,
    s: FloatArray,
    theta: FloatArray,
) -> None:
    """Regress a variable on its parents, given means and covariances around a center."""
    d, n_parents = tasks[first + N_COLUMNS], tasks[family + N_PARENTS]
    n, i, size = 1 + n_parents, tasks[family + MEMBERS], 1 + d + d * d
    row = tasks[family + MEMBERS + 1] + k * tasks[family + HAS_STATES] * (2 + n_parents)
    slopes = _solve(n, s)
    variance = s[0]
    for a in range(n_parents):
        variance -= 2.0 * slopes[a] * s[1 + a]
        for b in range(n_parents):
            variance += slopes[a] * slopes[b] * s[(1 + a) * n + 1 + b]
    unit = scales[place + d + i]
    intercept = scales[place + i] + unit * (tables[k * size + 1 + i] + m[0])
    for a in range(n_parents):
        p = _position(tasks, family, 1 + a)
        theta[row + 1 + a] = slopes[a] * unit / scales[place + d + p]
        center = tables[k * size + 1 + p] + m[1 + a]
        intercept -= theta[row + 1 + a] * (scales[place + p] + scales[place + d + p] * center)
    theta[row] = intercept
    theta[row + 1 + n_parents] = max(variance, least) * unit * unit


@part
def _solve(n: int, s: FloatArray) -> FloatArray:
    """Slopes of the first variable on the others; none for one that others determine."""
    size = n - 1
    factor, slopes = np.zeros(size * size), np.zeros(max(size, 1))
    for i in range(size):
        value = s[1 + i]
        for j in range(i + 1):
            entry = s[(1 + i) * n + 1 + j]
            for k in range(j):
                entry -= factor[i * size + k] * factor[j * size + k]
            if i == j:
                is_free = entry > max(COLLINEAR * s[(1 + i) * n + 1 + i], NEGLIGIBLE)
                factor[i * size + i] = math.sqrt(entry) if is_free else np.inf
            else:
                factor[i * size + j] = entry / factor[j * size + j]
        for j in range(i):
            value -= factor[i * size + j] * slopes[j]
        slopes[i] = value / factor[i * size + i]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            slopes[i] -= factor[j * size + i] * slopes[j]
        slopes[i] /= factor[i * size + i]
    return slopes


@part
def bound_covariance(n: int, white: FloatArray, place: int, matrix: FloatArray) -> bool:
    """Raise a covariance, lower half, to its bound where it is below; tell whether it was.

    In the coordinates in which the bound is the unit matrix, eigenvalues below one become one:
    the most likely covariance above the bound.
    """
    turned = np.empty(n * n)
    _transform(n, white, place, matrix, turned)
    trial = turned.copy()
    for a in range(n):
        trial[a * n + a] -= 1.0
    if _is_positive(n, trial):
        return False
    vectors = np.empty(n * n)
    _diagonalize(n, turned, vectors)
    back = np.empty(n * n)
    for a in range(n):
        for b in range(a + 1):
            back[a * n + b] = white[place + a * n + b]
    invert_factor(back, 0, n)
    for c in range(n):  # eigenvectors in the old coordinates
        for a in range(n - 1, -1, -1):
            value = 0.0
            for b in range(a + 1):
                value += back[a * n + b] * vectors[b * n + c]
            vectors[a * n + c] = value
    for a in range(n):
        for b in range(a + 1):
            value = 0.0
            for c in range(n):
                value += max(turned[c * n + c], 1.0) * vectors[a * n + c] * vectors[b * n + c]
            matrix[a * n + b] = value
    return True


@part
def _transform(
    n: int, white: FloatArray, place: int, matrix: FloatArray, result: FloatArray
) -> None:
    """Compute W M W' of a lower triangular W and a symmetric M, given by its lower half."""
    half = np.empty(n * n)
    for a in range(n):
        for b in range(n):
            value = 0.0
            for c in range(a + 1):
                value += white[place + a * n + c] * matrix[max(c, b) * n + min(c, b)]
            half[a * n + b] = value
    for a in range(n):
        for b in range(a + 1):
            value = 0.0
            for c in range(b + 1):
                value += half[a * n + c] * white[place + b * n + c]
            result[a * n + b] = value
            result[b * n + a] = value


@part
def _is_positive(n: int, a: FloatArray) -> bool:
    """Whether a symmetric matrix is positive definite; it is overwritten."""
    for i in range(n):
        for j in range(i + 1):
            value = a[i * n + j]
            for k in range(j):
                value -= a[i * n + k] * a[j * n + k]
            if i == j:
                if not value > 0.0:
                    return False
                a[i * n + i] = math.sqrt(value)
            else:
                a[i * n + j] = value / a[j * n + j]
    return True


@part
def _diagonalize(n: int, a: FloatArray, vectors: FloatArray) -> None:
    """Turn a symmetric matrix into its eigenvalues, on the diagonal (Jacobi's rotations)."""
    for i in range(n * n):
        vectors[i] = 0.0
    for i in range(n):
        vectors[i * n + i] = 1.0
    for _ in range(N_SWEEPS):
        off, on = 0.0, 0.0
        for i in range(n):
            on += a[i * n + i] ** 2
            for j in range(i):
                off += a[i * n + j] ** 2
        if off <= CONVERGED * on:
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                _rotate(n, a, vectors, p, q)


@part
def _rotate(n: int, a: FloatArray, vectors: FloatArray, p: int, q: int) -> None:
    """Make one entry off the diagonal zero."""
    entry = a[p * n + q]
    if entry == 0.0:
        return
    ratio = (a[q * n + q] - a[p * n + p]) / (2.0 * entry)
    t = math.copysign(1.0, ratio) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for i in range(n):
        x, y = a[p * n + i], a[q * n + i]
        a[p * n + i], a[q * n + i] = c * x - s * y, s * x + c * y
    for i in range(n):
        x, y = a[i * n + p], a[i * n + q]
        a[i * n + p], a[i * n + q] = c * x - s * y, s * x + c * y
        x, y = vectors[i * n + p], vectors[i * n + q]
        vectors[i * n + p], vectors[i * n + q] = c * x - s * y, s * x + c * y


@part
def _write_mean(
    tasks: LongArray,
    first: int,
    family: int,
    k: int,
    tables: FloatArray,
    scales: FloatArray,
    place: int,
    m: FloatArray,
    theta: FloatArray,
) -> None:
    d, n = tasks[first + N_COLUMNS], tasks[family + N_MEMBERS]
    step = k * tasks[family + HAS_STATES] * (1 + n)
    for a in range(n):
        i = tasks[family + MEMBERS + 2 * a]
        mean = tables[k * (1 + d + d * d) + 1 + i] + m[a]
        row = tasks[family + MEMBERS + 2 * a + 1] + step
        theta[row] = scales[place + i] + scales[place + d + i] * mean


@part
def _write_covariance(
    tasks: LongArray,
    first: int,
    family: int,
    k: int,
    scales: FloatArray,
    place: int,
    matrix: FloatArray,
    theta: FloatArray,
) -> None:
    d, n = tasks[first + N_COLUMNS], tasks[family + N_MEMBERS]
    step = k * tasks[family + HAS_STATES] * (1 + n)
    for a in range(n):
        i, row = tasks[family + MEMBERS + 2 * a], tasks[family + MEMBERS + 2 * a + 1] + step
        for b in range(a + 1):
            j, other = tasks[family + MEMBERS + 2 * b], tasks[family + MEMBERS + 2 * b + 1] + step
            value = matrix[a * n + b] * scales[place + d + i] * scales[place + d + j]
            theta[row + 1 + b] = value
            theta[other + 1 + a] = value


@part
def _update_pouch(
    tasks: LongArray,
    first: int,
    family: int,
    bound: int,
    tables: FloatArray,
    scales: FloatArray,
    place: int,
    counts: FloatArray,
    theta: FloatArray,
) -> None:
    """New means and covariances of a pouch; states may share the covariance."""
    n = tasks[family + N_MEMBERS]
    n_rows = tasks[first + N_STATES] if tasks[family + HAS_STATES] == 1 else 1
    m, s, pooled, total = np.empty(n), np.empty(n * n), np.zeros(n * n), 0.0
    for k in range(n_rows):
        pseudo = tasks[family + MEMBERS + 1] + k * (1 + n)
        weight = _sum_up(
            tasks, first, family, k, k + 1, tables, scales, place, counts, pseudo, m, s
        )
        if not weight > FEWEST:
            continue
        _center_sums(n, weight, m, s)
        _write_mean(tasks, first, family, k, tables, scales, place, m, theta)
        if tasks[family + IS_SHARED] == 1:
            total += weight
            for a in range(n * n):
                pooled[a] += weight * s[a]
        else:
            bound_covariance(n, scales, bound, s)
            _write_covariance(tasks, first, family, k, scales, place, s, theta)
    if tasks[family + IS_SHARED] == 1 and total > FEWEST:
        for a in range(n * n):
            pooled[a] /= total
        bound_covariance(n, scales, bound, pooled)
        for k in range(n_rows):
            _write_covariance(tasks, first, family, k, scales, place, pooled, theta)


@part
def _update(
    tasks: LongArray,
    first: int,
    scales: FloatArray,
    place: int,
    counts: FloatArray,
    theta: FloatArray,
) -> None:
    d, n_states = tasks[first + N_COLUMNS], tasks[first + N_STATES]
    tables, scratch = np.empty(n_states * (1 + d + d * d)), np.empty(d * d)
    fill_tables(tasks, first, scales, place, theta, tables, 0, scratch)
    family, bound = first + tasks[first + FAMILIES], place + 2 * d + d * d
    for _ in range(tasks[first + N_FAMILIES]):
        n = tasks[family + N_MEMBERS]
        is_pouch = tasks[family + FAMILY_KIND] == POUCH
        if tasks[family + IS_ESTIMATED] == 1 and is_pouch:
            _update_pouch(tasks, first, family, bound, tables, scales, place, counts, theta)
        elif tasks[family + IS_ESTIMATED] == 1:
            n_all = 1 + tasks[family + N_PARENTS]
            m, s = np.empty(n_all), np.empty(n_all * n_all)
            has_states = tasks[family + HAS_STATES] == 1
            for k in range(n_states if has_states else 1):
                end = k + 1 if has_states else n_states
                pseudo = tasks[family + MEMBERS + 1] + k * (1 + n_all)
                weight = _sum_up(
                    tasks, first, family, k, end, tables, scales, place, counts, pseudo, m, s
                )
                if weight > FEWEST:
                    _center_sums(n_all, weight, m, s)
                    _update_line(
                        tasks, first, family, k, tables, scales, place, scales[bound], m, s, theta
                    )
        bound += n * n
        family += tasks[family + LENGTH]


@part
def _project(
    tasks: LongArray,
    first: int,
    scales: FloatArray,
    place: int,
    safe: FloatArray,
    theta: FloatArray,
) -> None:
    """Bring parameters that were extrapolated from safe ones back above their bounds."""
    d, n_states = tasks[first + N_COLUMNS], tasks[first + N_STATES]
    family, bound = first + tasks[first + FAMILIES], place + 2 * d + d * d
    for _ in range(tasks[first + N_FAMILIES]):
        n, n_parents = tasks[family + N_MEMBERS], tasks[family + N_PARENTS]
        n_rows = n_states if tasks[family + HAS_STATES] == 1 else 1
        if tasks[family + IS_ESTIMATED] == 1:
            for k in range(n_rows):
                if tasks[family + FAMILY_KIND] == POUCH:
                    matrix = np.empty(n * n)
                    read_covariance(tasks, family, d, k * (1 + n), scales, place, theta, matrix)
                    if bound_covariance(n, scales, bound, matrix):
                        _write_covariance(tasks, first, family, k, scales, place, matrix, theta)
                else:
                    i = tasks[family + MEMBERS + 1] + k * (2 + n_parents) + 1 + n_parents
                    unit = scales[place + d + tasks[family + MEMBERS]]
                    least = max(scales[bound] * unit * unit, SHRINKING * safe[i])
                    theta[i] = max(theta[i], least)
        bound += n * n
        family += tasks[family + LENGTH]


@part
def _log_prior(
    tasks: LongArray, first: int, scales: FloatArray, place: int, theta: FloatArray
) -> float:
    """Log density of the pseudo-observations, in scaled units and up to a constant."""
    d, n_states, result = tasks[first + N_COLUMNS], tasks[first + N_STATES], 0.0
    family = first + tasks[first + FAMILIES]
    for _ in range(tasks[first + N_FAMILIES]):
        n_rows = n_states if tasks[family + HAS_STATES] == 1 else 1
        is_pouch = tasks[family + FAMILY_KIND] == POUCH
        length = 1 + tasks[family + N_MEMBERS] if is_pouch else 2 + tasks[family + N_PARENTS]
        if tasks[family + IS_ESTIMATED] == 1:
            for k in range(n_rows):
                n_pseudo = scales[tasks[family + MEMBERS + 1] + k * length]
                if not n_pseudo > 0.0:
                    continue
                if is_pouch:
                    result -= (
                        0.5 * n_pseudo * _misfit_of_pouch(tasks, family, d, k, scales, place, theta)
                    )
                else:
                    result -= (
                        0.5 * n_pseudo * _misfit_of_line(tasks, family, d, k, scales, place, theta)
                    )
        family += tasks[family + LENGTH]
    return result


@part
def _misfit_of_pouch(
    tasks: LongArray,
    family: int,
    d: int,
    k: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
) -> float:
    """Log determinant plus mean square distance of all rows."""
    n, result = tasks[family + N_MEMBERS], 0.0
    share = scales[tasks[family + MEMBERS + 1] + k * (1 + n) + 1]
    matrix, mean = np.empty(n * n), np.empty(n)
    read_covariance(tasks, family, d, k * (1 + n), scales, place, theta, matrix)
    factorize(matrix, 0, n)
    for a in range(n):
        result += 2.0 * math.log(matrix[a * n + a])
        i, row = tasks[family + MEMBERS + 2 * a], tasks[family + MEMBERS + 2 * a + 1] + k * (1 + n)
        mean[a] = (theta[row] - scales[place + i]) / scales[place + d + i]
    invert_factor(matrix, 0, n)
    for c in range(n):
        for a in range(c + 1):
            i = tasks[family + MEMBERS + 2 * a]
            for b in range(c + 1):
                j = tasks[family + MEMBERS + 2 * b]
                moment = mean[a] * mean[b] + _correlate(scales, place, d, i, j, share)
                result += matrix[c * n + a] * matrix[c * n + b] * moment
    return result


@part
def _misfit_of_line(
    tasks: LongArray,
    family: int,
    d: int,
    k: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
) -> float:
    """Log variance plus mean square distance of all rows from the line."""
    n_parents, i = tasks[family + N_PARENTS], tasks[family + MEMBERS]
    row = tasks[family + MEMBERS + 1] + k * (2 + n_parents)
    unit, share = scales[place + d + i], scales[row + 1]
    variance = theta[row + 1 + n_parents] / (unit * unit)
    away, square = theta[row] - scales[place + i], _correlate(scales, place, d, i, i, share)
    for a in range(n_parents):
        p = _position(tasks, family, 1 + a)
        away += theta[row + 1 + a] * scales[place + p]
        slope = theta[row + 1 + a] * scales[place + d + p] / unit
        square -= 2.0 * slope * _correlate(scales, place, d, i, p, share)
        for b in range(n_parents):
            q = _position(tasks, family, 1 + b)
            other = theta[row + 1 + b] * scales[place + d + q] / unit
            square += slope * other * _correlate(scales, place, d, p, q, share)
    away /= unit
    result: float = math.log(variance) + (square + away * away) / variance
    return result


def _revise_block(  # type: ignore[no-untyped-def]
    first, action, offsets_, tasks_, rows_, scales_, counts_, theta_
):
    tasks, scales = carray(tasks_, (ANY_LENGTH,)), carray(scales_, (ANY_LENGTH,))
    counts, theta = carray(counts_, (ANY_LENGTH,)), carray(theta_, (ANY_LENGTH,))
    place, start = tasks[first + NUMBERS], tasks[first + CORE]
    if action == LOG_PRIOR:
        return _log_prior(tasks, start, scales, place, theta)
    if action == UPDATE:
        _update(tasks, start, scales, place, counts, theta)
    else:
        _project(tasks, start, scales, place, counts, theta)
    return 0.0


# Update a block's parameters, or compute their log prior, or bring them above their bounds.
REVISE_ADDRESS = compile_step(_revise_block)
