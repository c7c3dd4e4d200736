"""The state of a search: its steps, its trace, its clock, the best model so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from latentforest.data.table import Table
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.inference.threads import map_threads
from latentforest.model.document import from_document, to_document
from latentforest.model.network import Network
from latentforest.search.candidate import Candidate, Effort, Proposal
from latentforest.search.journal import Journal
from latentforest.search.model import Model, fit_fully
from latentforest.search.tree import Rules

Say = Callable[[str], None]
Rank = Callable[[Model, float, int], float]
Tell = Callable[[Sequence[Proposal]], None]
Evaluate = Callable[[Model, Sequence[Candidate], Effort, Rank, int, Tell], list[Proposal]]

SECONDS_BETWEEN_MESSAGES = 0.1


class SearchEnded(Exception):
    """The time or the steps of a search are used up."""


def by_bic(model: Model, log_likelihood: float, change: int) -> float:
    """Rank by BIC."""
    return model.score(log_likelihood, change)


def by_improvement_ratio(model: Model, log_likelihood: float, change: int) -> float:
    """Rank by the gain of BIC per additional parameter (the cost-effectiveness principle)."""
    gain = model.score(log_likelihood, change) - model.bic
    return gain / change if change > 0 else gain * float("inf") if gain > 0 else gain


@dataclass
class Search:
    """Runs the steps of a search.

    Parameters
    ----------
    data
        The table.
    evaluate
        How candidates are judged: returns the winners, which then get full EM.
    mu, nu
        Starts and iterations of local EM.
    n_winners
        How many of the best candidates get full EM before one is picked.
    settings
        Of full EM.
    rules
        What is left alone.
    seed
        Each step has its own streams of random numbers, derived from this and its number.
    say
        Shows a line of progress.
    deadline, max_steps
        When to end.
    journal
        Keeps the steps on file.
    """

    data: PatternedData
    evaluate: Evaluate
    mu: int
    nu: int
    n_winners: int
    settings: EMSettings
    rules: Rules
    seed: int
    say: Say
    deadline: float | None
    max_steps: int | None
    journal: Journal
    best: Model | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)
    _said: float = 0.0

    @property
    def history(self) -> Table:
        """The trace: one row for each step."""
        return Table.from_rows(self.rows)

    def start(self, fit: Callable[[], Model]) -> Model:
        """Fit the initial model."""
        recalled = self.journal.recall(0)
        model = self._recall(recalled) if recalled else fit()
        if recalled is None:
            self._write(model, {"phase": "start", "operator": "", "where": "", "candidates": 0})
        self._record(model, True, recalled or self._last)
        return model

    def step(
        self, phase: str, model: Model, candidates: Sequence[Candidate], rank: Rank
    ) -> Model | None:
        """Evaluate candidates, fit the winners by full EM and return the best, better or not.

        Nothing if there are no candidates.
        """
        number = len(self.rows)
        if not candidates:
            return None
        if self.max_steps is not None and number > self.max_steps:
            raise SearchEnded
        recalled = self.journal.recall(number)
        if recalled is not None:
            found = self._recall(recalled)
            self._record(found, found.bic > model.bic, recalled)
            return found
        self._check_clock()
        effort = Effort(self.mu, self.nu, _mix(self.seed, number))
        winners = self._evaluate(phase, model, candidates, effort, rank)
        began = time.monotonic()
        networks = [proposal.realise(model.network) for proposal in winners]
        fitted = list(map_threads(self._fit, networks, self.data.n_jobs))
        self._spend("full EM", began)
        ranks = [
            rank(model, each.log_likelihood, each.dimension - model.dimension) for each in fitted
        ]
        winner = ranks.index(max(ranks))
        found, candidate = fitted[winner], winners[winner].candidate
        about = {
            "phase": phase,
            "operator": candidate.operator,
            "where": str(candidate),
            "candidates": len(candidates),
        }
        self._write(found, about)
        self._record(found, found.bic > model.bic, self._last)
        return found

    def _evaluate(
        self,
        phase: str,
        model: Model,
        candidates: Sequence[Candidate],
        effort: Effort,
        rank: Rank,
    ) -> list[Proposal]:
        began, n_done = time.monotonic(), 0
        best: tuple[float, str] = (float("-inf"), "")

        def tell(proposals: Sequence[Proposal]) -> None:
            nonlocal n_done, best
            n_done += len(proposals)
            for each in proposals:
                value = rank(model, each.log_likelihood, each.candidate.change)
                if value > best[0]:
                    best = value, f"{each.candidate.operator} {each.candidate}"
            self._check_clock()
            if time.monotonic() - self._said > SECONDS_BETWEEN_MESSAGES:
                self._said = time.monotonic()
                self.say(
                    f"{phase}: step {len(self.rows)}, BIC {model.bic:,.1f}, "
                    f"{n_done:,} of {len(candidates):,} candidates, best {best[1]}, "
                    f"{time.monotonic() - self._began:.0f} s"
                )

        winners = self.evaluate(model, candidates, effort, rank, self.n_winners, tell)
        self._spend("candidates", began)
        return winners

    def _fit(self, network: Network) -> Model:
        return fit_fully(network, self.data, self.settings, self.deadline)

    def _check_clock(self) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise SearchEnded

    def _spend(self, what: str, began: float) -> None:
        self.seconds[what] = self.seconds.get(what, 0.0) + time.monotonic() - began

    def _recall(self, step: dict[str, Any]) -> Model:
        network = from_document(step["network"], source=str(self.journal.path))
        return Model(network, step["log_likelihood"], self.data)

    def _write(self, model: Model, about: dict[str, Any]) -> None:
        seconds = round(time.monotonic() - self._began, 3)
        self._last = {
            "step": len(self.rows),
            **about,
            "seconds": seconds,
            "log_likelihood": model.log_likelihood,
        }
        if self.journal.path is not None:
            self.journal.write({**self._last, "network": to_document(model.network)})

    def _record(self, model: Model, is_better: bool, about: dict[str, Any]) -> None:
        """Add a row to the trace and remember the best model."""
        self.rows.append(
            {
                "step": about["step"],
                "phase": about["phase"],
                "operator": about["operator"],
                "where": about["where"],
                "accepted": is_better,
                "log_likelihood": model.log_likelihood,
                "n_parameters": model.dimension,
                "bic": model.bic,
                "n_latents": len(model.network.latents),
                "candidates": about["candidates"],
                "seconds": about["seconds"],
            }
        )
        if self.best is None or model.bic > self.best.bic:
            self.best = model


def _mix(seed: int, number: int) -> int:
    """One seed for each step."""
    return (seed * 1_000_003 + number) % (2**31)
