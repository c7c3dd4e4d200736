"""``latentforest score``: how well a model fits a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import warn
from latentforest.cli.identity import NOTE, Identifiers, Keep, put_beside, read_kept
from latentforest.cli.learn_options import Jobs
from latentforest.cli.options import (
    OUTPUT,
    Data,
    Force,
    Json,
    Model,
    Seed,
    TableFormat,
)
from latentforest.cli.output import (
    TABLE_FILES,
    check_format,
    check_output,
    make_console,
    print_json,
    print_tables,
    write_columns,
)
from latentforest.cli.reading import OF_A_MODEL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_like

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.data.results.table import Table
    from latentforest.model import Network


@takes_reading(*OF_A_MODEL)
def score(
    model: Model,
    data: Data,
    *,
    reading: Reading,
    per_row: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write both log-likelihoods of each row (.csv, .tsv, .parquet, .xlsx).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    ids: Identifiers = None,
    keep: Keep = None,
    force: Force = False,
    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Draw N tables from the model and fit it to each, for p-values that hold for "
            "sparse tables too.",
        ),
    ] = 0,
    seed: Seed = 0,
    jobs: Jobs = None,
    table_format: TableFormat = None,
    as_json: Json = False,
) -> None:
    """Say how well a model fits a table: log-likelihood, criteria, goodness of fit."""
    from latentforest.formats import load

    check_format(table_format, as_json)
    if per_row is None and (ids or keep):
        raise typer.BadParameter(
            "columns are kept in the file of --per-row; add it", param_hint="--id, --keep"
        )
    check_output(
        per_row, TABLE_FILES, "--per-row", inputs=[model, data, *reading.files], force=force
    )
    network = load(model)
    reading = reading.with_recipe(network.recipe)
    kept = {} if per_row is None else read_kept(data, reading, ids, keep)
    table = read_like(data, reading, [network.structure.variable(n) for n in network.observed])
    values, facts = _evaluate(network, table)
    fit = _measure_fit(network, table, bootstrap, seed, jobs)
    facts["goodness_of_fit"] = None if isinstance(fit, str) else fit
    if per_row is not None:
        write_columns(put_beside(kept, values), per_row)
    if as_json:
        print_json({"file": model, "source": name_sources(data), **facts, "per_row": per_row})
    elif table_format is not None:
        print_tables(_tabulate(facts), table_format)
    else:
        _print(str(model), name_sources(data), facts, fit)


def _tabulate(facts: dict[str, Any]) -> Table:
    """All numbers, one in each row."""
    from latentforest.data.results.table import Table

    numbers = {**facts, **facts["criteria"], **(facts["goodness_of_fit"] or {})}
    kept = {
        name: value
        for name, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return Table({"measure": list(kept), "value": list(kept.values())})


def _evaluate(network: Network, table: Dataset) -> tuple[Any, dict[str, Any]]:
    """Log-likelihoods of each row under both parameters, and the numbers made of them."""
    import numpy as np

    from latentforest.inference.forest import PatternedData
    from latentforest.inference.rows import Rows
    from latentforest.learners.common.base import note_rows
    from latentforest.scores.criteria import CRITERIA, FitSummary
    from latentforest.scores.goodness import compute_entropy

    expected = network.with_parameters(network.parameters)  # without posterior, for BIC and kin
    rows = Rows(network, PatternedData(table))
    values = Rows(expected, rows.data).log_likelihoods()
    predicted = Rows(network.predictive, rows.data).log_likelihoods()
    used = table.weights > 0
    impossible = int(np.count_nonzero(np.isneginf(values) & used))
    fitted, total = (float(np.sum(table.weights[used] * v[used])) for v in (values, predicted))
    entropy = compute_entropy(rows.posteriors(network.latents), table.weights)
    summary = FitSummary(fitted, network.dimension, table.total_weight, entropy)
    if impossible:
        warn(
            f"{impossible:,} of {table.n_rows:,} rows have probability zero under the reported "
            "parameters"
        )
    notes = note_rows(table.unseen_rows, np.isneginf(values))
    columns = {"log_likelihood": values, "predictive_log_likelihood": predicted, NOTE: notes}
    return columns, {
        "rows": table.n_rows,
        "total_weight": table.total_weight,
        "missing_values": table.n_missing,
        "impossible_rows": impossible,
        "log_likelihood": fitted,
        "mean_log_likelihood": fitted / table.total_weight,
        "predictive_log_likelihood": total,
        "mean_predictive_log_likelihood": total / table.total_weight,
        "n_parameters": network.dimension,
        "criteria": {name: criterion(summary) for name, criterion in CRITERIA.items()},
    }


def _measure_fit(
    network: Network, table: Dataset, bootstrap: int, seed: int, jobs: int | None
) -> dict[str, Any] | str:
    """Goodness of fit, or why there is none."""
    from latentforest.errors import DataError
    from latentforest.scores.goodness import goodness_of_fit

    if network.structure.continuous:
        return "the table has continuous columns"
    try:
        fit = goodness_of_fit(network, table, bootstrap, seed, n_jobs=jobs)
    except DataError as error:
        return str(error)
    pairs = {"bivariate": fit.bivariate} if bootstrap else {}
    return {**next(fit.to_table().rows()), **pairs}


def _print(model: str, source: str, facts: dict[str, Any], fit: dict[str, Any] | str) -> None:
    console = make_console()
    lines = {
        "rows": f"{facts['rows']:,} (total weight {facts['total_weight']:,.10g})",
        "log-likelihood": f"{facts['log_likelihood']:,.4f}  (reported parameters; "
        f"{facts['mean_log_likelihood']:,.6f} per row)",
        "predictive": f"{facts['predictive_log_likelihood']:,.4f}  (log-likelihood as of new rows; "
        f"{facts['mean_predictive_log_likelihood']:,.6f} per row)",
        "parameters": f"{facts['n_parameters']:,}",
        **{name.upper(): f"{value:,.4f}" for name, value in facts["criteria"].items()},
    }
    lines["MDL"] += "  (lower is better; of the others, higher)"
    lines |= {"G², X²": f"not computed: {fit}"} if isinstance(fit, str) else _describe_fit(fit)
    console.print(f"{model} on {source}", style="bold", soft_wrap=True)
    for name, text in lines.items():
        console.print(f"{name:<15} {text}", soft_wrap=True)


def _describe_fit(fit: dict[str, Any]) -> dict[str, str]:
    """Lines on the goodness of fit."""
    by = ", by bootstrap" if fit["p_by"] == "bootstrap" else ""
    df, nominal = fit["df"], fit["df_nominal"]
    tests = {"G²": ("g_squared", "p"), "X²": ("x_squared", "p_x_squared")}
    tests["Cressie-Read"] = ("cressie_read", "p_cressie_read")
    lines = {
        title: f"{fit[name]:,.4f}, df {df:,} ({_describe_p(df, fit[p], by)})"
        for title, (name, p) in tests.items()
    }
    if df != nominal:
        lines["df"] = f"{df:,} by the effective dimension; by the number of parameters {nominal:,}"
    lines["dissimilarity"] = f"{fit['dissimilarity']:.4f}"
    lines["at zero"] = f"{fit['n_boundary']:,} probabilities"
    if "bivariate" in fit and len(fit["bivariate"]) > 0:
        pair = next(fit["bivariate"].rows())
        lines["largest pair"] = (
            f"{pair['first']}, {pair['second']}: residual {pair['residual']:,.4f} "
            f"({_describe_p(1, pair['p'], by)})"
        )
    return lines


def _describe_p(df: int, p: float, by: str) -> str:
    if df <= 0:
        return "no degrees of freedom, so no p-value"
    if math.isnan(p):
        return "no p-value without --bootstrap"
    return ("p < 0.0001" if p < 0.0001 else f"p = {p:.4f}") + by
