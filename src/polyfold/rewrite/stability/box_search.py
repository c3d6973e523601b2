"""Claims proved by cutting the domain's box into smaller ones, on which linear bounds are sharper.

That works in few dimensions, however many gates there are. All claims about one stage share the boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import running
from polyfold._base.types import Array, Flags, Ids
from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.program.passes.bounded_layers import halves
from polyfold.program.passes.linear_bounds import BoxBounds, sizes
from polyfold.rewrite.stability.claims import Claim, Ledger

# Numbers in the largest array of one batch of boxes.
_NUMBERS = 1 << 19
# Boxes that wait at a time; if there are more, the claim that most of them wait for is given up.
_MOST_BOXES = 1 << 17
# Batches for one stage: claims whose bounds touch zero would be cut for ever.
_MOST_BATCHES = 1 << 14


@dataclass(eq=False)
class _Boxes:
    """Boxes, and which claims are still open on them."""

    low: Array
    high: Array
    open: Flags

    def take(self, index: slice | Flags) -> _Boxes:
        return _Boxes(self.low[index], self.high[index], self.open[index])


def cut_boxes(
    ledger: Ledger, place: BoundedDomain, low: Array, high: Array, stage: int, tell: Callable[[], None]
) -> None:
    """Settle the open claims about one stage; what is not settled in time is given up."""
    batches = 0
    claims = ledger.open([stage])
    boxes = _Boxes(low[None], high[None], np.ones((1, len(claims)), dtype=bool))
    looked_at = np.zeros(len(claims), dtype=np.int64)
    reach = np.maximum(np.abs(low), np.abs(high))
    bounds = BoxBounds(ledger.layers, sizes(ledger.layers, reach, ledger.ranges), ledger.ranges)
    width = max(layer.width for layer in ledger.layers.layers)
    batch = max(1, _NUMBERS // (2 * width * max(width, len(low))))
    rows = np.zeros((len(claims), ledger.layers.layers[stage].width))
    for number, claim in enumerate(claims):
        rows[number, claim.gate] = claim.side
    while len(boxes.low) and claims:
        tell()
        batches += 1
        if running().over or batches > _MOST_BATCHES:
            ledger.given_up.update(claim for number, claim in enumerate(claims) if boxes.open[:, number].any())
            boxes.open[:] = False
            break
        # The oldest boxes are the largest: easy claims are settled everywhere before hard ones take all the time.
        now, boxes = boxes.take(slice(0, batch)), boxes.take(slice(batch, None))
        children = _look(ledger, place, bounds, stage, rows, now, looked_at)
        boxes = _joined(boxes, children)
        boxes.open &= _still_open(ledger, claims)
        boxes = _not_too_many(ledger, claims, boxes)
        boxes = boxes.take(_some_open(boxes))
    for number, claim in enumerate(claims):
        if not ledger.refuted(claim) and claim not in ledger.given_up:
            ledger.prove(claim, f"linear bounds on {looked_at[number]:,} boxes")


def _look(
    ledger: Ledger,
    place: BoundedDomain,
    bounds: BoxBounds,
    stage: int,
    rows: Array,
    boxes: _Boxes,
    looked_at: Ids,
) -> _Boxes:
    """Bound all open claims on some boxes; boxes on which some stay open come back in halves."""
    centre, half = halves(boxes.low, boxes.high)
    ledger.meet(centre[place.contains(centre)])
    looked_at += boxes.open.sum(axis=0)
    wanted = np.flatnonzero(boxes.open.any(axis=0))
    before = bounds.stages(centre, half, stage)
    below = bounds.rows(centre, half, stage, rows[wanted], before)
    boxes.open[:, wanted] &= below.bounds < 0
    left = _some_open(boxes)
    spread = np.abs(below.slopes) * half[:, None, :] * boxes.open[:, wanted, None]
    # The side that the worst open bound depends on most.
    axis = spread.max(axis=1).argmax(axis=1)
    return _halved(boxes.take(left), centre[left], axis[left])


def _halved(boxes: _Boxes, centre: Array, axis: Ids) -> _Boxes:
    rows = np.arange(len(axis))
    lower_high, upper_low = boxes.high.copy(), boxes.low.copy()
    lower_high[rows, axis] = upper_low[rows, axis] = centre[rows, axis]
    return _Boxes(
        np.concatenate([boxes.low, upper_low]),
        np.concatenate([lower_high, boxes.high]),
        np.concatenate([boxes.open, boxes.open]),
    )


def _joined(one: _Boxes, other: _Boxes) -> _Boxes:
    return _Boxes(
        np.concatenate([one.low, other.low]),
        np.concatenate([one.high, other.high]),
        np.concatenate([one.open, other.open]),
    )


def _some_open(boxes: _Boxes) -> Flags:
    return np.asarray(boxes.open.any(axis=1))


def _still_open(ledger: Ledger, claims: list[Claim]) -> Flags:
    return np.array([not ledger.refuted(claim) and claim not in ledger.given_up for claim in claims], dtype=bool)


def _not_too_many(ledger: Ledger, claims: list[Claim], boxes: _Boxes) -> _Boxes:
    while len(boxes.low) > _MOST_BOXES:
        worst = int(boxes.open.sum(axis=0).argmax())
        ledger.given_up.add(claims[worst])
        boxes.open[:, worst] = False
        boxes = boxes.take(_some_open(boxes))
    return boxes
