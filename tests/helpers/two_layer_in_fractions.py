"""Networks of one hidden layer in Python's fractions: an evaluation that shares nothing with polyfold's."""

from __future__ import annotations

from fractions import Fraction


def numbers(array):
    """An array of rationals as nested lists of fractions."""
    if getattr(array, "ndim", 0):
        return [numbers(entry) for entry in array]
    return Fraction(int(array.p), int(array.q))


def parts(program):
    """(W, b, slopes on, slopes off, V, alpha, c) of an exact program with at most one stage."""
    inputs, outputs = program.input_dim, program.output_dim
    terms = program.output.terms
    alpha = numbers(terms[0]) if 0 in terms else [[Fraction(0)] * inputs for _ in range(outputs)]
    c = numbers(program.output.bias)
    if not program.stages:
        return [], [], [], [], [[] for _ in range(outputs)], alpha, c
    (stage,) = program.stages
    width = stage.width
    W = numbers(stage.rows.terms[0]) if 0 in stage.rows.terms else [[Fraction(0)] * inputs for _ in range(width)]
    V = numbers(terms[1]) if 1 in terms else [[Fraction(0)] * width for _ in range(outputs)]
    return W, numbers(stage.rows.bias), numbers(stage.slope_on), numbers(stage.slope_off), V, alpha, c


def value(program, x):
    """The outputs at one point, by the definition."""
    W, b, on, off, V, alpha, c = parts(program)
    point = [Fraction(entry) for entry in x]
    hidden = []
    for weights, bias, slope_on, slope_off in zip(W, b, on, off, strict=True):
        z = bias + sum(w * entry for w, entry in zip(weights, point, strict=True))
        hidden.append(z * (slope_on if z > 0 else slope_off))
    return tuple(
        offset
        + sum(v * h for v, h in zip(sent, hidden, strict=True))
        + sum(a * e for a, e in zip(row, point, strict=True))
        for sent, row, offset in zip(V, alpha, c, strict=True)
    )


def points(rng, dim, count=12):
    """Points of small fractions, near and far."""
    return [[Fraction(int(n), int(d)) for n, d in zip(rng.integers(-40, 41, dim), rng.integers(1, 9, dim), strict=True)]
            for _ in range(count)]  # fmt: skip


def same_values(a, b, rng, count=12):
    """Whether two programs agree at random points."""
    return all(value(a, x) == value(b, x) for x in points(rng, a.input_dim, count))
