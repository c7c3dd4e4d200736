"""Fitting the free tables of a forest by EM: from several starts, monitored, interruptible.

A small fit is one compiled call. A large one, or one whose rows vanish in the fast arithmetic,
runs the same iterations one by one.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.block_families import find_collinear
from latentforest.estimation.families import extend_prior, find_bounded, free_families
from latentforest.inference.engine import Engine
from latentforest.inference.threads import map_threads
from latentforest.kernels.forest import em as kernels
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import (
    CONVERGED,
    N_DONE,
    OBJECTIVE,
    Climb,
    Limits,
    Method,
    Run,
    advance,
    leave_unjudged,
    make_climb,
)
from latentforest.kernels.types import FloatArray
from latentforest.ties import choose_best, sort_best_first

LOG_IMPOSSIBLE = -1e6  # what a row of probability zero adds, so that objectives can be compared
PIECE_SECONDS = (
    0.2  # a compiled call should not run much longer than this: it cannot be interrupted
)

CONFIRMED = 1e-11  # relative difference of objectives that rounding may make

Report = Callable[["Monitor"], None]


@dataclass(frozen=True)
class EMSettings:
    """When EM stops and how it moves.

    Parameters
    ----------
    max_iterations
        Most iterations of the start that wins, those in the pyramid included; at least one
        follows the pyramid.
    tolerance
        EM has converged when an iteration raises the objective by at most this much per row.
    accelerate
        Extrapolate through pairs of iterations (SQUAREM); never lowers the objective.
    """

    max_iterations: int = 1000
    tolerance: float = 1e-8
    accelerate: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.max_iterations, numbers.Integral) and self.max_iterations >= 1):
            raise ParameterError(f"max_iterations must be at least 1, got {self.max_iterations!r}")
        if not self.tolerance >= 0:
            raise ParameterError(f"tolerance must not be negative, got {self.tolerance!r}")


@dataclass
class Monitor:
    """How EM went from the start that won.

    Attributes
    ----------
    trajectory
        Objective (log-likelihood plus log prior) before each iteration of the last level of the
        pyramid; never falls.
    converged
        True only if the tolerance was met.
    reason
        Why EM stopped, in words.
    impossible_weight
        Weight of the rows that have probability zero under the fitted parameters.
    was_interrupted
        True if Ctrl-C stopped EM; the parameters are the best so far.
    """

    trajectory: FloatArray = field(default_factory=lambda: np.empty(0))
    converged: bool = False
    reason: str = "not started"
    impossible_weight: float = 0.0
    was_interrupted: bool = False

    @property
    def n_iterations(self) -> int:
        """Number of iterations of the last level of the pyramid."""
        return len(self.trajectory)


@dataclass(frozen=True)
class FitResult:
    """Fitted parameters with their objective.

    ``bounded`` names the continuous variables of which a variance is at its lower bound,
    ``collinear`` those that depend on each other and are nearly linear functions of each other.
    """

    parameters: FloatArray
    objective: float
    log_likelihood: float
    monitor: Monitor
    bounded: tuple[str, ...] = ()
    collinear: tuple[str, ...] = ()


def fit(
    engine: Engine,
    starts: FloatArray,
    prior: FloatArray | None = None,
    settings: EMSettings | None = None,
    report: Report | None = None,
    deadline: float | None = None,
    names_bounded: bool = True,
    shares: FloatArray | None = None,
) -> FitResult:
    """Fit the free tables of a forest from one or more starts.

    Parameters
    ----------
    forest
        The structure over the data.
    starts
        Parameter vectors, ``(n_starts, n_values)`` or one vector.
    prior
        Pseudo-counts in the layout of the parameters; default none (maximum likelihood).
    settings
        Stopping rules.
    report
        Called now and then with the monitor so far.
    deadline
        Value of ``time.monotonic()`` at which to stop and return the best so far.
    names_bounded
        Whether to look for variances at their bounds.
    shares
        How much of the columns' correlations pseudo-observations have: see ``extend_prior``.
    """
    starts = np.atleast_2d(np.array(starts, dtype=np.float64))
    if starts.ndim != 2 or starts.shape[0] < 1 or starts.shape[1] != engine.n_values:
        expected = f"(at least 1, {engine.n_values})"
        raise ParameterError(f"starts has shape {starts.shape}, expected {expected}")
    prior = np.zeros(engine.n_values) if prior is None else np.asarray(prior, dtype=np.float64)
    if prior.shape != (engine.n_values,):
        raise ParameterError(f"prior has shape {prior.shape}, expected ({engine.n_values},)")
    objective = Objective(engine, free_families(engine), extend_prior(engine, prior, shares))
    task = FitTask(objective, settings or EMSettings(), report, deadline)
    result = task.climb(starts)
    if not names_bounded:
        return result
    bounded, collinear = find_bounded(engine, result.parameters), find_collinear(engine)
    return replace(result, bounded=bounded, collinear=collinear)


class Objective:
    """What EM raises, the log-likelihood plus the log prior, and the steps that raise it.

    Iterations need no more of the forest than ``expected_counts`` and ``log_likelihood``; a forest
    of one plan can be climbed in one compiled call, too. Vectors hold the parameters.
    """

    def __init__(self, engine: Engine, families: Families, prior: FloatArray) -> None:
        self.engine, self.families, self.prior = engine, families, prior
        self.n_values = engine.n_values
        self.is_compiled = engine.is_one_call  # not only the steps, but the loop

    def find_method(self) -> Method:
        """Compile what happens between E-steps."""
        return kernels.find_method()

    def expect(self, vector: FloatArray) -> FloatArray:
        """Return what the E-step works with; anew, unless it is the vector."""
        return vector

    def expected_counts(self, vector: FloatArray, counts: FloatArray) -> tuple[float, float]:
        """Run the E-step over all rows: see ``Forest.expected_counts``."""
        return self.engine.expected_counts(self.expect(vector), counts)

    def penalize(self, vector: FloatArray) -> float:
        """Return what the objective has beside the log-likelihood."""
        return float(kernels.log_prior(self.families, self.prior, vector))

    def measure(self, vector: FloatArray) -> tuple[float, float]:
        """Objective over the possible rows, and the weight of the others."""
        value, lost = self.engine.log_likelihood(self.expect(vector))
        return value + self.penalize(vector), lost

    def advance(
        self,
        climb: Climb,
        vector: FloatArray,
        value: float,
        limits: Limits,
        trajectory: FloatArray,
    ) -> bool:
        """Go on from the result of an E-step; false when the run is over."""
        method, families = self.find_method(), self.families
        result: bool = advance(
            method, families, self.prior, climb, vector, value, limits, trajectory
        )
        return result

    def make_climb(self) -> Climb:
        """Allocate the state of a run."""
        return make_climb(self.n_values, self.engine.n_counts)

    def climb(
        self,
        starts: FloatArray,
        climb: Climb,
        limits: Limits,
        resumes: bool,
        trajectory: FloatArray,
    ) -> tuple[int, float, bool, bool]:
        """Run the compiled loop: see ``loop.climb``. Tells whether messages were scaled, too."""
        run = Run(self.families, self.prior, climb, starts, limits, resumes, trajectory)
        return self.engine.climb(self.find_method(), self.expect(starts[0]), run)


class FitTask:
    """One fit: the objective, when to stop, and how to run iterations."""

    def __init__(
        self,
        objective: Objective,
        settings: EMSettings,
        report: Report | None,
        deadline: float | None,
    ) -> None:
        self.objective, self.engine, self.settings = objective, objective.engine, settings
        self.report, self.deadline = report, deadline
        self.least_gain = settings.tolerance * self.engine.data.total_weight
        self.is_compiled = objective.is_compiled
        self.was_interrupted = False
        self.was_scaled = False

    def climb(self, starts: FloatArray) -> FitResult:
        """Fit from some starts, the quickest way."""
        if self.is_small(len(starts)):
            result = self.climb_at_once(starts.copy())
            if result is not None:
                return result
        return self.climb_by_levels(starts)

    def is_small(self, n_starts: int) -> bool:
        """Whether one compiled call does all within a moment."""
        n_iterations = self.settings.max_iterations + n_starts * (1 + n_starts.bit_length())
        return self.is_compiled and n_iterations * self.iteration_seconds() < PIECE_SECONDS

    def iteration_seconds(self) -> float:
        """Estimate the time of an iteration from the size of the buffers."""
        return 2e-9 * self.engine.cost + 1e-6

    def climb_at_once(self, starts: FloatArray) -> FitResult | None:
        """Run the whole pyramid in one call; nothing if a row vanished."""
        trajectory = np.empty(self.settings.max_iterations + 2 * len(starts) + 2)
        climb = self.objective.make_climb()
        limits = self.limits(self.settings.max_iterations)
        best, objective, is_sound = self.call(starts, climb, limits, False, trajectory)
        if not is_sound or not self.is_confirmed(starts[best], objective):
            return None
        return self.result(starts[best], objective, 0.0, climb, trajectory)

    def is_confirmed(self, theta: FloatArray, objective: float) -> bool:
        """Whether states that fast arithmetic may have lost made no difference to the result."""
        if not self.was_scaled:
            return True
        value, lost = self.objective.measure(theta)
        return lost == 0.0 and abs(value - objective) <= CONFIRMED * max(1.0, abs(value))

    def climb_by_levels(self, starts: FloatArray) -> FitResult:
        """Run the pyramid level by level, starts side by side, watching the clock."""
        thetas = [start.copy() for start in starts]
        climbs = [self.objective.make_climb() for _ in thetas]
        size = self.settings.max_iterations + 2 * len(starts) + 2
        trajectories = [np.empty(size) for _ in thetas]
        alive, n_done, n_next = list(range(len(starts))), 0, 1
        while len(alive) > 1 and not self.is_late():
            level = Limits(n_next + 1, -np.inf, False, n_next + 1)

            def climb_one(i: int, level: Limits = level) -> None:
                climbs[i] = self.objective.make_climb()
                self.run(thetas[i], climbs[i], level, trajectories[i])

            n_threads = self.engine.data.n_jobs if self.is_compiled else 1
            try:
                list(map_threads(climb_one, alive, n_threads))
            except KeyboardInterrupt:
                if not any(climbs[i].flags[N_DONE] for i in alive):
                    raise
                self.was_interrupted = True
            if self.was_interrupted:
                break
            order = sort_best_first([climbs[i].values[OBJECTIVE] for i in alive])
            alive = [alive[i] for i in order[: (len(alive) + 1) // 2]]
            n_done += n_next + 1
            n_next *= 2
        best = choose_best(alive, lambda i: climbs[i].values[OBJECTIVE])
        climbs[best] = self.objective.make_climb()
        limits = self.limits(max(self.settings.max_iterations - n_done, 1))
        first = thetas[best].copy()
        self.run(thetas[best], climbs[best], limits, trajectories[best])
        leave_unjudged(climbs[best], thetas[best])
        if self.is_compiled and self.was_scaled and not self.was_interrupted:
            reached = climbs[best].values[OBJECTIVE]
            value, lost = self.objective.measure(thetas[best])
            if lost > 0.0 or value < reached - CONFIRMED * abs(reached):  # states were lost
                self.is_compiled = False
                thetas[best][:] = first
                climbs[best] = self.objective.make_climb()
                self.run(thetas[best], climbs[best], limits, trajectories[best])
                leave_unjudged(climbs[best], thetas[best])
        value, lost = self.objective.measure(thetas[best])
        value += lost * LOG_IMPOSSIBLE
        return self.result(thetas[best], value, lost, climbs[best], trajectories[best])

    def limits(self, max_iterations: int) -> Limits:
        accelerate = bool(self.settings.accelerate)
        return Limits(int(max_iterations), float(self.least_gain), accelerate, int(max_iterations))

    def is_late(self, climb: Climb | None = None) -> bool:
        """Whether the deadline has passed; a climb has at least one iteration."""
        if self.deadline is None or (climb is not None and not climb.flags[N_DONE]):
            return False
        return time.monotonic() > self.deadline

    def call(
        self,
        starts: FloatArray,
        climb: Climb,
        limits: Limits,
        resumes: bool,
        trajectory: FloatArray,
    ) -> tuple[int, float, bool]:
        best, value, is_sound, self.was_scaled = self.objective.climb(
            starts, climb, limits, resumes, trajectory
        )
        return best, value, is_sound

    def run(self, theta: FloatArray, climb: Climb, limits: Limits, trajectory: FloatArray) -> None:
        """Iterate on one start up to the limits, in pieces that can be interrupted."""
        goes_on = True
        while goes_on and not self.was_interrupted and not self.is_late(climb):
            try:
                goes_on = self.run_piece(theta, climb, limits, trajectory)
                if self.report is not None and limits.least_gain >= 0:
                    self.report(self.monitor(climb, trajectory, 0.0))
            except KeyboardInterrupt:
                if not climb.flags[N_DONE]:
                    raise
                self.was_interrupted = True

    def run_piece(
        self, theta: FloatArray, climb: Climb, limits: Limits, trajectory: FloatArray
    ) -> bool:
        """Run some iterations; false when the run is over."""
        n_done = int(climb.flags[N_DONE])
        if self.is_compiled:
            piece = max(1, int(PIECE_SECONDS / self.iteration_seconds()))
            upto = limits._replace(pause=n_done + piece)
            _, _, is_sound = self.call(theta[None], climb, upto, n_done > 0, trajectory)
            is_over = climb.flags[CONVERGED] or climb.flags[N_DONE] >= limits.max_iterations
            if is_sound or is_over:
                return not is_over
            self.is_compiled = False
        return self.step(theta, climb, limits, trajectory)

    def step(self, theta: FloatArray, climb: Climb, limits: Limits, trajectory: FloatArray) -> bool:
        """Run one iteration from here, over all chunks; false when the run is over."""
        value, lost = self.objective.expected_counts(theta, climb.counts)
        value += lost * LOG_IMPOSSIBLE
        return self.objective.advance(climb, theta, value, limits, trajectory)

    def monitor(self, climb: Climb, trajectory: FloatArray, lost: float) -> Monitor:
        n_done, converged = int(climb.flags[N_DONE]), bool(climb.flags[CONVERGED])
        if converged:
            reason = f"the gain per row fell to {self.settings.tolerance:g} or less"
        elif self.was_interrupted:
            reason = "it was interrupted"
        elif self.is_late():
            reason = "the time limit was reached"
        else:
            reason = f"the limit of {self.settings.max_iterations} iterations was reached"
        return Monitor(trajectory[:n_done].copy(), converged, reason, lost, self.was_interrupted)

    def result(
        self, theta: FloatArray, objective: float, lost: float, climb: Climb, trajectory: FloatArray
    ) -> FitResult:
        log_likelihood = objective - self.objective.penalize(theta)
        if lost > 0:
            log_likelihood = -np.inf
        monitor = self.monitor(climb, trajectory, lost)
        return FitResult(theta.copy(), objective, float(log_likelihood), monitor)
