"""Other models of the same table, fitted so that a report can compare them with the one shown."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, LatentForestWarning, ModelError
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.interruption import AbandonedError
from latentforest.learners.registry import LEARNERS
from latentforest.model.network import Network
from latentforest.model.record import Record
from latentforest.report.wording import count
from latentforest.ties import is_higher

SECONDS = 30.0  # for all of them
MOST_CLASSES = 12
FALLS = 2  # numbers of classes without a better BIC after which no more are tried
SHARE = 0.5  # of the time that is left, for bridged islands
AGAIN = 5  # fits of the same latent class model with other seeds
REPEATED = ("covariance", "prior", "max_iterations", "tolerance", "accelerate", "n_starts")

Say = Callable[[str], None]
Row = dict[str, Any]


def fit_comparisons(
    data: Dataset, seconds: float = SECONDS, say: Say | None = None, known: Sequence[Row] = ()
) -> list[Row]:
    """Fit other models to a table.

    Parameters
    ----------
    data
        The table that the model was learned from.
    seconds
        Limit of the time; models that are not begun by then are left out.
    say
        Is told which model is being fitted.
    known
        Numbers of classes that were fitted already, as rows with ``n_states`` and ``bic``.

    Returns
    -------
    rows
        As in ``Record.comparisons``: ``name``, ``detail``, ``n_states`` (of a latent class model,
        else none), ``n_parameters``, ``log_likelihood``, ``bic``.
    """
    fits = _Comparisons(data, time.monotonic() + seconds, say or _stay_silent)
    fits.fit_others(known)
    return fits.rows


def compare_with(
    network: Network, data: Dataset, seconds: float = SECONDS, say: Say | None = None
) -> list[Row]:
    """Fit other models to the columns of a network; what its learner has tried is not repeated."""
    record, table = network.record, data.select(network.observed)
    if record is None or record.learner != "LatentClass":
        return fit_comparisons(table, seconds, say)
    fits = _Comparisons(table, time.monotonic() + seconds, say or _stay_silent)
    fits.fit_again(record, len(network.structure.states(network.latents[0])))
    fits.fit_others([dict(row) for row in record.history if row.get("bic") is not None])
    return fits.rows


def _stay_silent(text: str) -> None:
    pass


def _has_numbers(data: Dataset) -> bool:
    return not all(variable.is_categorical for variable in data.variables)


@dataclass
class _Comparisons:
    """Models fitted so far, and the time that is left."""

    data: Dataset
    deadline: float
    say: Say
    rows: list[Row] = field(default_factory=list)
    is_over: bool = False

    def fit(
        self, learner: str, name: str, detail: str | None, share: float = 1.0, **settings: Any
    ) -> Row | None:
        """Fit a model and add it, if there is time; one that refuses the table is left out."""
        left = self.deadline - time.monotonic()
        if self.is_over or left <= 0:
            return None
        try:
            self.say(f"for comparison: {name}")
            model = self._make(learner, left * share, settings).fit(self.data)
            self.is_over = bool(model.interrupted_)
        except (DataError, ModelError):
            return None
        except AbandonedError:
            raise
        except KeyboardInterrupt:
            self.is_over = True
        if self.is_over:
            self.say("interrupted; the report shows what was compared until then")
            return None
        row = _describe(model, name, detail, settings.get("n_states"))
        self.rows.append(row)
        return row

    def _make(self, learner: str, seconds: float, settings: Row) -> NetworkLearner:
        entry = next(each for each in LEARNERS if each.name == learner)
        model = entry.load()(**{"random_state": 0, "time_limit": seconds} | settings)
        if "smoothing" in model.get_params():
            model.set_params(smoothing=0)  # it meets no new rows
        made: NetworkLearner = model
        return made

    def fit_others(self, known: Sequence[Row]) -> None:
        """Fit models of other kinds, and latent class models that are not known."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LatentForestWarning)  # about the table, not these
            self.fit("Independence", "Independence", "no hidden variable")
            self.fit("ChowLiu", "Chow\u2013Liu tree", "columns linked to columns")
            if not _has_numbers(self.data) and self.data.n_columns > 3:
                self.fit("BridgedIslands", "Latent tree, BridgedIslands", None, SHARE)
            self.fit_classes(known)

    def fit_again(self, record: Record, n_states: int) -> None:
        """Fit the same latent class model with other seeds, to see whether it is found again."""
        settings = {name: value for name, value in record.settings.items() if name in REPEATED}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LatentForestWarning)
            for seed in range(1, AGAIN + 1):
                chosen = settings | {
                    "n_states": n_states,
                    "random_state": seed + (record.seed or 0),
                }
                self.fit("LatentClass", "The same model, another seed", None, **chosen)
        self.rows = [row | {"n_states": None, "is_again": True} for row in self.rows]

    def fit_classes(self, known: Sequence[Mapping[str, Any]]) -> None:
        """Fit latent class models with more and more classes, while that helps."""
        scores = {int(row["n_states"]): float(row["bic"]) for row in known}
        best, falls = -float("inf"), 0
        for n_states in range(1, MOST_CLASSES + 1):
            score = scores.get(n_states)
            if score is None:
                row = self._fit_class(n_states)
                if row is None:
                    return
                score = float(row["bic"])
            falls = 0 if is_higher(score, best) else falls + 1
            best = max(best, score)
            if falls == FALLS:
                return

    def _fit_class(self, n_states: int) -> Row | None:
        detail = f"one hidden variable, {count(n_states, 'state')}"
        return self.fit("LatentClass", "Latent class model", detail, n_states=n_states)


def _describe(model: NetworkLearner, name: str, detail: str | None, n_states: int | None) -> Row:
    latents = len(model.network_.latents)
    return {
        "name": name,
        "detail": count(latents, "hidden variable") if detail is None else detail,
        "n_states": n_states,
        "n_parameters": model.n_parameters_,
        "log_likelihood": model.log_likelihood_,
        "bic": model.bic_,
    }
