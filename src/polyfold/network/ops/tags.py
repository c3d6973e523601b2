"""The names by which saved files call operations.

A tag never changes and is never used again for something else, whatever becomes of the class: files that were written
with it must stay readable.
"""

from __future__ import annotations

from polyfold.network.ops.linear import Add, Linear, Normalise, Scale, Shift, Subtract
from polyfold.network.ops.movement import Concat, Reshape, Take
from polyfold.network.ops.op import Op
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Clamp, Largest, Maximum, Minimum, Rectify

OPS: dict[str, type[Op]] = {
    "Linear": Linear,
    "Scale": Scale,
    "Normalise": Normalise,
    "Shift": Shift,
    "Reshape": Reshape,
    "Take": Take,
    "Concat": Concat,
    "Add": Add,
    "Subtract": Subtract,
    "Rectify": Rectify,
    "Clamp": Clamp,
    "Maximum": Maximum,
    "Minimum": Minimum,
    "Convolution": Convolution,
    "TransposedConvolution": TransposedConvolution,
    "Combine": Combine,
    "Largest": Largest,
}
_TAGS = {kind: tag for tag, kind in OPS.items()}


def tag_of(op: Op) -> str:
    """What files call this operation.

    >>> tag_of(Add())
    'Add'
    """
    return _TAGS[type(op)]
