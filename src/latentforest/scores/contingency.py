"""How far two groupings of the same rows agree, from the table of their counts."""

from __future__ import annotations

import numpy as np

from latentforest.kernels.types import FloatArray


def adjusted_rand(counts: FloatArray) -> float:
    """Return the adjusted Rand index: one if the groupings are the same, about zero by chance.

    Weights that are not whole numbers count as pairs do: ``w (w - 1) / 2``.

    Examples
    --------
    >>> adjusted_rand(np.array([[10.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    total = float(counts.sum())
    cells, rows, columns = (_pairs(x) for x in (counts, counts.sum(axis=1), counts.sum(axis=0)))
    all_pairs = total * (total - 1) / 2
    if all_pairs <= 0:
        return 1.0
    expected, largest = rows * columns / all_pairs, (rows + columns) / 2
    return 1.0 if largest == expected else (cells - expected) / (largest - expected)


def _pairs(counts: FloatArray) -> float:
    return float(np.sum(counts * (counts - 1)) / 2)


def mutual_information(counts: FloatArray) -> float:
    """Return the mutual information of the groupings in nats.

    Examples
    --------
    >>> round(mutual_information(np.array([[1.0, 0.0], [0.0, 1.0]])), 6)
    0.693147
    """
    joint = counts / counts.sum()
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return float(np.sum(joint[there] * np.log(joint[there] / product[there])))


def match_states(counts: FloatArray) -> list[tuple[int, int]]:
    """Match rows with columns one to one, so that most of the weight is matched.

    Examples
    --------
    >>> match_states(np.array([[1.0, 5.0], [4.0, 1.0], [0.0, 1.0]]))
    [(0, 1), (1, 0)]
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-counts)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))
