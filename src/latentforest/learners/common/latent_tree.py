"""What learners of latent trees share: when there is one to learn, and what to do when not.

A latent variable needs three columns that vary, or fewer if one is continuous. Tables of one or two
such columns get the best model that there is: independent columns, or one latent variable.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

from latentforest.data import Dataset, Variable
from latentforest.data.results.table import Table
from latentforest.estimation.em import EMSettings, Monitor
from latentforest.estimation.priors import Smoothing
from latentforest.inference.columns import summarize
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.model import Structure
from latentforest.search.greedy.groups import GroupFits, GroupSettings, put_together
from latentforest.search.trees.model import Model, is_better
from latentforest.search.trees.trace import Trace

ENOUGH = 3  # columns that vary, whatever they are
MOST_STATES = 20  # of a latent variable above a single column, unless the learner has a limit
N_STARTS = 8  # of its parameters


class LatentTreeLearner(LatentLearner):
    """Base of the learners of latent trees."""

    _enough_with_numbers: ClassVar[int] = 2  # columns that vary, if one of them is continuous

    max_iterations: int
    tolerance: float
    smoothing: Smoothing
    prior: Smoothing
    interrupted_: bool
    stopped_: str | None
    monitor_: Monitor

    @abstractmethod
    def _check_parameters(self, table: Dataset) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def _learn_tree(self, work: Work) -> Learned:
        """Learn a latent tree; there is one."""

    def _learn(self, work: Work) -> Learned:
        self._check_parameters(work.table)
        has_tree = self._make_start(work.table) is not None
        if len(find_varying(work.table)) >= ENOUGH:
            return self._learn_tree(work)
        simple = self._learn_columns(work, 1 if has_tree else self._find_limit())
        if not has_tree:
            return simple
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            tree = self._learn_tree(work)
        if is_better(*(Model(m.network, m.log_likelihood, work.data) for m in (tree, simple))):
            for each in said:
                warnings.warn(each.message, stacklevel=4)
            return tree
        ends = {name: tree.attributes[name] for name in ("interrupted", "stopped")}
        return replace(simple, attributes=simple.attributes | ends)

    def _learn_simplest(self, work: Work) -> Learned:
        """Learn independent columns."""
        self._check_parameters(work.table)
        return self._learn_columns(work, 1)

    def _make_start(self, table: Dataset) -> Structure | None:
        return make_start(table, self._enough_with_numbers)

    def _find_limit(self) -> int:
        """Most states of a latent variable."""
        limit: int | None = getattr(self, "max_states", None)
        return MOST_STATES if limit is None else limit

    def _learn_columns(self, work: Work, max_states: int) -> Learned:
        """Learn independent columns; a continuous one may be a mixture."""
        began = time.monotonic()
        work.say("columns: each by itself")
        settings = EMSettings(self.max_iterations, self.tolerance)
        fits = GroupFits(
            work.data,
            GroupSettings("diagonal", max_states, N_STARTS, settings, work.seed, work.deadline),
        )
        groups = [fits.best([name]) for name in work.table.names]
        network = put_together(groups, work.table.variables)
        value = sum(group.log_likelihood for group in groups)
        result, network = finish(work, network, value, self.prior, settings)
        learned = self._describe_columns(Model(network, value, work.data), began)
        ends = {
            "interrupted": result.monitor.was_interrupted,
            "stopped": "the time limit was reached" if work.is_late() else None,
            "monitor": result.monitor,
        }
        attributes = learned.attributes | ends
        return replace(learned, log_likelihood=result.log_likelihood, attributes=attributes)

    def _describe_columns(self, model: Model, began: float) -> Learned:
        """Make a result of a model: the trace, and the attributes that this learner has."""
        trace = Trace()
        trace.note(model, None, "columns", began)
        return Learned(model.network, model.log_likelihood, Table.from_rows(trace.rows))


def make_start(table: Dataset, enough_with_numbers: int = 2) -> Structure | None:
    """A latent class model with two classes; columns of a single state or value stay alone.

    Nothing if too few columns vary.
    """
    names = find_varying(table)
    has_numbers = not all(table.variable(name).is_categorical for name in names)
    if len(names) < (enough_with_numbers if has_numbers else ENOUGH):
        return None
    latent = "Y1"
    while latent in table.names:
        latent += "_"
    variables = [Variable.hidden(latent, 2), *table.variables]
    return Structure(variables, dict.fromkeys(names, latent))


def find_varying(table: Dataset) -> list[str]:
    """The columns with several states, or different values."""
    return [name for name in table.names if can_vary(table, name)]


def can_vary(table: Dataset, name: str) -> bool:
    """Whether a column has several states, or different values."""
    if table.variable(name).is_categorical:
        return table.variable(name).n_states > 1
    return not summarize(name, table.column(name), table.weights).is_constant
