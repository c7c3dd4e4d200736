"""Bayesian networks over the columns themselves: the structure with the highest score.

Lecture 8 of Zhang's "Introduction to Bayesian networks" (2008): scores that are sums over families,
hill climbing, tabu search, annealing and restarts. The default method, a search over orders, and
the exact one go beyond it. See docs/structure-learning.md.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from latentforest.data import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import DataError, ParameterError
from latentforest.estimation.complete import fit_complete
from latentforest.estimation.em import fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.counts import (
    CountingTable,
    count_tables,
    list_bits,
    normalize_tables,
)
from latentforest.inference.engine import make_engine
from latentforest.inference.patterns import Mask
from latentforest.inference.structures.ranked_networks import rank_networks
from latentforest.inference.threads import count_threads
from latentforest.learners.common.base import Learned, NetworkLearner, Work, draw_seed
from latentforest.learners.common.finish import warn_of_bounds
from latentforest.learners.common.interruption import conclude, make_late
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.model.graphs import EquivalenceClass
from latentforest.scores.families import (
    FAMILY_CRITERIA,
    FamilyPrior,
    SampleSize,
    check_prior_network,
)
from latentforest.search.averaging.best import RankedNetwork
from latentforest.search.averaging.families import score_all_families
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import (
    ArcConstraints,
    check_kinds,
    check_tables,
    read_constraints,
)
from latentforest.search.dags.dag import name_parents
from latentforest.search.dags.family_scores import (
    Arc,
    FamilyScores,
    ScoredFamilies,
    read_arc_weights,
)
from latentforest.search.dags.mixed_canonical import canonical_order
from latentforest.search.dags.mixed_family_scores import MixedFamilyScores
from latentforest.search.dags.search import METHODS, DagSearch, DagSearchSettings
from latentforest.search.dags.starts import check_start, find_chow_liu_parents, read_parents

EXACT_COLUMNS = 12  # up to so many, a heuristic's result is compared with the optimum
MOST_IN_CLASS = 30  # networks that are listed for each class that is asked for
STARTS = ("empty", "chow-liu", "random")

Tiers = Iterable[str | Iterable[str]]


class BayesianNetworkSearch(NetworkLearner):
    """The Bayesian network over the columns with the highest score.

    For complete tables; `StructuralEM` takes missing values. A continuous column is linear in its
    continuous parents, with a line for each configuration of the categorical ones; a categorical
    column has no continuous parent. The result does not depend on the order of columns or rows, nor
    on the number of threads. Only columns that are copies of each other are told apart by their
    names.

    Parameters
    ----------
    method
        "order": columns are moved within an order to where the best network along it scores
        highest. "hill-climbing": arcs are added, deleted and turned around while the score rises;
        "tabu" goes on downward, but not back to the last structures; "annealing" makes random
        changes, at first also for the worse. "exact": the best of all networks, for up to 22
        columns.
    criterion
        "bic", "mdl", "aic", "likelihood" (which gives complete networks); for categorical columns
        "k2", "ch", "bdeu" and "bde": logarithms of marginal likelihoods under Dirichlet priors;
        for continuous columns "bge", under a Normal-Wishart prior.
    equivalent_sample_size
        Observations that the prior of "bdeu" and "bde" is worth; for "bdeu" also a mapping from
        columns to numbers.
    prior_network
        Network whose joint distribution is the prior of "bde".
    prior_count
        Prior count of each cell, for "ch".
    arc_probabilities
        Prior probabilities of arcs, independent of each other: a number for all, or a mapping from
        pairs (parent, child). By default all structures are equally probable.
    required, forbidden
        Arcs that the network must have, or must not: pairs (parent, child).
    tiers
        Groups of columns, or single ones, from the earliest to the latest: no arc goes from a later
        to an earlier one. Naming all columns one by one fixes their order.
    max_parents
        At most so many parents of a column.
    start
        What the first run begins with: "empty", "chow-liu", "random", or a network or structure
        over the columns.
    n_restarts
        Further runs: from random structures; of "order" also from changes of the best.
    n_tabu
        Structures that "tabu" keeps in mind.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the parameters: a number
        for each cell, "laplace", or arrays by column. They do not change the search.
    n_jobs
        Threads; the result does not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best network so far is kept.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_
        As for every learner; states that do not occur are not counted.
    score_
        The value of the criterion.
    cpdag_
        Which arcs have the same direction in all networks with the same independences, and which
        do not; constraints are not looked at.
    arcs_
        The arcs with their strengths: what the score loses without each.
    is_optimal_
        Whether no network has a higher score, as far as that is known.
    gap_
        How much higher the best score is than that of the method, known for up to 12 columns; None
        for more. If "order" is not at the optimum there, the optimum is the result.
    history_
        One row for each run.
    interrupted_, stopped_
        True after Ctrl-C; why the search ended early, if it did.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = BayesianNetworkSearch(random_state=0).fit(datasets.load("coleman-panel"))
    >>> round(model.score_, 3), model.is_optimal_
    (-8535.001, True)
    >>> len(model.cpdag_.directed), len(model.cpdag_.undirected)
    (0, 4)
    """

    method: str
    criterion: str
    equivalent_sample_size: SampleSize
    prior_network: Network | None
    prior_count: float
    arc_probabilities: Mapping[Arc, float] | float | None
    required: Iterable[Arc]
    forbidden: Iterable[Arc]
    tiers: Tiers | None
    max_parents: int | None
    start: str | Network | Structure
    n_restarts: int
    n_tabu: int

    score_: float
    cpdag_: EquivalenceClass
    arcs_: Table
    is_optimal_: bool
    gap_: float | None

    def __init__(
        self,
        method: str = "order",
        criterion: str = "bic",
        equivalent_sample_size: SampleSize = 1.0,
        prior_network: Network | None = None,
        prior_count: float = 1.0,
        arc_probabilities: Mapping[Arc, float] | float | None = None,
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        tiers: Tiers | None = None,
        max_parents: int | None = None,
        start: str | Network | Structure = "empty",
        n_restarts: int = 10,
        n_tabu: int = 100,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def best_networks(self, X: Any, n_networks: int = 10) -> list[RankedNetwork]:
        """List good networks of a table, the best first, with their scores.

        Exact for up to 12 categorical columns: then no network is left out between two of them, and
        the list goes on until it has so many classes of networks with the same independences. For
        more columns these are the different networks at which runs of the search end.

        Parameters
        ----------
        X
            A complete table.
        n_networks
            How many classes, or networks of more columns, if there are so many.

        Examples
        --------
        >>> from latentforest import datasets
        >>> data = datasets.load("coleman-panel")
        >>> found = BayesianNetworkSearch().best_networks(data, 2)
        >>> print(f"{found[0].score:.2f}, {found[-1].score:.2f}")
        -8535.00, -8540.42
        """
        if not (isinstance(n_networks, numbers.Integral) and n_networks >= 1):
            raise ParameterError(f"n_networks must be a whole number from 1, got {n_networks!r}")
        data = self._read(X, None)
        self._check(data)
        families = self._make_families(data)
        constraints = self._read_constraints(families)
        if isinstance(families, FamilyScores) and families.n_columns <= EXACT_COLUMNS:
            ranked = rank_networks(score_all_families(families, constraints))
            listed = _take_classes(ranked, data, families, n_networks)
        else:
            settings = self._make_settings(draw_seed(self.random_state), count_threads(self.n_jobs))
            settings = replace(settings, n_restarts=max(settings.n_restarts, 2 * n_networks))
            search = DagSearch(families, constraints, settings, constraints.required)
            search.run()
            best = sorted(search.ends.items(), key=lambda end: (-end[1], end[0]))
            listed = [(score, list(parents)) for parents, score in best[:n_networks]]
        return [
            RankedNetwork(
                Structure(data.variables, name_parents(families.names, parents, data.names)), score
            )
            for score, parents in listed
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _learn(self, work: Work) -> Learned:
        self._check(work.table)
        families = self._make_families(work.table)
        constraints = self._read_constraints(families)
        search = self._open(work, families, constraints)
        parents = search.run()
        gap = self._compare_with_optimum(search)
        if gap is not None and gap > 0 and self.method == "order":
            assert search.watch.best is not None  # for the type checker
            parents = search.watch.best
        given = make_late(work) if search.was_interrupted else work
        found = parents
        return conclude(given, lambda work: self._describe(work, search, found, gap))

    def _check(self, table: Dataset) -> None:
        if self.method not in METHODS:
            known = ", ".join(map(repr, METHODS))
            raise ParameterError(f"method must be one of {known}, got {self.method!r}")
        if self.criterion not in (*FAMILY_CRITERIA, "bge"):
            known = ", ".join(map(repr, (*FAMILY_CRITERIA, "bge")))
            raise ParameterError(f"criterion must be one of {known}, got {self.criterion!r}")
        if table.has_missing:
            raise DataError(
                f"the table has {table.n_missing:,} missing values (empty cells or NaN); "
                "BayesianNetworkSearch needs a complete one, StructuralEM takes missing values of "
                "categorical columns"
            )
        for name, least in (("n_restarts", 0), ("n_tabu", 1)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        pseudo_counts(Structure(table.variables, {}), self.prior)
        if self.prior_network is not None:
            check_prior_network(self.prior_network, table)
        if self.start not in STARTS and not isinstance(self.start, Network | Structure):
            known = ", ".join(map(repr, STARTS))
            raise ParameterError(
                f"start must be a network, a structure or one of {known}, got {self.start!r}"
            )

    def _make_families(self, data: Dataset) -> ScoredFamilies:
        """Lay the table out for counting, its columns in an order that follows from the content."""
        data = data.with_seen_states()
        if not all(variable.is_categorical for variable in data.variables):
            names = [data.names[j] for j in canonical_order(data)]
            if self.arc_probabilities is not None:
                raise ParameterError(
                    "arc_probabilities are for categorical columns only, but the table has "
                    "continuous ones"
                )
            return MixedFamilyScores(data.select(names), self.criterion)
        if self.criterion == "bge":
            raise ParameterError("criterion 'bge' is for continuous columns; 'bdeu' is its like")
        given = CountingTable(data)
        table = given.reordered(order_columns(given))
        prior = FamilyPrior(self.equivalent_sample_size, self.prior_count, self.prior_network)
        weights = read_arc_weights(table.names, self.arc_probabilities)
        return FamilyScores(table, self.criterion, prior, weights)

    def _read_constraints(self, families: ScoredFamilies) -> ArcConstraints:
        constraints = read_constraints(
            families.names, self.required, self.forbidden, self.max_parents, self.tiers
        )
        if isinstance(families, FamilyScores):
            check_tables(families.table, constraints)
        check_kinds(families, constraints)
        return constraints

    def _make_settings(self, seed: int, n_jobs: int) -> DagSearchSettings:
        return DagSearchSettings(self.method, int(self.n_restarts), int(self.n_tabu), seed, n_jobs)

    def _open(self, work: Work, families: ScoredFamilies, constraints: ArcConstraints) -> DagSearch:
        settings = self._make_settings(work.seed, work.data.n_jobs)
        search = DagSearch(
            families, constraints, settings, constraints.required, work.is_late, work.say
        )
        if self.start == "chow-liu":
            search.start = find_chow_liu_parents(families, constraints)
        elif self.start == "random":
            search.start = search.draw_parents()
        elif not isinstance(self.start, str):
            start = self.start.structure if isinstance(self.start, Network) else self.start
            search.start = read_parents(start, families.names)
            check_start(search.start, families, constraints)
        return search

    def _compare_with_optimum(self, search: DagSearch) -> float | None:
        """Return how far the result is from the best network, if that is quickly found."""
        if self.method == "exact":
            return 0.0 if search.is_optimal else None
        is_early = search.stopped is not None or search.was_interrupted
        if search.families.n_columns > EXACT_COLUMNS or is_early:
            return None
        reached = search.watch.highest
        try:
            METHODS["exact"](search)
        except KeyboardInterrupt:
            search.was_interrupted = True
            return None
        return search.watch.highest - reached if search.is_optimal else None

    def _describe(
        self, work: Work, search: DagSearch, parents: Sequence[Mask], gap: float | None
    ) -> Learned:
        named = name_parents(search.families.names, parents, work.table.names)
        network, log_likelihood = self._estimate(work, named)
        score = search.sum(parents)
        is_optimal = gap is not None and search.sum(parents) >= search.watch.highest
        return Learned(
            network,
            log_likelihood,
            Table.from_rows(search.rows) if search.rows else Table({"run": []}),
            {
                "score": -score if self.criterion == "mdl" else score,
                "cpdag": network.cpdag(),
                "arcs": _list_arcs(search, parents),
                "is_optimal": is_optimal,
                "gap": gap,
                "interrupted": search.was_interrupted,
                "stopped": search.stopped,
            },
        )

    def _estimate(self, work: Work, parents: dict[str, tuple[str, ...]]) -> tuple[Network, float]:
        """Estimate the parameters, by counting and regression; with a prior, by EM from there.

        Also returns the log-likelihood.
        """
        structure = Structure(work.table.variables, parents)
        if not structure.continuous:
            return self._count(work, structure)
        engine = make_engine(structure, work.data)
        result = fit_complete(engine)
        network = Network(structure, result.parameters)
        prior = pseudo_counts(structure, self.prior)
        if prior.any():
            result = fit(engine, result.parameters, prior)
        warn_of_bounds(result)
        return network.with_parameters(result.parameters), result.log_likelihood

    def _count(self, work: Work, structure: Structure) -> tuple[Network, float]:
        """Estimate categorical tables, which needs no engine."""
        counts = count_tables(structure, work.data.dataset)
        prior = pseudo_counts(structure, self.prior)
        parameters = normalize_tables(structure, counts + prior)
        some = counts > 0
        return Network(structure, parameters), float(counts[some] @ np.log(parameters[some]))


def _take_classes(
    ranked: Iterable[tuple[float, list[Mask]]], data: Dataset, families: FamilyScores, n: int
) -> list[tuple[float, list[Mask]]]:
    """Take networks from a list until they are of so many classes, or very many."""
    listed, classes = [], set()
    for score, parents in islice(ranked, MOST_IN_CLASS * n):
        named = name_parents(families.names, parents, data.names)
        classes.add(Structure(data.variables, named).cpdag())
        if len(classes) > n:
            break
        listed.append((score, parents))
    return listed


def _list_arcs(search: DagSearch, parents: Sequence[Mask]) -> Table:
    """List the arcs, the strongest first; equally strong ones by name."""
    names, families = search.families.names, search.families
    rows = []
    for child, mask in enumerate(parents):
        scores = families.score_deletions(child, mask) if mask else ()
        now = families.score(child, mask)
        for parent, without in zip(list_bits(mask), scores, strict=True):
            rows.append((now - float(without), names[parent], names[child]))
    rows.sort(key=lambda row: (-row[0], row[1:]))
    return Table(
        {
            "parent": [row[1] for row in rows],
            "child": [row[2] for row in rows],
            "strength": [row[0] for row in rows],
        }
    )
