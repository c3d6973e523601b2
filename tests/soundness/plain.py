"""Networks as plain lists, evaluated in `fractions.Fraction`. Nothing here comes from polyfold.

A network is a list of layers (W, b), with a ReLU behind each but the last; a form is (slopes, constant).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

Layers = list[tuple[list[list[float]], list[float]]]
Form = tuple[list[Fraction], Fraction]
Inequality = tuple[list[Fraction], Fraction, bool]


def random_layers(rng, *widths: int, lattice: bool = False) -> Layers:
    """Random weights; from a coarse lattice (exact ties, parallel walls) or with all of a float's digits."""

    def numbers(*shape: int):
        return (rng.integers(-2, 3, size=shape) / 1.0 if lattice else rng.normal(size=shape)).tolist()

    return [(numbers(b, a), numbers(b)) for a, b in pairwise(widths)]


def dot(a: Sequence, x: Sequence) -> Fraction:
    return sum((Fraction(p) * Fraction(q) for p, q in zip(a, x, strict=True)), Fraction(0))


def evaluate(layers: Layers, x: Sequence) -> tuple[list[Fraction], list[Fraction]]:
    """Outputs, and the values of all gates in order."""
    values, gates = [Fraction(v) for v in x], []
    for number, (W, b) in enumerate(layers):
        values = [dot(row, values) + Fraction(bias) for row, bias in zip(W, b, strict=True)]
        if number < len(layers) - 1:
            gates += values
            values = [max(v, Fraction(0)) for v in values]
    return values, gates


def forms(layers: Layers, pattern: Sequence[bool]) -> tuple[list[Form], list[Form]]:
    """Outputs and gates as affine forms of the input, under a pattern."""
    inputs = len(layers[0][0][0])
    current: list[Form] = [([Fraction(int(i == j)) for j in range(inputs)], Fraction(0)) for i in range(inputs)]
    gates: list[Form] = []
    for number, (W, b) in enumerate(layers):
        current = [combined(row, bias, current) for row, bias in zip(W, b, strict=True)]
        if number < len(layers) - 1:
            first = len(gates)
            gates += current
            current = [
                form if pattern[first + k] else ([Fraction(0)] * inputs, Fraction(0)) for k, form in enumerate(current)
            ]
    return current, gates


def combined(weights: Sequence, bias, of: list[Form]) -> Form:
    slopes = [dot(weights, column) for column in zip(*(slopes for slopes, _ in of), strict=True)]
    return slopes, dot(weights, [constant for _, constant in of]) + Fraction(bias)


def inequalities(
    layers: Layers, pattern: Sequence[bool], lo: float, hi: float
) -> list[tuple[list[Fraction], Fraction, bool]]:
    """(a, b, strict): a . x <= b, or < b, of every gate and then of the box's rows -x_i <= -lo, x_i <= hi."""
    rows = []
    for (slopes, constant), on in zip(forms(layers, pattern)[1], pattern, strict=True):
        side = 1 if on else -1
        rows.append(([-side * s for s in slopes], side * constant, bool(on)))
    inputs = len(layers[0][0][0])
    for sign, end in ((-1, -lo), (1, hi)):
        rows += [([Fraction(sign * (i == j)) for j in range(inputs)], Fraction(end), False) for i in range(inputs)]
    return rows
