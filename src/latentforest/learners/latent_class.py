"""Latent class models: one latent variable, columns independent given its state.

Continuous columns are Gaussian given the class (latent profile analysis), independent of each other
or with a joint covariance. The number of states is given, or chosen: greedily (one more as long as
the criterion rises) or over a range.
"""

from __future__ import annotations

import itertools
import math
import numbers
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from latentforest.data import Dataset, Variable
from latentforest.data.results.table import Table
from latentforest.errors import DataError, LatentForestWarning, ParameterError
from latentforest.estimation.em import EMSettings, FitResult, Monitor, fit
from latentforest.estimation.priors import Smoothing, is_none, pseudo_counts
from latentforest.estimation.starts import count_starts, random_starts
from latentforest.inference.engine import Engine, Ties, make_engine
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import warn_of_bounds
from latentforest.learners.common.interruption import conclude, mark_interrupted
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.notes import note_edge_of_range
from latentforest.learners.common.progress import Progress
from latentforest.learners.parts.direct_effects import (
    Effects,
    link_columns,
    list_further,
    read_effects,
)
from latentforest.model import Network, Structure
from latentforest.scores.criteria import CRITERIA, FitSummary, evaluate
from latentforest.scores.evidence import EVIDENCE_CRITERIA, approximate, check_method
from latentforest.scores.goodness import compute_entropy, compute_entropy_r2, measure_goodness
from latentforest.scores.residuals import compute_bivariate_residuals
from latentforest.scores.saturated import count_cells
from latentforest.scores.validation import cross_validate
from latentforest.search.glc.fits import transfer
from latentforest.search.states import split_starts
from latentforest.ties import choose_best, is_higher

COVARIANCES = (
    "diagonal",
    "full",
    "spherical",
    "shared",
    "shared-diagonal",
    "shared-spherical",
)
GOODNESS = (
    "g_squared",
    "x_squared",
    "df",
    "df_nominal",
    "p",
    "cressie_read",
    "dissimilarity",
    "p_x_squared",
    "p_cressie_read",
    "n_boundary",
)


@dataclass(frozen=True)
class _ClassModel:
    """A fitted model with a certain number of classes."""

    n_states: int
    network: Network
    result: FitResult
    row: dict[str, Any]
    residuals: Table
    score: float
    effects: Effects = ()


