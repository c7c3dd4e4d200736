"""Four doubles at a time: the vector type that the kernels' inner loops run on.

State vectors are short (two to five states, mostly) and are gathered from all over a table, so
loops over states are too short for the compiler to vectorize. Rows are therefore padded to a
multiple of ``LANES`` doubles and handled four at a time. On a processor without such registers
the compiler splits the operations; results are the same.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

LANES = 4

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INDEX = ir.IntType(32)


class VectorType(types.Type):  # type: ignore[misc]
    """The compiled type of four doubles."""

    def __init__(self) -> None:
        super().__init__(name="Vector4")


vector_type = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _instruction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that kernels can call from one that writes its instructions."""
    made: Callable[..., Any] = intrinsic(function)
    return made


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _splat(builder: Any, scalar: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(_INDEX, 0))
    mask = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)


@_instruction
def load(typing: Any, array: Any, index: Any) -> Any:
    """Read ``array[index : index + 4]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=8)

    return vector_type(array, types.intp), generate


@_instruction
def store(typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write ``array[index : index + 4]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, place, value = arguments
        address = _address(context, builder, signature.args[0], target, place)
        builder.store(value, address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector_type), generate


@_instruction
def splat(typing: Any, scalar: Any) -> Any:
    """Four copies of a scalar."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _splat(builder, arguments[0])

    return vector_type(types.float64), generate


@_instruction
def total(typing: Any, vector: Any) -> Any:
    """Sum of the four lanes, in a fixed order."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lane = [builder.extract_element(arguments[0], ir.Constant(_INDEX, j)) for j in range(LANES)]
        return builder.fadd(builder.fadd(lane[0], lane[1]), builder.fadd(lane[2], lane[3]))

    return types.float64(vector_type), generate


@_instruction
def any_above(typing: Any, vector: Any, bound: Any) -> Any:
    """True if at least one lane is at or above ``bound``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        above = builder.fcmp_ordered(">=", arguments[0], _splat(builder, arguments[1]))
        bits = builder.bitcast(above, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(vector_type, types.float64), generate


@_instruction
def _multiply(typing: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return vector_type(vector_type, vector_type), generate


@_instruction
def _add(typing: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments)

    return vector_type(vector_type, vector_type), generate


# numba compares the signature below with the lambda's, which cannot have annotations.
@overload(operator.mul)
def _overload_multiply(left, right):  # type: ignore[no-untyped-def]
    if isinstance(left, VectorType) and isinstance(right, VectorType):
        return lambda left, right: _multiply(left, right)
    return None


@overload(operator.add)
def _overload_add(left, right):  # type: ignore[no-untyped-def]
    if isinstance(left, VectorType) and isinstance(right, VectorType):
        return lambda left, right: _add(left, right)
    return None
