"""Random networks of one hidden layer, in rationals, many of them degenerate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from polyfold.exact.rational_arrays import rationals
from polyfold.program.exact_program import from_layers
from polyfold.program.lower.rational_rows import RationalRows

SLOPES = (Fraction(0), Fraction(1, 4), Fraction(-1, 2), Fraction(-1), Fraction(2))


def fractions(rng, *shape, bound=6):
    """Small fractions, a third of them integers."""
    count = int(np.prod(shape))
    denominators = rng.choice([1, 2, 3, 4], size=count)
    values = [
        Fraction(int(n), int(d)) for n, d in zip(rng.integers(-bound, bound + 1, count), denominators, strict=True)
    ]
    return np.array([*values, None], dtype=object)[:-1].reshape(shape)


def random_layers(rng, *, dim=None, outputs=None, neurons=None):
    """(W, b, V, c) with neurons that R1, R2 and R3 can take away, and some that add up to constants."""
    dim = int(rng.integers(1, 5)) if dim is None else dim
    outputs = int(rng.integers(1, 4)) if outputs is None else outputs
    neurons = int(rng.integers(0, 6)) if neurons is None else neurons
    W, b = list(fractions(rng, neurons, dim)), list(fractions(rng, neurons))
    V = list(fractions(rng, outputs, neurons).T)
    for change in rng.permutation(6)[: rng.integers(0, 4)]:
        if change == 0:  # a neuron that sees a multiple of another one: positive or negative
            if W:
                k, factor = rng.integers(len(W)), Fraction(int(rng.choice([-3, -2, -1, 1, 2])), int(rng.integers(1, 4)))
                W.append(W[k] * factor), b.append(b[k] * factor), V.append(fractions(rng, outputs))
        elif change == 1:  # a neuron that reads nothing but its bias
            W.append(np.array([Fraction(0)] * dim, dtype=object)), b.append(Fraction(int(rng.integers(-2, 3))))
            V.append(fractions(rng, outputs))
        elif change == 2:  # a neuron that nobody hears
            W.append(fractions(rng, dim)), b.append(fractions(rng, 1)[0])
            V.append(np.array([Fraction(0)] * outputs, dtype=object))
        elif change == 3:  # an opposite pair that is linear
            w, bias, v = fractions(rng, dim), fractions(rng, 1)[0], fractions(rng, outputs)
            W += [w, -w]
            b += [bias, -bias]
            V += [v, -v]
        elif change == 4:  # two neurons and one that undoes their linear sum, with one vector of outgoing weights
            w, other, v = fractions(rng, dim), fractions(rng, dim), fractions(rng, outputs)
            W += [w, other, -w - other]
            b += list(fractions(rng, 3))
            V += [v, v, v]
        elif len(W) > 1:  # several walls through one point
            for k in range(len(W)):
                b[k] = -sum(W[k], Fraction(0))
    order = rng.permutation(len(W))
    shaped = np.array([W[k] for k in order], dtype=object).reshape(len(W), dim)
    sent = np.array([V[k] for k in order], dtype=object).reshape(len(W), outputs).T
    return shaped, np.array([b[k] for k in order], dtype=object), sent, fractions(rng, outputs)


def random_program(rng, *, mixed=False, path=None, **sizes):
    """A program of one stage with ReLUs or LeakyReLUs; `mixed` slopes, and a linear `path`, now and then."""
    W, b, V, c = random_layers(rng, **sizes)
    slope = SLOPES[int(rng.integers(len(SLOPES)))] if rng.random() < 0.5 else Fraction(0)
    program = from_layers([(W, b), (V, c)], slope_off=slope)
    if mixed and len(b):
        stage = program.stages[0]
        off = rationals([SLOPES[int(k)] for k in rng.integers(len(SLOPES), size=len(b))])
        program = replace(program, stages=(replace(stage, slope_off=off),))
    if rng.random() < 0.2 if path is None else path:
        terms = {0: rationals(fractions(rng, program.output_dim, program.input_dim)), **program.output.terms}
        program = replace(program, output=RationalRows(terms, program.output.bias))
    return program
