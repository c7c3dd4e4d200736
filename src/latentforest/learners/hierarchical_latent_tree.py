"""HLTA: hierarchical latent tree analysis (Chen, Zhang, Liu, Poon and Chen 2016, 2017).

Bridged islands layer on layer: the latent variables of one layer, given the states that are most
probable in each row, are the columns of the next. The layers are stacked into one tree.
"""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable
from latentforest.data.columns.findings import Origin
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, FitResult, Monitor, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.stepwise import StepwiseSettings, fit_stepwise
from latentforest.inference.association.mixed_information import measure_dependence
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.rows import Rows
from latentforest.inference.threads import map_threads
from latentforest.learners.bridged_islands import N_ANCHORS
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import warn_of_bounds
from latentforest.learners.common.interruption import hurry, make_late
from latentforest.learners.common.latent_tree import LatentTreeLearner, can_vary
from latentforest.learners.common.progress import Progress
from latentforest.learners.parts.topics import assign_topics, describe_topics, switch_on
from latentforest.model import Network, Structure
from latentforest.search.greedy.bridges import bridge
from latentforest.search.greedy.islands import IslandBuilder, IslandSettings
from latentforest.search.trees.model import Model

SMALL_CELLS = 20_000_000  # rows times columns up to which the last EM goes over all rows at once
LAYER = ("layer", "columns", "latents", "seconds")  # columns of the history
BATCH_ROWS = 1000  # rows of a step of stepwise EM


@dataclass(frozen=True)
class Layer:
    """A layer of latent variables and the model that it was learned as."""

    names: tuple[str, ...]
    network: Network
    was_interrupted: bool = False


@dataclass(frozen=True)
class _Floor:
    """A layer on top of those below it: the network so far, and what is told of the layer."""

    network: Network
    names: tuple[str, ...]
    row: dict[str, Any]


