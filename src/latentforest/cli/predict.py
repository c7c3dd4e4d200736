"""``latentforest predict``: the hidden state of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import say, warn
from latentforest.cli.options import Data, Delimiter, Encoding, Format, Missing, Model, TableOut
from latentforest.cli.output import TABLE_FILES, check_output, write_columns
from latentforest.cli.tables import Reading, read_like
from latentforest.errors import ModelError

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network


def predict(
    model: Model,
    data: Data,
    out: TableOut = None,
    unseen: Annotated[
        str,
        typer.Option(
            metavar="missing|error",
            help="What to do with values that the model does not know.",
        ),
    ] = "missing",
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    format: Format = None,
) -> None:
    """Find the hidden state of each row.

    For each latent variable: its most probable state, then the probability of every state.
    """
    from latentforest.model import load

    if unseen not in ("missing", "error"):
        raise typer.BadParameter(
            f"got {unseen!r}, expected missing or error", param_hint="--unseen"
        )
    check_output(out, TABLE_FILES)
    network = load(model)
    if not network.latents:
        raise ModelError(f"{model} has no latent variable, so there is nothing to predict")
    reading = Reading(None, (), (), tuple(missing or ()), delimiter, encoding, format)
    variables = [network.structure.variable(name) for name in network.observed]
    table = read_like(data, reading, variables, unseen)
    write_columns(_predict(network, table), out)
    if out is not None:
        say(f"{table.n_rows:,} rows written to {out}")


def _predict(network: Network, table: Dataset) -> dict[str, Any]:
    """Columns of states and probabilities; empty for rows that the model makes impossible."""
    import numpy as np

    from latentforest.inference.forest import Forest, PatternedData
    from latentforest.inference.posteriors import compute_posteriors

    forest = Forest(network.structure, PatternedData(table))
    columns: dict[str, Any] = {}
    impossible = np.zeros(table.n_rows, dtype=bool)
    for name in network.latents:
        posterior = compute_posteriors(forest, network, [name])[0]
        impossible |= np.isnan(posterior).any(axis=1)
        states = np.array(network.structure.states(name), dtype=object)
        best = states[np.where(impossible, 0, np.nan_to_num(posterior).argmax(axis=1))]
        best[impossible] = None
        columns[name] = best
        columns.update({f"{name}={state}": posterior[:, k] for k, state in enumerate(states)})
    if impossible.any():
        n_impossible = int(np.count_nonzero(impossible))
        warn(f"{n_impossible:,} rows have probability zero under the model; their fields are empty")
    return columns