class LatentClass(LatentLearner):
    """Latent class analysis, of continuous columns latent profile analysis.

    Parameters
    ----------
    n_states
        Number of classes; a range, a pair (lowest, highest) or a list to choose from by the
        criterion; or "greedy": from one class upwards as long as the criterion rises.
    criterion
        "bic", "aic", "aic3", "caic", "sabic", "mdl", "icl", or "cv" (cross-validated predictive
        log-likelihood; without smoothing, that of "auto" is used for it); or an approximation of
        the marginal likelihood with uniform priors of all tables, see `marginal_likelihood`:
        "cs", "laplace", "elbo", "elbo+". The last two take continuous columns, too, with a diagonal
        covariance.
    max_states
        Highest number of classes that "greedy" tries.
    covariance
        Of continuous columns in each class: "diagonal" (independent columns), "full" (one joint
        Gaussian), "spherical" (independent columns of equal variance, which makes sense for
        columns of one unit). With "shared", "shared-diagonal" and "shared-spherical", all classes
        have the same, and "shared" is full. In the terms of mclust: VVI, VVV, VII, EEE, EEI, EII.
    direct_effects
        Links between categorical columns that are dependent given the class: pairs (parent,
        child), or text "A -> B"; or "auto": added one by one where bivariate residuals are largest,
        as long as the criterion rises.
    n_starts
        Random starts; a pyramid of short runs picks one. By default as many as cost little: 128 for
        small tables, down to 16 for large ones.
    max_iterations, tolerance
        EM stops after so many iterations, or when one gains at most so much per row.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts: a number for each table cell,
        "none", "laplace", or arrays by column (and "class"). Those of a Gaussian are observations
        with the mean and variance of its column.
    accelerate
        Extrapolate EM (SQUAREM).
    folds
        Number of folds, or labels of the rows' folds, for ``criterion="cv"``.
    n_jobs
        Threads; the result does not depend on it.
    random_state
        Seed.
    time_limit
        Seconds after which the best model so far is taken.
    progress
        True shows what is going on, False does not; a function gets each message. By default it is
        shown in interactive use, a terminal or a notebook, if it takes more than a moment.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_, history_
        As for every learner.
    n_states_
        Number of classes of the chosen model.
    fit_table_
        One row for each number of classes that was fitted. Goodness of fit is computed when the
        table is first asked for, unless the data have more cells than observations.
    direct_effects_
        Pairs of columns with a link in the chosen model.
    class_sizes_
        Share of the rows in each class.
    monitor_
        How EM went for the chosen model.
    bivariate_residuals_
        Pearson residual of every pair of categorical columns, largest first: associations that the
        classes leave unexplained.
    interrupted_
        True if Ctrl-C ended the search early.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = LatentClass(n_states=2, random_state=0).fit(datasets.load("role-conflict"))
    >>> round(model.log_likelihood_, 2), round(model.fit_table_["g_squared"][0], 2)
    (-504.47, 2.72)

    >>> from latentforest import Variable, Network
    >>> parts = [Variable.hidden("kind", 2), Variable("length"), Variable("width")]
    >>> tables = {"kind": [0.7, 0.3], "length": [[2, 1], [8, 1]], "width": [[0, 1], [3, 4]]}
    >>> truth = Network.from_tables(parts, {"length": "kind", "width": "kind"}, tables)
    >>> model = LatentClass(random_state=0).fit(truth.sample(500, random_state=0))
    >>> model.n_states_, model.network_.cpd("length")[:, 0].round().tolist()
    (2, [2.0, 8.0])
    """

    n_states: int | Sequence[int] | str
    criterion: str
    max_states: int
    covariance: str
    direct_effects: Any
    n_starts: int | None
    accelerate: bool
    folds: Any

    def __init__(
        self,
        n_states: int | Sequence[int] | str = "greedy",
        criterion: str = "bic",
        max_states: int = 20,
        covariance: str = "diagonal",
        direct_effects: Any = (),
        n_starts: int | None = None,
        max_iterations: int = 2000,
        tolerance: float = 1e-9,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        accelerate: bool = True,
        folds: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        self._check()
        if self.criterion in EVIDENCE_CRITERIA:
            self._check_evidence(work)
        candidates: list[_ClassModel] = []
        was_interrupted = False
        for n_states in _read_counts(self.n_states, self.max_states):
            try:
                candidates.append(self._fit_candidate(work, n_states, candidates))
                was_interrupted = candidates[-1].result.monitor.was_interrupted
            except KeyboardInterrupt:
                if not candidates:
                    raise
                was_interrupted = True
            if was_interrupted or work.is_late():
                break
            if isinstance(self.n_states, str) and _is_falling(candidates):
                break
        learned = conclude(work, lambda _: self._describe(candidates))
        return mark_interrupted(learned) if was_interrupted else learned

    def _describe(self, candidates: list[_ClassModel]) -> Learned:
        best = choose_best(candidates, lambda candidate: candidate.score)
        warn_of_bounds(best.result)
        self._fitted = [(candidate.row, candidate.network) for candidate in candidates]
        self._fit_table: Table | None = None
        return Learned(
            best.network,
            best.result.log_likelihood,
            history=Table.from_rows([candidate.row for candidate in candidates]),
            attributes={
                "n_states": best.n_states,
                "direct_effects": best.effects,
                "monitor": best.result.monitor,
                "bivariate_residuals": best.residuals,
                "interrupted": False,
            },
            ties=self._tie(best.network.structure),
        )

    def _tie(self, structure: Structure) -> Ties:
        """Say which variances are the same for all classes, or for all columns."""
        names = structure.continuous
        return Ties(
            names if self.covariance.startswith("shared") else (),
            names if self.covariance.endswith("spherical") else (),
        )

    @property
    def notes_(self) -> tuple[str, ...]:
        """Hints about the result, in sentences: a number of classes at the edge of its range."""
        check_is_fitted(self, "network_")
        asked = _read_counts(self.n_states, self.max_states)
        greedy, tried = isinstance(self.n_states, str), self.history_["n_states"]
        return tuple(note_edge_of_range(self.n_states_, tried, asked, greedy))

    @property
    def class_sizes_(self) -> FloatArray:
        """Share of the rows in each class."""
        check_is_fitted(self, "network_")
        return self.network_.table_view(self.network_.latents[0])

    @property
    def fit_table_(self) -> Table:
        """One row for each number of classes that was fitted."""
        check_is_fitted(self, "network_")
        if self._fit_table is None:
            rows = [_add_goodness(*each, self._training) for each in self._fitted]
            self._fit_table = Table.from_rows(rows, self.notes_)
            self._release()
        return self._fit_table

    def _release(self) -> None:
        if self._goodness is not None and self._fit_table is not None:
            self._training, self._fitted = None, []

    def _check(self) -> None:
        """Refuse settings that make no sense before any work is done."""
        criteria = [*CRITERIA, "cv", *EVIDENCE_CRITERIA]
        if self.criterion not in criteria:
            known = ", ".join(criteria)
            raise ParameterError(f"unknown criterion {self.criterion!r}; known are {known}")
        if self.covariance not in COVARIANCES:
            known = ", ".join(map(repr, COVARIANCES))
            raise ParameterError(f"covariance must be one of {known}, got {self.covariance!r}")
        if self.n_starts is not None and not _is_count(self.n_starts):
            raise ParameterError(f"n_starts must be at least 1, got {self.n_starts!r}")
        EMSettings(self.max_iterations, self.tolerance, bool(self.accelerate))

    def _check_evidence(self, work: Work) -> None:
        """Refuse columns that the criterion does not take."""
        structure = make_structure(work.table.variables, 1, self.covariance)
        if self.covariance != "diagonal" and structure.continuous:
            raise ParameterError(
                f"the criterion {self.criterion!r} takes continuous columns only with "
                f"covariance='diagonal', got {self.covariance!r}"
            )
        check_method(self.criterion, structure)

    def _fit_candidate(self, work: Work, n_states: int, earlier: list[_ClassModel]) -> _ClassModel:
        """Fit a number of classes, with the direct effects that are given, or with better ones."""
        effects = read_effects(self.direct_effects, work.table.variables)
        candidate = self._fit_effects(work, n_states, effects, earlier)
        while self.direct_effects == "auto" and not _is_over(work, candidate):
            found = list_further(candidate.residuals, candidate.effects, work.table.names)
            tried = (self._fit_effects(work, n_states, more, [candidate]) for more in found)
            better = next((one for one in tried if is_higher(one.score, candidate.score)), None)
            if better is None:
                break
            candidate = better
        return candidate

    def _fit_effects(
        self, work: Work, n_states: int, effects: Effects, earlier: list[_ClassModel]
    ) -> _ClassModel:
        began = time.monotonic()
        plain = make_structure(work.data.dataset.variables, n_states, self.covariance)
        structure = link_columns(plain, effects)
        engine = make_engine(structure, work.data, None, *self._tie(structure))
        n_starts = count_starts(engine) if self.n_starts is None else int(self.n_starts)
        starts = random_starts(structure, work.data.dataset, n_starts, work.seed + n_states)
        starts = np.concatenate([starts, _start_nearby(structure, earlier)])

        def tell(monitor: Monitor) -> None:
            work.say(f"{label}: iteration {monitor.n_iterations}")

        label = "1 class" if n_states == 1 else f"{n_states} classes"
        work.say(f"{label}: {len(starts)} starts")
        prior = pseudo_counts(structure, self.prior)
        settings = EMSettings(self.max_iterations, self.tolerance, bool(self.accelerate))
        result = fit(engine, starts, prior, settings, tell, work.deadline)
        n_tied = _count_equal(structure, self.covariance)
        network = Network(structure, result.parameters, n_tied)
        residuals = compute_bivariate_residuals(network, work.data)
        row, summary = _describe(engine, network, result, residuals)
        if self.direct_effects == "auto" or effects:
            row["direct_effects"] = len(effects)
        if self.criterion in EVIDENCE_CRITERIA:
            score = self._approximate(work, label, network)
        else:
            score = self._score(work, n_states, summary, effects)
        if self.criterion not in CRITERIA:
            row[self.criterion] = score
        row["seconds"] = time.monotonic() - began
        work.say(f"{label}: BIC {row['bic']:,.2f}")
        return _ClassModel(n_states, network, result, row, residuals, score, effects)

    def _approximate(self, work: Work, label: str, network: Network) -> float:
        """Marginal likelihood of a candidate; a model for which a method has no value is last."""
        found = approximate(network, work.data, self.criterion, work.seed, work.deadline)
        for note in found.notes:
            warnings.warn(f"{label}: {note}", LatentForestWarning, stacklevel=6)
        return -math.inf if math.isnan(found.value) else found.value

    def _score(
        self, work: Work, n_states: int, summary: FitSummary, effects: Effects = ()
    ) -> float:
        if self.criterion != "cv":
            return evaluate(self.criterion, summary)
        left, n_folds = work.seconds_left(), len(set(np.atleast_1d(self.folds).tolist()))
        n_folds = int(self.folds) if np.ndim(self.folds) == 0 else n_folds
        smoothing = "auto" if is_none(self.smoothing) else self.smoothing
        learner = clone(self).set_params(
            n_states=n_states,
            direct_effects=effects,
            criterion="bic",
            smoothing=smoothing,
            random_state=work.seed,
            time_limit=None if left is None else left / n_folds,
            progress=False,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LatentForestWarning)  # given once, for the whole table
            return cross_validate(learner, work.given, self.folds, work.seed).mean_per_row


def _start_nearby(structure: Structure, earlier: list[_ClassModel]) -> FloatArray:
    """Make starts of a model that was fitted before: with one class less, or one effect less."""
    last = earlier[-1].network if earlier else None
    latent = structure.latents[0]
    if last is not None and last.structure.shape(latent) == structure.shape(latent):
        return transfer(structure, last.structure, last.parameters)[None]
    is_alike = last is not None and all(
        last.structure.parents(name) == structure.parents(name) for name in structure.names
    )
    n_less = structure.shape(latent)[-1] - 1
    if last is None or not is_alike or last.structure.shape(latent)[-1] != n_less:
        return np.empty((0, structure.n_values))
    return split_starts(last, latent, structure)


def _is_over(work: Work, candidate: _ClassModel) -> bool:
    return candidate.result.monitor.was_interrupted or work.is_late()


def _read_counts(n_states: Any, max_states: Any) -> list[int]:
    """List the numbers of classes to fit, fewest first."""
    if isinstance(n_states, str):
        if n_states != "greedy":
            raise ParameterError(
                f"n_states must be a number, numbers or 'greedy', got {n_states!r}"
            )
        if not _is_count(max_states):
            raise ParameterError(f"max_states must be at least 1, got {max_states!r}")
        return list(range(1, int(max_states) + 1))
    try:
        counts = [n_states] if np.ndim(n_states) == 0 else list(n_states)
    except TypeError:
        counts = []
    if not counts or not all(map(_is_count, counts)):
        raise ParameterError(f"n_states must be whole numbers of at least 1, got {n_states!r}")
    if isinstance(n_states, tuple) and len(counts) == 2:
        if counts[0] > counts[1]:
            raise ParameterError(
                "n_states must be whole numbers of at least 1, the lowest first in a pair, "
                f"got {n_states!r}"
            )
        counts = list(range(int(counts[0]), int(counts[1]) + 1))
    return sorted({int(count) for count in counts})


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_falling(candidates: list[_ClassModel]) -> bool:
    return len(candidates) > 1 and not is_higher(candidates[-1].score, candidates[-2].score)


def _add_goodness(row: dict[str, Any], network: Network, table: Dataset | None) -> dict[str, Any]:
    """Make a row of the fit table of a row of the history."""
    names = [name for name in row if name != "seconds"]
    split = names.index("largest_residual")
    before, after = ({name: row[name] for name in each} for each in (names[:split], names[split:]))
    return {**before, **_test_fit(network, table), **after}


def _test_fit(network: Network, table: Dataset | None) -> dict[str, Any]:
    """Test a model, unless the table has more cells than observations."""
    nothing = dict.fromkeys(GOODNESS, math.nan)
    if table is None or count_cells(table.variables) > table.total_weight:
        return nothing
    try:
        found = measure_goodness(network, table)
    except DataError:  # missing values could be in too many cells
        return nothing
    return {name: getattr(found, name) for name in GOODNESS}


def make_structure(
    variables: Sequence[Variable], n_states: int, covariance: str = "diagonal"
) -> Structure:
    """Return the structure of a latent class model.

    With the covariance "full" or "shared", all continuous columns are in one pouch. The latent
    variable is called "class", or "latent_class" if a column has that name.
    """
    taken = {variable.name for variable in variables}
    name = next(name for name in _names_of_the_class() if name not in taken)
    parents = {variable.name: name for variable in variables}
    pouch = [variable.name for variable in variables if not variable.is_categorical]
    pouches = [pouch] if covariance in ("full", "shared") and len(pouch) > 1 else []
    return Structure([Variable.hidden(name, n_states), *variables], parents, pouches)


def _count_equal(structure: Structure, covariance: str) -> int:
    """Number of variances and covariances that are the same as others."""
    n_states, d = structure.shape(structure.latents[0])[-1], len(structure.continuous)
    if d == 0:
        return 0
    n_different = d * (d + 1) // 2 if structure.pouches else d
    n_all = n_states * n_different
    if covariance.endswith("spherical"):
        n_different = 1
    return n_all - n_different * (1 if covariance.startswith("shared") else n_states)


def _names_of_the_class() -> Iterator[str]:
    yield from ("class", "latent_class")
    yield from (f"latent_class_{i}" for i in itertools.count(2))


def _describe(
    engine: Engine, network: Network, result: FitResult, residuals: Table
) -> tuple[dict[str, Any], FitSummary]:
    """Make the row of the fit table."""
    data = engine.data
    (posterior,) = engine.posteriors(network.parameters, network.latents)
    weights = engine.data.row_weights
    summary = FitSummary(
        result.log_likelihood,
        network.dimension,
        data.total_weight,
        compute_entropy([posterior], weights),
    )
    sizes: FloatArray = network.table_view(network.latents[0])
    row: dict[str, Any] = {
        "n_states": len(sizes),
        "log_likelihood": result.log_likelihood,
        "n_parameters": network.dimension,
        **{name: score(summary) for name, score in CRITERIA.items()},
        "entropy_r2": compute_entropy_r2(posterior, weights) if len(sizes) > 1 else math.nan,
        "smallest_class": float(sizes.min()),
        "largest_residual": max(residuals["residual"], default=math.nan),
        "iterations": result.monitor.n_iterations,
        "converged": result.monitor.converged,
    }
    return row, summary
