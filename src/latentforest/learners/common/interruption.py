"""What happens on Ctrl-C: a learner returns the best that it has, or something simple.

A learner catches ``KeyboardInterrupt`` where it has a model already. All that comes after that,
and all that must be done in any case, is done in a hurry: once more, as if the time were up. A
second Ctrl-C ends it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from latentforest.errors import InterruptedWarning

if TYPE_CHECKING:
    from latentforest.learners.common.base import Learned, NetworkLearner, Work
    from latentforest.model import Network

Result = TypeVar("Result")


class AbandonedError(KeyboardInterrupt):
    """A second Ctrl-C, while the first one was attended to."""


def hurry(work: Work, function: Callable[[Work], Result]) -> tuple[Result, bool]:
    """Do what must be done; if Ctrl-C falls into it, do it again as if the time were up.

    Returns
    -------
    result
        What the function returns.
    was_interrupted
        Whether it was done twice.
    """
    try:
        return function(work), False
    except AbandonedError:
        raise
    except KeyboardInterrupt:
        return _do_again(function, make_late(work)), True


def conclude(work: Work, describe: Callable[[Work], Learned]) -> Learned:
    """Make the result of what was found, whatever happens."""
    learned, is_over = hurry(work, describe)
    return mark_interrupted(learned) if is_over else learned


def fit_start(learner: NetworkLearner, work: Work) -> Network:
    """Fit a learner whose result is a start for another, and keep in mind if it is interrupted."""
    work.say(f"start: {type(learner).__name__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedWarning)  # the other will say it
        fitted = learner.fit(work.table)
    if fitted.interrupted_:
        work.interruptions.append(type(learner).__name__)
    return fitted.network_


def make_late(work: Work) -> Work:
    """Return the same work with a time limit that has passed."""
    return replace(work, deadline=time.monotonic())


def learn_in_any_case(
    learn: Callable[[Work], Learned], learn_simplest: Callable[[Work], Learned], work: Work
) -> Learned:
    """Learn; if it is interrupted before there is a model, fall back on a simple one, and say so.

    Parameters
    ----------
    learn
        Returns a model also after Ctrl-C, if there was one already.
    learn_simplest
        Returns a model at once, given a time limit that has passed.
    work
        The table, the clock and whom to tell.
    """
    try:
        learned = learn(work)
    except AbandonedError:
        raise
    except KeyboardInterrupt:
        learned = mark_interrupted(_do_again(learn_simplest, make_late(work)))
        warnings.warn(
            "interrupted before a model was found; this is the simplest one, or one of a single "
            "iteration: use it with care, or fit again",
            InterruptedWarning,
            stacklevel=4,
        )
        return learned
    return replace(learned, attributes={"interrupted": False} | learned.attributes)


def mark_interrupted(learned: Learned) -> Learned:
    """Say that a result was interrupted, and not that the time was up."""
    ends: dict[str, Any] = {"interrupted": True}
    if "stopped" in learned.attributes:
        ends["stopped"] = None
    return replace(learned, attributes=learned.attributes | ends)


def _do_again(function: Callable[[Work], Result], work: Work) -> Result:
    try:
        return function(work)
    except KeyboardInterrupt as error:
        raise AbandonedError from error
