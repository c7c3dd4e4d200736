"""What ``learn`` prints: for a person, or as one JSON object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from latentforest.cli.commands.show import describe_network, print_model, tabulate_network
from latentforest.data.results.table_groups import TableGroup
from latentforest.model.showing.printing import make_table

if TYPE_CHECKING:
    from rich.console import Console

    from latentforest.cli.commands.learn import Outcome
    from latentforest.data import Dataset
    from latentforest.data.results.table import Table


FEW_ARCS = 3  # that are printed as the weakest
MAX_STEPS = 12  # of a search, in the table of its steps
OPERATORS = (
    "NI, ND: a latent variable introduced, deleted; SI, SD: a state; NR: a variable relocated"
)
POUCH_OPERATORS = "PO, UP: columns joined in a pouch, taken out of one"


def describe_data(source: str, data: Dataset) -> dict[str, Any]:
    """What was read, for JSON."""
    return {
        "source": source,
        "rows": data.n_rows,
        "distinct_rows": data.merged()[0].n_rows,
        "total_weight": data.total_weight,
        "columns": list(data.names),
        "missing_values": data.n_missing,
        "missing_share": data.n_missing / (data.n_rows * data.n_columns),
    }


def print_data(console: Console, source: str, data: Dataset) -> None:
    """What was read, in one line."""
    facts = describe_data(source, data)
    weight = facts["total_weight"]
    parts = [
        f"{_count(data.n_rows, 'row')}"
        + (f" (total weight {weight:,.10g})" if weight != data.n_rows else ""),
        f"{facts['distinct_rows']:,} distinct",
        _count(data.n_columns, "column"),
        f"{facts['missing_share']:.1%} of the values missing"
        if data.has_missing
        else "no missing values",
    ]
    console.print(f"{source}: {', '.join(parts)}", soft_wrap=True)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def describe_outcome(outcome: Outcome) -> dict[str, Any]:
    """What was learned, for JSON."""
    learner: Any = outcome.learner
    monitor = getattr(learner, "monitor_", None)
    settings = learner.get_params(deep=False)
    return {
        "data": describe_data(outcome.source, outcome.data),
        "learner": outcome.name,
        "settings": {name: value for name, value in settings.items() if name != "progress"},
        "log_likelihood": learner.log_likelihood_,
        "n_parameters": learner.n_parameters_,
        "bic": learner.bic_,
        "n_states": getattr(learner, "n_states_", None),
        "converged": None if monitor is None else monitor.converged,
        "notes": learner.notes_,
        "interrupted": outcome.was_interrupted,
        "stopped": getattr(learner, "stopped_", None),
        "seconds": outcome.seconds,
        "fit_table": getattr(learner, "fit_table_", []),
        "history": learner.history_,
        **({"topics": learner.topics_} if hasattr(learner, "topics_") else {}),
        **_describe_arcs(learner),
        **describe_network(learner.network_),
        "saved_to": outcome.saved_to,
    }


def tabulate_outcome(outcome: Outcome) -> TableGroup:
    """The numbers of classes that were tried, if any, and what the model says."""
    learner: Any = outcome.learner
    model = {"model": tabulate_network(learner.network_)}
    tried = getattr(learner, "fit_table_", None)
    return TableGroup({"fit": tried, **model} if tried else model, learner.notes_)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """What was learned, for a person."""
    learner: Any = outcome.learner
    print_data(console, outcome.source, outcome.data)
    console.print()
    if len(getattr(learner, "fit_table_", ())) > 0:
        criterion = getattr(learner, "criterion", "bic")
        print_fit_table(console, learner.fit_table_, learner.n_states_, criterion)
        _note_missing_freedom(console, learner)
        console.print()
    if "phase" in learner.history_:
        print_steps(console, learner.history_)
        console.print()
    console.print(
        f"{outcome.name}: log-likelihood {learner.log_likelihood_:,.2f}, "
        f"{_count(learner.n_parameters_, 'parameter')}, BIC {learner.bic_:,.2f} "
        f"({outcome.seconds:.1f} s)"
    )
    if hasattr(learner, "arcs_"):
        print_arcs(console, learner)
    for note in learner.notes_:
        console.print(f"Note: {note}", style="yellow", soft_wrap=True)
    console.print()
    if len(getattr(learner, "topics_", ())) > 0:
        print_topics(console, learner.topics_)
    else:
        print_model(console, learner.network_)
    if outcome.saved_to is not None:
        console.print(f"\nSaved to {outcome.saved_to}", soft_wrap=True)


def _describe_arcs(learner: Any) -> dict[str, Any]:
    """Arcs of a Bayesian network with their strengths, for JSON."""
    if not hasattr(learner, "arcs_"):
        return {}
    return {
        "score": learner.score_,
        "is_optimal": learner.is_optimal_,
        "gap": learner.gap_,
        "arcs": learner.arcs_,
        "cpdag": {
            "directed": learner.cpdag_.directed,
            "undirected": learner.cpdag_.undirected,
        },
    }


def print_arcs(console: Console, learner: Any) -> None:
    """Print the score of a Bayesian network, whether it is the best, and its weakest arcs."""
    n_directed, n_free = len(learner.cpdag_.directed), len(learner.cpdag_.undirected)
    best = "; no network scores higher" if learner.is_optimal_ else ""
    if learner.gap_:
        best = f"; the best network scores {learner.gap_:,.2f} more (--method exact)"
    console.print(f"{learner.criterion.upper()} {learner.score_:,.2f}{best}", soft_wrap=True)
    if not n_directed + n_free:
        return
    console.print(
        f"{_count(n_directed + n_free, 'arc')}; of {n_free:,} the direction could be turned "
        "without another score",
        soft_wrap=True,
    )
    weakest = list(learner.arcs_.rows())[-FEW_ARCS:]
    listed = "; ".join(f"{r['parent']} -> {r['child']} {r['strength']:,.1f}" for r in weakest)
    console.print(f"weakest (score lost without them): {listed}", soft_wrap=True)


def _note_missing_freedom(console: Console, learner: Any) -> None:
    """Say so when the chosen model has more parameters than the table can determine."""
    table = learner.fit_table_
    chosen = table["n_states"].index(learner.n_states_)
    df, nominal = table["df"][chosen], table["df_nominal"][chosen]
    if df > nominal:
        console.print(
            f"The chosen model has {learner.n_parameters_} parameters, but the table can determine "
            f"only {learner.n_parameters_ + nominal - df} of them: other values fit as well. "
            "Prefer fewer classes.",
            style="yellow",
        )


def print_steps(console: Console, history: Table) -> None:
    """Print the steps that led to the best model of a search; of many the last."""
    from rich.text import Text

    from latentforest.search.changes import read_change

    rows = [row for row in history.rows() if row["accepted"]]
    shown = rows[-MAX_STEPS:]
    n_steps, n_accepted = history["step"][-1], len(rows) - 1
    part = f"; the last {len(shown)} of these" if len(shown) < len(rows) else ""
    title = f"Search: {_count(n_steps, 'step')}, {n_accepted} on the way to the model{part}"
    console.print(title, style="bold", soft_wrap=True)
    table = make_table("step", "phase", "operator", "where", "latent", "parameters", "BIC")
    for column in table.columns[1:4]:
        column.justify = "left"
    table.columns[3].no_wrap = False  # the one that gives way on a narrow terminal
    for row in shown:
        where = Text(str(read_change(row)), no_wrap=True, overflow="ellipsis")
        facts = row["n_latents"], f"{row['n_parameters']:,}", _decimals(row["bic"])
        table.add_row(str(row["step"]), row["phase"], row["operator"], where, *map(str, facts))
    console.print(table)
    if any(row["operator"].isupper() for row in shown):
        console.print(OPERATORS, style="dim", soft_wrap=True)
    if any(row["operator"] in ("PO", "UP") for row in shown):
        console.print(POUCH_OPERATORS, style="dim", soft_wrap=True)


def print_topics(console: Console, topics: Table) -> None:
    """Print topics below the more general ones that they belong to."""
    from rich.text import Text

    below: dict[str, list[dict[str, Any]]] = {}
    for row in topics.rows():
        below.setdefault(row["parent"], []).append(row)
    console.print("Topics: share of the documents, words that say most about them", style="bold")
    stack = [(row, 0) for row in reversed(below.get("", []))]
    while stack:
        row, depth = stack.pop()
        line = f"{'  ' * depth}{row['topic']}  {row['share']:.1%}  {row['words']}"
        if row.get("means"):
            line += f"  (means: {row['means']})"
        console.print(Text(line), soft_wrap=True)
        stack += [(child, depth + 1) for child in reversed(below.get(row["topic"], []))]


def _decimals(value: float) -> str:
    return f"{value:,.2f}"


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _p_value(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.1e}"


_FORMATS: dict[str, tuple[str, Callable[[float], str]]] = {
    "n_states": ("\nclasses", _whole),
    "log_likelihood": ("log-\nlikelihood", _decimals),
    "n_parameters": ("\nparameters", _whole),
    "bic": ("\nBIC", _decimals),
    "aic": ("\nAIC", _decimals),
    "criterion": ("", _decimals),
    "entropy_r2": ("entropy\nR²", _decimals),
    "smallest_class": ("smallest\nclass", _percent),
    "g_squared": ("\nG²", _decimals),
    "df": ("\ndf", _whole),
    "p": ("\np", _p_value),
    "largest_residual": ("largest\nresidual", _decimals),
}
# What is left out first when the terminal is too narrow.
_DISPENSABLE = ("aic", "largest_residual", "smallest_class", "entropy_r2", "p", "df")


def print_fit_table(console: Console, fits: Table, best: int, criterion: str) -> None:
    """Print the main columns of the fit table, as many as fit; the best row is marked."""
    columns = _format_fits(fits, criterion)
    for key in _DISPENSABLE:
        if _measure(columns) <= console.width:
            break
        columns.pop(key, None)
    better = "lower" if criterion == "mdl" else "higher"
    console.print(
        f"Fit by number of classes; {criterion.upper()} chooses ({better} is better)", style="bold"
    )
    table = make_table("", *(title for title, *_ in columns.values()))
    rows = zip(*(cells for _, *cells in columns.values()), strict=True)
    for number, cells in zip(fits["n_states"], rows, strict=True):
        mark, style = ("→", "bold") if number == best else ("", "")
        table.add_row(mark, *cells, style=style)
    console.print(table)


def _format_fits(fits: Table, criterion: str) -> dict[str, list[str]]:
    """Title and cells of each column that has at least one value."""
    columns = {}
    for key, (title, write) in _FORMATS.items():
        name = criterion if key == "criterion" and criterion not in _FORMATS else key
        values = fits[name] if name in fits.columns else []
        if any(value == value for value in values):
            cells = [write(value) if value == value else "" for value in values]
            columns[key] = [title or f"\n{name.upper()}", *cells]
    return columns


def _measure(columns: dict[str, list[str]]) -> int:
    """Width of the table in characters."""
    lines = ([line for cell in cells for line in cell.split("\n")] for cells in columns.values())
    return 2 + sum(2 + max(map(len, each)) for each in lines)
