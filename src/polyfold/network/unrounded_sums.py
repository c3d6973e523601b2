"""Sums of a file's constants that floats would round: the terms are kept beside the rounded sum.

A normalisation takes the root of its variance plus epsilon. An ONNX file holds an epsilon that is no float32 as an Add
of two constants; whoever reads only their rounded sum reads another number than the file's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.exact.error_free import sums_are_exact
from polyfold.network.ops import Array


class UnroundedSum(np.ndarray[Any, np.dtype[np.float64]]):
    """The rounded sum of two arrays, which it remembers; whatever is computed with it forgets them."""

    terms: tuple[Array, Array] | None = None


def remembered(op: str, inputs: Sequence[Any], results: Sequence[Any]) -> Sequence[Any]:
    """The results of an operator on constants: of an Add of float64 that rounds, with its terms."""
    if op != "Add" or not all(getattr(each, "dtype", None) == np.float64 for each in inputs):
        return results
    first, second = (np.asarray(each) for each in inputs)
    if sums_are_exact(*np.broadcast_arrays(first, second)):
        return results
    total = np.asarray(results[0], dtype=np.float64).view(UnroundedSum)
    total.terms = first, second
    return [total]


def variance_and_epsilon(variance: Any, epsilon: float) -> tuple[Array, float]:
    """What a normalisation takes the root of, as the two numbers that the file holds."""
    terms = variance.terms if isinstance(variance, UnroundedSum) else None
    if terms is not None and not epsilon and terms[1].size == 1 and terms[0].shape == variance.shape:
        return terms[0], float(terms[1].reshape(()))
    return np.asarray(variance, dtype=np.float64), epsilon
