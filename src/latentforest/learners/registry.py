"""The learners: one entry each, from which all lists of learners are made or checked.

A new learner is a file in this folder, an entry here, and ``make lists``, which writes the type
stubs and the tables of README and docs. Nothing heavy is imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CLASSES = "Latent classes"
SEARCHES = "Searches for latent trees"
GREEDY = "Greedy trees and forests"
DISTANCES = "Trees from distances"
BAYES = "Variational Bayes"
NO_LATENTS = "Without latent variables"

FAMILIES = {
    CLASSES: "One latent variable groups the rows, or a few, each with columns of its own.",
    SEARCHES: "They climb BIC step by step: the best trees, in the most time.",
    GREEDY: "They decide once and do not look back: fast, for many columns.",
    DISTANCES: "Columns that tell much of each other are close; distances add up along a tree.",
    BAYES: "Parameters have priors, models are compared by a bound of their evidence.",
    NO_LATENTS: "What the columns tell of each other directly, and the baseline.",
}

_FEW_STEPS = {"mu": 2, "nu": 3, "n_winners": 1, "max_steps": 2}


@dataclass(frozen=True)
class LearnerEntry:
    """All that is said of a learner outside its own file.

    Parameters
    ----------
    name, module
        Class, and its file in this folder.
    command
        What ``--learner`` calls it.
    description
        What it learns, in a line of Markdown.
    family
        One of ``FAMILIES``.
    source
        The paper: authors and year.
    quick
        Settings for a short fit, in checks and when kernels are compiled ahead.
    starts_searches
        Whether searches for trees may begin with its result by name.
    variants
        Further names on the command line: name, description, settings.
    aliases
        Short names that mean the usual one.
    gaps
        Columns that may have missing values: "any", "categorical" or "none".
    """

    name: str
    module: str
    command: str
    description: str
    family: str
    source: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)
    starts_searches: bool = False
    variants: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    aliases: tuple[str, ...] = ()
    gaps: str = "any"

    @property
    def home(self) -> str:
        """Module of the class."""
        return f"latentforest.learners.{self.module}"

    @property
    def commands(self) -> tuple[Command, ...]:
        """Return all its names on the command line, the usual one first."""
        usual = Command(self.command, self.description, self)
        others = (Command(name, text, self, given) for name, text, given in self.variants)
        return (usual, *others)

    def load(self) -> Any:
        """Import the class."""
        return getattr(importlib.import_module(self.home), self.name)


@dataclass(frozen=True)
class Command:
    """A name of a learner on the command line, and the settings that come with it."""

    name: str
    description: str
    learner: LearnerEntry
    settings: Mapping[str, Any] = field(default_factory=dict)  # unless others are given


LEARNERS = (
    LearnerEntry(
        "LatentClass",
        "latent_class",
        "latent-class",
        "one latent variable that groups the rows (latent class and latent profile analysis)",
        CLASSES,
        quick={"n_states": 2},
        starts_searches=True,
        aliases=(
            "lca",
            "lc",
        ),
    ),
    LearnerEntry(
        "IndependentClusterings",
        "independent_clusterings",
        "independent-clusterings",
        "groups of columns, with a latent variable for each",
        CLASSES,
        "Galimberti and Soffritti 2007",
        {"n_starts": 2, "max_states": 2, "max_iterations": 20, "candidate_pairs": 2},
        aliases=("ic",),
    ),
    LearnerEntry(
        "GeneralizedLatentClass",
        "generalized_latent_class",
        "glc",
        "latent variables and direct links between columns, by search",
        CLASSES,
        "Chen, Hua and Liu 2009",
        {"n_starts": 2, "n_kicks": 0, "max_steps": 1, "n_pairs": 2, "max_iterations": 50},
    ),
    LearnerEntry(
        "EAST",
        "east",
        "east",
        "a latent tree: expand, adjust, simplify until BIC stops rising",
        SEARCHES,
        "Chen, Zhang and Wang 2008",
        _FEW_STEPS,
    ),
    LearnerEntry(
        "GaussianEAST",
        "gaussian_east",
        "gaussian-east",
        "the same over pouches of continuous columns, with categorical ones beside them",
        SEARCHES,
        "Poon, Zhang, Chen and Wang 2010",
        _FEW_STEPS,
        aliases=("geast",),
    ),
    LearnerEntry(
        "HillClimbing",
        "hill_climbing",
        "hill-climbing",
        "an older search, in two phases: expand, simplify",
        SEARCHES,
        "Zhang and Kočka 2004",
        _FEW_STEPS,
        aliases=("hc",),
    ),
    LearnerEntry(
        "DoubleHillClimbing",
        "double_hill_climbing",
        "double-hill-climbing",
        "an older search, slow: numbers of states for each structure",
        SEARCHES,
        "Zhang 2004",
        _FEW_STEPS,
        aliases=("dhc",),
    ),
    LearnerEntry(
        "BridgedIslands",
        "bridged_islands",
        "bridged-islands",
        "a latent tree, fast: islands of columns, bridges between them",
        GREEDY,
        "Liu, Zhang et al. 2015",
        {"max_rounds": 1, "max_states": 4},
        starts_searches=True,
        aliases=("bi",),
    ),
    LearnerEntry(
        "HierarchicalLatentTree",
        "hierarchical_latent_tree",
        "hlta",
        "layers of binary latent variables: topics of documents",
        GREEDY,
        "Chen, Zhang et al. 2016",
    ),
    LearnerEntry(
        "BinaryForest",
        "binary_forest",
        "bin",
        "a binary forest of latent variables, joined pair by pair",
        GREEDY,
        "Harmeling and Williams 2010",
        {"n_starts": 2, "max_states": 2},
        starts_searches=True,
    ),
    LearnerEntry(
        "RecursiveGrouping",
        "recursive_grouping",
        "recursive-grouping",
        "a latent forest from distances between columns",
        DISTANCES,
        "Choi, Tan, Anandkumar and Willsky 2011",
        {"n_starts": 2, "n_states": 2},
        aliases=("rg",),
    ),
    LearnerEntry(
        "ChowLiuRecursiveGrouping",
        "recursive_grouping",
        "chow-liu-recursive-grouping",
        "the same along a spanning tree, for many columns",
        DISTANCES,
        quick={"n_starts": 2, "n_states": 2},
        aliases=("clrg",),
    ),
    LearnerEntry(
        "IncrementalForest",
        "incremental_forest",
        "il",
        "a forest of columns and latent variables, step by step",
        BAYES,
        "Rodriguez-Sanchez, Larrañaga and Bielza 2020",
        {"candidate_pairs": 2, "max_states": 2},
        variants=(("cil", "the same, only for promising pairs", {"candidate_pairs": 10}),),
    ),
    LearnerEntry(
        "BayesianNetworkSearch",
        "bayesian_network",
        "bayesian-network",
        "a Bayesian network of the columns: the best score over orders, by climbing, or exactly",
        NO_LATENTS,
        "Andrews et al. 2023; Silander and Myllymäki 2006",
        {"n_restarts": 1},
        gaps="none",
        aliases=("bn",),
    ),
    LearnerEntry(
        "StructuralEM",
        "structural_em",
        "structural-em",
        "the same from rows with missing cells, and with latent variables, given or found",
        NO_LATENTS,
        "Friedman 1997; Elidan et al. 2000",
        {"n_restarts": 0, "search_restarts": 1, "max_steps": 2},
        gaps="categorical",
        aliases=("sem",),
    ),
    LearnerEntry(
        "ChowLiu",
        "chow_liu",
        "chow-liu",
        "a tree or forest of the columns themselves",
        NO_LATENTS,
        "Chow and Liu 1968",
        starts_searches=True,
        aliases=("cl",),
    ),
    LearnerEntry(
        "Independence",
        "independence",
        "independence",
        "the columns one by one: the baseline",
        NO_LATENTS,
    ),
)

COMMANDS = {command.name: command for entry in LEARNERS for command in entry.commands}
ALIASES = {alias: entry.command for entry in LEARNERS for alias in entry.aliases}
START_LEARNERS = {
    entry.command: entry
    for entry in sorted(LEARNERS, key=lambda entry: entry.command)
    if entry.starts_searches
}


def find_command(name: str) -> Command | None:
    """Find a learner by one of its names on the command line."""
    return COMMANDS.get(ALIASES.get(name, name))
