"""The learners of a benchmark: found by their names with settings, or given ready made."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from latentforest.errors import ParameterError
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.settings import read_value
from latentforest.learners.registry import COMMANDS, find_command

BASELINE = "independence"
DEFAULT = ("chow-liu", "latent-class", "bridged-islands")
# Settings that do not change what is learned, and those that the benchmark gives.
_NOT_LEARNED = ("n_jobs", "progress", "checkpoint", "resume", "time_limit")
# Names of options on the command line that differ from those in Python.
_OPTIONS = {"states": "n_states", "starts": "n_starts", "winners": "n_winners", "runs": "n_runs"}
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class BenchmarkedLearner:
    """A learner that takes part.

    Parameters
    ----------
    name
        What it is called in the result.
    learner
        An estimator, which is never fitted itself.
    """

    name: str
    learner: Any

    @property
    def identity(self) -> str:
        """A text that differs for learners which may learn something else."""
        settings = self.learner.get_params(deep=True)
        kept = {k: v for k, v in settings.items() if k.split("__")[-1] not in _NOT_LEARNED}
        text = json.dumps(kept, sort_keys=True, default=_describe)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{type(self.learner).__name__} {digest}"


def _describe(value: Any) -> str:
    """A text of a setting that JSON does not know."""
    from latentforest.model import Network
    from latentforest.model.files.document import to_document

    if isinstance(value, Network):
        return json.dumps(to_document(value), sort_keys=True, default=str)
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def read_candidates(learners: Any, seed: int) -> list[BenchmarkedLearner]:
    """Make the learners; the baseline comes first, whether or not it is named.

    Parameters
    ----------
    learners
        A text of names with settings, a list of such texts and of estimators, or estimators by
        name.
    seed
        Of learners that have none.
    """
    if isinstance(learners, Mapping):
        found = [BenchmarkedLearner(str(name), learner) for name, learner in learners.items()]
    elif isinstance(learners, str):
        found = [_read_text(text) for text in split_learners(learners)]
    elif isinstance(learners, Iterable):
        found = [each for item in learners for each in _read_item(item)]
    else:
        raise ParameterError(
            f"learners: got {learners!r}, expected names, estimators, or estimators by name"
        )
    if not found:
        raise ParameterError("learners: got none, expected at least one")
    for each in found:
        if not isinstance(each.learner, NetworkLearner):
            raise ParameterError(
                f"learners: got {each.learner!r}, expected a learner of this library or its name"
            )
    if not any(type(each.learner).__name__ == "Independence" for each in found):
        found.insert(0, _read_text(BASELINE))
    return [_prepare(each, seed) for each in _make_unique(found)]


def _read_item(item: Any) -> list[BenchmarkedLearner]:
    if isinstance(item, str):
        return [_read_text(text) for text in split_learners(item)]
    return [BenchmarkedLearner(type(item).__name__, item)]


def _make_unique(found: list[BenchmarkedLearner]) -> list[BenchmarkedLearner]:
    """Refuse a learner that is given twice; number those of one name with other settings."""
    identities = [each.identity for each in found]
    for place, each in enumerate(found):
        if identities.index(identities[place]) < place:
            raise ParameterError(f"learners: {each.name!r} is there twice with the same settings")
    names = [each.name for each in found]
    return [
        each
        if names.count(each.name) == 1
        else BenchmarkedLearner(f"{each.name} {place}", each.learner)
        for place, each in enumerate(found, 1)
    ]


def _prepare(candidate: BenchmarkedLearner, seed: int) -> BenchmarkedLearner:
    from sklearn.base import clone

    learner = clone(candidate.learner)
    if learner.get_params(deep=False).get("random_state", 0) is None:
        learner.set_params(random_state=seed)
    return BenchmarkedLearner(candidate.name, learner)


def split_learners(text: str) -> list[str]:
    """Split a list of learners at its commas; a part with an equals sign is a further setting.

    Examples
    --------
    >>> split_learners("east:mu=4,nu=10, latent-class:n_states=(1,3), il")
    ['east:mu=4,nu=10', 'latent-class:n_states=(1,3)', 'il']
    """
    parts: list[str] = []
    for piece in _split_outside(text):
        head = piece.partition("=")[0]
        if parts and "=" in piece and ":" not in head:
            parts[-1] += f",{piece.strip()}"
        elif piece.strip():
            parts.append(piece.strip())
    return parts


def _split_outside(text: str) -> list[str]:
    """Split at commas that are in no brackets."""
    pieces, depth = [""], 0
    for sign in text:
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if sign == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    return pieces


def _read_text(text: str) -> BenchmarkedLearner:
    """Make a learner of a text such as ``latent-class:n_states=2,criterion=aic``."""
    name, _, assignments = text.partition(":")
    command = find_command(name.strip())
    if command is None:
        near = difflib.get_close_matches(name.strip(), COMMANDS, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? Known" if near else "known"
        raise ParameterError(
            f"learners: there is no {name.strip()!r}; {hint} are {', '.join(COMMANDS)}"
        )
    learner = command.learner.load()
    known = [key for key in inspect.signature(learner).parameters if key != "progress"]
    settings = dict(command.settings)
    for assignment in _split_outside(assignments) if assignments.strip() else []:
        key, value = _read_setting(assignment, text)
        if key not in known:
            raise ParameterError(
                f"learners: {command.name!r} has no setting {key!r}; known are {', '.join(known)}"
            )
        settings[key] = value
    label = command.name + (f":{assignments.strip()}" if assignments.strip() else "")
    return BenchmarkedLearner(label, learner(**settings))


def _read_setting(text: str, source: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    key = name.strip().replace("-", "_")
    if not equals or not key:
        raise ParameterError(
            f"learners: got {source!r}, expected settings as in latent-class:n_states=2"
        )
    return _OPTIONS.get(key, key), read_value(value.strip())
