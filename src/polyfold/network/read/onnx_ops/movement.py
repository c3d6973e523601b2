"""What moves numbers about or leaves them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from polyfold.network.ops.op import size
from polyfold.network.read.builder import MIXES_THE_BATCH, Value
from polyfold.network.read.compose import ops as compose
from polyfold.network.read.compose import placing
from polyfold.network.read.onnx_ops.site import FLOAT_TYPES, ONNX_OPS, OnnxSite, full_shape, operand
from polyfold.network.read.registry import COMPUTED_CHOICE

handles = ONNX_OPS.family("The same numbers elsewhere")


@handles("Identity", becomes="nothing", batch_anywhere=True)
def _identity(site: OnnxSite, x: Value) -> Value:
    return x


@handles("Dropout", becomes="nothing", limits="not in training mode", batch_anywhere=True)
def _dropout(site: OnnxSite, x: Value, ratio: Any = None, training: Any = None, **options: Any) -> list[Any]:
    if training is not None and bool(np.any(training)) and bool(np.any(0.5 if ratio is None else ratio)):
        site.refuse("it drops values at random (training_mode is true)")
    # The mask says that everything is kept.
    return [x, np.ones(full_shape(x), dtype=np.bool_)]


@handles(*("Cast", "CastLike"), becomes="nothing", limits="to types of real numbers", batch_anywhere=True, chooses=True)
def _cast(site: OnnxSite, x: Any, like: Any = None, *, to: int = onnx.TensorProto.FLOAT, **options: Any) -> Any:
    if to not in FLOAT_TYPES:
        site.refuse(f"a cast to {onnx.TensorProto.DataType.Name(to)} is not continuous")
    return x


RESHAPES = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")

KEEPS_THE_SAMPLES = frozenset({"Transpose", "Squeeze", "Unsqueeze", "Slice", "Gather", "GatherND", "Split"})


@handles(
    *RESHAPES,
    *("Transpose", "Slice", "Gather", "GatherND", "GatherElements", "Compress", "ReverseSequence", "Split"),
    *("Expand", "Tile", "DepthToSpace", "SpaceToDepth"),
    becomes="`Reshape`, `Take`",
    limits="samples may not be mixed; indices must be constant",
    batch_anywhere=True,
    one_computed=COMPUTED_CHOICE,
)
def _move(site: OnnxSite, x: Value, *rest: Any, **options: Any) -> Any:
    """Let ONNX's own definition move the positions of the numbers, and read off where they went."""
    if x.batched and not site.single and (x.batch_axis or site.op == "Transpose"):
        pieces = _moved_with_batch(site, x, rest)
    else:
        moved = site.run([compose.positions(full_shape(x)), *rest])
        pieces = [compose.moved(site, x, piece, part) for piece, part in _named(moved)]
    return pieces if len(pieces) > 1 else pieces[0]


def _moved_with_batch(site: OnnxSite, x: Value, rest: Sequence[Any]) -> list[Value]:
    """The same for an open batch axis that goes, or went, to another place: two samples show where it is."""
    if site.op not in KEEPS_THE_SAMPLES:
        site.refuse(MIXES_THE_BATCH)
    samples = 2
    moved = site.run([placing.for_samples(compose.positions(x.shape), size(x.shape), samples, x.batch_axis), *rest])
    return [placing.rearranged(site, x, piece, samples, part) for piece, part in _named(moved)]


def _named(pieces: Sequence[Any]) -> list[tuple[Any, str]]:
    """The pieces, each with the part of the node that it is; one alone is the node itself."""
    return [(piece, str(k) if len(pieces) > 1 else "") for k, piece in enumerate(pieces)]


@handles("Concat", becomes="`Concat`", limits="not along an open batch axis", exact=True)
def _concat(site: OnnxSite, *pieces: Any, axis: int) -> Value:
    return compose.concat(site, [operand(piece) for piece in pieces], axis)
