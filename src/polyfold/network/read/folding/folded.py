"""Constants that were computed: what the model's runtime makes of them, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.exact.float_types import FLOAT_TYPES
from polyfold.exact.near import UndecidedError
from polyfold.exact.rational_arrays import rationals
from polyfold.exact.reals import are_reals, nearest_floats, reals, settled
from polyfold.network.read.builder import Constant
from polyfold.network.read.folding.arithmetic import InexactError

# Whole numbers up to here are floats.
_WHOLE = 1 << 53


CONSTANTS_CANCEL = (
    "constants that the model computes cancel, so that what its runtime makes of them is far from what they are; the "
    "network has these, and was compared with the model with these in place"
)


@dataclass(frozen=True, eq=False)
class Folded:
    """A computed constant whose runtime rounds: `runtime` is its result, of its own type, `exact` what it stands for.

    Of a sum that floats cannot hold, `terms` are what was added.
    """

    runtime: Any
    exact: Constant
    terms: tuple[Constant, Constant] | None = None

    @property
    def floats(self) -> Constant:
        """The float64 next to what it is."""
        return nearest_floats(self.exact)

    @property
    def is_rounded(self) -> bool:
        """Whether these floats are other numbers."""
        return are_reals(self.exact)


def runtime_of(item: Any) -> Any:
    """What the runtime has of a constant."""
    return item.runtime if isinstance(item, Folded) else item


def kept(runtime: Any, exact: Constant, terms: tuple[Constant, Constant] | None = None) -> Any:
    """A result of the runtime, an array or a tensor, with what it is if that is something else."""
    values = np.asarray(runtime.double() if hasattr(runtime, "double") else runtime, dtype=np.float64)
    assert exact.shape == values.shape, f"numbers of shape {exact.shape} for {values.shape}"
    return runtime if not are_reals(exact) and np.array_equal(exact, values) else Folded(runtime, exact, terms)


def exact_numbers(array: npt.NDArray[Any]) -> Constant:
    """The numbers of an array of any real type, without rounding."""
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > _WHOLE:
        return settled(rationals(array.astype(object)))
    return np.asarray(array, dtype=np.float64)


def is_float_type(name: str) -> bool:
    """Whether a type of this name has floats."""
    return name in FLOAT_TYPES


def rounded_to(numbers: Constant, kind: str) -> npt.NDArray[np.float64]:
    """Numbers rounded once to a type of floats, each to the nearest."""
    to = FLOAT_TYPES[kind]
    try:
        found = [to.rounded(number) for number in reals(numbers).ravel().tolist()]
    except UndecidedError as error:
        raise InexactError(str(error)) from None
    return np.array(found, dtype=np.float64).reshape(numbers.shape)


def rounds_by_itself(name: str, op: str, kind: str) -> str:
    """A note on a cast of values that come from inputs."""
    return f"node {name!r} ({op}) rounds to {kind}; it is read as if it did not, which is another function"


def loses_digits(kind: str, to: str) -> bool:
    """Whether some float of one type is none of another.

    >>> loses_digits("float64", "float32"), loses_digits("float16", "float32"), loses_digits("bfloat16", "float16")
    (True, False, True)
    """
    return kind in FLOAT_TYPES and to in FLOAT_TYPES and not FLOAT_TYPES[to].holds(FLOAT_TYPES[kind])
