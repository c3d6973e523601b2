"""Softmax and its like at the end of a network: not piecewise linear, but they only rescale the answer.

Such an op is left out if nothing but reshaping follows it, and the Network says so in `stripped`. Anywhere
else it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polyfold.network.builder import Ending, Site, Value


def leave_out(site: Site, value: Value, tap: str) -> Value:
    """The value in front of an ending; `tap` is what the original calls that value."""
    if value.endings:
        tap = value.endings[0].tap
    return replace(value, endings=(*value.endings, Ending(site.name, site.op, tap)))


def refuse_reading_an_ending(site: Site, operands: Iterable[object]) -> None:
    """Stop if an op computes on after a softmax: then it was not at the end."""
    for operand in operands:
        if isinstance(operand, Value) and operand.endings:
            first = operand.endings[0]
            where = replace(site, name=first.node, op=first.op)
            where.refuse(
                f"it is not piecewise linear and can be left out only at the very end, but {site.name!r} "
                f"({site.op}) reads it"
            )
