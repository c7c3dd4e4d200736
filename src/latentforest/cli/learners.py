"""Learners by their names on the command line, and how their settings are read there."""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from latentforest.cli.output import check_output
from latentforest.learners.common.settings import read_value
from latentforest.learners.registry import COMMANDS, START_LEARNERS, find_command

if TYPE_CHECKING:
    from latentforest.learners.common.base import NetworkLearner
    from latentforest.model import Network


# Settings of the estimators that have options of the same name; others are given by --set.
_SAME_NAMES = frozenset(
    [
        "criterion",
        "covariance",
        "max_states",
        "max_iterations",
        "tolerance",
        "smoothing",
        "prior",
        "candidate_pairs",
        "folds",
        "time_limit",
        "mu",
        "nu",
        "evaluation",
        "start",
        "fixed",
        "max_steps",
        "checkpoint",
        "resume",
        "method",
        "max_parents",
        "latents",
        "structure_step",
    ]
)

# Settings whose options have other names.
_OPTIONS = {
    "n_states": "--states",
    "n_starts": "--starts",
    "n_jobs": "--jobs",
    "n_winners": "--winners",
    "n_runs": "--runs",
    "n_restarts": "--restarts",
    "required": "--constraints",
    "forbidden": "--constraints",
    "tiers": "--constraints",
    "random_state": "--seed",
}


# What a file of constraints may hold, with an example of each.
_CONSTRAINTS = {
    "required": '[["smoking", "cancer"]]',
    "forbidden": '[["cancer", "age"]]',
    "tiers": '[["age", "sex"], ["smoking"], ["cancer"]]',
    "max_parents": "3",
}
_STARTS = ("empty", "random")  # of Bayesian networks, beside those that are learners


def describe_learners() -> str:
    """List the learners for the help page."""
    return "; ".join(f"{name}: {command.description}" for name, command in COMMANDS.items())


def build_learner(name: str, settings: Mapping[str, Any]) -> NetworkLearner:
    """Make the estimator; a setting that it does not take is an error.

    Parameters
    ----------
    name
        One of ``COMMANDS``, or of ``ALIASES``.
    settings
        Values by the estimator's own names; ``None`` leaves its default.
    """
    command = find_command(name)
    if command is None:
        raise typer.BadParameter(_suggest(name, COMMANDS), param_hint="--learner")
    estimator = command.learner.load()
    given = {key: value for key, value in settings.items() if value is not None}
    known = inspect.signature(estimator).parameters
    unknown = [key for key in given if key not in known]
    if unknown:
        raise typer.BadParameter(
            f"the learner {name!r} has no such setting; its settings are "
            f"{', '.join(name_option(key) for key in known if key != 'progress')}",
            param_hint=", ".join(name_option(key) for key in unknown),
        )
    learner: NetworkLearner = estimator(**{**command.settings, **given})
    return learner


def name_option(setting: str) -> str:
    """Option of the command line for a setting of an estimator."""
    if setting in _SAME_NAMES:
        return "--" + setting.replace("_", "-")
    return _OPTIONS.get(setting, f"--set {setting}=…")


def read_states(text: str | None) -> int | tuple[int, int] | list[int] | str | None:
    """Read ``--states``: a number, ``1:8``, ``2,4,6`` or ``greedy``."""
    if text is None or text == "greedy":
        return text
    try:
        numbers = [int(part) for part in text.replace(":", ",").split(",")]
    except ValueError:
        numbers = []
    is_range = text.count(":") == 1 and len(numbers) == 2 and numbers[0] <= numbers[-1]
    if not numbers or min(numbers) < 1 or (":" in text and not is_range):
        raise typer.BadParameter(
            f"got {text!r}, expected a number such as 3, a range such as 1:8, "
            "a list such as 2,4,6, or greedy",
            param_hint="--states",
        )
    if is_range:
        return numbers[0], numbers[1]
    return numbers[0] if len(numbers) == 1 else numbers


def read_smoothing(text: str | None) -> float | str | None:
    """Read ``--smoothing``: ``auto``, ``cv``, ``none`` or a number."""
    if text is None or text in ("auto", "cv", "none"):
        return text
    number = _read_count(text)
    if number is None:
        raise typer.BadParameter(
            f"got {text!r}, expected auto, cv, none or a number", param_hint="--smoothing"
        )
    return number


