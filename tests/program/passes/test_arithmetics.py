"""Every arithmetic of a walk against rationals that are computed stage by stage, without any walk."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from helpers.slow_params import quick_then_slow
from helpers.structured_programs import as_structured, with_shared_values
from polyfold.domain.domain import Domain, resolve_domain
from polyfold.exact.bounded_values import BoundedValues, exact_values
from polyfold.exact.rational import fraction, rational, rational_matrix
from polyfold.program import Program
from polyfold.program.exact_program import from_program
from polyfold.program.number_range import growth
from polyfold.program.passes import bounded_rows, digits, jets, pulled_back, rational_intervals
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.bounded_layers import bounded_pass, in_floats
from polyfold.program.passes.floats import with_sizes
from polyfold.program.passes.held import pushed
from polyfold.program.passes.influence import influence_of_gates
from polyfold.program.passes.intervals import ranges
from polyfold.program.passes.linear_bounds import BoxBounds, sizes, whole_box
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.settled_digits import plan, settle
from polyfold.program.passes.supports import reached
from polyfold.testing import wide_case

Line = list[fmpq]


@dataclass(frozen=True, eq=False)
class Exact:
    """A program at points: exact pre-activations, patterns and outputs, one entry per point."""

    program: Program
    X: np.ndarray
    gates: list[Line]
    outputs: list[Line]

    @property
    def signs(self) -> np.ndarray:
        return np.array([[z > 0 for z in line] for line in self.gates], dtype=bool).reshape(len(self.X), -1)

    @property
    def zero(self) -> np.ndarray:
        return np.array([[z == 0 for z in line] for line in self.gates], dtype=bool).reshape(len(self.X), -1)


def stage_by_stage(program: Program, x: list[fmpq], push: tuple[int, int, np.ndarray] | None = None) -> list[Line]:
    """The pre-activations of all stages, and the outputs; or what a push (stage, gate, pattern) on a gate becomes."""
    exact = RationalProgram(program)
    sources, found = [fmpq_mat(len(x), 1, x)], []
    for number, affine in enumerate(program.affines):
        z = [line[0] for line in exact.affine(affine, sources).tolist()]
        if push is not None:
            z = [value - rational(bias) for value, bias in zip(z, affine.bias.tolist(), strict=True)]
        found.append(z)
        if number == len(program.stages):
            break
        stage = program.stages[number]
        on = [value > 0 for value in z] if push is None else push[2][program.gates_of(number)].tolist()
        slopes = [rational(float((stage.slope_on if side else stage.slope_off)[i])) for i, side in enumerate(on)]
        out = [value * slope for value, slope in zip(z, slopes, strict=True)]
        if push is not None and number <= push[0]:
            out = [fmpq(int(number == push[0] and i == push[1])) for i in range(stage.width)]
        sources.append(fmpq_mat(len(out), 1, out))
    return found


def exact_at(program: Program, X: np.ndarray) -> Exact:
    gates, outputs = [], []
    for x in X.tolist():
        *stages, last = stage_by_stage(program, [rational(value) for value in x])
        gates.append([z for stage in stages for z in stage])
        outputs.append(last)
    return Exact(program, X, gates, outputs)


@cache
def case(name: str) -> Exact:
    kind, _, seed = name.partition(" ")
    program = with_shared_values(int(seed)) if kind == "shared" else wide_case(int(seed)).program
    if kind == "structured":
        program = as_structured(program)
    rng = np.random.default_rng(int(seed))
    X = rng.normal(size=(5, program.input_dim))
    # Whole numbers and the origin, where gates are zero if they ever are.
    X[1], X[2] = np.round(X[1]), 0.0
    return exact_at(program, X)


KINDS = ("written-out", "structured")
NAMES = [*(f"shared {seed}" for seed in range(4)), *(f"{kind} {seed}" for seed in range(40) for kind in KINDS)]
every_case = pytest.mark.parametrize("name", quick_then_slow(NAMES, quick=28))


def as_floats(lines: list[Line]) -> np.ndarray:
    return np.array([[float(fraction(value)) for value in line] for line in lines])


def close(found: np.ndarray, exact: np.ndarray) -> None:
    np.testing.assert_allclose(
        found, exact.reshape(found.shape), rtol=0, atol=1e-9 * (1 + np.abs(exact).max(initial=0))
    )


def within(values: np.ndarray, errors: np.ndarray, exact: list[Line]) -> None:
    """Every exact number is as near as its bound says; rationals compare, so nothing is rounded."""
    for row, line in enumerate(exact):
        for value, error, true in zip(values[row].tolist(), errors[row].tolist(), line, strict=True):
            assert not np.isfinite(error) or abs(rational(value) - true) <= rational(error)


def between(low: np.ndarray, high: np.ndarray, exact: Line) -> None:
    for least, most, true in zip(low.tolist(), high.tolist(), exact, strict=True):
        assert (least == -np.inf or rational(least) <= true) and (most == np.inf or true <= rational(most))


@every_case
def test_floats(name: str) -> None:
    at = case(name)
    program, exact = at.program, as_floats(at.gates)
    outputs, signs = program.evaluate(at.X)
    close(outputs, as_floats(at.outputs))
    clear = np.abs(exact) > 1e-9 * (1 + np.abs(exact).max(initial=0))
    assert (signs == at.signs)[clear].all()
    filled = np.zeros_like(signs)
    again, largest = with_sizes(program, at.X, filled)
    close(again, as_floats(at.outputs))
    assert (filled == signs).all()
    assert (
        largest * (1 + 1e-9) >= np.abs(np.concatenate([at.X, exact.reshape(signs.shape), again], axis=1)).max(axis=1)
    ).all()


@every_case
def test_held_patterns(name: str) -> None:
    at = case(name)
    *stages, outputs = pushed(at.program, at.signs, at.X)
    close(np.concatenate([np.zeros((len(at.X), 0)), *stages], axis=1), as_floats(at.gates))
    close(outputs, as_floats(at.outputs))
    step = np.roll(at.X, 1, axis=0)
    *_, change = pushed(at.program, at.signs, step, linear=True)
    *_, there = pushed(at.program, at.signs, at.X + step)
    close(outputs + change, there)


@every_case
def test_rows_that_are_pulled_back_and_jets_that_are_pushed(name: str) -> None:
    at = case(name)
    program, signs, X = at.program, at.signs, at.X
    A, c = pulled_back.output_forms(program, signs)
    close(np.einsum("nmd,nd->nm", A, X) + c, as_floats(at.outputs))
    for gate in range(0, program.gates, 3):
        a, b = pulled_back.gate_forms(program, signs, np.full(len(X), gate))
        close((a * X).sum(axis=1) + b, as_floats(at.gates)[:, gate])
    nothing = np.zeros((0, program.input_dim)), np.zeros(0), np.zeros((0, 1)), np.zeros(0)
    for k, x in enumerate(X):
        line = Domain(np.zeros(program.input_dim), x[:, None], *nothing)
        slopes, values = jets.parameter_maps(program, line, signs[k : k + 1])
        close(slopes[0, :, 0] + values[0], as_floats(at.outputs)[k])
    bound, constant = pulled_back.output_forms(pulled_back.majorant(program), signs)
    assert (np.abs(A) <= bound * (1 + 1e-9)).all() and (np.abs(c) <= constant * (1 + 1e-9)).all()
    assert growth(program, np.full(program.input_dim, 2.0)) * (1 + 1e-9) >= max(bound.max(initial=0), constant.max())


@every_case
def test_bounded_floats(name: str) -> None:
    at = case(name)
    for passed in (
        bounded_forward(at.program, exact_values(at.X)),
        # The points lie within these bounds, too.
        bounded_forward(at.program, BoundedValues(at.X + 1e-12, np.full_like(at.X, 1e-11))),
    ):
        within(passed.outputs.values, passed.outputs.errors, at.outputs)
        assert (passed.pattern == at.signs)[passed.certain].all()
        assert at.zero[passed.zero].all()


@every_case
def test_bounded_rows(name: str) -> None:
    at = case(name)
    inputs = bounded_rows.rounded(at.X, np.abs(at.X).max(axis=0), 4)
    first = bounded_rows.pre_activations(at.program.steps.steps[0].affine, {0: inputs}, len(at.X))
    patterns, undecided = bounded_rows.patterns_at(at.program, inputs, first)
    # A row is proved if all of it is decided; what is not counts as off.
    proved = np.setdiff1d(np.arange(len(at.X)), undecided.rows)
    assert (patterns[proved] == at.signs[proved]).all()
    assert not patterns[undecided.rows, undecided.gates].any()


@every_case
def test_rationals(name: str) -> None:
    at = case(name)
    exact, written = RationalProgram(at.program), from_program(at.program)
    for k, x in enumerate(at.X):
        passed = exact.forward(rational_matrix(x[:, None]))
        assert [line[0] for line in passed.preactivations] == at.gates[k]
        assert [line[0] for line in passed.outputs] == at.outputs[k]
        assert list(passed.pattern) == at.signs[k].tolist()
        *stages, outputs = written.passes(x[None])
        assert [value for stage in stages for value in stage[:, 0]] == at.gates[k]
        assert list(outputs[:, 0]) == at.outputs[k]


@every_case
def test_digits(name: str) -> None:
    at = case(name)
    domain = resolve_domain(None, at.program.input_dim)
    for k, x in enumerate(at.X):
        expected = [fraction(value) for value in at.outputs[k]]
        assert digits.outputs_at(at.program, domain, x) == expected
        # The map of the point's own pattern, at the point.
        rows = digits.maps_of(at.program, domain, at.signs[k : k + 1])
        weights = [Fraction(1), *map(Fraction, x.tolist())]
        for m, value in enumerate(expected):
            assert sum(w * digits.fraction(rows, row, m) for row, w in enumerate(weights)) == value


@every_case
def test_settled_digits(name: str) -> None:
    at = case(name)
    for k, x in enumerate(at.X):
        settled = settle(at.program, x, plan(at.program, x))
        assert (settled.on == at.signs[k])[settled.proved].all()
        assert at.zero[k][settled.zero].all()


@every_case
def test_ranges_and_linear_bounds(name: str) -> None:
    at = case(name)
    program, exact = at.program, from_program(at.program)
    layers = in_floats(exact)
    low, high = at.X.min(axis=0), at.X.max(axis=0)
    values, errors = bounded_pass(layers, at.X)
    plain = ranges(layers, low, high)
    box = whole_box(layers, low, high, plain)
    everywhere = ranges(layers, np.full_like(low, -np.inf), np.full_like(high, np.inf))
    bounds = BoxBounds(layers, sizes(layers, np.maximum(np.abs(low), np.abs(high)), plain), plain)
    # Around each point a small box of its own.
    each = bounds.stages(at.X, np.full_like(at.X, 1e-3), len(program.stages))
    some = np.concatenate([np.eye(program.output_dim), -np.eye(program.output_dim)])
    below = bounds.rows(at.X, np.full_like(at.X, 1e-3), len(program.stages), some, each).bounds
    in_rationals = rational_intervals.source_ranges(exact, len(program.stages), Fraction(-5), Fraction(5))
    for number in range(len(program.stages)):
        here = program.gates_of(number)
        within(values[number], errors[number], [line[here] for line in at.gates])
        for k, line in enumerate(at.gates):
            for found in (plain, box, everywhere, [(a[k], b[k]) for a, b in each]):
                between(*found[number], line[here])
            z = rational_intervals.row_ranges(exact.stages[number].rows, in_rationals)
            assert all(z.lower[i] <= value <= z.upper[i] for i, value in enumerate(line[here]))
    # What verification asks for: linear bounds of the outputs themselves.
    for k, line in enumerate(at.outputs):
        between(below[k, : program.output_dim], -below[k, program.output_dim :], line)


@every_case
def test_supports(name: str) -> None:
    at = case(name)
    program = at.program
    free = np.ones(program.gates, dtype=bool)
    *stages, outputs = reached(program, np.eye(program.input_dim, dtype=bool), np.zeros_like(free), free)
    touched = np.concatenate([*stages, outputs], axis=1)
    for k in range(program.input_dim):
        moved = at.X.copy()
        moved[:, k] += 1.0
        there = exact_at(program, moved)
        for row in range(len(at.X)):
            before, after = at.gates[row] + at.outputs[row], there.gates[row] + there.outputs[row]
            assert all(before[i] == after[i] for i in np.flatnonzero(~touched[k]))


@every_case
def test_influence_of_gates(name: str) -> None:
    at = case(name)
    program = at.program
    nobody = np.zeros((1, program.gates), dtype=bool)
    for number, stage in enumerate(program.stages):
        for gate in range(0, stage.width, 3):
            pattern = at.signs[gate % len(at.X)]
            found = influence_of_gates(program, pattern[None], np.array([program.first_gate[number] + gate]), nobody)
            exact = stage_by_stage(program, [fmpq(0)] * program.input_dim, (number, gate, pattern))[-1]
            within(found.values, found.errors, [exact])
