"""Ops whose numbers are no floats: what they are in rationals, and how far the floats next to them are off."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from polyfold.exact.near import Near, UndecidedError, applied
from polyfold.network.graph import Network
from polyfold.network.ops import unrounded
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.op import Op, constant
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder
from polyfold.network.same import same_networks
from polyfold.program.exact_program import lower_exactly
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import evaluate_exactly

WINDOW = Window((2,), ((1, 0),), (1,), 1)
ZERO = fmpq(0)


def some(rng: np.random.Generator, *shape: int) -> Any:
    """Fractions that no float holds."""
    numbers = np.empty(int(np.prod(shape)), dtype=object)
    numbers[:] = [fmpq(2 * int(a) + 1, 3 * int(b)) for a, b in rng.integers(1, 50, size=(numbers.size, 2))]
    return numbers.reshape(shape)


def network_of(op: Op, shape: tuple[int, ...]) -> Network:
    builder = Builder("arrays")
    value = builder.emit("op", op, builder.port("x", shape))
    return builder.finish([builder.emit("relu", Rectify(constant(1.0), constant(0.0)), value)])


def case(name: str, rng: np.random.Generator) -> tuple[Op, tuple[int, ...], Any, Any]:
    """An op, the shape that it reads, and its matrix and offsets, written down by hand."""
    weight, factor, kernel, bias = some(rng, 2, 3), some(rng, 3), some(rng, 2, 1, 2), some(rng, 3)
    if name == "linear":
        return unrounded.linear(weight, bias[:2]), (3,), weight, bias[:2]
    if name == "scale":
        return unrounded.scale(factor), (3,), np.diag(factor), np.full(3, ZERO)
    if name == "shift":
        return unrounded.shift(bias), (3,), np.diag([fmpq(1)] * 3), bias
    windows = np.full((4, 3), ZERO, dtype=object)
    for channel, place, tap in product(range(2), repeat=3):
        if 0 <= 2 * place + tap - 1 < 3:
            windows[2 * channel + place, 2 * place + tap - 1] = kernel[channel, 0, tap]
    if name == "convolution":
        return unrounded.convolution(kernel, bias[:2], WINDOW), (1, 3), windows, np.repeat(bias[:2], 2)
    turned = unrounded.transposed_convolution(kernel, bias[:1], WINDOW, (3,))
    return turned, (2, 2), windows.T, np.repeat(bias[:1], 3)


@pytest.mark.parametrize("name", ["linear", "scale", "shift", "convolution", "transposed"])
@pytest.mark.parametrize("seed", range(4))
def test_programs_are_exact_or_say_how_far_they_are_off(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    op, shape, matrix, offsets = case(name, rng)
    assert isinstance(op, unrounded.Unrounded)
    network = network_of(op, shape)
    exact = lower_exactly(network)
    assert exact.rounding is None
    programs = [lower(network, structured=structured) for structured in (False, True)]
    assert all("numbers that are no floats" in program.rounding.words() for program in programs)
    for _ in range(4):
        point = [fmpq(int(k), 8) for k in rng.integers(-16, 17, size=network.input_dim)]
        true = [max(ZERO, value) for value in matrix @ np.array(point, dtype=object) + offsets]
        assert exact.evaluate([point])[0].tolist() == true
        np.testing.assert_allclose(network([[float(x) for x in point]])[0], [float(y) for y in true], rtol=1e-12)
        for program in programs:
            found = evaluate_exactly(program, point).outputs
            bound = program.distance(np.array([abs(float(x)) for x in point]))
            assert all(
                abs(a - b) <= fmpq(*off.as_integer_ratio()) for a, b, off in zip(found, true, bound, strict=True)
            )
            assert bound.max() < 1e-12


def test_numbers_that_are_floats_are_kept_as_floats() -> None:
    half = np.array([[fmpq(1, 2)]], dtype=object)
    assert type(unrounded.linear(half, np.zeros(1))).__name__ == "Linear"
    assert type(unrounded.linear(half / 3, np.zeros(1))).__name__ == "Unrounded"


def test_the_same_numbers_make_the_same_networks() -> None:
    def one(value: Any) -> Network:
        return network_of(unrounded.scale(np.array([value], dtype=object)), (1,))

    third, root = fmpq(1, 3), applied("sqrt", fmpq(2))
    assert same_networks(one(third), one(fmpq(1, 3))) and not same_networks(one(third), one(fmpq(1, 3) + 1))
    assert same_networks(one(root), one(applied("sqrt", fmpq(2))))
    # One number may be the other: that is not known, so that nothing is claimed.
    assert not same_networks(one(root), one(root * root / root))
    assert pf.equivalent(one(third), [([[Fraction(1, 3)]], [0]), ([[1.0]], [0.0])]).word == "equal"
    assert pf.equivalent(one(third), one(fmpq(*(1 / 3).as_integer_ratio()))).word == "different"
    # The same root somewhere else, and a rational number next to a root.
    twice = network_of(unrounded.scale(np.array([2 * root], dtype=object)), (1,))
    assert pf.equivalent(one(root), twice).word == "different"
    near, off = root.drawn()
    assert pf.equivalent(one(root), one(near), pf.box(-1, 1)).verdict == "unknown"
    assert pf.equivalent(one(root), one(near), pf.box(-1, 1), tolerance=Fraction(1, 10**50)).word == "equal"
    assert off < fmpq(1, 2**199)


def test_balls_hold_what_they_stand_for() -> None:
    root = applied("sqrt", fmpq(2))
    assert isinstance(root, Near)
    for salt in (b"", b"other"):
        near, off = root.drawn(salt)
        true = Fraction(isqrt(2 << 2000), 1 << 1000)
        assert abs(Fraction(int(near.p), int(near.q)) - true) <= Fraction(int(off.p), int(off.q)) + Fraction(
            1, 1 << 999
        )
    assert root.drawn(b"a") != root.drawn(b"b") and root.drawn(b"a") == applied("sqrt", fmpq(2)).drawn(b"a")
    assert applied("exp", ZERO) == 1 and applied("log", fmpq(1)) == 0 and applied("sqrt", fmpq(4, 9)) == fmpq(2, 3)
    assert root + 1 == 1 + root and root * 3 == fmpq(3) * root
    assert root > 1 and not root < 1 and abs(-root) > 1
    for senseless in (lambda: applied("sqrt", fmpq(-1)), lambda: applied("log", ZERO), lambda: root * root - 2):
        with pytest.raises(UndecidedError):
            senseless()
