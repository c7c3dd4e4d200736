"""The steps of a search: how one is taken, its clock, its file."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from latentforest.data.results.table import Table
from latentforest.errors import FileFormatError
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import PatternedData
from latentforest.inference.threads import map_threads
from latentforest.model.files.document import from_document, to_document
from latentforest.model.network import Network
from latentforest.search.changes import Change
from latentforest.search.ended import SearchEnded
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.journal import Journal
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.model import LEAST_GAIN, Model, fit_fully, is_better
from latentforest.search.trees.trace import Trace
from latentforest.search.trees.tree import Rules
from latentforest.ties import sort_best_first

Say = Callable[[str], None]
Rank = Callable[[Model, float, int], float]
Found = Sequence[Proposal] | LocalFits
Tell = Callable[[Found], None]

SECONDS_BETWEEN_MESSAGES = 0.1
FREE = 2.0**100  # times a gain that costs no parameter: before all that do, the largest gain first


def by_bic(model: Model, log_likelihood: float, change: int) -> float:
    """Rank by BIC."""
    return model.score(log_likelihood, change)


def by_improvement_ratio(model: Model, log_likelihood: float, change: int) -> float:
    """Rank by the gain of BIC per additional parameter (the cost-effectiveness principle).

    What raises BIC without additional parameters comes first, ranked by its gain.
    """
    gain = model.score(log_likelihood, change) - model.bic
    if change > 0:
        return gain / change
    return gain * FREE if gain > LEAST_GAIN else min(gain, 0.0)


class Selection(NamedTuple):
    """What an evaluation selects winners from, and how."""

    model: Model
    candidates: Sequence[Candidate]
    effort: LocalEffort  # of local EM
    rank: Rank
    n_winners: int
    tell: Tell  # called with proposals as they come; may raise an exception to end the work


Evaluate = Callable[[Selection], list[Proposal]]


class Fitted(NamedTuple):
    """A model and what led to it."""

    model: Model
    change: Change


Operators = tuple[type[Candidate], ...]


class Settled:
    """Pairs of a model and operators; models that nobody else holds are forgotten."""

    def __init__(self) -> None:
        self._operators: WeakKeyDictionary[Model, set[Operators]] = WeakKeyDictionary()

    def __contains__(self, pair: tuple[Model, Operators]) -> bool:
        return pair[1] in self._operators.get(pair[0], ())

    def add(self, pair: tuple[Model, Operators]) -> None:
        """Keep a pair in mind."""
        self._operators.setdefault(pair[0], set()).add(pair[1])

    def forget(self, is_concerned: Callable[[type[Candidate]], bool]) -> None:
        """Forget all pairs with operators of some kind."""
        for model, known in list(self._operators.items()):
            self._operators[model] = {each for each in known if not any(map(is_concerned, each))}


@dataclass(frozen=True)
class _Choice:
    """What a step chooses from."""

    number: int
    phase: str
    model: Model
    candidates: Sequence[Candidate]
    rank: Rank
    n_winners: int
    n_reserves: int = 0


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
    n_reserves
        How many of the next best candidates get full EM if no winner is better than the model.
    max_candidates
        Most candidates of an operator that get local EM in a step; none: all.
    settings
        Of full EM.
    rules
        What is left alone.
    seed
        Each step has its own streams of random numbers, derived from this and its number.
    say
        Shows a line of progress; none: nobody looks.
    deadline, max_steps
        When to end.
    journal
        Keeps the steps on file.
    settled
        Models from which the operators beside them led nowhere.
    lifts
        By what full EM raised the BIC of reserves, when they were last tried.
    """

    data: PatternedData
    evaluate: Evaluate
    mu: int
    nu: int
    n_winners: int
    n_reserves: int
    max_candidates: int | None
    settings: EMSettings
    rules: Rules
    seed: int
    say: Say | None
    deadline: float | None
    max_steps: int | None
    journal: Journal
    trace: Trace = field(default_factory=Trace)
    settled: Settled = field(default_factory=Settled)
    lifts: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)
    _said: float = 0.0

    @property
    def best(self) -> Model | None:
        """The best model so far."""
        return self.trace.best

    @property
    def history(self) -> Table:
        """The trace as a table."""
        return Table.from_rows(self.trace.rows)

    def allow_any_mediator(self, is_allowed: bool) -> None:
        """Say whether new latent variables may have fewer states than the paper gives them."""
        self.rules = replace(self.rules, any_mediator=is_allowed)
        self.settled.forget(lambda operator: operator.heeds_any_mediator)

    def start(self, fit: Callable[[], Model]) -> Model:
        """Fit the initial model."""
        self.lifts.clear()
        about = {"step": self.trace.n_steps, "phase": "start", "candidates": 0}
        return self._take(about, None, lambda: [Fitted(fit(), Change())])[0]

    def step(
        self,
        phase: str,
        model: Model,
        candidates: Sequence[Candidate],
        rank: Rank,
        n_winners: int | None = None,
        has_reserves: bool = True,
    ) -> Model | None:
        """Evaluate candidates, fit the winners by full EM and return the best, better or not.

        Nothing if there are no candidates. ``n_winners`` is by default that of the search.
        """
        n_winners = self.n_winners if n_winners is None else n_winners
        number, n_reserves = self.trace.n_steps, self.n_reserves if has_reserves else 0
        choice = _Choice(number, phase, model, candidates, rank, n_winners, n_reserves)
        found = self._find(choice, 1)
        return found[0] if found else None

    def step_several(
        self, phase: str, model: Model, candidates: Sequence[Candidate], rank: Rank, n_winners: int
    ) -> list[Model]:
        """Evaluate candidates, fit the winners by full EM and return all of them, best first.

        They appear in the trace under the number of one step.
        """
        choice = _Choice(self.trace.n_steps, phase, model, candidates, rank, n_winners)
        return self._find(choice, n_winners)

    def _find(self, choice: _Choice, n_kept: int) -> list[Model]:
        if not choice.candidates:
            return []
        if self.max_steps is not None and choice.number > self.max_steps:
            raise SearchEnded(f"the limit of {self.max_steps} steps was reached")
        about = {
            "step": choice.number,
            "phase": choice.phase,
            "candidates": len(choice.candidates),
        }

        def find() -> list[Fitted]:
            found = self._choose(choice)[:n_kept]
            return [each._replace(model=each.model.rerooted()) for each in found]

        return self._take(about, choice.model, find)

    def _take(
        self, about: dict[str, Any], origin: Model | None, find: Callable[[], list[Fitted]]
    ) -> list[Model]:
        """Take a step, or take its results from the journal."""
        entry = self.journal.recall(about["step"])
        if entry is None:
            known = dict(self.lifts)
            found = find()
            entry = {**about, "seconds": round(time.monotonic() - self._began, 3)}
            self._write(entry, found, known)
        else:
            found = self._recall_step(entry)
            self._began = time.monotonic() - entry["seconds"]  # the clock goes on
        for each in found:
            self.trace.add(each.model, origin, {**entry, **each.change.to_columns()})
        return [each.model for each in found]

    def _choose(self, choice: _Choice) -> list[Fitted]:
        """Fit the candidates of highest rank by full EM; the best comes first."""
        self._check_clock()
        proposals = self._evaluate(choice)
        winners, reserves = proposals[: choice.n_winners], proposals[choice.n_winners :]
        found = self._fit_all(choice, winners)
        if reserves and not any(is_better(each.model, choice.model) for each in found):
            self._check_clock()
            found += self._fit_reserves(choice, reserves)

        def rank(each: Fitted) -> float:
            change = each.model.dimension - choice.model.dimension
            return choice.rank(choice.model, each.model.log_likelihood, change)

        return [found[i] for i in sort_best_first([rank(each) for each in found])]

    def _fit_reserves(self, choice: _Choice, proposals: Sequence[Proposal]) -> list[Fitted]:
        """Fit the reserves, but for those that fell short before and would do so again.

        What full EM adds to the restricted likelihood is taken to be the same as before.
        """
        model = choice.model

        def score(proposal: Proposal) -> float:
            return model.score(proposal.log_likelihood, proposal.candidate.change)

        def may_help(proposal: Proposal) -> bool:
            lift = self.lifts.get(_identify(proposal.candidate), math.inf)
            return score(proposal) + lift > model.bic + LEAST_GAIN

        chosen = [proposal for proposal in proposals if may_help(proposal)]
        found = self._fit_all(choice, chosen) if chosen else []
        for proposal, each in zip(chosen, found, strict=True):
            self.lifts[_identify(proposal.candidate)] = each.model.bic - score(proposal)
        return found

    def _fit_all(self, choice: _Choice, proposals: Sequence[Proposal]) -> list[Fitted]:
        """Apply operators to the model and fit the results by full EM."""
        began = time.monotonic()
        self._tell(choice, lambda: [f"EM for the best {len(proposals)}"])
        (root, *_) = choice.model.network.structure.roots
        networks = [proposal.realise(choice.model.network) for proposal in proposals]
        models = map_threads(lambda each: self._fit(each, root), networks, self.data.n_jobs)
        found = [
            Fitted(model, proposal.candidate.action)
            for model, proposal in zip(models, proposals, strict=True)
        ]
        self._spend("full EM", began)
        return found

    def _evaluate(self, choice: _Choice) -> list[Proposal]:
        began, n_done = time.monotonic(), 0
        model, candidates, rank = choice.model, choice.candidates, choice.rank
        news: list[Found] = []
        best: tuple[float, str] = (float("-inf"), "")

        def describe() -> list[str]:
            nonlocal best
            for each in itertools.chain.from_iterable(news):
                value = rank(model, each.log_likelihood, each.candidate.change)
                if value > best[0]:
                    best = value, f"{each.candidate.operator} {each.candidate}"
            news.clear()
            shown = [f"best {best[1]}"] if best[1] else []
            return [f"{n_done:,} of {len(candidates):,} candidates", *shown]

        def tell(found: Found) -> None:
            nonlocal n_done
            n_done += len(found)
            if self.say is not None:
                news.append(found)
            self._check_clock()
            self._tell(choice, describe)

        seed = _mix(self.seed, choice.number)
        effort = LocalEffort(self.mu, self.nu, seed, self.max_candidates)
        n_wanted = choice.n_winners + choice.n_reserves
        asked = Selection(model, candidates, effort, rank, n_wanted, tell)
        proposals = self.evaluate(asked)
        self._spend("candidates", began)
        return proposals

    def _tell(self, choice: _Choice, describe: Callable[[], list[str]]) -> None:
        """Show how far a step is, unless something was shown a moment ago."""
        now = time.monotonic()
        if self.say is not None and now - self._said > SECONDS_BETWEEN_MESSAGES:
            self._said = now
            where = f"{choice.phase}: step {choice.number}, BIC {choice.model.bic:,.1f}"
            self.say(", ".join([where, f"{now - self._began:.0f} s", *describe()]))

    def _fit(self, network: Network, root: str) -> Model:
        return fit_fully(network, self.data, self.settings, self.deadline, root)

    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _check_clock(self) -> None:
        if self._is_late():
            raise SearchEnded("the time limit was reached")

    def _spend(self, what: str, began: float) -> None:
        self.seconds[what] = self.seconds.get(what, 0.0) + time.monotonic() - began

    def _recall_step(self, entry: dict[str, Any]) -> list[Fitted]:
        try:
            self.lifts.update(entry.get("lifts", {}))
            return [self._recall(each) for each in entry["found"]]
        except (KeyError, TypeError) as error:
            number = entry["step"]
            raise FileFormatError(
                f"{self.journal.path}: step {number} is damaged ({error!r})"
            ) from None

    def _recall(self, entry: dict[str, Any]) -> Fitted:
        network = from_document(entry["network"], source=str(self.journal.path))
        model = Model(network, entry["log_likelihood"], self.data)
        change = Change(entry["operator"], entry.get("variables", ()), entry.get("n_states"))
        return Fitted(model, change)

    def _write(self, about: dict[str, Any], found: list[Fitted], known: dict[str, float]) -> None:
        """Keep a step on file; not if the time is up, which may have ended EM too early."""
        if self.journal.path is None or self._is_late():
            return
        entries = [
            {
                **each.change.to_columns(),
                "log_likelihood": each.model.log_likelihood,
                "network": to_document(each.model.network),
            }
            for each in found
        ]
        lifts = {key: lift for key, lift in self.lifts.items() if known.get(key) != lift}
        self.journal.write({**about, "found": entries, "lifts": lifts})


def _identify(candidate: Candidate) -> str:
    return f"{candidate.operator} {candidate} ({candidate.change:+d})"


def _mix(seed: int, number: int) -> int:
    """One seed for each step."""
    return (seed * 1_000_003 + number) % (2**31)
