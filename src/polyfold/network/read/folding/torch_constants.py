"""Torch operators on constants, without rounding: a table of what is known of each. Names are ATen's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from polyfold.exact.reals import reals, settled
from polyfold.network.read.builder import Constant
from polyfold.network.read.folding import arithmetic, staircases
from polyfold.network.read.folding.arithmetic import InexactError
from polyfold.network.read.folding.folded import (
    Folded,
    exact_numbers,
    is_float_type,
    kept,
    loses_digits,
    rounded_to,
)
from polyfold.network.read.folding.staircases import same_step

Exact: TypeAlias = Callable[..., Constant]

# Operators that give back the numbers of their first argument, which may be a list, somewhere else.
_MOVES = frozenset(
    {
        *("alias", "clone", "contiguous", "detach", "lift_fresh_copy", "positive", "view", "view_as", "reshape"),
        *("_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "permute", "transpose", "t", "movedim"),
        *("moveaxis", "swapaxes", "numpy_T", "mT", "expand", "expand_as", "repeat", "tile", "slice", "select"),
        *("narrow", "index_select", "index", "gather", "flip", "roll", "diagonal", "unfold", "as_strided", "split"),
        *("split_with_sizes", "chunk", "unbind", "tensor_split", "cat", "stack", "repeat_interleave"),
    }
)
_CASTS = frozenset({"to", "_to_copy", "type_as"})
# Operators that give back one of their numbers, or numbers that they were given, or whole ones: they round nothing.
_NEVER_ROUND = frozenset(
    {
        *(_MOVES | _CASTS),
        *("zeros", "ones", "full", "empty", "empty_strided", "empty_permuted", "eye", "scalar_tensor", "new_zeros"),
        *("new_ones", "new_full", "zeros_like", "ones_like", "full_like", "tril", "triu", "diag_embed", "where"),
        *("masked_fill", "index_put", "scatter", "slice_scatter", "select_scatter", "copy", "fill", "constant_pad_nd"),
        *("pad", "abs", "neg", "relu", "maximum", "minimum", "amax", "amin", "clamp", "clamp_min", "clamp_max", "sort"),
        *("floor", "ceil", "round", "trunc", "sign", "to_dense", "_to_dense", "coalesce", "_coalesced"),
    }
)


def computed(op: str, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Any:
    """What an operator makes of constants: its own `result`, with what it is where that is something else.

    Raises InexactError where that is not known.
    """
    folded = any(isinstance(item, Folded) for item in _leaves((args, kwargs)))
    if not folded and (op in _NEVER_ROUND or not any(_is_real(item) for item in _leaves(result))):
        return result
    if op in _CASTS:
        return _cast(args[0], result)
    if op in _MOVES:
        return _moved(target, args, kwargs, result)
    given = [exact_of(item) if _holds_numbers(item) else item for item in args]
    named = {name: exact_of(item) if _holds_numbers(item) else item for name, item in kwargs.items()}
    if op in _STAIRCASES:
        return same_step(_STAIRCASES[op], given, result)
    if op not in _EXACT:
        raise InexactError("what it makes of constants is known in floats only")
    return kept(result, _EXACT[op](*given, **{name: item for name, item in named.items() if name not in _TYPES}))


def exact_of(item: Any) -> Constant:
    """The numbers of a constant tensor or of a Python number, as they are."""
    if isinstance(item, Folded):
        return item.exact
    if not isinstance(item, torch.Tensor):
        return np.asarray(item, dtype=np.float64)
    dense = item.detach() if item.layout is torch.strided else item.detach().to_dense()
    return exact_numbers((dense.double() if dense.is_floating_point() else dense).cpu().numpy())


# What says in which type, or where, something is computed.
_TYPES = frozenset({"dtype", "layout", "device", "pin_memory", "memory_format"})


def _holds_numbers(item: Any) -> bool:
    return isinstance(item, Folded | torch.Tensor)


def _is_real(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.is_floating_point()


def _leaves(items: Any) -> list[Any]:
    return list(torch.utils._pytree.tree_leaves(items))


def _moved(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Any:
    """Let the operator move the numbers' places."""
    several = isinstance(args[0], list | tuple)
    sources = [reals(exact_of(item)) for item in (args[0] if several else [args[0]])]
    firsts = np.cumsum([0, *(source.size for source in sources)])
    places = [
        torch.arange(first, first + source.size).reshape(source.shape)
        for first, source in zip(firsts.tolist(), sources, strict=False)
    ]
    every = np.concatenate([source.ravel() for source in sources])
    moved = target(places if several else places[0], *args[1:], **kwargs)

    def put(each: Any, where: Any) -> Any:
        return kept(each, settled(every[where.reshape(-1).numpy()].reshape(where.shape)))

    if isinstance(result, torch.Tensor):
        return put(result, moved)
    return [put(each, where) for each, where in zip(result, moved, strict=True)]


def type_name(dtype: Any) -> str:
    """What a type of torch's is called elsewhere."""
    return str(dtype).removeprefix("torch.")


def _cast(item: Any, result: Any) -> Any:
    if not isinstance(item, Folded):
        # A number that another type does not hold is rounded by the model itself.
        return result
    to = type_name(result.dtype)
    if not is_float_type(to):
        return same_step(staircases.towards_zero, [item.exact], result)
    if not loses_digits(type_name(item.runtime.dtype), to):
        return kept(result, item.exact)
    return torch.from_numpy(rounded_to(item.exact, to)).to(result.dtype)


# -- what is known of each operator


def _add(a: Constant, b: Any, alpha: float = 1) -> Constant:
    return arithmetic.add(a, _times(b, alpha))


def _subtract(a: Constant, b: Any, alpha: float = 1) -> Constant:
    return arithmetic.subtract(a, _times(b, alpha))


