"""Maximum likelihood without iterations: any network without latent variables, a complete table.

Each family is estimated by itself: probabilities are shares of counts, lines are regressions in
each configuration of the categorical parents. What never occurs is uniform, or takes the regression
over all rows together; ``inference.regressions`` has all rules for lines.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, ModelError
from latentforest.estimation.block_families import find_collinear
from latentforest.estimation.em import FitResult, Monitor
from latentforest.estimation.families import find_bounded
from latentforest.inference.counts import count_table
from latentforest.inference.engine import Engine
from latentforest.inference.moments import MomentTable
from latentforest.inference.regressions import Lines, fit_lines, fit_pooled
from latentforest.kernels.types import FloatArray
from latentforest.model import Network, Structure


def estimate_complete(structure: Structure, data: Dataset) -> Network:
    """Estimate all parameters of a network from a complete table.

    Parameters
    ----------
    structure
        Without latent variables and pouches. Its variables are columns of the table.
    data
        The rows; the structure's columns have no missing values.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> columns = [[0, 0, 0, 1, 1, 1], [1.0, 2, 3, 1, 2, 3], [2.0, 5, 5, 2, 1, 3]]
    >>> data = Dataset([Variable("a", ("0", "1")), Variable("x"), Variable("y")], columns)
    >>> network = estimate_complete(Structure(data.variables, {"y": ("a", "x")}), data)
    >>> network.cpd("y").round(3).tolist()
    [[1.0, 1.5, 0.5], [1.0, 0.5, 0.5]]
    """
    _check(structure, data)
    table = data.select(structure.names)
    moments = MomentTable(table) if structure.continuous else None
    parameters = np.empty(structure.n_values)
    for name in structure.names:
        place = structure.table_view(parameters, name)
        if moments is not None and name in structure.continuous:
            place[...] = _estimate_lines(structure, moments, name)
        else:
            place[...] = _estimate_shares(structure, table, name)
    return Network(structure, parameters)


def fit_complete(engine: Engine) -> FitResult:
    """Estimate all parameters of an engine's network from its complete table, as EM would.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> from latentforest.inference.engine import make_engine
    >>> from latentforest.inference.forest import PatternedData
    >>> data = PatternedData(Dataset([Variable("x")], [[1.0, 3.0, 5.0]]))
    >>> result = fit_complete(make_engine(Structure(data.dataset.variables, {}), data))
    >>> result.parameters.round(3).tolist(), round(result.log_likelihood, 3)
    ([3.0, 2.667], -5.728)
    """
    network = estimate_complete(engine.structure, engine.data.dataset)
    theta = np.array(network.parameters)
    value, lost = engine.log_likelihood(theta)
    monitor = Monitor(np.array([value]), True, "no iterations were needed", lost)
    bounded, collinear = find_bounded(engine, theta), find_collinear(engine)
    return FitResult(theta, value, value if lost == 0 else -np.inf, monitor, bounded, collinear)


def _estimate_shares(structure: Structure, data: Dataset, name: str) -> FloatArray:
    counts = count_table(structure, data, name)
    sums = counts.sum(axis=-1, keepdims=True)
    shares: FloatArray = np.full_like(counts, 1.0 / counts.shape[-1])
    np.divide(counts, sums, out=shares, where=sums > 0)
    return shares


def _estimate_lines(structure: Structure, table: MomentTable, name: str) -> FloatArray:
    child = table.names.index(name)
    parents = [table.names.index(parent) for parent in structure.continuous_parents(name)]
    above = [table.categorical.index(parent) for parent in structure.categorical_parents(name)]
    lines = fit_lines(table, child, parents, sum(1 << j for j in above))
    result = np.empty(structure.shape(name))
    result[...] = _unscale(table, child, parents, fit_pooled(table, child, parents))[0]
    seen = table.configurations(above)
    result[tuple(seen.T)] = _unscale(table, child, parents, lines)
    return result


def _unscale(table: MomentTable, child: int, parents: list[int], lines: Lines) -> FloatArray:
    """Intercepts, slopes and variances in the units of the columns, a row for each line."""
    about = table.about[child]
    unit = math.sqrt(about.variance)
    scale = np.array([math.sqrt(table.about[parent].variance) for parent in parents])
    centers = np.array([table.about[parent].mean for parent in parents])
    slopes = lines.slopes * unit / scale
    intercepts = about.mean + unit * lines.intercepts - slopes @ centers
    return np.column_stack([intercepts, slopes, lines.variances * about.variance])


def _check(structure: Structure, data: Dataset) -> None:
    if structure.latents:
        raise ModelError(
            f"variable {structure.latents[0]!r} is latent; estimates without iterations are "
            "possible without latent variables only"
        )
    if structure.pouches:
        names = ", ".join(map(repr, structure.pouches[0]))
        raise ModelError(
            f"variables {names} are in a pouch; estimates without iterations are for networks "
            "without pouches"
        )
    for name in structure.names:
        column = data.column(name)
        n_missing = int((np.isnan(column) if column.dtype.kind == "f" else column < 0).sum())
        if n_missing:
            raise DataError(
                f"column {name!r} has {n_missing} missing values; expected a complete table"
            )
