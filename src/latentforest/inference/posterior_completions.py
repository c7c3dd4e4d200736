"""A table with missing cells and latent variables as a complete one, by posterior probabilities.

Each incomplete row becomes its completions, with weights that add up to the row's own: what EM and
structural EM count. Nothing is imputed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, DataWarning, ModelError
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.completions.elimination import IMPOSSIBLE, FamilyLayout
from latentforest.kernels.completions.rows import Bounds, complete_rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

EXACT = 1_000  # completions of a row, all of which are kept
MOST = 10_000  # of a row that has more
LEFT_OUT = 1e-4  # share of such a row's probability that may be left out
NEGLIGIBLE = 1e-9  # relative to the most probable completion
MUCH = 0.01  # share of all rows' weight left out, of which there is a warning
MOST_CELLS = float(1 << 22)  # of a table on the way
CHUNK_ROWS = 512


@dataclass(frozen=True)
class CompletedTable:
    """A complete weighted table.

    Attributes
    ----------
    data
        The network's variables, the latent ones among them, in its order. Equal rows are merged,
        and weights add up to those of the rows that were completed.
    left_out
        Share of the rows' weight whose completions are left out; the others stand for them.
    n_completions
        Before equal ones were merged.
    """

    data: Dataset
    left_out: float
    n_completions: int


def complete_table(
    network: Network,
    table: Dataset,
    n_jobs: int | None = None,
    exact: int = EXACT,
    most: int = MOST,
    negligible: float = NEGLIGIBLE,
    warns: bool = True,
) -> CompletedTable:
    """Complete rows by the posterior of all that they leave open.

    Parameters
    ----------
    network
        Over categorical variables; those that are not latent are columns of the table, of the same
        states.
    table
        The rows.
    n_jobs
        Threads; the result does not depend on it.
    exact
        A row with at most so many completions keeps all that are not negligible.
    most
        Of other rows, the most probable completions are kept that hold all but 0.0001 of the
        probability, but at most so many.
    negligible
        Completions that are less probable than the most probable one by this factor are left out.
    warns
        Whether there is a warning if more than 1% of the weight is left out.

    Examples
    --------
    >>> from latentforest import Variable
    >>> a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    >>> tables = {"a": [0.5, 0.5], "b": [[0.75, 0.25], [0.5, 0.5]]}
    >>> network = Network.from_tables([a, b], {"b": "a"}, tables)
    >>> found = complete_table(network, Dataset([a, b], [[0, 0, 1], [0, -1, 1]])).data
    >>> found.column("b").tolist(), found.weights.tolist()
    ([0, 1, 1], [1.75, 1.0, 0.25])
    """
    structure = network.structure
    merged = _select(structure, table).merged()[0]
    rows = _lay_rows(structure, merged)
    is_open = (rows < 0).any(axis=1)
    bounds = Bounds(float(exact), int(most), LEFT_OUT, float(negligible), MOST_CELLS)
    families = _lay_families(structure)
    theta, weights = np.ascontiguousarray(network.parameters), merged.weights
    open_rows, open_weights = rows[is_open], weights[is_open]
    lost = np.zeros(len(open_rows))

    def complete(begin: int) -> tuple[AnyArray, FloatArray]:
        here = slice(begin, begin + CHUNK_ROWS)
        found, shares, stop, reason = complete_rows(
            open_rows[here], open_weights[here], theta, families, bounds, lost[here]
        )
        if stop >= 0:
            _refuse(reason)
        return found, shares

    chunks = list(
        map_threads(complete, range(0, len(open_rows), CHUNK_ROWS), count_threads(n_jobs))
    )
    parts = [(rows[~is_open], weights[~is_open]), *chunks]
    completed = np.concatenate([part for part, _ in parts])
    data = Dataset(
        structure.variables, list(completed.T), np.concatenate([share for _, share in parts])
    )
    left_out = float(open_weights @ lost) / merged.total_weight
    if warns:
        warn_of_left_out(left_out)
    return CompletedTable(data.merged()[0], left_out, len(completed))


def _select(structure: Structure, table: Dataset) -> Dataset:
    """Select the columns of a network, in its order."""
    for name in structure.observed:
        expected, found = structure.variable(name), table.variable(name)
        if not (expected.is_categorical and found.is_categorical):
            raise DataError(
                f"column {name!r} is continuous; rows are completed by networks over categorical "
                "columns"
            )
        if expected.states != found.states:
            raise DataError(
                f"column {name!r} has states {found.states}, but the network has {expected.states}"
            )
    return table.select(structure.observed)


def _lay_rows(structure: Structure, table: Dataset) -> AnyArray:
    """Put the codes of all variables side by side, -1 for what is open."""
    most = max(variable.n_states for variable in structure.variables)
    rows = np.full((table.n_rows, len(structure)), -1, np.int16 if most < 1 << 15 else np.int32)
    for j, variable in enumerate(structure.variables):
        if not variable.latent:
            rows[:, j] = table.column(variable.name)
    return rows


def _lay_families(structure: Structure) -> FamilyLayout:
    place = {name: j for j, name in enumerate(structure.names)}
    members, strides, first = [], [], [0]
    for name in structure.names:
        shape = structure.shape(name)
        steps = np.cumprod((1, *shape[:0:-1]))[::-1]
        members += [place[each] for each in (*structure.parents(name), name)]
        strides += steps.tolist()
        first.append(len(members))
    return FamilyLayout(
        np.array([structure.offset(name) for name in structure.names], np.int64),
        np.array(first, np.int64),
        np.array(members, np.int64),
        np.array(strides, np.int64),
        np.array([variable.n_states for variable in structure.variables], np.int64),
    )


def _refuse(reason: int) -> None:
    if reason == IMPOSSIBLE:
        raise ModelError(
            "a row has probability zero under the network, so nothing can be said of what it "
            "leaves open; expected a network that was fitted to these rows, or with smoothing"
        )
    raise ModelError(
        "the open cells of a row depend on each other so much that a table of more than "
        f"{MOST_CELLS:,.0f} cells would be needed; fewer parents (max_parents) avoid this"
    )


def warn_of_left_out(left_out: float) -> None:
    """Say that expected counts are rough, if more than 1% of the weight was left out."""
    if left_out > MUCH:
        warnings.warn(
            f"completions that hold {left_out:.1%} of the rows' probability were left out, since "
            "there are too many; expected counts are rough where so much is missing",
            DataWarning,
            stacklevel=3,
        )