def _times(numbers: Any, factor: float) -> Constant:
    numbers = np.asarray(numbers, dtype=None if isinstance(numbers, np.ndarray) else np.float64)
    return numbers if factor == 1 else arithmetic.multiply(numbers, np.array(float(factor)))


def _pair(function: Callable[[Constant, Constant], Constant]) -> Exact:
    return lambda a, b: function(_times(a, 1), _times(b, 1))


def _divide(a: Constant, b: Any, rounding_mode: str | None = None) -> Constant:
    if rounding_mode is not None:
        raise InexactError("it rounds a quotient")
    return arithmetic.divide(a, _times(b, 1))


def _clamp(a: Constant, min: Any = None, max: Any = None) -> Constant:
    low = a if min is None else arithmetic.larger(a, _times(min, 1))
    return low if max is None else arithmetic.smaller(low, _times(max, 1))


def _axes(a: Constant, dim: Any) -> list[int]:
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return list(range(a.ndim))
    return [axis % a.ndim for axis in ([dim] if isinstance(dim, int) else dim)]


def _total(a: Constant, dim: Any = None, keepdim: bool = False) -> Constant:
    return arithmetic.total(a, _axes(a, dim), keepdims=keepdim)


def _mean(a: Constant, dim: Any = None, keepdim: bool = False) -> Constant:
    return arithmetic.total(a, _axes(a, dim), keepdims=keepdim, mean=True)


def _variance(
    a: Constant, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Constant:
    axes = _axes(a, dim)
    apart = arithmetic.subtract(a, arithmetic.total(a, axes, keepdims=True, mean=True))
    squares = arithmetic.total(arithmetic.multiply(apart, apart), axes, keepdims=keepdim)
    count = float(np.prod([a.shape[axis] for axis in axes]))
    less = float(unbiased) if correction is None else float(correction)
    return arithmetic.divide(squares, np.array(count - less))


def _norm(a: Constant, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Constant:
    if ord not in (1, 2):
        raise InexactError(f"the norm of order {ord} is known in floats only")
    if ord == 1:
        return _total(arithmetic.absolute(a), dim, keepdim)
    return arithmetic.function("sqrt")(_total(arithmetic.multiply(a, a), dim, keepdim))


def _weight_norm(v: Constant, g: Constant, dim: int = 0) -> Constant:
    lengths = _norm(v, 2, [axis for axis in range(v.ndim) if axis != dim % v.ndim], True)
    return arithmetic.multiply(v, arithmetic.divide(g, lengths))


def _addmm(bias: Constant, a: Constant, b: Constant, *, beta: float = 1, alpha: float = 1) -> Constant:
    return arithmetic.add(_times(bias, beta), _times(arithmetic.matmul(a, b), alpha))


def _linear(x: Constant, weight: Constant, bias: Constant | None = None) -> Constant:
    product = arithmetic.matmul(x, np.swapaxes(weight, -1, -2))
    return product if bias is None else arithmetic.add(product, bias)


def _arange(start: float, end: float | None = None, step: float = 1) -> Constant:
    start, end = (0, start) if end is None else (start, end)
    count = max(0, int(np.ceil((end - start) / step)))
    return arithmetic.add(np.array(float(start)), arithmetic.multiply(np.arange(float(count)), np.array(float(step))))


def _linspace(start: Any, end: Any, steps: int) -> Constant:
    first, last = _times(start, 1), _times(end, 1)
    parts = arithmetic.divide(np.arange(float(steps)), np.array(float(max(1, steps - 1))))
    return arithmetic.add(first, arithmetic.multiply(parts, arithmetic.subtract(last, first)))


def _einsum(equation: str, operands: Sequence[Any], path: Any = None) -> Constant:
    return arithmetic.einsum(equation, *(exact_of(item) for item in operands))


_STAIRCASES: dict[str, staircases.Step] = {
    "floor": staircases.floors,
    "ceil": staircases.ceilings,
    "round": staircases.nearest_whole,
    "trunc": staircases.towards_zero,
    "sign": staircases.signs,
}
_FUNCTIONS = (
    *("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    "erf",
)
_EXACT: dict[str, Exact] = {
    **{name: arithmetic.function(name) for name in _FUNCTIONS},
    "add": _add,
    "sub": _subtract,
    "rsub": lambda a, b, alpha=1: arithmetic.subtract(_times(b, 1), _times(a, alpha)),
    "mul": _pair(arithmetic.multiply),
    "outer": lambda a, b: arithmetic.multiply(a[:, None], b),
    "div": _divide,
    "pow": _pair(arithmetic.power),
    "rsqrt": lambda a: arithmetic.divide(np.ones(()), arithmetic.function("sqrt")(a)),
    "square": lambda a: arithmetic.multiply(a, a),
    "reciprocal": lambda a: arithmetic.divide(np.ones(()), a),
    "neg": arithmetic.negative,
    "abs": arithmetic.absolute,
    "sigmoid": arithmetic.sigmoid,
    "relu": lambda a: arithmetic.larger(a, np.zeros(())),
    "maximum": _pair(arithmetic.larger),
    "minimum": _pair(arithmetic.smaller),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": lambda a, max: _clamp(a, None, max),
    "sum": _total,
    "mean": _mean,
    "var": _variance,
    "std": lambda *args, **kwargs: arithmetic.function("sqrt")(_variance(*args, **kwargs)),
    "linalg_vector_norm": _norm,
    "_weight_norm": _weight_norm,
    "cumsum": arithmetic.running_total,
    **dict.fromkeys(("matmul", "mm", "mv", "bmm", "dot", "vdot"), arithmetic.matmul),
    "addmm": _addmm,
    "linear": _linear,
    "einsum": _einsum,
    "arange": _arange,
    "linspace": _linspace,
}
