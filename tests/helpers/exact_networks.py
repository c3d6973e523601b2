"""Generated networks in rationals, points to compare them at, and random transformations with any rational factors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

import polyfold as pf
from polyfold.exact.rational_arrays import rationals
from polyfold.network.graph import Port
from polyfold.program.affine import WrittenOut
from polyfold.program.exact_program import ExactProgram, ExactStage, Frame
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.program import Program
from polyfold.testing import generated_case

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def exact(program: Program) -> ExactProgram:
    """A program of floats in rationals."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    stages, first = [], 0
    for stage in program.stages:
        origins = tuple(program.origins[first + i] for i in range(stage.width))
        on, off = rationals(stage.slope_on), rationals(stage.slope_off)
        stages.append(ExactStage(_rows(stage.affine, widths), on, off, origins))
        first += stage.width
    frame = Frame((Port("input", (program.input_dim,)),), (("output", (program.output_dim,)),))
    return ExactProgram(frame, tuple(stages), _rows(program.output, widths))


def generated(seed: int, size: int = 5) -> ExactProgram:
    """Odd seeds are degenerate; some have skips, slopes of every kind, or maxima."""
    return exact(generated_case(seed, size=size).program)


def points(program: ExactProgram, seed: int, count: int = 12) -> np.ndarray:
    """Small fractions: many are on walls of degenerate networks."""
    rng = np.random.default_rng([seed, 1])
    numerators = rng.integers(-12, 13, size=(count, program.input_dim))
    divisors = rng.choice([1, 2, 3], size=numerators.shape)
    found = [fmpq(int(p), int(q)) for p, q in zip(numerators.ravel(), divisors.ravel(), strict=True)]
    return np.array(found, dtype=object).reshape(numerators.shape)


def same_values(a: ExactProgram, b: ExactProgram, seed: int = 0) -> bool:
    X = points(a, seed)
    return bool((a.evaluate(X) == b.evaluate(X)).all())


def numbers(program: ExactProgram) -> list:
    """All numbers of a program, zero matrices left out."""
    return [
        *((stage.slope_on.tolist(), stage.slope_off.tolist()) for stage in program.stages),
        *(
            (rows.bias.tolist(), [(s, m.tolist()) for s, m in sorted(rows.terms.items()) if m.any()])
            for rows in program.affines
        ),
    ]


def random_steps(
    program: ExactProgram, seed: int, kinds: tuple[str, ...] = ("permutation", "rescaling", "flip"), count: int = 4
) -> pf.symmetry.Transformation:
    """Some transformations of any layers, with fractions that floats cannot hold."""
    rng = np.random.default_rng([seed, 2])
    steps: list[pf.symmetry.Transformation] = []
    for _ in range(count):
        layer = int(rng.integers(1, len(program.stages) + 1))
        width = program.widths[layer]
        kind = kinds[rng.integers(len(kinds))]
        if kind == "permutation":
            steps.append(pf.symmetry.Permutation(layer, rng.permutation(width)))
        elif kind == "rescaling":
            factors = [Fraction(int(p), int(q)) for p, q in rng.integers(1, 9, size=(width, 2))]
            steps.append(pf.symmetry.Rescaling(layer, factors))
        else:
            steps.append(pf.symmetry.Flip(layer, np.flatnonzero(rng.random(width) < 0.5)))
    return pf.symmetry.compose(steps)


def _rows(affine: object, widths: list[int]) -> RationalRows:
    assert isinstance(affine, WrittenOut)
    rows = RationalRows({}, rationals(affine.bias))
    for block in affine.blocks:
        rows = rows.plus(RationalRows({block.source: rationals(np.array(block.weight))}, rows.bias * fmpq(0)))
    assert all(matrix.shape[1] == widths[source] for source, matrix in rows.terms.items())
    return rows
