"""How kernels are compiled: without the interpreter lock, cached on disk, C-like division.

Compiling is announced; loading compiled code from the disk is silent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import event

from latentforest.announcements import announce
from latentforest.kernels.cache_folder import is_about_cache, use_temporary_folder
from latentforest.kernels.undisturbed import guard_compiler

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

_NOT_KEPT: list[bool] = []  # not empty once it turned out that nothing can be kept on the disk
_KERNELS = "latentforest.kernels."
# What the packages of kernels are for, and how many seconds compiling takes at most on a machine
# that has nothing else to do.
_SUBJECTS = {
    "averaging": ("averages over structures", 10),
    "annealing": ("annealed importance sampling", 10),
    "cliques": ("networks that are not forests", 10),
    "counts": ("networks over columns", 10),
    "orders": ("networks over columns", 10),
    "completions": ("rows with missing values", 10),
    "regions": ("searches for trees", 30),
    "gaussian": ("continuous columns", 20),
    "variational": ("variational Bayes", 10),
}
_SINGLE_GAUSSIANS = "gaussian.leaves"
_OTHERS = ("message passing and EM", 15)


def kernel(function: Function) -> Function:
    """Compile a function when it is first called, or load it from the disk."""
    return _compile_cached(function, _OPTIONS)


def step(function: Function) -> Function:
    """Compile a function that is called by its address only (see ``addresses``)."""
    return _compile_cached(function, {**_OPTIONS, "no_cpython_wrapper": True})


def part(function: Function) -> Function:
    """Compile a function that only kernels call: it needs no way in from Python."""
    compiled: Function = njit(**_OPTIONS, no_cpython_wrapper=True)(function)
    return compiled


def _compile_cached(function: Function, options: dict[str, Any]) -> Function:
    """Compile a function so that it is kept on the disk, wherever that is possible."""
    compiled: Function
    try:
        compiled = njit(**options, cache=not _NOT_KEPT)(function)
    except RuntimeError as error:
        if not is_about_cache(error):
            raise
        if not use_temporary_folder():
            _NOT_KEPT.append(True)
        compiled = njit(**options, cache=not _NOT_KEPT)(function)
    return compiled


class CompilationListener(event.Listener):  # type: ignore[misc]
    """Announces each subject when the first of its kernels is compiled."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def on_start(self, event: Any) -> None:
        """Announce what numba begins to compile, if it is ours."""
        module: str = event.data["dispatcher"].py_func.__module__
        if not module.startswith(_KERNELS):
            return
        name = module.removeprefix(_KERNELS)
        subject, seconds = _SUBJECTS.get(name.split(".")[0], _OTHERS)
        if name == _SINGLE_GAUSSIANS:  # a part of the M-step that every fit compiles
            subject, seconds = _OTHERS
        if subject not in self._told:
            self._told.add(subject)
            announce(
                f"compiling the kernels for {subject}: up to {seconds} seconds, once after "
                "installation ('latentforest warm-up' compiles all ahead)"
            )

    def on_end(self, event: Any) -> None:
        """Say nothing."""


event.register("numba:compile", CompilationListener())
guard_compiler()
