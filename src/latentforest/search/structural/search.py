"""A structural EM on its way: the best network so far, its trace, its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from latentforest.data.table import Table
from latentforest.data.variable import Variable
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.search.ended import SearchEnded
from latentforest.search.structural.arcs import to_names
from latentforest.search.structural.fits import NetworkFits, ScoredNetwork
from latentforest.search.structural.steps import StructureSteps
from latentforest.ties import is_higher


class StructuralSearch:
    """Steps of structural EM, one row of the trace for each.

    Parameters
    ----------
    fits, steps
        EM, and how structures are proposed.
    epsilon
        A step must raise the score by more than this.
    max_steps
        End after so many steps of structures.
    say
        Told what is going on.
    deadline
        End when this time has passed.

    Attributes
    ----------
    best
        The best network so far.
    """

    def __init__(
        self,
        fits: NetworkFits,
        steps: StructureSteps,
        epsilon: float,
        max_steps: int | None,
        say: Callable[[str], None],
        deadline: float | None,
    ) -> None:
        self.fits, self.steps, self.epsilon = fits, steps, epsilon
        self.best: ScoredNetwork | None = None
        self._max_steps, self._say, self._deadline = max_steps, say, deadline
        self._rows: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self._n_steps = self._n_runs = 0
        steps.check = self.check

    @property
    def history(self) -> Table:
        """One row for each network that was fitted."""
        return Table.from_rows(self._rows)

    def check(self) -> None:
        """Raise ``SearchEnded`` when the time is up and there is a network to return."""
        is_late = self._deadline is not None and time.monotonic() > self._deadline
        if is_late and self.best is not None:
            raise SearchEnded("the time limit was reached")

    def begin(
        self,
        variables: Sequence[Variable],
        parents: Sequence[Mask],
        what: str,
        starts: Callable[[Any], FloatArray] | None = None,
    ) -> ScoredNetwork:
        """Fit a start by EM, from parameters that ``starts`` gives for its structure."""
        self.check()
        self._n_runs += 1
        names = [variable.name for variable in variables]
        structure = self.fits.build(tuple(variables), to_names(names, parents))
        self._say(f"start {self._n_runs}: {what}")
        fitted = self.fits.fit(structure, None if starts is None else starts(structure))
        fitted = replace(fitted, run=self._n_runs)
        self._note(fitted, "start", what, None)
        return fitted

    def improve_structure(self, model: ScoredNetwork) -> ScoredNetwork | None:
        """Take a step to another structure, fitted by EM; nothing if none is better."""
        if self._max_steps is not None and self._n_steps >= self._max_steps:
            raise SearchEnded(f"the limit of {self._max_steps} steps was reached")
        self._n_steps += 1
        step = self.steps.propose(model)
        if step is None:
            return None
        fitted = replace(step.fitted, run=model.run)
        self._note(fitted, "structure", step.operator, model)
        return fitted if self.is_better(fitted, model) else None

    def is_better(self, model: ScoredNetwork, other: ScoredNetwork) -> bool:
        """Whether a network's score is higher by more than epsilon."""
        return is_higher(model.score, other.score + self.epsilon)

    def take(self, model: ScoredNetwork) -> None:
        """Note a network that may be the best."""
        if self.best is None or is_higher(model.score, self.best.score):
            self.best = model

    def _note(
        self, model: ScoredNetwork, phase: str, operator: str, origin: ScoredNetwork | None
    ) -> None:
        self._rows.append(
            {
                "run": model.run,
                "phase": phase,
                "operator": operator,
                "accepted": origin is None or self.is_better(model, origin),
                "log_likelihood": model.log_likelihood,
                "n_parameters": model.network.dimension,
                "score": model.score,
                "n_arcs": sum(len(model.structure.parents(name)) for name in model.network.names),
                "n_latents": len(model.network.latents),
                "em_runs": self.fits.n_fits,
                "seconds": round(time.monotonic() - self._began, 3),
            }
        )
        self.take(model)
        self._say(f"run {model.run}, {phase}: {operator}, score {model.score:,.2f}")
