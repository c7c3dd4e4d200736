"""Fitting the free tables of a forest by EM: from several starts, monitored, interruptible.

A small fit is one compiled call. A large one, or one whose rows vanish in the fast arithmetic,
runs the same iterations one by one.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.block_families import (
    find_bounded_in_blocks,
    find_collinear,
    list_blocks,
    list_numbers_of_updates,
    list_tasks_of_updates,
    list_tied,
)
from latentforest.inference.forest import Forest
from latentforest.inference.plan import place_sums
from latentforest.inference.threads import map_threads
from latentforest.kernels.forest.em import (
    CONVERGED,
    N_DONE,
    OBJECTIVE,
    Climb,
    Families,
    Limits,
    advance,
    climb_pyramid,
    leave_unjudged,
    log_prior,
    make_climb,
)
from latentforest.kernels.forest.plan import count_numbers
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
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
    forest: Forest,
    starts: FloatArray,
    prior: FloatArray | None = None,
    settings: EMSettings | None = None,
    report: Report | None = None,
    deadline: float | None = None,
    names_bounded: bool = True,
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
    """
    starts = np.atleast_2d(np.array(starts, dtype=np.float64))
    if starts.ndim != 2 or starts.shape[0] < 1 or starts.shape[1] != forest.n_values:
        expected = f"(at least 1, {forest.n_values})"
        raise ParameterError(f"starts has shape {starts.shape}, expected {expected}")
    prior = np.zeros(forest.n_values) if prior is None else np.asarray(prior, dtype=np.float64)
    if prior.shape != (forest.n_values,):
        raise ParameterError(f"prior has shape {prior.shape}, expected ({forest.n_values},)")
    task = Task(
        forest,
        prior,
        settings or EMSettings(),
        report,
        deadline,
        names_bounded,
    )
    return task.climb(starts)


class Task:
    """One fit: the forest, the prior, and how to run iterations on it."""

    def __init__(
        self,
        forest: Forest,
        prior: FloatArray,
        settings: EMSettings,
        report: Report | None,
        deadline: float | None,
        names_bounded: bool = True,
    ) -> None:
        self.forest = forest
        self.names_bounded = names_bounded
        self.prior = self.read_prior(forest, prior)
        self.settings = settings
        self.report = report
        self.deadline = deadline
        self.families = self.find_families(forest)
        self.least_gain = settings.tolerance * forest.data.total_weight
        self.is_compiled = len(forest.plans) == 1
        self.was_interrupted = False
        self.was_scaled = False

    def read_prior(self, forest: Forest, prior: FloatArray) -> FloatArray:
        return extend_prior(forest, prior)

    def find_families(self, forest: Forest) -> Families:
        return free_families(forest)

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
        return 2e-9 * count_numbers(self.forest.plans[0]) + 1e-6

    def climb_at_once(self, starts: FloatArray) -> FitResult | None:
        """Run the whole pyramid in one call; nothing if a row vanished."""
        trajectory = np.empty(self.settings.max_iterations + 2 * len(starts) + 2)
        climb = self.make_climb()
        limits = self.limits(self.settings.max_iterations)
        best, objective, is_sound = self.call(starts, climb, limits, False, trajectory)
        if not is_sound or not self.is_confirmed(starts[best], objective):
            return None
        return self.result(starts[best], objective, 0.0, climb, trajectory)

    def is_confirmed(self, theta: FloatArray, objective: float) -> bool:
        """Whether states that fast arithmetic may have lost made no difference to the result."""
        if not self.was_scaled:
            return True
        value, lost = self.measure(theta)
        return lost == 0.0 and abs(value - objective) <= CONFIRMED * max(1.0, abs(value))

    def climb_by_levels(self, starts: FloatArray) -> FitResult:
        """Run the pyramid level by level, starts side by side, watching the clock."""
        thetas = [start.copy() for start in starts]
        climbs = [self.make_climb() for _ in thetas]
        size = self.settings.max_iterations + 2 * len(starts) + 2
        trajectories = [np.empty(size) for _ in thetas]
        alive, n_done, n_next = list(range(len(starts))), 0, 1
        while len(alive) > 1 and not self.is_late():
            level = Limits(n_next + 1, -np.inf, False, n_next + 1)

            def climb_one(i: int, level: Limits = level) -> None:
                climbs[i] = self.make_climb()
                self.run(thetas[i], climbs[i], level, trajectories[i])

            n_threads = self.forest.data.n_jobs if self.is_compiled else 1
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
        climbs[best] = self.make_climb()
        limits = self.limits(max(self.settings.max_iterations - n_done, 1))
        first = thetas[best].copy()
        self.run(thetas[best], climbs[best], limits, trajectories[best])
        leave_unjudged(climbs[best], thetas[best])
        if self.is_compiled and self.was_scaled and not self.was_interrupted:
            reached = climbs[best].values[OBJECTIVE]
            value, lost = self.measure(thetas[best])
            if lost > 0.0 or value < reached - CONFIRMED * abs(reached):  # states were lost
                self.is_compiled = False
                thetas[best][:] = first
                climbs[best] = self.make_climb()
                self.run(thetas[best], climbs[best], limits, trajectories[best])
                leave_unjudged(climbs[best], thetas[best])
        value, lost = self.measure(thetas[best])
        value += lost * LOG_IMPOSSIBLE
        return self.result(thetas[best], value, lost, climbs[best], trajectories[best])

    def make_climb(self) -> Climb:
        return make_climb(self.forest.n_values, self.forest.n_counts)

    def limits(self, max_iterations: int) -> Limits:
        return Limits(max_iterations, self.least_gain, self.settings.accelerate, max_iterations)

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
        plan, work = self.forest.plans[0], self.forest.take_workspace(0)
        result: tuple[int, float, bool] = climb_pyramid(
            plan, work, climb, self.families, starts, self.prior, limits, resumes, trajectory
        )
        self.was_scaled = bool(work.is_shifted.any())
        self.forest.give_back(0, work)
        return result

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
        value, lost = self.forest.expected_counts(theta, climb.counts)
        value += lost * LOG_IMPOSSIBLE
        goes_on: bool = advance(climb, self.families, theta, value, self.prior, limits, trajectory)
        return goes_on

    def measure(self, theta: FloatArray) -> tuple[float, float]:
        """Objective over the possible rows, and the weight of the others."""
        value, lost = self.forest.log_likelihood(theta)
        return value + self.log_prior(theta), lost

    def log_prior(self, theta: FloatArray) -> float:
        """What the objective has beside the log-likelihood."""
        return float(log_prior(self.families, self.prior, theta))

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

    def find_bounded(self, theta: FloatArray) -> tuple[str, ...]:
        return find_bounded(self.forest, theta)

    def result(
        self, theta: FloatArray, objective: float, lost: float, climb: Climb, trajectory: FloatArray
    ) -> FitResult:
        log_likelihood = objective - self.log_prior(theta)
        if lost > 0:
            log_likelihood = -np.inf
        monitor = self.monitor(climb, trajectory, lost)
        result = FitResult(theta.copy(), objective, float(log_likelihood), monitor)
        if not self.names_bounded:
            return result
        bounded, collinear = self.find_bounded(theta), find_collinear(self.forest)
        return replace(result, bounded=bounded, collinear=collinear)


