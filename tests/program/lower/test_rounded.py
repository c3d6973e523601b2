"""Whether lowering says that it rounded, against the network in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from polyfold.exact.error_free import matrix_products_are_exact, products_are_exact, sums_are_exact
from polyfold.program.lower.lower import lower, written_out
from polyfold.program.lower.rounding_free import written_out_without_rounding

torch = pytest.importorskip("torch")
nn = torch.nn


def fractions(array):
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=float))


def test_sums_and_products_against_fractions():
    rng = np.random.default_rng(0)
    a = np.concatenate([rng.normal(size=500), rng.integers(-9, 9, size=500) / 4, 2.0 ** rng.integers(-1074, 1023, 500)])
    b = np.concatenate([rng.permutation(a[:1000]), 2.0 ** rng.integers(-1074, 1023, 500)])
    exact_sums = exact_products = wary = 0
    with np.errstate(all="ignore"):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            one, two = np.array([x]), np.array([y])
            total, product = float((one + two)[0]), float((one * two)[0])
            true_sum = Fraction(total) == Fraction(x) + Fraction(y)
            true_product = abs(product) < np.inf and Fraction(product) == Fraction(x) * Fraction(y)
            assert sums_are_exact(one, two) == true_sum
            assert true_product or not products_are_exact(one, two)
            wary += true_product and not products_are_exact(one, two)
            exact_sums, exact_products = exact_sums + true_sum, exact_products + true_product
    assert 100 < exact_sums < 1400 and 100 < exact_products < 1400 and wary < 200


def test_matrix_products():
    rng = np.random.default_rng(0)
    full, diagonal = rng.normal(size=(3, 3)), np.diag([1.0, -2.0, 0.5])
    assert matrix_products_are_exact(full, diagonal) and matrix_products_are_exact(diagonal, full)
    assert not matrix_products_are_exact(full, full) and not matrix_products_are_exact(full, diagonal * 0.1)


def model(*layers):
    return nn.Sequential(*layers).double().eval()


PLAIN = {
    "layers": lambda: model(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.LeakyReLU(0.1), nn.Linear(4, 2)),
    "convolutions": lambda: model(
        nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 2, 2)
    ),
}
ROUNDED = {
    "two linear layers": lambda: model(nn.Linear(3, 4), nn.Linear(4, 2)),
    "a bias and a layer": lambda: model(nn.Hardtanh(-0.1, 0.3), nn.Linear(3, 2)),
    "a factor and a layer": lambda: model(nn.Linear(3, 2), nn.BatchNorm1d(2)),
    "a pool behind a convolution": lambda: model(
        nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 2, 3, padding=1), nn.MaxPool2d(2)
    ),
}


def shape_of(name):
    return (16,) if "convolution" in name else (3,)


@pytest.mark.parametrize("name", PLAIN)
def test_plain_networks_are_not_rounded(name):
    torch.manual_seed(0)
    program = lower(pf.load(PLAIN[name](), input_shape=shape_of(name)))
    assert not program.rounded and not written_out(program).rounded


@pytest.mark.parametrize("name", ROUNDED)
def test_linear_steps_that_follow_each_other_are(name):
    torch.manual_seed(0)
    network = ROUNDED[name]()
    for layer in network:
        if isinstance(layer, nn.BatchNorm1d):
            layer.running_var[:] = torch.rand(2) + 0.5
    assert written_out(lower(pf.load(network, input_shape=shape_of(name)))).rounded


def test_whole_numbers_are_never_rounded():
    """Two linear layers of which no sum has two terms; and the product is the one in fractions."""
    first, second = nn.Linear(3, 3).double(), nn.Linear(3, 2).double()
    with torch.no_grad():
        first.weight[:], first.bias[:] = torch.diag(torch.tensor([1.0, 2.0, -0.5])), torch.zeros(3)
    program = lower(pf.load(model(first, second), input_shape=(3,)))
    assert not program.rounded
    exactly = fractions(second.weight.detach()) @ fractions(first.weight.detach())
    assert (fractions(program.output.blocks[0].weight) == exactly).all()


def test_written_out_forms_that_are_not_rounded_are_exact():
    """Matrices of convolutions, pools and skips against the same in digits, on whole numbers."""
    from polyfold.exact.digits import digits_of
    from polyfold.program.passes.digits import digit_bits, exactly

    rng = np.random.default_rng(0)
    exact = rounded = 0
    for name in (*PLAIN, *ROUNDED):
        torch.manual_seed(1)
        program = lower(pf.load((PLAIN | ROUNDED)[name](), input_shape=shape_of(name)), structured=True)
        for affine, matrix in zip(program.affines, written_out(program).affines, strict=True):
            sources = [
                rng.integers(-9, 9, size=(4, width)).astype(float)
                for width in (program.input_dim, *(stage.width for stage in program.stages))
            ]
            x = [digits_of(values, digit_bits(program)) for values in sources]
            found, expected = exactly(matrix, x), exactly(affine, x)
            low = min(found.low, expected.low)
            same = all(
                _value(found, i, k, low) == _value(expected, i, k, low)
                for i in range(4)
                for k in range(len(affine.bias))
            )
            assert same or not written_out_without_rounding(affine.form), name
            exact, rounded = exact + same, rounded + (not same)
    assert exact > 5 and rounded


def _value(numbers, row, column, low):
    places = numbers.digits[:, row, column].tolist()
    total = sum(int(digit) << (numbers.bits * k) for k, digit in enumerate(places))
    return total << (numbers.bits * (numbers.low - low))