class HierarchicalLatentTree(LatentTreeLearner):
    """Topic hierarchies from tables of words: layers of binary latent variables.

    Every row is a document, every column a word (absent or present); other tables do as well, with
    categorical columns, preferably of few states, continuous ones (Gaussian in each state of their
    topic) or both. Words that go together form islands, whose latent variables are topics; these
    form islands again, the more general topics, and so on up to a few topics at the top.

    Parameters
    ----------
    threshold
        An island is complete when two latent variables would raise its BIC by more than this.
    max_island
        Most members of an island.
    max_top
        A layer with at most so many latent variables is the last.
    n_words
        Words shown for each topic.
    stepwise
        Whether the last EM goes chunk after chunk through the rows (stepwise EM), for columns of
        any kind; by default for tables of more than twenty million cells.
    max_iterations, tolerance
        Of EM over all rows.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the parameters: a number
        for each cell, "laplace", or arrays by variable.
    n_jobs
        Threads; results do not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, the layers so far are the result.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The model. The last state of a latent variable is the one with more words; a continuous
        column counts as a word that is there where it is above its mean.
    layers_
        Names of the latent variables of each layer, from the words upwards.
    topics_
        One row for each topic: level, topic, parent, share of the documents, words by mutual
        information. With continuous columns also ``means``: those of the continuous ones among the
        words in each state of the topic.
    history_
        One row for each layer.
    interrupted_, stopped_
        True after Ctrl-C; why learning ended early, if it did.

    Examples
    --------
    >>> from latentforest.datasets.generate import generate, random_latent_tree
    >>> truth = random_latent_tree(48, depth=3, width=4, strength=0.8, random_state=1)
    >>> model = HierarchicalLatentTree(max_top=4, random_state=0)
    >>> model = model.fit(generate(truth, 1000, random_state=1))
    >>> [len(layer) for layer in model.layers_]
    [16, 4]
    """

    layers_: tuple[tuple[str, ...], ...]
    topics_: Table

    threshold: float
    max_island: int
    max_top: int
    n_words: int
    stepwise: bool | None

    def __init__(
        self,
        threshold: float = 3.0,
        max_island: int = 15,
        max_top: int = 20,
        n_words: int = 7,
        stepwise: bool | None = None,
        max_iterations: int = 200,
        tolerance: float = 1e-6,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _arrange(self, learned: Learned, origin: Origin | None) -> Learned:
        """Leave the states as they are: the first says that the topic is not there."""
        return learned

    def _learn_tree(self, work: Work) -> Learned:
        """HLTA(D, τ, μ, δ): flat models, stacked; then EM on the whole."""
        floors: list[_Floor] = []
        try:
            was_interrupted = self._build(work, floors)
        except KeyboardInterrupt:
            if not floors:
                raise
            was_interrupted = True
        whole, given = floors[-1].network, make_late(work) if was_interrupted else work
        (result, network), is_over = hurry(given, lambda work: self._fit(work, whole))
        layers, rows = [floor.names for floor in floors], [floor.row for floor in floors]
        model = Model(network, result.log_likelihood, work.data)
        learned, is_hurried = hurry(work, lambda _: self._describe(model, layers, rows))
        was_interrupted |= is_over or is_hurried or result.monitor.was_interrupted
        ends = {
            "interrupted": was_interrupted,
            "stopped": "the time limit was reached" if work.is_late() else None,
            "monitor": result.monitor,
        }
        return replace(learned, attributes=learned.attributes | ends)

    def _build(self, work: Work, floors: list[_Floor]) -> bool:
        """Put layer upon layer; tells whether Ctrl-C cut it short."""
        table, began = work.data.dataset, time.monotonic()
        while True:
            layer = self._learn_flat(work, table, len(floors) + 1)
            network = stack(layer.network, floors[-1].network) if floors else layer.network
            row = _describe_layer(len(floors) + 1, table.n_columns, layer.names, began)
            floors.append(_Floor(network, layer.names, row))
            if len(layer.names) <= self.max_top or work.is_late() or layer.was_interrupted:
                return layer.was_interrupted
            top = _assign(network, layer, work.data)
            if len(layer.names) >= table.n_columns or top is None:
                return False
            table = top

    def _describe_columns(self, model: Model, began: float) -> Learned:
        latents, observed = model.network.latents, model.network.observed
        names = tuple(name_topics(1, len(latents), observed))
        network = model.network.renamed(dict(zip(latents, names, strict=True)))
        layers = [names] if names else []
        rows = [_describe_layer(1, len(observed), names, began) for _ in layers]
        return self._describe(Model(network, model.log_likelihood, model.data), layers, rows)

    def _describe(
        self, model: Model, layers: list[tuple[str, ...]], rows: list[dict[str, Any]]
    ) -> Learned:
        """Order the states of all topics and list them."""
        network = switch_on(model.network, layers)
        topics = describe_topics(network, layers, self.n_words)
        history = Table({name: [row[name] for row in rows] for name in LAYER})
        attributes = {"layers": tuple(layers), "topics": topics}
        return Learned(network, model.log_likelihood, history, attributes)

    def _find_limit(self) -> int:
        return 2

    def _learn_flat(self, work: Work, table: Dataset, level: int) -> Layer:
        """LearnFlatModel(D, δ, μ): islands with binary latent variables, bridged."""

        def tell(n_done: int, n_islands: int) -> bool:
            done = f"{n_done:,} of {table.n_columns:,} columns, {n_islands:,} islands"
            work.say(f"layer {level}: {done}")
            return not work.is_late()

        work.say(f"layer {level}: mutual information of all pairs")
        data = work.data if level == 1 else PatternedData(table, work.data.n_jobs)
        information = measure_dependence(data.dataset, data.n_jobs)
        settings = IslandSettings(float(self.threshold), int(self.max_island), 2, N_ANCHORS)
        builder = IslandBuilder(data, information, settings, work.seed)
        columns = [j for j, name in enumerate(data.dataset.names) if can_vary(data.dataset, name)]
        islands = builder.build(columns, tell)
        del information

        def join(work: Work) -> Layer:
            counts = [builder.read(island) for island in islands]
            models = list(map_threads(builder.fit_one, counts, data.n_jobs))
            names = name_topics(level, len(islands), work.table.names)
            work.say(f"layer {level}: EM on {len(names):,} latent variables")
            network = bridge(data, islands, counts, models, names)
            engine = make_engine(network.structure, data)
            settings = EMSettings(int(self.max_iterations), float(self.tolerance))
            fitted = fit(engine, network.parameters, None, settings, deadline=work.deadline)
            network = network.with_parameters(fitted.parameters)
            return Layer(tuple(names), network, fitted.monitor.was_interrupted)

        layer, is_over = hurry(make_late(work) if builder.was_interrupted else work, join)
        return replace(
            layer, was_interrupted=layer.was_interrupted or is_over or builder.was_interrupted
        )

    def _fit(self, work: Work, network: Network) -> tuple[FitResult, Network]:
        """Fit the whole tree, over all rows at once or chunk after chunk."""
        prior = pseudo_counts(network.structure, self.prior)
        n_cells = work.data.n_rows * work.data.dataset.n_columns
        is_stepwise = n_cells > SMALL_CELLS if self.stepwise is None else bool(self.stepwise)

        def tell(monitor: Monitor) -> None:
            work.say(f"EM: iteration {monitor.n_iterations}")

        work.say(f"EM on {len(network.names):,} variables")
        if is_stepwise:
            shuffled = np.random.default_rng([work.seed, 3]).permutation(work.data.n_rows)
            table = work.data.dataset.take(shuffled)
            data = PatternedData(table, work.data.n_jobs, BATCH_ROWS)
            forest = Forest(network.structure, data)
            result = fit_stepwise(
                forest, network.parameters, prior, StepwiseSettings(), tell, work.deadline
            )
        else:
            engine = make_engine(network.structure, work.data)
            settings = EMSettings(int(self.max_iterations), float(self.tolerance))
            result = fit(engine, network.parameters, prior, settings, tell, work.deadline)
        warn_of_bounds(result)
        return result, network.with_parameters(result.parameters)

    def assign(self, X: Any, level: int | None = None, threshold: float = 0.5) -> Table:
        """List the topics of documents.

        Parameters
        ----------
        X
            A table of documents.
        level
            Layer of the topics, from 1; default all.
        threshold
            Topics that are less probable are left out.

        Returns
        -------
        Table
            Columns ``document`` (number of the row), ``level``, ``topic`` and ``probability``.

        Examples
        --------
        >>> from latentforest.datasets import generate, random_latent_tree
        >>> words = generate(random_latent_tree(12, random_state=0), 200, random_state=0)
        >>> model = HierarchicalLatentTree(random_state=0).fit(words)
        >>> model.assign(words.take([0]), level=1).columns
        ('document', 'level', 'topic', 'probability')
        """
        posteriors = dict(zip(self.network_.latents, self._posteriors(X), strict=True))
        if level is not None and not 1 <= level <= len(self.layers_):
            raise ParameterError(f"level must be from 1 to {len(self.layers_)}, got {level!r}")
        return assign_topics(posteriors, self.layers_, level, threshold)

    def _check_parameters(self, table: Dataset) -> None:
        for name, least in (("max_island", 3), ("max_top", 1), ("n_words", 1)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if not isinstance(self.threshold, numbers.Real) or np.isnan(self.threshold):
            raise ParameterError(f"threshold must be a number, got {self.threshold!r}")
        EMSettings(self.max_iterations, self.tolerance)
        pseudo_counts(Structure(table.variables, {}), self.prior)


def _describe_layer(
    number: int, n_columns: int, names: tuple[str, ...], began: float
) -> dict[str, Any]:
    """Make a row of the history."""
    seconds = round(time.monotonic() - began, 3)
    return dict(zip(LAYER, (number, n_columns, len(names), seconds), strict=True))


def name_topics(level: int, number: int, taken: Any) -> list[str]:
    """Return the names of a layer: Z1.1, Z1.2, … with more Zs if a column is named like that."""
    letter, known = "Z", set(taken)
    while any(name.startswith(letter) for name in known):
        letter += "Z"
    return [f"{letter}{level}.{i + 1}" for i in range(number)]


def stack(above: Network, below: Network) -> Network:
    """StackModels: the latent variables that are the columns of one model get their parents.

    The links among them, the bridges of their own layer, are dropped.
    """
    columns = set(above.observed)
    variables = [*(above.structure.variable(name) for name in above.latents), *below.variables]
    parents = {name: above.structure.parents(name) for name in above.names}
    tables = {name: above.table_view(name) for name in above.names}
    for name in below.names:
        if name not in columns:
            parents[name] = below.structure.parents(name)
            tables[name] = below.table_view(name)
    return Network.from_tables(variables, parents, tables)


def _assign(network: Network, layer: Layer, data: PatternedData) -> Dataset | None:
    """HardAssignment(m, D): the most probable states of the top layer as columns.

    Nothing if fewer than three latent variables have two states.
    """
    posteriors = map(data.gather, Rows(network, data).posteriors(layer.names))
    columns = [np.argmax(posterior, axis=1).astype(np.int8) for posterior in posteriors]
    variables = [Variable(name, network.structure.states(name)) for name in layer.names]
    if sum(len(np.unique(column)) > 1 for column in columns) < 3:
        return None
    return Dataset(variables, columns, data.dataset.weights)
