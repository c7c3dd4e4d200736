"""How kernels are compiled: without the interpreter lock, cached on disk, C-like division."""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}

kernel = njit(**_OPTIONS)
inlined = njit(**_OPTIONS, forceinline=True)  # for short functions in inner loops
