"""``latentforest score``: how well a model fits a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import warn
from latentforest.cli.options import (
    OUTPUT,
    Data,
    Delimiter,
    Encoding,
    Format,
    Json,
    Missing,
    Model,
    Weights,
)
from latentforest.cli.output import (
    TABLE_FILES,
    check_output,
    make_console,
    print_json,
    write_columns,
)
from latentforest.cli.tables import Reading, read_like

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network


def score(
    model: Model,
    data: Data,
    weights: Weights = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    format: Format = None,
    per_row: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the log-likelihood of each row (.csv, .tsv, .parquet).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how well a model fits a table: log-likelihood, criteria, G² and X²."""
    from latentforest.formats import load

    check_output(per_row, TABLE_FILES, "--per-row")
    network = load(model)
    reading = Reading(weights, (), (), tuple(missing or ()), delimiter, encoding, format)
    table = read_like(data, reading, [network.structure.variable(n) for n in network.observed])
    values, facts = _evaluate(network, table)
    if per_row is not None:
        write_columns({"log_likelihood": values}, per_row)
    if as_json:
        print_json({"file": model, "source": data, **facts, "per_row": per_row})
    else:
        _print(str(model), data, facts)


def _evaluate(network: Network, table: Dataset) -> tuple[Any, dict[str, Any]]:
    """Log-likelihood of each row, and the numbers made of them."""
    import numpy as np

    from latentforest.inference.forest import PatternedData
    from latentforest.inference.rows import Rows
    from latentforest.scores.criteria import CRITERIA, FitSummary
    from latentforest.scores.goodness import compute_entropy

    rows = Rows(network, PatternedData(table))
    values = rows.log_likelihoods()
    used = table.weights > 0
    impossible = int(np.count_nonzero(np.isneginf(values) & used))
    total = fitted = float(np.sum(table.weights[used] * values[used]))
    if network.posterior is not None:  # BIC and its kin are about the expected parameters
        expected = network.with_parameters(network.parameters)
        fitted = Rows(expected, rows.data).log_likelihood()
    entropy = compute_entropy(rows.posteriors(network.latents), table.weights)
    summary = FitSummary(fitted, network.dimension, table.total_weight, entropy)
    if impossible:
        warn(f"{impossible:,} of {table.n_rows:,} rows have probability zero under the model")
    return values, {
        "rows": table.n_rows,
        "total_weight": table.total_weight,
        "missing_values": table.n_missing,
        "impossible_rows": impossible,
        "log_likelihood": fitted,
        **({} if network.posterior is None else {"predictive_log_likelihood": total}),
        "mean_log_likelihood": total / table.total_weight,
        "n_parameters": network.dimension,
        "criteria": {name: criterion(summary) for name, criterion in CRITERIA.items()},
        "goodness_of_fit": _measure_fit(network, table),
    }


def _measure_fit(network: Network, table: Dataset) -> dict[str, Any] | None:
    """G² and X²; nothing for a table with missing values or continuous columns."""
    from latentforest.scores.goodness import compute_goodness_of_fit

    if table.has_missing or network.structure.continuous:
        return None
    fit = compute_goodness_of_fit(network, table)
    return {
        "g_squared": fit.g_squared,
        "x_squared": fit.x_squared,
        "df": fit.degrees_of_freedom,
        "p_g_squared": fit.p_g_squared,
        "p_x_squared": fit.p_x_squared,
    }


def _print(model: str, source: str, facts: dict[str, Any]) -> None:
    console = make_console()
    lines = {
        "rows": f"{facts['rows']:,} (total weight {facts['total_weight']:,.10g})",
        "log-likelihood": f"{facts['log_likelihood']:,.4f}",
        "per row": f"{facts['mean_log_likelihood']:,.6f}",
        "parameters": f"{facts['n_parameters']:,}",
        **{name.upper(): f"{value:,.4f}" for name, value in facts["criteria"].items()},
    }
    if "predictive_log_likelihood" in facts:
        lines["per row"] += f"  (predictive; in all {facts['predictive_log_likelihood']:,.4f})"
    lines["MDL"] += "  (lower is better; of the others, higher)"
    fit = facts["goodness_of_fit"]
    if fit is None:
        reason = "missing values" if facts["missing_values"] else "continuous columns"
        lines["G², X²"] = f"not computed: the table has {reason}"
    else:
        lines["G²"] = _describe_test(fit["g_squared"], fit["df"], fit["p_g_squared"])
        lines["X²"] = _describe_test(fit["x_squared"], fit["df"], fit["p_x_squared"])
    console.print(f"{model} on {source}", style="bold", soft_wrap=True)
    for name, text in lines.items():
        console.print(f"{name:<15} {text}", soft_wrap=True)


def _describe_test(statistic: float, df: int, p: float) -> str:
    if df <= 0:
        verdict = "no degrees of freedom, so no p-value"
    elif math.isnan(p):
        verdict = "the table is too sparse for a p-value"
    else:
        verdict = "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
    return f"{statistic:,.4f}, df {df:,} ({verdict})"
