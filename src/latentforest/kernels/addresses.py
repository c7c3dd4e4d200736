"""Calling kernels by their addresses.

Numba optimises a function again inside each of its callers, and compiles all of a caller before its
first call. A kernel that is called by its address is compiled once, by itself, and only if somebody
asks for the address. The call costs some nanoseconds.

Types come from annotations: those of kernels that have addresses are read, so they must be exact
(``FloatArray`` has one dimension, ``FloatTable`` two). A callee with the same types as the
prototype must stand at the address: nothing checks that.

What a callee works on may be unknown to its caller. Such a *context* is passed as the address of a
tuple that lies on the stack of somebody further up, who has put it there (``spill``); the callee
reads it back (``fetch``). Only arguments may be spilled: other variables may be gone before the
call.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import intrinsic

Anything = TypeVar("Anything")

_WRITTEN: dict[str, Any] = {
    "None": types.none,
    "int": types.int64,
    "Int": types.int64,
    "float": types.float64,
    "bool": types.boolean,
    "Flag": types.boolean,
    "IntArray": types.int32[::1],
    "IndexArray": types.uint32[::1],
    "LongArray": types.int64[::1],
    "FloatArray": types.float64[::1],
    "BoolArray": types.boolean[::1],
    "IntTable": types.int32[:, ::1],
    "LongTable": types.int64[:, ::1],
    "FloatTable": types.float64[:, ::1],
}


def read_type(annotation: str, module: str) -> Any:
    """Return the compiled type of an annotation in a module."""
    if annotation in _WRITTEN:
        return _WRITTEN[annotation]
    if annotation.startswith("tuple["):
        members = annotation.removeprefix("tuple[").removesuffix("]").split(", ")
        return types.BaseTuple.from_types([read_type(each, module) for each in members])
    return tuple_type(vars(sys.modules[module])[annotation])


def tuple_type(kind: type) -> Any:
    """Return the compiled type of a named tuple."""
    written = [getattr(each, "__forward_arg__", each) for each in kind.__annotations__.values()]
    fields = [read_type(str(each), kind.__module__) for each in written]
    return types.BaseTuple.from_types(fields, kind)


def read_signature(function: Any) -> Any:
    """Return the compiled signature of a function, given by its annotations."""
    written = dict(function.__annotations__)
    result = read_type(written.pop("return"), function.__module__)
    return result(*(read_type(each, function.__module__) for each in written.values()))


def address_of(kernel: Any) -> int:
    """Compile a kernel for the types of its annotations, or load it; return its address."""
    if kernel not in _KNOWN:
        found = kernel.get_compile_result(read_signature(kernel.py_func))
        _KNOWN[kernel] = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    return _KNOWN[kernel]


_KNOWN: dict[Any, int] = {}


def caller(prototype: Any) -> Any:
    """Make the function that calls a kernel by its address, the first argument.

    The kernel has the types of the prototype, a kernel or a function that is never run.
    """

    def call(typing: Any, address: Any, *given: Any) -> Any:
        signature = read_signature(getattr(prototype, "py_func", prototype))
        expected, result = signature.args, signature.return_type

        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pairs = zip(cgutils.unpack_tuple(builder, arguments[1]), given, expected, strict=True)
            values = [context.cast(builder, value, *kinds) for value, *kinds in pairs]
            kind = context.call_conv.get_function_type(result, expected).as_pointer()
            target = builder.inttoptr(arguments[0], kind)
            status, value = context.call_conv.call_function(
                builder, target, result, expected, values
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return impl_ret_new_ref(context, builder, result, value)

        return result(types.int64, types.StarArgTuple.from_types(given)), generate

    return intrinsic(call)


def spiller(kind: type) -> Any:
    """Make the function that puts a tuple on the stack and returns its address."""

    def spill(typing: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = cgutils.alloca_once_value(builder, arguments[0])
            return builder.ptrtoint(place, cgutils.intp_t)

        return types.int64(tuple_type(kind)), generate

    return intrinsic(spill)


def fetcher(kind: type) -> Any:
    """Make the function that reads a tuple at an address."""

    def fetch(typing: Any, address: Any) -> Any:
        expected = tuple_type(kind)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(expected).as_pointer()
            value = builder.load(builder.inttoptr(arguments[0], pointer))
            return impl_ret_borrowed(context, builder, expected, value)

        return expected(types.int64), generate

    return intrinsic(fetch)
