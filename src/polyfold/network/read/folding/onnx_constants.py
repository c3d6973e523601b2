"""ONNX operators on constants, without rounding: a table of what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

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
    runtime_of,
)
from polyfold.network.read.folding.staircases import same_step

Numbers: TypeAlias = list[Constant]
Options: TypeAlias = Mapping[str, Any]
Run: TypeAlias = Callable[[Sequence[Any]], list[Any]]

# Operators that move numbers, and which of their inputs hold those; all others are shapes and places.
_MOVES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *("Identity", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather"),
            *("GatherND", "GatherElements", "Compress", "ReverseSequence", "Split", "Expand", "Tile", "DepthToSpace"),
            *("SpaceToDepth", "Trilu", "CenterCropPad"),
        ),
        (0,),
    ),
    "Where": (1, 2),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
}
# Operators that give back one of their numbers, or whole ones: they round nothing.
_NEVER_ROUND = frozenset(
    {
        *_MOVES,
        *("Concat", "Pad", "Constant", "ConstantOfShape", "EyeLike", "OneHot", "Abs", "Neg", "Relu", "Max", "Min"),
        *("Clip", "Floor", "Ceil", "Round", "Sign", "Cast", "CastLike", "ReduceMax", "ReduceMin", "TopK", "MaxPool"),
        *("GlobalMaxPool", "Hardmax", "Unique"),
    }
)


def computed(op: str, options: Options, inputs: Sequence[Any], results: Sequence[Any], run: Run) -> list[Any]:
    """What a node makes of constants: its runtime's `results`, each with what it is where that is something else.

    Raises InexactError where that is not known. `run` is the operator itself.
    """
    folded = any(isinstance(item, Folded) for item in inputs)
    if not folded and (op in _NEVER_ROUND or not any(_is_real(result) for result in results)):
        return list(results)
    if op in ("Cast", "CastLike"):
        return [_cast(inputs[0], results[0])]
    if op in _MOVES or op == "Concat":
        return _moved(op, inputs, results, run)
    numbers = [exact_of(item) for item in inputs if item is not None]
    if op in _STAIRCASES:
        return [same_step(_STAIRCASES[op], numbers, results[0])]
    if op not in _EXACT:
        raise InexactError("what it makes of constants is known in floats only")
    exact = _EXACT[op](numbers, {**options, "shape": np.shape(results[0])})
    terms = (numbers[0], numbers[1]) if op == "Add" else None
    return [kept(results[0], exact, terms)]


def exact_of(item: Any) -> Constant:
    """The numbers of a constant, as they are."""
    return item.exact if isinstance(item, Folded) else exact_numbers(np.asarray(item))


def _is_real(result: Any) -> bool:
    return hasattr(result, "dtype") and is_float_type(result.dtype.name)


def _moved(op: str, inputs: Sequence[Any], results: Sequence[Any], run: Run) -> list[Any]:
    """Let the operator move the numbers' places. Place 0 is for the number zero, which it may fill in."""
    pool, given = [reals(np.zeros(1))], list(inputs)
    for place in range(len(inputs)) if op == "Concat" else _MOVES[op]:
        numbers = reals(exact_of(inputs[place]))
        first = sum(len(part) for part in pool)
        given[place] = (first + np.arange(numbers.size, dtype=np.int64)).reshape(numbers.shape)
        pool.append(numbers.ravel())
    every = np.concatenate(pool)
    moved = run([runtime_of(item) for item in given])
    return [
        kept(result, settled(every[np.ravel(where)].reshape(np.shape(where)))) if _is_real(result) else result
        for where, result in zip(moved, results, strict=True)
    ]


def _cast(item: Any, result: Any) -> Any:
    if not isinstance(item, Folded):
        # A number that another type does not hold is rounded by the file itself.
        return result
    to = result.dtype.name
    if not is_float_type(to):
        return same_step(staircases.towards_zero, [item.exact], result)
    if not loses_digits(item.runtime.dtype.name, to):
        return kept(result, item.exact)
    return rounded_to(item.exact, to).astype(result.dtype)


# -- what is known of each operator


def _one(function: Callable[[Constant], Constant]) -> Callable[[Numbers, Options], Constant]:
    return lambda numbers, options: function(numbers[0])


def _two(function: Callable[[Constant, Constant], Constant]) -> Callable[[Numbers, Options], Constant]:
    return lambda numbers, options: function(numbers[0], numbers[1])


def _several(function: Callable[[Constant, Constant], Constant]) -> Callable[[Numbers, Options], Constant]:
    return lambda numbers, options: reduce(function, numbers)


def _mean(numbers: Numbers, options: Options) -> Constant:
    return arithmetic.divide(reduce(arithmetic.add, numbers), np.array(float(len(numbers))))


