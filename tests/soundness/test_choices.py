"""where(h > c, a, b), also inside of another: read exactly where it is continuous, refused where it jumps.

The oracle follows the same expression in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.errors import UnsupportedOpError


@dataclass(frozen=True)
class Affine:
    slope: float
    offset: float

    def tensor(self, h: Any) -> Any:
        return self.slope * h + self.offset

    def exactly(self, h: Fraction) -> Fraction:
        return Fraction(self.slope) * h + Fraction(self.offset)


@dataclass(frozen=True)
class Choice:
    """above where h > at, below elsewhere."""

    at: float
    above: Any
    below: Any

    def tensor(self, h: Any) -> Any:
        return torch.where(h > self.at, self.above.tensor(h), self.below.tensor(h))

    def exactly(self, h: Fraction) -> Fraction:
        return (self.above if h > Fraction(self.at) else self.below).exactly(h)

    @property
    def jumps(self) -> bool:
        at = Fraction(self.at)
        inner = any(isinstance(part, Choice) and part.jumps for part in (self.above, self.below))
        return inner or self.above.exactly(at) != self.below.exactly(at)


class Module(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, choice: Any) -> None:
        super().__init__()
        self.choice = choice

    def forward(self, x: Any) -> Any:
        return self.choice.tensor(x)


def generated(rng: Any, depth: int) -> Any:
    """Choices whose numbers have few bits, so that most of them can be made to meet."""
    if depth == 0:
        return Affine(float(rng.integers(-8, 9)) / 4, float(rng.integers(-8, 9)) / 4)
    above, below = generated(rng, int(rng.integers(depth))), generated(rng, int(rng.integers(depth)))
    at = float(rng.integers(-8, 9)) / 4
    if isinstance(above, Affine) and rng.random() < 0.9:
        above = Affine(above.slope, float(below.exactly(Fraction(at)) - Fraction(above.slope) * Fraction(at)))
    return Choice(at, above, below)


@pytest.mark.parametrize("seed", quick_then_slow(range(25), quick=9))
def test_generated_choices(seed: int) -> None:
    choice = generated(np.random.default_rng(seed), 3)
    if not isinstance(choice, Choice) or choice.jumps:
        with pytest.raises(UnsupportedOpError, match="jump"):
            pf.load(Module(choice), input_shape=(1,))
            raise UnsupportedOpError("no choice, so nothing jumps")
        return
    network = pf.load(Module(choice), input_shape=(1,))
    for k in range(-48, 49):
        point = Fraction(k, 16)
        # All numbers have so few bits that floats round nothing.
        assert Fraction(float(network([[float(point)]])[0, 0])) == choice.exactly(point), (choice, point)


@pytest.mark.parametrize(
    ("choice", "jumps"),
    [
        # 0.1 * 3 is not 0.3 in floats, but as real numbers 3 * fl(0.1) is not fl(0.3) either: it jumps, by 3e-17.
        (Choice(0.1, Affine(3.0, 0.0), Affine(0.0, 0.3)), True),
        (Choice(0.1, Affine(3.0, 0.0), Affine(0.0, 3 * 0.1)), True),
        (Choice(0.5, Affine(3.0, 0.0), Affine(0.0, 1.5)), False),
        (Choice(1.0, Affine(0.0, 1.0), Choice(-1.0, Affine(1.0, 0.0), Affine(0.0, -1.0))), False),
        (Choice(0.0, Choice(1.0, Affine(2.0, -1.0), Affine(1.0, 0.0)), Affine(0.1, 0.0)), False),
        (Choice(0.0, Choice(1.0, Affine(1.0, 1.0), Affine(1.0, 0.0)), Affine(0.1, 0.0)), True),
        # The inner one switches where the outer one never looks.
        (Choice(3.0, Choice(0.0, Affine(1.0, 0.0), Affine(0.0, 0.0)), Affine(0.0, 3.0)), False),
    ],
)
def test_choices_by_hand(choice: Choice, jumps: bool) -> None:
    assert choice.jumps == jumps
    if jumps:
        with pytest.raises(UnsupportedOpError, match="it jumps there"):
            pf.load(Module(choice), input_shape=(2,))
        return
    X = np.linspace(-4, 4, 65)[:, None] * [1.0, 0.5]
    expected = choice.tensor(torch.as_tensor(X)).numpy()
    np.testing.assert_allclose(pf.load(Module(choice), input_shape=(2,))(X), expected, rtol=0, atol=1e-15)


def test_a_choice_between_functions_of_a_difference() -> None:
    class Larger(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            a, b = x[:, :1], x[:, 1:]
            return torch.where(a > b, a - b, torch.zeros_like(a))

    network = pf.load(Larger(), input_shape=(2,))
    np.testing.assert_array_equal(network([[3.0, 1.0], [1.0, 3.0]]), [[2.0], [0.0]])
    assert pf.count(network).cells == 2
