"""Four doubles at a time: the vector type that the kernels' inner loops run on.

State vectors are short (two to five states, mostly) and are gathered from all over a table, so
loops over states are too short for the compiler to vectorize. Rows are therefore padded to a
multiple of ``LANES`` doubles and handled four at a time. On a processor without such registers
the compiler splits the operations; results are the same.
"""

from __future__ import annotations

import math
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
def raised(typing: Any, product: Any, left: Any, right: Any, floor: Any) -> Any:
    """Raise a product of positive factors to a floor; a product with a zero factor stays zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, a, b, scalar = arguments
        lowest = _splat(builder, scalar)
        both = builder.and_(
            builder.fcmp_ordered(">", a, _constant(0.0)),
            builder.fcmp_ordered(">", b, _constant(0.0)),
        )
        is_low = builder.and_(both, builder.fcmp_ordered("<", value, lowest))
        return builder.select(is_low, lowest, value)

    return vector_type(vector_type, vector_type, vector_type, types.float64), generate


@_instruction
def capped(typing: Any, vector: Any, highest: Any) -> Any:
    """Lower the lanes above ``highest`` to it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bound = _splat(builder, arguments[1])
        is_high = builder.fcmp_ordered(">", arguments[0], bound)
        return builder.select(is_high, bound, arguments[0])

    return vector_type(vector_type, types.float64), generate


@_instruction
def lesser(typing: Any, left: Any, right: Any) -> Any:
    """The smaller of two numbers in each lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return vector_type(vector_type, vector_type), generate


@_instruction
def front(typing: Any, vector: Any, n: Any, rest: Any) -> Any:
    """Keep the first ``n`` lanes and set the others to ``rest``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, count, other = arguments
        lanes = ir.VectorType(ir.IntType(64), LANES)
        one = builder.insert_element(ir.Constant(lanes, ir.Undefined), count, _INDEX(0))
        mask = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
        counts = builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), mask)
        is_kept = builder.icmp_signed("<", ir.Constant(lanes, list(range(LANES))), counts)
        return builder.select(is_kept, value, _splat(builder, other))

    return vector_type(vector_type, types.intp, types.float64), generate


def _constant(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


# log(m) for m in [sqrt(1/2), sqrt(2)): 2 (f + f³/3 + f⁵/5 + …) with f = (m - 1) / (m + 1).
_N_TERMS = 12
_LOG_2_HIGH = 6.93147180369123816490e-01  # log(2) in two parts: exponent times this one is exact
_LOG_2_LOW = 1.90821492927058770002e-10


@_instruction
def logarithm(typing: Any, vector: Any) -> Any:
    """Natural logarithm of four positive normal numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integers = ir.VectorType(ir.IntType(64), LANES)

        def whole(value: int) -> Any:
            return ir.Constant(integers, [value] * LANES)

        bits = builder.bitcast(arguments[0], integers)
        # Adding the distance from sqrt(1/2) to 1 carries into the exponent where m >= sqrt(2).
        moved = builder.add(bits, whole(0x3FF0000000000000 - 0x3FE6A09E667F3BCD))
        exponent = builder.sub(builder.lshr(moved, whole(52)), whole(1023))
        rest = builder.and_(moved, whole(0x000FFFFFFFFFFFFF))
        m = builder.bitcast(builder.add(rest, whole(0x3FE6A09E667F3BCD)), _VECTOR)
        f = builder.fdiv(builder.fsub(m, _constant(1.0)), builder.fadd(m, _constant(1.0)))
        square = builder.fmul(f, f)
        series = _constant(1.0 / (2 * _N_TERMS + 1))
        for n in range(_N_TERMS - 1, 0, -1):
            series = builder.fadd(builder.fmul(series, square), _constant(1.0 / (2 * n + 1)))
        twice = builder.fmul(_constant(2.0), f)
        tail = builder.fmul(builder.fmul(series, square), twice)
        e = builder.sitofp(exponent, _VECTOR)
        low = builder.fadd(tail, builder.fmul(e, _constant(_LOG_2_LOW)))
        return builder.fadd(builder.fadd(low, twice), builder.fmul(e, _constant(_LOG_2_HIGH)))

    return vector_type(vector_type), generate


_LOG_2_E = 1.4426950408889634
_LOWEST = -708.0  # e to this power is still a normal number
_N_POWERS = 13


@_instruction
def exponential(typing: Any, vector: Any) -> Any:
    """e to the power of four numbers that are not positive; zero below -708."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integers = ir.VectorType(ir.IntType(64), LANES)
        is_low = builder.fcmp_ordered("<", arguments[0], _constant(_LOWEST))
        x = builder.select(is_low, _constant(_LOWEST), arguments[0])
        scaled = builder.fsub(builder.fmul(x, _constant(_LOG_2_E)), _constant(0.5))
        exponent = builder.fptosi(scaled, integers)  # towards zero: nearest, for x is not positive
        e = builder.sitofp(exponent, _VECTOR)
        r = builder.fsub(x, builder.fmul(e, _constant(_LOG_2_HIGH)))
        r = builder.fsub(r, builder.fmul(e, _constant(_LOG_2_LOW)))
        series = _constant(1.0 / math.factorial(_N_POWERS))
        for n in range(_N_POWERS - 1, -1, -1):
            series = builder.fadd(builder.fmul(series, r), _constant(1.0 / math.factorial(n)))
        bias = ir.Constant(integers, [1023] * LANES)
        shift = ir.Constant(integers, [52] * LANES)
        power = builder.bitcast(builder.shl(builder.add(exponent, bias), shift), _VECTOR)
        return builder.select(is_low, _constant(0.0), builder.fmul(series, power))

    return vector_type(vector_type), generate


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


@_instruction
def _divide(typing: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fdiv(*arguments)

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


@overload(operator.truediv)
def _overload_divide(left, right):  # type: ignore[no-untyped-def]
    if isinstance(left, VectorType) and isinstance(right, VectorType):
        return lambda left, right: _divide(left, right)
    return None
