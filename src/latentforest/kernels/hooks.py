"""Calling compiled code by its address.

Numba compiles a function again inside each of its callers, and all of a caller before its first
call. What only some tables need is therefore compiled by itself, when it is needed, and reached
through an address in the plan: it costs the others nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

from latentforest.kernels.types import FloatArray, Int, LongArray

INTEGERS = types.CPointer(types.int64)
NUMBERS = types.CPointer(types.float64)
# A node, a number, `Plan.nodes`, `slot_child`, `slot_index`, `evidence`, the buffer, and a vector
# of parameters or counts.
SIGNATURE = types.float64(
    types.int64, types.float64, INTEGERS, INTEGERS, INTEGERS, NUMBERS, NUMBERS, NUMBERS
)
N_SCALARS = 2
ANY_LENGTH = 1 << 48  # arrays come without their lengths, which nobody asks for

Step = Callable[
    [Int, Int, float, LongArray, LongArray, LongArray, FloatArray, FloatArray, FloatArray], float
]


def _call_step(
    typing: Any,
    address: Any,
    node: Any,
    number: Any,
    nodes: Any,
    tables: Any,
    places: Any,
    evidence: Any,
    buffer: Any,
    vector: Any,
) -> Any:
    """Call the function of ``SIGNATURE`` at an address."""
    arrays = (nodes, tables, places, evidence, buffer, vector)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, *scalars = arguments[: 1 + N_SCALARS]
        pointers = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(arrays, arguments[1 + N_SCALARS :], strict=True)
        ]
        kinds = [value.type for value in (*scalars, *pointers)]
        function = ir.FunctionType(ir.DoubleType(), kinds).as_pointer()
        return builder.call(builder.inttoptr(target, function), [*scalars, *pointers])

    return types.float64(types.int64, types.int64, types.float64, *arrays), generate


call_step = cast(Step, intrinsic(_call_step))


def compile_step(function: Any) -> int:
    """Compile a function of ``SIGNATURE``, or load it from the disk; return its address."""
    compiled = cfunc(SIGNATURE, cache=True, nogil=True, error_model="numpy")(function)
    address: int = compiled.address
    _KEPT.append(compiled)
    return address


_KEPT: list[Any] = []
