"""Covariances that are singular, or nearly: one rule for all who factorize them.

Whether a matrix has an inverse must not hang on the last bits of sums, which differ between
processors. So a covariance is scaled to correlations, and thresholds far above rounding errors
decide:

- A covariance of a model is singular if an eigenvalue of its correlations is below ``SINGULAR``.
- A column of a table is nearly a linear function of others if these leave less than ``COLLINEAR``
  of its variance. Such columns are named; the correlations of a table have no eigenvalue below
  ``COLLINEAR``, smaller ones being raised to it, so that joint Gaussians of such columns exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.column_relations import COLLINEAR
from latentforest.ties import find_best

SINGULAR = 1e-13
ROUNDING = 1e-14  # relative to the largest eigenvalue: how precisely others are known

Floats = NDArray[np.float64]


def standardize(covariances: Floats) -> tuple[Floats, Floats]:
    """Return the deviations and the correlations of covariance matrices."""
    spread = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    return spread, covariances / (spread[..., :, None] * spread[..., None, :])


def is_definite(covariances: Floats) -> bool:
    """Whether no matrix is singular by the rule above.

    Examples
    --------
    >>> is_definite(np.array([[4.0, 2.0], [2.0, 1.0]])), is_definite(np.array([[4.0, 2], [2, 2]]))
    (False, True)
    """
    if not np.all(np.diagonal(covariances, axis1=-2, axis2=-1) > 0):
        return False
    return bool(np.all(np.linalg.eigvalsh(standardize(covariances)[1])[..., 0] >= SINGULAR))


def factorize(covariances: Floats) -> tuple[Floats, Floats]:
    """Return deviations, and the lower triangular roots of the correlations.

    In units of the deviations, so that any unit of the columns will do. Matrices that are singular
    by the rule are factorized as if their smallest eigenvalues were ``SINGULAR``.
    """
    spread, correlations = standardize(covariances)
    return spread, np.asarray(np.linalg.cholesky(raise_eigenvalues(correlations, SINGULAR)))


def log_determinant(covariances: Floats) -> Floats:
    """Logarithms of the determinants."""
    spread, roots = factorize(covariances)
    scale = np.log(spread).sum(axis=-1)
    return np.asarray(2.0 * (scale + np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)))


def invert(covariances: Floats) -> Floats:
    """Inverses."""
    spread, roots = factorize(covariances)
    back = np.linalg.inv(roots) / spread[..., None, :]
    return np.asarray(np.swapaxes(back, -1, -2) @ back)


def raise_eigenvalues(correlations: Floats, least: float = COLLINEAR) -> Floats:
    """Raise the eigenvalues of correlations that are below the least one.

    The result has ones on the diagonal, and depends continuously on the correlations.

    Examples
    --------
    >>> raise_eigenvalues(np.ones((2, 2)), 0.5).round(6).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    eigenvalues, vectors = np.linalg.eigh(correlations)
    if np.all(eigenvalues[..., 0] >= least):
        return correlations
    raised = (vectors * np.maximum(eigenvalues, least)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    _, result = standardize(raised)
    result = 0.5 * (result + np.swapaxes(result, -1, -2))
    is_fine = eigenvalues[..., 0] >= least
    return np.where(is_fine[..., None, None], correlations, result)


def find_collinear(correlations: Floats) -> list[int]:
    """List the columns that are nearly linear functions of others.

    A column's share of variance that the others leave is one over its entry in the inverse.

    Examples
    --------
    >>> find_collinear(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]]))
    [0, 2]
    """
    eigenvalues, vectors = np.linalg.eigh(correlations)
    inflation = (vectors**2 / np.maximum(eigenvalues, COLLINEAR**2)).sum(axis=1)
    return [int(j) for j in np.flatnonzero(inflation > 1.0 / COLLINEAR)]


def find_principal_axis(covariance: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue and its direction.

    Of a nearly singular matrix, the sign of the direction would hang on last bits: see ``orient``.
    """
    sizes, axes = np.linalg.eigh(covariance)
    is_singular = sizes[0] < COLLINEAR * sizes[-1]
    return float(sizes[-1]), orient(axes[:, -1]) if is_singular else axes[:, -1]


def orient(axis: Floats) -> Floats:
    """Turn a direction so that its largest entry is positive; of equal ones, the first.

    Examples
    --------
    >>> orient(np.array([0.0, -0.7, 0.7])).tolist()
    [-0.0, 0.7, -0.7]
    """
    return np.asarray(axis * np.sign(axis[find_best(np.abs(axis))]))


def find_least_eigenvalue(matrix: Floats, metric: Floats) -> tuple[float, float]:
    """Return the least λ with ``matrix - λ metric`` singular, and how precisely it is known."""
    root = np.linalg.cholesky(metric)
    turned = np.linalg.solve(root, np.linalg.solve(root, matrix).swapaxes(-1, -2))
    eigenvalues = np.linalg.eigvalsh(turned)
    return float(eigenvalues.min()), ROUNDING * float(eigenvalues.max())
