"""How readers take a softmax, a sigmoid or an argmax into the head. Only reshaping may follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from polyfold.network.head import HeadOp, Kind
from polyfold.network.ops.op import size
from polyfold.network.read.builder import MIXES_THE_BATCH, Builder, Scores, Site, Value

_Site = TypeVar("_Site", bound=Site)


def into_head(
    site: Site, value: Value, kind: Kind, axes: Sequence[int], tap: str, *, keeps_axes: bool = True, last: bool = False
) -> Value:
    """The value behind one more op of the head, along axes of the original's tensor; `tap` is what the op reads.

    An argmax leaves its axis behind with length one, or (`keeps_axes=False`) does away with it.
    """
    over = {axis % max(value.rank, 1) for axis in axes}
    batch = {value.batch_axis} if value.batched else set()
    if over & batch and not site.single:
        site.refuse(MIXES_THE_BATCH)
    of_sample = [axis - (axis > min(batch, default=axis)) for axis in over - batch]
    op = HeadOp.along(kind, value.shape, of_sample, last=last, name=site.name)
    lengths = [1 if kind == "argmax" and axis in over else n for axis, n in enumerate(value.full_shape(1))]
    gone = over if kind == "argmax" and not keeps_axes else set()
    kept = [axis for axis in range(value.rank) if axis not in gone]
    batched = bool(batch - gone)
    return replace(
        value,
        shape=tuple(lengths[axis] for axis in kept if axis not in batch),
        batched=batched,
        batch_axis=kept.index(value.batch_axis) if batched else 0,
        scores=value.scores or Scores(tap, value.batch_axis, value.batched, site.name, site.op),
        head=(*value.head, op),
    )


def moved_behind_head(site: _Site, value: Value, read: Callable[[_Site, Value], Any]) -> Value:
    """The value under another shape; `read` is how the op is read elsewhere, and must leave all numbers in order."""
    scratch = Builder("scratch")
    port = replace(scratch.port("x", value.shape, batched=value.batched), batch_axis=value.batch_axis)
    moved = read(replace(site, builder=scratch), port)
    if not isinstance(moved, Value):
        refuse_reading_behind_head(site, [value])
    places = np.arange(size(value.shape), dtype=np.float64)
    if not np.array_equal(scratch.finish([moved])(places[None])[0], places):
        refuse_reading_behind_head(site, [value])
    return replace(value, shape=moved.shape, batched=moved.batched, batch_axis=moved.batch_axis)


def counts_classes(value: Value, highest: int) -> bool:
    """Whether a value is the number of a class, and all of them are at most `highest`: then whole numbers hold it."""
    return bool(value.head) and value.head[-1].kind == "argmax" and value.head[-1].groups[1] - 1 <= highest


def refuse_reading_behind_head(site: Site, operands: Iterable[object]) -> None:
    """Stop if an op computes on behind a softmax: then that was not at the end."""
    for operand in operands:
        if isinstance(operand, Value) and operand.scores is not None:
            where = replace(site, name=operand.scores.node, op=operand.scores.op)
            where.refuse(
                f"it is not piecewise linear and can be read only at the very end, but {site.name!r} "
                f"({site.op}) reads it"
            )
