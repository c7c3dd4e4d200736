"""How kernels are compiled: without the interpreter lock, cached on disk, C-like division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function when it is first called, or load it from the disk."""
    compiled: Function = njit(**_OPTIONS, cache=True)(function)
    return compiled


def step(function: Function) -> Function:
    """Compile a function that is called by its address only (see ``addresses``)."""
    compiled: Function = njit(**_OPTIONS, no_cpython_wrapper=True, cache=True)(function)
    return compiled


def part(function: Function) -> Function:
    """Compile a function that only kernels call: it needs no way in from Python."""
    compiled: Function = njit(**_OPTIONS, no_cpython_wrapper=True)(function)
    return compiled
