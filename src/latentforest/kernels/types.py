"""Names of the array types that kernels take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int32]
LongArray: TypeAlias = NDArray[np.int64]
IndexArray: TypeAlias = NDArray[np.uint32]  # numba need not ask whether an index is negative
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntTable: TypeAlias = IntArray  # of two dimensions, where that must be told (see `addresses`)
LongTable: TypeAlias = LongArray
FloatTable: TypeAlias = FloatArray
AnyArray: TypeAlias = NDArray[Any]

# Kernels are called with numpy's scalars where a literal would be compiled for itself.
Int: TypeAlias = int | np.int64
Flag: TypeAlias = bool | np.bool_
