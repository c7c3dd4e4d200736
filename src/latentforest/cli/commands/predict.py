"""``latentforest predict``: the hidden state of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import say, warn
from latentforest.cli.identity import NOTE, Identifiers, Keep, put_beside, read_kept
from latentforest.cli.options import (
    Data,
    Force,
    Model,
    TableOut,
)
from latentforest.cli.output import TABLE_FILES, check_output, write_columns
from latentforest.cli.reading import OF_NEW_ROWS, takes_reading
from latentforest.cli.tables import Reading, read_like
from latentforest.errors import ModelError

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network


@takes_reading(*OF_NEW_ROWS)
def predict(
    model: Model,
    data: Data,
    out: TableOut = None,
    ids: Identifiers = None,
    keep: Keep = None,
    force: Force = False,
    unseen: Annotated[
        str,
        typer.Option(
            metavar="missing|error",
            help="What to do with values that the model does not know.",
        ),
    ] = "missing",
    *,
    reading: Reading,
) -> None:
    """Find the hidden state of each row.

    For each latent variable: its most probable state, then the probability of every state. The last
    column is a note on the row: empty, 'unseen' if it has a value that the model does not know and
    that counts as missing, 'impossible' if the model gives it probability zero.
    """
    from latentforest.formats import load

    if unseen not in ("missing", "error"):
        raise typer.BadParameter(
            f"got {unseen!r}, expected missing or error", param_hint="--unseen"
        )
    check_output(out, TABLE_FILES, inputs=[model, data, *reading.files], force=force)
    network = load(model)
    if not network.latents:
        raise ModelError(f"{model} has no latent variable, so there is nothing to predict")
    recipe = None if network.recipe is None else replace(network.recipe, weight=None)
    reading = reading.with_recipe(recipe)
    variables = [network.structure.variable(name) for name in network.observed]
    kept = read_kept(data, reading, ids, keep)
    table = read_like(data, reading, variables, unseen)
    write_columns(put_beside(kept, _predict(network, table)), out)
    if out is not None:
        say(f"{table.n_rows:,} rows written to {out}")


def _predict(network: Network, table: Dataset) -> dict[str, Any]:
    """Columns of states and probabilities; empty for rows that the model makes impossible."""
    import numpy as np

    from latentforest.inference.forest import PatternedData
    from latentforest.inference.rows import Rows
    from latentforest.learners.common.base import note_rows

    data = PatternedData(table)
    rows = Rows(network, data)
    impossible = np.isneginf(rows.log_likelihoods())
    posteriors = rows.posteriors(network.latents)
    has_both = network.predictive is not network
    if impossible.any():
        others = Rows(network.predictive, data).posteriors(network.latents)
        for posterior, other in zip(posteriors, others, strict=True):
            posterior[impossible] = other[impossible] if has_both else np.nan
    columns: list[tuple[str, Any]] = []
    for name, posterior in zip(network.latents, posteriors, strict=True):
        states = np.array(network.structure.states(name), dtype=object)
        best = states[np.nan_to_num(posterior).argmax(axis=1)]
        best[np.isnan(posterior[:, 0])] = None
        columns.append((name, best))
        columns += [(f"{name}={state}", posterior[:, k]) for k, state in enumerate(states)]
    if impossible.any():
        n_impossible = int(np.count_nonzero(impossible))
        what = "get the posterior under the predictive parameters"
        if not has_both:
            what = "have empty fields"
        warn(f"{n_impossible:,} rows have probability zero under the model and {what}")
    columns.append((NOTE, note_rows(table.unseen_rows, impossible)))
    return _name_columns(columns)


def _name_columns(columns: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Columns by name; a name that occurs twice is an error."""
    named: dict[str, Any] = {}
    for name, values in columns:
        if name in named:
            raise ModelError(
                f"two columns of the result would be called {name!r}; "
                "give the latent variables of the model other names"
            )
        named[name] = values
    return named
