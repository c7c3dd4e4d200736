"""A structural EM on its way: the best network so far, its trace, its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from latentforest.data.results.table import Table
from latentforest.data.variable import Variable
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.changes import Change
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
        self._origins: list[int] = []
        self._began = time.monotonic()
        self._n_steps = self._n_runs = 0
        steps.check = self.check

    @property
    def history(self) -> Table:
        """One row for each network that was fitted; those on the way to the best are accepted."""
        place = -1 if self.best is None else self.best.place
        way = set[int]()
        while place >= 0:
            way.add(place)
            place = self._origins[place]
        rows = ({**row, "accepted": place in way} for place, row in enumerate(self._rows))
        return Table.from_rows(list(rows))

    def check(self) -> None:
        """Raise ``SearchEnded`` when the time is up and there is a network to return."""
        is_late = self._deadline is not None and time.monotonic() > self._deadline
        if is_late and self.best is not None:
            raise SearchEnded("the time limit was reached")

    def begin(
        self,
        variables: Sequence[Variable],
        parents: Sequence[Mask],
        what: Change,
        starts: Callable[[Structure], FloatArray] | None = None,
        origin: ScoredNetwork | None = None,
    ) -> ScoredNetwork:
        """Fit a start by EM, from parameters that ``starts`` gives for its structure."""
        self.check()
        self._n_runs += 1
        names = [variable.name for variable in variables]
        structure = self.fits.build(tuple(variables), to_names(names, parents))
        self._say(f"start {self._n_runs}: {_write(what)}")
        fitted = self.fits.fit(structure, None if starts is None else starts(structure))
        return self._note(replace(fitted, run=self._n_runs), "start", what, origin)

    def improve_structure(self, model: ScoredNetwork) -> ScoredNetwork | None:
        """Take a step to another structure, fitted by EM; nothing if none is better."""
        if self._max_steps is not None and self._n_steps >= self._max_steps:
            raise SearchEnded(f"the limit of {self._max_steps} steps was reached")
        self._n_steps += 1
        step = self.steps.propose(model)
        if step is None:
            return None
        found = replace(step.fitted, run=model.run)
        fitted = self._note(found, "structure", step.change, model)
        return fitted if self.is_better(fitted, model) else None

    def is_better(self, model: ScoredNetwork, other: ScoredNetwork) -> bool:
        """Whether a network's score is higher by more than epsilon."""
        return is_higher(model.score, other.score + self.epsilon)

    def _note(
        self, model: ScoredNetwork, phase: str, change: Change, origin: ScoredNetwork | None
    ) -> ScoredNetwork:
        """Add a network to the trace; it may be the best."""
        model = replace(model, place=len(self._rows))
        self._origins.append(-1 if origin is None else origin.place)
        self._rows.append(
            {
                "step": len(self._rows),
                "run": model.run,
                "phase": phase,
                **change.to_columns(),
                "accepted": False,
                "log_likelihood": model.log_likelihood,
                "n_parameters": model.network.dimension,
                "bic": self.fits.compute_bic(model),
                "score": model.score,
                "n_arcs": sum(len(model.structure.parents(name)) for name in model.network.names),
                "n_latents": len(model.network.latents),
                "em_runs": self.fits.n_fits,
                "seconds": round(time.monotonic() - self._began, 3),
            }
        )
        if self.best is None or is_higher(model.score, self.best.score):
            self.best = model
        self._say(f"run {model.run}: {phase} {_write(change)}, score {model.score:,.2f}")
        return model


def _write(change: Change) -> str:
    return " ".join(filter(None, (change.operator, str(change))))
