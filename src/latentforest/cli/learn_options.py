"""Options of ``latentforest learn``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from latentforest.cli.learners import describe_learners
from latentforest.cli.options import OUTPUT, READING
from latentforest.learners.registry import START_LEARNERS

LEARNER = "Learner"
SEARCH = "Search for trees"
NETWORK = "Bayesian networks"
COMMAS = "A name with a comma goes in double quotes."


def _search(help: str, metavar: str | None = None, *names: str, **further: Any) -> Any:
    """Make an option of the searches' group."""
    return _option(help, metavar, *names, rich_help_panel=SEARCH, **further)


def _network(help: str, metavar: str | None = None, *names: str, **further: Any) -> Any:
    """Make an option of the Bayesian networks' group."""
    return _option(help, metavar, *names, rich_help_panel=NETWORK, **further)


def _option(help: str, metavar: str | None = None, *names: str, **further: Any) -> Any:
    """Make an option of the learner's group."""
    further.setdefault("rich_help_panel", LEARNER)
    return typer.Option(*names, metavar=metavar, help=help, **further)


LearnerName = Annotated[str, _option(f"{describe_learners()}.", "NAME")]
States = Annotated[
    str | None,
    _option(
        "Number of classes; numbers to choose from (1:8 or 2,4,6); or greedy, the default: one "
        "more as long as the criterion rises.",
        "NUMBERS",
    ),
]
Criterion = Annotated[
    str | None,
    _option(
        "What chooses the number of classes: bic (the default), aic, aic3, caic, sabic, mdl, icl, "
        "cv (cross-validation), or the marginal likelihood by cs, laplace, elbo or elbo+. What a "
        "Bayesian network maximizes: bic, mdl, aic, likelihood, k2, ch, bdeu, bde or bge.",
        "NAME",
    ),
]
MaxStates = Annotated[
    int | None,
    _option(
        "Most classes that greedy tries, or states of a hidden variable in a tree.", "N", min=1
    ),
]
Covariance = Annotated[
    str | None,
    _option(
        "How continuous columns vary within a class: diagonal (the default), full, spherical, "
        "shared, shared-diagonal or shared-spherical; for independent-clusterings: diagonal, full "
        "or best.",
        "NAME",
    ),
]
Starts = Annotated[int | None, _option("Random starts of EM.", "N", min=1)]
MaxIterations = Annotated[int | None, _option("Most iterations of EM.", "N", min=1)]
Tolerance = Annotated[
    float | None,
    _option("EM ends when an iteration gains no more than this per row.", "NUMBER", min=0),
]
Smoothing = Annotated[
    str | None,
    _option(
        "Of the parameters for new rows: auto (the default: pseudo-counts weighed by evidence), cv "
        "(by random folds), none, or a number for every cell.",
        "NUMBER",
    ),
]
Prior = Annotated[
    str | None,
    _option(
        "Fits with pseudo-counts: a number for every cell, or laplace; for il and cil: a TOML file "
        "of priors by column.",
        "PRIOR",
    ),
]
CandidatePairs = Annotated[
    int | None,
    _option(
        "Pairs of variables that cil tries in each step, 10 if left out; for "
        "independent-clusterings: pairs of groups, all if left out.",
        "N",
        min=1,
    ),
]
Folds = Annotated[
    str | None,
    _option(
        "For the criterion cv: a number, or the column or one-column file with each row's fold.",
        "FOLDS",
    ),
]
Jobs = Annotated[int | None, _option("Threads; -1 for all processors.", "N")]
TimeLimit = Annotated[
    float | None, _option("After this time, the best model so far is taken.", "SECONDS")
]
Mu = Annotated[int | None, _search("Starts of local EM for each candidate.", "N", min=1)]
Nu = Annotated[int | None, _search("Iterations of local EM.", "N", min=1)]
Evaluation = Annotated[
    str | None,
    _search(
        "How candidates are judged: rl (restricted likelihood, the default) or dc (data "
        "completion: faster, less exact); structural-em: expected (the default) or full (EM on "
        "each).",
        "NAME",
    ),
]
Winners = Annotated[
    int | None,
    _search("So many of the best candidates of a step are fitted completely.", "N", min=1),
]
Runs = Annotated[
    int | None,
    _search("Searches with different random numbers; the best result is kept.", "N", min=1),
]
Start = Annotated[
    str | None,
    _search(
        f"Model file to begin with, or the learner that makes one: {', '.join(START_LEARNERS)}; "
        "if left out, two classes. Bayesian networks: a file, empty (the default), chow-liu or "
        "random.",
        "MODEL",
    ),
]
Fixed = Annotated[
    str | None,
    _search(
        "Variables of the first model that keep their neighbours and states: a,b. " + COMMAS,
        "NAMES",
    ),
]
MaxSteps = Annotated[int | None, _search("Ends after so many steps.", "N", min=0)]
Checkpoint = Annotated[Path | None, _search("Keeps every step in this file.", "FILE")]
Resume = Annotated[bool, _search("Goes on with the steps in the checkpoint.", None, "--resume")]
Method = Annotated[
    str | None,
    _network(
        "How to search: order (the default), hill-climbing, tabu, annealing or exact.", "NAME"
    ),
]
Restarts = Annotated[
    int | None, _network("Further runs from random networks or orders.", "N", min=0)
]
MaxParents = Annotated[int | None, _network("Most parents of a column.", "N", min=0)]
Constraints = Annotated[
    Path | None,
    _network(
        "TOML file with any of: required and forbidden (lists of pairs parent, child), tiers (a "
        "list of lists of columns, the earliest first), max_parents.",
        "FILE",
    ),
]
Latents = Annotated[
    str | None,
    _network(
        "Latent variables of structural-em with their numbers of states, H=3 or H=3,G=2; or auto: "
        "they are found.",
        "NAMES",
    ),
]
StructureStep = Annotated[
    str | None,
    _network(
        "What a step of structural-em is: search (the default), or one: a single arc.", "NAME"
    ),
]
Settings = Annotated[
    list[str] | None,
    _option(
        "Any other setting of the learner, by its name in Python. May be repeated.",
        "NAME=VALUE",
        "--set",
    ),
]
Categorical = Annotated[
    str | None,
    _option(
        "Columns to read as categories: a,b. " + COMMAS,
        "COLUMNS",
        rich_help_panel=READING,
    ),
]
Continuous = Annotated[
    str | None,
    _option("Columns to read as numbers: a,b. " + COMMAS, "COLUMNS", rich_help_panel=READING),
]
Exclude = Annotated[
    str | None, _option("Columns to leave out: a,b. " + COMMAS, "COLUMNS", rich_help_panel=READING)
]
ModelOut = Annotated[
    Path | None,
    _option("Where to save the model (.json, .bif, .bif.gz).", "FILE", rich_help_panel=OUTPUT),
]
ReportOut = Annotated[
    Path | None,
    _option(
        "Where to write a page that shows the model (.html). Other models are fitted for "
        "comparison, for up to 30 seconds, and kept in the model file.",
        "FILE",
        "--report",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    _option("Print warnings and errors only.", None, "--quiet", "-q", rich_help_panel=OUTPUT),
]
