"""What a model puts out at one point, in balls of real numbers that are proved to hold it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from polyfold.network.head import ELEMENTWISE, Head, HeadOp

# Bits in which balls are computed, one after the other until they tell what is asked.
_BITS = (64, 256, 1024)
# Differences of powers of two beyond this are not written as fractions: exp(-10^9) has a billion digits.
_LONGEST = 1 << 14


def outputs_differ_by_more(
    heads: tuple[Head | None, Head | None],
    scores: tuple[Sequence[Fraction], Sequence[Fraction]],
    tolerance: Fraction,
) -> list[Fraction | None]:
    """For each output a proved lower bound on its difference, if that is larger than the tolerance; else None.

    >>> outputs_differ_by_more((None, None), ([Fraction(1)], [Fraction(1, 3)]), Fraction(0))
    [Fraction(2, 3)]
    """
    found: list[Fraction | None] = []
    for bits in _BITS:
        with ctx.workprec(bits):
            ones, twos = (_outputs(head, some) for head, some in zip(heads, scores, strict=True))
            found = [_gap(one, two, tolerance) for one, two in zip(ones, twos, strict=True)]
        if all(gap is not None for gap in found):
            break
    return found


def exact_class(scores: Sequence[Fraction], last: bool = False) -> int:
    """The place of the largest score: the first of several, or the last."""
    largest = max(scores)
    places = [k for k, score in enumerate(scores) if score == largest]
    return places[-1] if last else places[0]


# A number that is known exactly, a ball that holds it, or None where nothing is known.
_Number: TypeAlias = "Fraction | arb | None"


def _outputs(head: Head | None, scores: Sequence[Fraction]) -> list[_Number]:
    if head is None:
        return list(scores)
    found: list[_Number] = []
    start = 0
    for output in head.outputs:
        values: list[_Number] = list(scores[start : start + output.scores])
        for op in output.ops:
            values = _applied(op, values)
        found += values
        start += output.scores
    return found


def _applied(op: HeadOp, values: Sequence[_Number]) -> list[_Number]:
    if op.kind == "argmax":
        return [_class(op, [values[k] for k in group]) for group in op.members]
    found: dict[int, _Number] = {}
    for group in op.members:
        entries = [values[k] for k in group]
        chosen = _class(op, entries) if op.kind == "hardmax" else None
        for place, k in enumerate(group):
            if op.kind == "hardmax":
                found[int(k)] = None if chosen is None else Fraction(int(place == chosen))
            else:
                found[int(k)] = _smooth(op, entries, place)
    return [found[k] for k in range(len(values))]


def _class(op: HeadOp, entries: Sequence[_Number]) -> Fraction | None:
    exact = [entry for entry in entries if isinstance(entry, Fraction)]
    if len(exact) == len(entries):
        return Fraction(exact_class(exact, op.last))
    balls = [_ball(entry) for entry in entries]
    for place, ball in enumerate(balls):
        if all(other is ball or (ball is not None and other is not None and ball > other) for other in balls):
            return Fraction(place)
    return None


def _smooth(op: HeadOp, entries: Sequence[_Number], place: int) -> arb | None:
    balls: list[Any] = [_ball(entry) for entry in entries]
    if any(ball is None for ball in balls):
        return None
    here = balls[place]
    others = [arb(0), here] if op.kind in ELEMENTWISE else balls
    # All powers are of differences to the largest, so that none overflows.
    top = max(others, key=lambda ball: ball.mid())
    total: Any = sum(((other - top).exp() for other in others), arb(0))
    value: Any = here - top - total.log() if op.kind.startswith("log") else (here - top).exp() / total
    return value if value.is_finite() else None


def _ball(number: _Number) -> arb | None:
    return arb(fmpq(number.numerator, number.denominator)) if isinstance(number, Fraction) else number


def _gap(one: _Number, two: _Number, tolerance: Fraction) -> Fraction | None:
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return abs(one - two) if abs(one - two) > tolerance else None
    balls = _ball(one), _ball(two)
    if balls[0] is None or balls[1] is None:
        return None
    least = (balls[0] - balls[1]).abs_lower()
    if not least.is_finite():
        return None
    mantissa, exponent = least.man_exp()
    if abs(int(exponent)) > _LONGEST:
        return None
    gap = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return gap if gap > tolerance else None
