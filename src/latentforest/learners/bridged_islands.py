"""BI: bridged islands (Liu, Zhang, Liu and Chen 2015), with local tests as in progressive EM.

Columns are split into islands, each with one latent variable; a tree is laid over the latent
variables; the whole is refined and fitted by EM.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from latentforest.data import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.association.mixed_information import measure_dependence
from latentforest.inference.threads import map_threads
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import hurry, make_late
from latentforest.learners.common.latent_tree import LatentTreeLearner, can_vary
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.search.greedy.bridges import bridge
from latentforest.search.greedy.islands import IslandBuilder, IslandSettings
from latentforest.search.greedy.refinement import MOST_COLUMNS, Refinement
from latentforest.search.naming import name_latents
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.trace import Trace
from latentforest.search.trees.tree import Rules

N_ANCHORS = 4  # members of an island in a test, besides the two columns that are tested


class BridgedIslands(LatentTreeLearner):
    """Latent trees by bridged islands: fast, for many columns.

    Islands of columns grow around the pairs with the most mutual information as long as one latent
    variable explains them (the uni-dimensionality test). Chow and Liu's algorithm joins the latent
    variables of the islands to a tree, by their posterior pseudo-frequencies. Then columns move to
    other latent variables, and these change their numbers of states, as long as BIC rises.

    Parameters
    ----------
    threshold
        An island is complete when two latent variables would raise its BIC by more than this.
    max_island
        Most columns of an island.
    progressive
        Tests look at six columns at most, those closest to the new one, so that their cost does not
        grow with the island; otherwise at the whole island, which is a little better. By default
        for tables of more than 500 columns, or with continuous ones.
    max_rounds
        Most rounds of refinement; 0 leaves islands and bridges as they are.
    mu, nu
        Local EM in the refinement: starts and iterations of each candidate.
    max_states
        Most states of a latent variable.
    max_iterations, tolerance
        Of full EM; the last model is fitted more closely.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the last model's
        parameters: a number for each cell, "laplace", or arrays by variable. The search itself is
        by maximum likelihood.
    n_jobs
        Threads; results do not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best model so far is returned;
        before the first one, columns that are left go to the islands closest to them.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The model.
    islands_
        Names of the columns of each island, before they were refined.
    history_
        One row for each round: what was done, scores, seconds.
    interrupted_, stopped_
        True after Ctrl-C; why learning ended early, if it did.

    Examples
    --------
    >>> from latentforest.datasets.generate import generate, random_latent_tree
    >>> data = generate(random_latent_tree(12, strength=0.9, random_state=1), 500, random_state=1)
    >>> model = BridgedIslands(random_state=0).fit(data)
    >>> [len(island) for island in model.islands_]
    [4, 4, 4]
    """

    islands_: tuple[tuple[str, ...], ...]

    threshold: float
    max_island: int
    progressive: bool | None
    max_rounds: int
    mu: int
    nu: int
    max_states: int | None

    def __init__(
        self,
        threshold: float = 3.0,
        max_island: int = 30,
        progressive: bool | None = None,
        max_rounds: int = 8,
        mu: int = 2,
        nu: int = 10,
        max_states: int | None = None,
        max_iterations: int = 500,
        tolerance: float = 1e-6,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn_tree(self, work: Work) -> Learned:
        began, trace, stopped = time.monotonic(), Trace(), None
        islands, network, was_interrupted = self._build(work)
        settings = EMSettings(self.max_iterations, self.tolerance)

        def fit_whole(work: Work) -> Model:
            work.say(f"bridges: EM on {len(network.names):,} variables")
            return fit_fully(network, work.data, settings, work.deadline)

        model, is_over = hurry(make_late(work) if was_interrupted else work, fit_whole)
        was_interrupted |= is_over
        trace.note(model, None, "islands", began)
        try:
            rounds = () if was_interrupted else self._refine(work, model, settings)
            for better, n_changes in rounds:
                changes = "1 change" if n_changes == 1 else f"{n_changes} changes"
                trace.note(better, model, "refine", began)
                model = better
                work.say(f"refine: BIC {model.bic:,.1f}, {changes}")
                if work.is_late():
                    break
        except KeyboardInterrupt:
            was_interrupted = True
        if work.is_late():
            stopped = "the time limit was reached"
        result, network = finish(
            work, model.network, model.log_likelihood, self.prior, settings, was_interrupted
        )
        attributes = {
            "islands": islands,
            "interrupted": was_interrupted or result.monitor.was_interrupted,
            "stopped": stopped,
            "monitor": result.monitor,
        }
        return Learned(network, result.log_likelihood, Table.from_rows(trace.rows), attributes)

    def _describe_columns(self, model: Model, began: float) -> Learned:
        islands = tuple(map(model.network.structure.children, model.network.latents))
        return replace(super()._describe_columns(model, began), attributes={"islands": islands})

    def _build(self, work: Work) -> tuple[tuple[tuple[str, ...], ...], Network, bool]:
        """Split the columns into islands and bridge them; tells whether Ctrl-C cut it short."""
        work.say("islands: mutual information of all pairs")
        data = work.data
        information = measure_dependence(data.dataset, data.n_jobs)

        def tell(n_done: int, n_islands: int) -> bool:
            work.say(f"islands: {n_done:,} of {data.dataset.n_columns:,} columns, {n_islands:,}")
            return not work.is_late()

        variables = data.dataset.variables
        is_wide = data.dataset.n_columns > MOST_COLUMNS
        is_wide |= not all(variable.is_categorical for variable in variables)
        is_progressive = is_wide if self.progressive is None else self.progressive
        settings = IslandSettings(
            float(self.threshold),
            int(self.max_island),
            self.max_states,
            N_ANCHORS if is_progressive else None,
        )
        builder = IslandBuilder(data, information, settings, work.seed)
        columns = [j for j, name in enumerate(data.dataset.names) if can_vary(data.dataset, name)]
        islands = builder.build(columns, tell)
        del information

        def join(work: Work) -> Network:
            work.say(f"islands: latent class models of {len(islands):,}")
            counts = [builder.read(island) for island in islands]
            models = list(map_threads(builder.fit_one, counts, data.n_jobs))
            latents = name_latents(len(islands), work.table.names)
            return bridge(data, islands, counts, models, latents)

        network, is_over = hurry(work, join)
        names = tuple(tuple(variables[j].name for j in island) for island in islands)
        return names, network, is_over or builder.was_interrupted

    def _refine(
        self, work: Work, model: Model, settings: EMSettings
    ) -> Iterator[tuple[Model, int]]:
        """Relocate columns and adjust numbers of states, round after round."""
        rules = Rules(self.max_states, any_mediator=True)
        effort = LocalEffort(int(self.mu), int(self.nu), work.seed)
        refinement = Refinement(rules, effort, settings, int(self.max_rounds), work.deadline)
        return refinement.rounds(model)

    def _check_parameters(self, table: Dataset) -> None:
        for name, least in (
            ("max_island", 3),
            ("max_rounds", 0),
            ("mu", 1),
            ("nu", 1),
            ("max_states", 2),
        ):
            value = getattr(self, name)
            if value is None and name == "max_states":
                continue
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if not isinstance(self.threshold, numbers.Real) or np.isnan(self.threshold):
            raise ParameterError(f"threshold must be a number, got {self.threshold!r}")
        pseudo_counts(Structure(table.variables, {}), self.prior)
