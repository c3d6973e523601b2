"""path_norm: what weights multiply up to along all ways through a network, which no rescaling changes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from polyfold.errors import PolyfoldError
from polyfold.exact.rational_arrays import Rationals, product, zeros
from polyfold.symmetry.exact_layers import exactly, number


def path_norm(network: Any, *, p: int = 1, biases: bool = False) -> Fraction:
    """The sum over all paths from an input to an output of the product of |weight|^p, exactly.

    A gate on the way counts with the larger of its slopes, which is 1 for a ReLU. With `biases`, paths that begin at
    a bias count too. For p = 1 and without biases it bounds the function: |f(x) - f(y)|_1 <= path_norm * |x - y|_max.

    Neyshabur et al. take the p-th root, which is not rational; Path-SGD uses p = 2.

    >>> path_norm([([[2.0], [-3.0]], [1.0, 1.0]), ([[1.0, 1.0]], [0.0])])
    Fraction(5, 1)
    """
    if not isinstance(p, int) or p < 1:
        raise PolyfoldError(f"p must be an integer from 1 on, not {p!r}; 1 and 2 are usual")
    program = exactly(network)
    sources: list[Rationals] = [np.full(program.input_dim, fmpq(1), dtype=object)]
    for index, rows in enumerate(program.affines):
        total = abs(rows.bias) ** p if biases else zeros(rows.size)
        for source, matrix in rows.terms.items():
            total = total + product(abs(matrix) ** p, sources[source])
        if index < len(program.stages):
            stage = program.stages[index]
            total = total * np.maximum(abs(stage.slope_on), abs(stage.slope_off)) ** p
        sources.append(total)
    return number(sum(sources[-1].tolist()), "the path norm")
