"""Networks as plain lists of layers, evaluated in fractions: the judge of this folder. It shares no code with polyfold.

A network is a list of steps: ("affine", W, b), ("relu",), ("times", c), ("over", c), and at most one head at its end,
("softmax",), ("log_softmax",), ("sigmoid",) or ("argmax",). Numbers are floats, and mean what they are to the last bit.
Along a line a network of this kind is piecewise affine in one parameter, and its pieces can be written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

HEADS = ("softmax", "log_softmax", "sigmoid", "argmax")
Step = tuple[Any, ...]
Layers = list[Step]
Vector = list[Fraction]


def trunk_and_head(steps: Layers) -> tuple[Layers, str | None]:
    """The piecewise-linear steps, and the head behind them."""
    if steps and steps[-1][0] in HEADS:
        return steps[:-1], steps[-1][0]
    return steps, None


def scores(steps: Layers, x: Vector) -> Vector:
    """What the network computes before its head."""
    for kind, *numbers in trunk_and_head(steps)[0]:
        if kind == "affine":
            x = _affine(*numbers, x)
        elif kind == "relu":
            x = [max(v, Fraction(0)) for v in x]
        else:
            factor = Fraction(numbers[0]) if kind == "times" else 1 / Fraction(numbers[0])
            x = [factor * v for v in x]
    return x


def _affine(W: Any, b: Any, x: Vector) -> Vector:
    return [
        sum((Fraction(float(w)) * v for w, v in zip(row, x, strict=True)), Fraction(float(c)))
        for row, c in zip(W, b, strict=True)
    ]


@dataclass(frozen=True)
class Piece:
    """On start < t < stop (None: no end) value k is slope[k] t + constant[k]."""

    start: Fraction | None
    stop: Fraction | None
    slope: Vector
    constant: Vector

    def at(self, t: Fraction) -> Vector:
        return [a * t + c for a, c in zip(self.slope, self.constant, strict=True)]

    @property
    def inside(self) -> Fraction:
        """Some parameter in the piece."""
        if self.start is None:
            return Fraction(0) if self.stop is None else self.stop - 1
        return self.start + 1 if self.stop is None else (self.start + self.stop) / 2


def along(steps: Layers, origin: Vector, direction: Vector) -> list[Piece]:
    """The scores on the line origin + t direction, in order."""
    pieces = [Piece(None, None, list(direction), list(origin))]
    for kind, *numbers in trunk_and_head(steps)[0]:
        if kind == "relu":
            pieces = [bent for piece in pieces for bent in _rectified(piece)]
        elif kind == "affine":
            W, b = numbers
            pieces = [
                Piece(p.start, p.stop, _affine(W, [0.0] * len(b), p.slope), _affine(W, b, p.constant)) for p in pieces
            ]
        else:
            factor = Fraction(numbers[0]) if kind == "times" else 1 / Fraction(numbers[0])
            pieces = [
                Piece(p.start, p.stop, [factor * v for v in p.slope], [factor * v for v in p.constant]) for p in pieces
            ]
    return pieces


def _rectified(piece: Piece) -> list[Piece]:
    found = []
    for part in cut(piece, _roots(piece.slope, piece.constant)):
        on = [value > 0 for value in part.at(part.inside)]
        keep = [
            [v if is_on else Fraction(0) for v, is_on in zip(vs, on, strict=True)] for vs in (part.slope, part.constant)
        ]
        found.append(Piece(part.start, part.stop, keep[0], keep[1]))
    return found


def _roots(slope: Vector, constant: Vector) -> set[Fraction]:
    return {-c / a for a, c in zip(slope, constant, strict=True) if a}


def cut(piece: Piece, places: set[Fraction]) -> list[Piece]:
    """The piece in parts, between those of the places that lie strictly in it."""
    inner = sorted(
        t for t in places if (piece.start is None or t > piece.start) and (piece.stop is None or t < piece.stop)
    )
    ends = [piece.start, *inner, piece.stop]
    return [Piece(a, b, piece.slope, piece.constant) for a, b in pairwise(ends)]


def same_on_line(a: Layers, b: Layers, origin: Vector, direction: Vector) -> bool:
    """Whether two networks with the same head are the same function on a line, decided exactly.

    Softmax and its logarithm do not see what is added to all scores; sigmoid sees each score; argmax the first largest.
    """
    head = trunk_and_head(a)[1]
    first, second = along(a, origin, direction), along(b, origin, direction)
    places = {end for piece in (*first, *second) for end in (piece.start, piece.stop) if end is not None}
    pairs = list(zip(_refined(first, places), _refined(second, places), strict=True))
    if head == "argmax":
        return all(_same_winner(p, q) for p, q in pairs)
    if head in ("softmax", "log_softmax"):
        return all(_differences(p) == _differences(q) for p, q in pairs)
    return all((p.slope, p.constant) == (q.slope, q.constant) for p, q in pairs)


def _refined(pieces: list[Piece], places: set[Fraction]) -> list[Piece]:
    return [part for piece in pieces for part in cut(piece, places)]


def _differences(piece: Piece) -> tuple[Vector, Vector]:
    return [v - piece.slope[0] for v in piece.slope], [v - piece.constant[0] for v in piece.constant]


def _same_winner(p: Piece, q: Piece) -> bool:
    places: set[Fraction] = set()
    for piece in (p, q):
        for i in range(len(piece.slope)):
            for j in range(i):
                slope, constant = piece.slope[i] - piece.slope[j], piece.constant[i] - piece.constant[j]
                places |= _roots([slope], [constant])
    tried = [part.inside for part in cut(p, places)]
    tried += [t for part in cut(p, places) for t in (part.start, part.stop) if t is not None]
    return all(winner(p.at(t)) == winner(q.at(t)) for t in tried)


def winner(values: Vector) -> int:
    """The number of the first largest value."""
    return values.index(max(values))
