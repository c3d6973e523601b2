"""Numbers written as digits are what fractions say they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyfold.errors import LimitError
from polyfold.exact.digits import Digits, added, bits_for, digits_of, digits_of_coefficients, stacked

FLOATS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 2.0**17, -(2.0**17), 2.0**18 - 1, -0.5]),
    st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-30),
)
MATRICES = st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(FLOATS, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
        lambda entries: np.array(entries).reshape(shape)
    )
)
BITS = st.sampled_from([3, 12, 18, 24])


def fractions(numbers: Digits) -> list[list[Fraction]]:
    assert (np.abs(numbers.digits) <= 2 ** (numbers.bits - 1)).all()
    return [
        [
            sum(
                (
                    Fraction(int(numbers.digits[k, i, j])) * Fraction(2) ** (numbers.bits * (numbers.low + k))
                    for k in range(len(numbers.digits))
                ),
                Fraction(0),
            )
            for j in range(numbers.shape[1])
        ]
        for i in range(numbers.shape[0])
    ]


def exact(array: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in array.tolist()]


@given(MATRICES, BITS)
def test_floats_keep_every_bit(array: np.ndarray, bits: int) -> None:
    numbers = digits_of(array, bits)
    assert fractions(numbers) == exact(array)
    assert (np.abs(numbers.floats - array) <= numbers.error * np.abs(array)).all()
    assert (numbers.nonzero == (array != 0)).all()


@settings(max_examples=60)
@given(MATRICES, st.integers(1, 4), st.integers(0, 1000))
def test_products_and_sums(array: np.ndarray, outputs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=(outputs, array.shape[1])) * 10.0 ** rng.integers(-6, 3, size=(outputs, array.shape[1]))
    numbers = digits_of(array, bits_for(array.shape[1]))
    places, low = digits_of_coefficients(weight, numbers.bits)
    product = numbers.through([lambda x, place=place: x @ place.T for place in places], low, outputs)
    truth = [[sum(a * b for a, b in zip(row, line, strict=True)) for line in exact(weight)] for row in exact(array)]
    assert fractions(product) == truth
    factor = rng.normal(size=outputs)
    scaled = product.scaled(factor)
    assert fractions(scaled) == [[x * Fraction(f) for x, f in zip(row, factor.tolist(), strict=True)] for row in truth]
    total = added([product, scaled, product])
    rows = zip(truth, fractions(scaled), strict=True)
    assert fractions(total) == [[2 * x + y for x, y in zip(*pair, strict=True)] for pair in rows]
    assert fractions(stacked([scaled, product])) == [
        [*x, *y] for x, y in zip(fractions(scaled), fractions(product), strict=True)
    ]


@given(MATRICES, BITS, st.integers(-12, 12))
def test_a_cut_says_what_it_loses(array: np.ndarray, bits: int, low: int) -> None:
    numbers = digits_of(array, bits)
    rest, lost = numbers.cut(low)
    for kept, whole, bound in zip(fractions(rest), exact(array), exact(lost), strict=True):
        assert all(abs(x - y) <= b for x, y, b in zip(kept, whole, bound, strict=True))
    # What is not touched is not in doubt.
    assert not lost[array == 0].any()


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(LimitError, match="as large as 1e\\+300"):
        digits_of(np.array([[1e300]]), 18)
    with pytest.raises(LimitError, match="close to the smallest"):
        digits_of(np.array([[1e-300]]), 18)
    wide = np.array([[1.0, 1e-200]])
    places, low = digits_of_coefficients(wide, 18)
    with pytest.raises(LimitError, match="differ too much"):
        digits_of(np.ones((1, 2)), 18).through([lambda x, place=place: x @ place.T for place in places], low, 1)
