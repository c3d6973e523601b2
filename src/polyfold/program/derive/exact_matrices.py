"""Matrices of floats for a structured affine function that add up to its coefficients, to the last digit.

A product of two floats has twice the digits of one. So it is the sum of two floats, and a sum of such products is the
sum of a few: as many matrices on one source, whose sum nobody takes but who can take it exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyfold.exact.rational_arrays import Rationals, nearest, rationals
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.lower.rational_rows import rows_of
from polyfold.program.lower.rounding_free import written_out_without_rounding
from polyfold.program.lower.rows import frozen

# Coefficients of one function up to which they are multiplied as rationals: some tenths of a second.
_MOST_COEFFICIENTS = 1 << 14
# All digits between the largest float and the smallest fit into so many.
_MOST_PARTS = 40


def exact_blocks(affine: Affine, widths: Sequence[int]) -> tuple[Block, ...] | None:
    """Matrices on the sources, some on the same, that are an affine function but for its bias.

    None if there are none (a coefficient or the bias is no sum of floats), or if finding them takes too long.

    >>> from polyfold.program.affine import Structured
    >>> from polyfold.program.operators import Matrix
    >>> from polyfold.program.forms import Applied, Entries
    >>> tenth = Matrix(np.array([[0.1]]))
    >>> twice = Structured(Applied(tenth, Applied(tenth, Entries(0, 0, 1))), np.zeros(1), (1,))
    >>> [block.weight.item() for block in exact_blocks(twice, (1,))]
    [0.010000000000000002, -8.326672684688674e-19]
    """
    if isinstance(affine, WrittenOut) or written_out_without_rounding(affine.form):
        return affine.blocks
    if len(affine.bias) * sum(widths[source] for source in affine.sources) > _MOST_COEFFICIENTS:
        return None
    rows = rows_of(affine, widths)
    if (rows.bias != rationals(affine.bias)).any():
        return None
    blocks = []
    for source, matrix in sorted(rows.terms.items()):
        parts = _as_sum(matrix)
        if parts is None:
            return None
        blocks += [Block(source, part) for part in parts]
    return tuple(blocks)


def _as_sum(matrix: Rationals) -> list[np.ndarray] | None:
    """Matrices of floats, each the nearest to what those before it leave."""
    parts: list[np.ndarray] = []
    while matrix.any():
        part = nearest(matrix)
        if len(parts) == _MOST_PARTS or not np.isfinite(part).all() or not part.any():
            return None
        parts.append(frozen(part))
        matrix = matrix - rationals(part)
    return parts