def _clip(numbers: Numbers, options: Options) -> Constant:
    if len(numbers) != 3:
        raise InexactError("it has one bound only")
    return arithmetic.smaller(arithmetic.larger(numbers[0], numbers[1]), numbers[2])


def _gemm(numbers: Numbers, options: Options) -> Constant:
    a = numbers[0].T if options.get("transA") else numbers[0]
    b = numbers[1].T if options.get("transB") else numbers[1]
    product = arithmetic.multiply(arithmetic.matmul(a, b), np.array(options.get("alpha", 1.0)))
    if len(numbers) < 3:
        return product
    return arithmetic.add(product, arithmetic.multiply(numbers[2], np.array(options.get("beta", 1.0))))


def _range(numbers: Numbers, options: Options) -> Constant:
    steps = arithmetic.multiply(numbers[2], np.arange(float(options["shape"][0])))
    return arithmetic.add(numbers[0], steps)


def _dequantized(numbers: Numbers, options: Options) -> Constant:
    """(x - zero point) * scale, of which there may be one for every entry of an axis."""
    x, scale, *zero = numbers
    if scale.ndim > 1 or options.get("block_size"):
        raise InexactError("it has scales for blocks")
    along = [1] * x.ndim
    if scale.ndim and scale.size > 1:
        along[options.get("axis", 1)] = scale.size
    centred = arithmetic.subtract(x, zero[0].reshape(along)) if zero else x
    return arithmetic.multiply(centred, scale.reshape(along))


def _reduced(
    combine: Callable[[Constant, list[int], bool], Constant],
) -> Callable[[Numbers, Options], Constant]:
    """Over the axes that an input or an attribute names, or over all."""

    def reduced(numbers: Numbers, options: Options) -> Constant:
        given = options.get("axes", numbers[1].tolist() if len(numbers) > 1 else [])
        if not len(given) and options.get("noop_with_empty_axes"):
            return numbers[0]
        axes = [int(axis) % numbers[0].ndim for axis in given] or list(range(numbers[0].ndim))
        return combine(numbers[0], axes, bool(options.get("keepdims", 1)))

    return reduced


def _squares(a: Constant, axes: list[int], keepdims: bool) -> Constant:
    return arithmetic.total(arithmetic.multiply(a, a), axes, keepdims=keepdims)


_STAIRCASES: dict[str, staircases.Step] = {
    "Floor": staircases.floors,
    "Ceil": staircases.ceilings,
    "Round": staircases.nearest_whole,
    "Sign": staircases.signs,
    "Equal": staircases.comparison(lambda sign: sign == 0),
    "Greater": staircases.comparison(lambda sign: sign > 0),
    "GreaterOrEqual": staircases.comparison(lambda sign: sign >= 0),
    "Less": staircases.comparison(lambda sign: sign < 0),
    "LessOrEqual": staircases.comparison(lambda sign: sign <= 0),
}
_FUNCTIONS = (
    *("Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh"),
    *("Atanh", "Erf"),
)
_EXACT: dict[str, Callable[[Numbers, Options], Constant]] = {
    **{name: _one(arithmetic.function(name.lower())) for name in _FUNCTIONS},
    "Add": _two(arithmetic.add),
    "Sub": _two(arithmetic.subtract),
    "Mul": _two(arithmetic.multiply),
    "Div": _two(arithmetic.divide),
    "Pow": _two(arithmetic.power),
    "Neg": _one(arithmetic.negative),
    "Abs": _one(arithmetic.absolute),
    "Reciprocal": _one(lambda a: arithmetic.divide(np.ones(()), a)),
    "Sigmoid": _one(arithmetic.sigmoid),
    "Relu": _one(lambda a: arithmetic.larger(a, np.zeros(()))),
    "Sum": _several(arithmetic.add),
    "Max": _several(arithmetic.larger),
    "Min": _several(arithmetic.smaller),
    "Mean": _mean,
    "Clip": _clip,
    "MatMul": _two(arithmetic.matmul),
    "Gemm": _gemm,
    "Einsum": lambda numbers, options: arithmetic.einsum(options["equation"].decode(), *numbers),
    "Range": _range,
    "DequantizeLinear": _dequantized,
    "ReduceSum": _reduced(lambda a, axes, keepdims: arithmetic.total(a, axes, keepdims=keepdims)),
    "ReduceMean": _reduced(lambda a, axes, keepdims: arithmetic.total(a, axes, keepdims=keepdims, mean=True)),
    "ReduceL1": _reduced(lambda a, axes, keepdims: arithmetic.total(arithmetic.absolute(a), axes, keepdims=keepdims)),
    "ReduceSumSquare": _reduced(_squares),
    "ReduceL2": _reduced(lambda a, axes, keepdims: arithmetic.function("sqrt")(_squares(a, axes, keepdims))),
}