def find_bounded(forest: Forest, theta: FloatArray) -> tuple[str, ...]:
    """Name the columns, constant ones aside, with a variance at its lower bound."""
    structure = forest.structure
    if not structure.continuous:
        return ()
    inside = {name for block in list_blocks(forest) for name in block.names}
    found = [*find_bounded_in_blocks(forest, theta)] if inside else []
    for name in (set(structure.continuous) & set(forest.free)) - inside:
        about = forest.data.summary(name)
        variances = structure.table_view(theta, name)[..., -1]
        if not about.is_constant and np.any(variances <= about.least_variance):
            found.append(name)
    return tuple(sorted(found, key=structure.names.index))


def free_families(forest: Forest) -> Families:
    """List where the free tables lie in the parameter vector."""
    if not forest.structure.continuous:
        return list_families(forest.structure, forest.free)
    blocks, tied = list_blocks(forest), list_tied(forest)
    apart = {name for block in blocks for name in block.names} | set(tied)
    names = [name for name in forest.free if name not in apart]
    families = list_families(forest.structure, names)
    n_others = len(blocks) + bool(tied)
    if not n_others:
        return families
    entries, tasks = list_tasks_of_updates(forest, len(names) + n_others)
    nothing = [0] * n_others
    return Families(
        np.array([*families.offset, *entries], np.int64),
        np.array([*families.n_rows, *nothing], np.int64),
        np.array([*families.n_states, *nothing, *tasks], np.int64),
    )


def list_families(structure: Structure, names: Sequence[str]) -> Families:
    """List where some tables, none of them in a block, lie in the parameter vector."""
    sums, _ = place_sums(structure)
    shapes, offsets = [structure.shapes[name] for name in names], structure.offsets
    lengths = [shape[-1] for shape in shapes]
    for i, name in enumerate(names if sums else ()):
        if name in sums:
            lengths[i] = -sums[name]
    return Families(
        np.array([offsets[name] for name in names], np.int64),
        np.array([math.prod(shape[:-1]) for shape in shapes], np.int64),
        np.array(lengths, np.int64),
    )


def extend_prior(forest: Forest, prior: FloatArray) -> FloatArray:
    """Put what the M-step must know of each free Gaussian's column behind the pseudo-counts."""
    if not forest.structure.continuous:
        return prior.copy()
    sums, size = place_sums(forest.structure)
    extended = np.zeros(size)
    extended[: len(prior)] = prior
    inside = {name for block in list_blocks(forest) for name in block.names}
    for name in forest.structure.continuous:
        if name in forest.free and name not in inside:
            about = forest.data.summary(name)
            n_rows = math.prod(forest.structure.shape(name)[:-1])
            row = (about.mean, about.variance, about.least_variance)
            extended[sums[name] : sums[name] + N_ROWS * n_rows] = np.tile(row, n_rows)
    return np.concatenate([extended, *list_numbers_of_updates(forest)])