def _read_count(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_criterion(text: str | None) -> str | None:
    """Check ``--criterion`` before anything is computed."""
    from latentforest.scores import CRITERIA
    from latentforest.scores.evidence import EVIDENCE_CRITERIA
    from latentforest.scores.families import FAMILY_CRITERIA

    known = list(dict.fromkeys([*CRITERIA, "cv", *EVIDENCE_CRITERIA, *FAMILY_CRITERIA, "bge"]))
    if text is not None and text not in known:
        raise typer.BadParameter(_suggest(text, known), param_hint="--criterion")
    return text


def read_evaluation(text: str | None) -> str | None:
    """Check ``--evaluation`` before anything is computed."""
    if text is None:
        return None
    from latentforest.search.glc.search import EVALUATIONS as GENERALIZED
    from latentforest.search.trees.evaluation import EVALUATIONS

    known = tuple(dict.fromkeys((*EVALUATIONS, *GENERALIZED, "expected")))
    if text not in known:
        raise typer.BadParameter(_suggest(text, known), param_hint="--evaluation")
    return text


def read_latents(text: str | None) -> dict[str, int] | str | None:
    """Read ``--latents``: names with numbers of states, ``H=3,G=2``, or ``auto``."""
    if text is None or text == "auto":
        return text
    latents: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.strip().rpartition("=")
        if not name.strip() or not number.strip().isdigit() or name.strip() in latents:
            raise typer.BadParameter(
                f"got {text!r}, expected names with numbers of states such as H=3 or H=3,G=2, "
                "or auto",
                param_hint="--latents",
            )
        latents[name.strip()] = int(number)
    return latents


def read_prior(text: str | None) -> float | str | None:
    """Read ``--prior``: a number of pseudo-counts, ``laplace``, or a file that is there."""
    if text is None or text in ("none", "laplace"):
        return text
    number = _read_count(text)
    if number is None and not Path(text).is_file():
        raise typer.BadParameter(
            f"there is no file {text}; expected a number, laplace, or for il and cil a TOML file "
            "of priors",
            param_hint="--prior",
        )
    return text if number is None else number


def read_arcs(path: Path | None) -> dict[str, Any]:
    """Read ``--constraints``: a TOML file of required and forbidden arcs, tiers and max_parents."""
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise typer.BadParameter(
            f"{path} cannot be read: {error.strerror}", param_hint="--constraints"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--constraints") from None
    for key, value in found.items():
        if key not in _CONSTRAINTS:
            raise typer.BadParameter(
                f"{path}: {_suggest(key, _CONSTRAINTS)}", param_hint="--constraints"
            )
        if key != "max_parents" and not isinstance(value, list):
            raise typer.BadParameter(
                f"{path}: {key} is {value!r}, expected a list such as {_CONSTRAINTS[key]}",
                param_hint="--constraints",
            )
    return {key: _freeze(value) for key, value in found.items()}


def _freeze(value: Any) -> Any:
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value


def read_start(text: str | None) -> Network | str | None:
    """Read ``--start``: a learner's name, or the model that a search begins with."""
    if text is None:
        return None
    from latentforest.formats import load

    path = Path(text)
    if text in COMMANDS or text in _STARTS:
        return text  # each learner refuses some of them
    if not path.is_file():
        raise typer.BadParameter(
            f"there is no file {path}; expected a model written by 'learn', "
            f"or one of {', '.join(START_LEARNERS)}",
            param_hint="--start",
        )
    return load(path)


def check_checkpoint(
    path: Path | None, resume: bool, inputs: Iterable[object] = (), force: bool = False
) -> None:
    """Refuse to resume nothing, and to begin anew over the steps of an earlier search."""
    if path is None and resume:
        raise typer.BadParameter(
            "there is nothing to go on with; add --checkpoint FILE", param_hint="--resume"
        )
    if path is not None and path.is_file() and not (resume or force):
        raise typer.BadParameter(
            f"{path} is there already; --resume goes on with it, --force begins anew",
            param_hint="--checkpoint",
        )
    check_output(path, (), "--checkpoint", inputs=inputs, force=True)


def is_own_result(checkpoint: Path | None, out: Path | None) -> bool:
    """Whether a model file is what was made of the steps of a checkpoint."""
    if checkpoint is None or out is None or not (checkpoint.is_file() and out.is_file()):
        return False
    from latentforest.search.trees.journal import is_result

    return is_result(checkpoint, out)


def read_settings(assignments: Iterable[str]) -> dict[str, Any]:
    """Read ``--set NAME=VALUE``: Python names, and values written as in Python or as text."""
    settings: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"got {text!r}, expected NAME=VALUE", param_hint="--set")
        settings[name.strip().replace("-", "_")] = read_value(value.strip())
    return settings


def _suggest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}? Known" if near else "known"
    return f"there is no {name!r}; {hint} are {', '.join(names)}."
