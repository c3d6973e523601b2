"""fold: an affine function in any arithmetic, each form once, and never by matrices that were rounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy import sparse

from helpers.random_networks import networks
from polyfold.network import Network
from polyfold.network.ops.convolve import Window
from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.lower.lower import lower
from polyfold.program.operators import Convolved, Matrix, Operator, Sparse
from polyfold.program.passes.fold import fold, in_order

QUICK = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Floats:
    """Rows of floats, as NumPy has them; notes what was made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def entries(self, value: Any, first: int, count: int) -> Any:
        self.made.append("entries")
        return value[:, first : first + count]

    def zeros(self, values: Sequence[Any], count: int) -> Any:
        return np.zeros((len(values[0]), count))

    def through(self, operator: Operator, value: Any) -> Any:
        self.made.append("through")
        return operator.apply(value)

    def scaled(self, factor: Any, value: Any) -> Any:
        return value * factor

    def taken(self, index: Any, value: Any) -> Any:
        return value[:, index]

    def summed(self, parts: Sequence[Any]) -> Any:
        return sum(parts[1:], parts[0])

    def stacked(self, parts: Sequence[Any]) -> Any:
        return np.concatenate(parts, axis=1)

    def shifted(self, value: Any, bias: Any) -> Any:
        return value + bias


@QUICK
@given(networks(with_spatial=True))
def test_in_floats_it_is_what_numpy_computes(network: Network) -> None:
    rng = np.random.default_rng(0)
    for structured in (True, False):
        program = lower(network, structured=structured)
        sources = [rng.normal(size=(3, width)) for width in (program.input_dim, *(s.width for s in program.stages))]
        for affine in program.affines:
            values = sources[: 1 + len(program.stages)]
            np.testing.assert_allclose(fold(affine, values, Floats()), affine(values), rtol=1e-13, atol=1e-12)


class InFractions:
    """One row of exact numbers."""

    def entries(self, value: list[Fraction], first: int, count: int) -> list[Fraction]:
        return value[first : first + count]

    def zeros(self, values: Sequence[list[Fraction]], count: int) -> list[Fraction]:
        return [Fraction(0)] * count

    def through(self, operator: Operator, value: list[Fraction]) -> list[Fraction]:
        rows = (operator.row(number) for number in range(operator.rows))
        return [
            sum((Fraction(w) * value[k] for k, w in zip(columns.tolist(), weights.tolist(), strict=True)), Fraction(0))
            for columns, weights in rows
        ]

    def scaled(self, factor: Any, value: list[Fraction]) -> list[Fraction]:
        return [Fraction(f) * x for f, x in zip(factor.tolist(), value, strict=True)]

    def taken(self, index: Any, value: list[Fraction]) -> list[Fraction]:
        return [value[k] for k in index.tolist()]

    def summed(self, parts: Sequence[list[Fraction]]) -> list[Fraction]:
        return [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]

    def stacked(self, parts: Sequence[list[Fraction]]) -> list[Fraction]:
        return [x for part in parts for x in part]

    def shifted(self, value: list[Fraction], bias: Any) -> list[Fraction]:
        return [x + Fraction(b) for x, b in zip(value, bias.tolist(), strict=True)]


def test_products_of_coefficients_are_not_rounded() -> None:
    tenth, third = 0.1, 1 / 3
    kernel = Convolved(np.array([[[tenth]]]), Window((1,), ((0, 0),), (1,), 1), (3,))
    mean = Sparse(sparse.csr_array(np.full((1, 3), third)))
    bias = np.array([-(tenth * third)])
    affine = Structured(Applied(mean, Applied(kernel, Entries(0, 0, 3))), bias, (3,))
    (value,) = fold(affine, [[Fraction(1), Fraction(0), Fraction(0)]], InFractions())
    assert value == Fraction(tenth) * Fraction(third) - Fraction(tenth * third) != 0
    # As a matrix the same function is zero here.
    assert affine.blocks[0].weight[0, 0] + bias[0] == 0


def _everything() -> Affine:
    base = Entries(0, 0, 4)
    shared = Applied(Matrix(np.eye(2) * 0.1, groups=2), base)
    parts: tuple[Form, ...] = (Scaled(np.full(4, 0.3), shared), Taken(np.array([3, 3, 0, 1]), shared), shared)
    form = Stacked((Summed(parts), Nothing(2), Taken(np.array([2]), shared)))
    return Structured(form, np.arange(7.0), (4,))


def test_every_form_is_computed_once() -> None:
    by = Floats()
    fold(_everything(), [np.ones((1, 4))], by)
    assert by.made == ["entries", "through"]


def test_every_kind_of_form_in_fractions() -> None:
    x = [Fraction(k, 7) for k in (1, -2, 3, 5)]
    shared = [Fraction(0.1) * value for value in x]
    sums = [Fraction(0.3) * s + t + s for s, t in zip(shared, [shared[k] for k in (3, 3, 0, 1)], strict=True)]
    expected = [*sums, Fraction(0), Fraction(0), shared[2]]
    assert fold(_everything(), [x], InFractions()) == [value + k for k, value in enumerate(expected)]


def test_matrices_are_read_as_they_are() -> None:
    weights = [np.array([[1.0, 1e-20]]), np.array([[1.0, 3.0]])]
    affine = WrittenOut(tuple(Block(0, weight) for weight in weights), np.array([0.5]))
    one = Fraction(1)
    # Their sum would be rounded.
    assert fold(affine, [[one, one]], InFractions()) == [Fraction(1e-20) + 5 + Fraction(1, 2)]
    assert fold(WrittenOut((), np.array([2.0])), [[one, one]], InFractions()) == [2]


def test_values_are_freed_behind_their_last_reader() -> None:
    alive = 0
    most = 0

    class Counted:
        def __init__(self) -> None:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    class Counting(Floats):
        def entries(self, value: Any, first: int, count: int) -> Any:
            return Counted()

        def scaled(self, factor: Any, value: Any) -> Any:
            return Counted()

        def summed(self, parts: Sequence[Any]) -> Any:
            return Counted()

        def shifted(self, value: Any, bias: Any) -> Any:
            return value

    # A chain of skips as deep as no recursion goes.
    form: Form = Entries(0, 0, 1)
    for _ in range(3000):
        form = Summed((form, Scaled(np.ones(1), form)))
    fold(Structured(form, np.zeros(1), (1,)), [None], Counting())
    assert most <= 4


def test_parts_come_before_their_readers() -> None:
    affine = _everything()
    order = in_order(affine.form)
    place = {id(form): k for k, form in enumerate(order)}
    assert len(place) == len(order) and order[-1] is affine.form
    assert all(place[id(part)] < place[id(form)] for form in order for part in form.parts)


def test_an_unknown_kind_of_form_is_not_passed_over() -> None:
    class Unknown(Form):
        rows = 1
        parts = ()

        def apply(self, values: Any) -> Any:
            raise NotImplementedError

        pull = changed = apply

    with pytest.raises(AssertionError, match="Unknown"):
        fold(Structured(Unknown(), np.zeros(1), (1,)), [np.zeros((1, 1))], Floats())
