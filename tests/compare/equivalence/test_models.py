"""Trained networks from public benchmarks, where ../shared is present: ACAS-Xu, and ReLUs that were split."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.shared_files import MODELS
from polyfold.program.lower.lower import lower

onnxruntime: Any = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.shared("models")

ACAS = MODELS / "acasxu_1_1.onnx"
PERTURBED = MODELS / "iso_ACASXU_run2a_1_1_batch_2000_perturbed_0.onnx"
SPLIT = MODELS / "rsplit_orig.onnx", MODELS / "rsplit_split25.onnx"
# All inputs that the network is meant for, normalised as its benchmark does it; and the box of its third property.
INPUTS = pf.box([-0.328422877, -0.5, -0.5, -0.5, -0.5], [0.679857769, 0.5, 0.5, 0.5, 0.5])
PROPERTY_3 = pf.box([-0.303531156, -0.009549297, 0.493380324, 0.3, 0.3], [-0.298552812, 0.009549297, 0.5, 0.5, 0.5])


def by_onnxruntime(path: Path, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    shape = [n if isinstance(n, int) else 1 for n in port.shape]
    return np.ravel(session.run(None, {port.name: x.astype(np.float32).reshape(shape)})[0]).astype(np.float64)


def shuffled(rng: np.random.Generator, factors, kind: type):
    """acasxu_1_1 with the neurons of every layer in another order and times factors."""
    layers = [(affine.blocks[0].weight, affine.bias) for affine in lower(pf.load(ACAS)).affines]
    for k in range(len(layers) - 1):
        (W, b), (V, c) = layers[k], layers[k + 1]
        order, factor = rng.permutation(len(b)), factors(len(b))
        layers[k], layers[k + 1] = (W[order] * factor[:, None], b[order] * factor), (V[:, order] / factor, c)
    return [tuple(array.astype(kind).astype(np.float64) for array in layer) for layer in layers]


def test_acasxu_with_neurons_permuted_and_rescaled_by_powers_of_two():
    rng = np.random.default_rng(0)
    other = shuffled(rng, lambda n: 2.0 ** rng.integers(-4, 5, size=n), np.float32)
    for domain in (None, INPUTS):
        result = pf.equivalent(ACAS, other, domain)
        assert result.word == "equal" and result.max_difference == 0 and result.exact
        assert result.certificate.level == "certified"
    other[3][0][7, 11] += 2.0**-10
    assert pf.equivalent(ACAS, other, INPUTS, max_seconds=2).word == "different"


@pytest.mark.slow
def test_acasxu_with_the_last_bit_of_one_weight_changed():
    rng = np.random.default_rng(0)
    other = shuffled(rng, lambda n: 2.0 ** rng.integers(-4, 5, size=n), np.float32)
    other[3][0][7, 11] = np.nextafter(other[3][0][7, 11], np.inf)
    assert pf.equivalent(ACAS, other, INPUTS, max_seconds=10).word == "different"


@pytest.mark.slow
def test_acasxu_with_neurons_rescaled_by_any_factors():
    rng = np.random.default_rng(1)
    other = shuffled(rng, lambda n: rng.uniform(0.5, 2, size=n), np.float32)
    X = rng.uniform(INPUTS.lo, INPUTS.hi, size=(100_000, 5))
    sampled = np.abs(pf.load(ACAS)(X) - pf.load(other)(X)).max()
    for domain, tolerance in ((PROPERTY_3, 1e-4), (INPUTS, 0.05)):
        result = pf.equivalent(ACAS, other, domain, tolerance=tolerance)
        assert result.word == "equal" and result.upper <= Fraction(tolerance), result
        assert result.certificate.level == "certified"
    assert sampled <= result.upper
    doubles = shuffled(rng, lambda n: rng.uniform(0.5, 2, size=n), np.float64)
    assert pf.equivalent(ACAS, doubles, INPUTS, tolerance=1e-9).word == "equal"


def confirmed_by_onnxruntime(result: pf.compare.Equivalence) -> float:
    """The difference that the two files have in onnxruntime at the point that was found."""
    assert result.word == "different" and not result
    x = result.x
    assert (np.array(INPUTS.lo) <= x).all() and (x <= np.array(INPUTS.hi)).all()
    assert (x.astype(np.float32) == x).all()
    found = np.abs(by_onnxruntime(ACAS, x) - by_onnxruntime(PERTURBED, x)).max()
    assert found == pytest.approx(float(result.max_difference), rel=1e-3)
    return found


def test_the_perturbed_acasxu_differs_and_onnxruntime_confirms_it():
    result = pf.equivalent(ACAS, PERTURBED, INPUTS, max_seconds=1.5)
    assert confirmed_by_onnxruntime(result) > 0


@pytest.mark.slow
def test_the_perturbed_acasxu_differs_by_as_much_as_samples_say():
    result = pf.equivalent(ACAS, PERTURBED, INPUTS)
    assert confirmed_by_onnxruntime(result) > 0.1
    rng = np.random.default_rng(0)
    X = rng.uniform(INPUTS.lo, INPUTS.hi, size=(100_000, 5))
    sampled = np.abs(pf.load(ACAS)(X) - pf.load(PERTURBED)(X)).max()
    assert 0.9 * sampled <= result.max_difference <= result.upper


@pytest.mark.slow
def test_the_perturbed_acasxu_on_a_small_box_exactly():
    middle = (np.array(PROPERTY_3.lo) + np.array(PROPERTY_3.hi)) / 2
    half = 0.1 * (np.array(PROPERTY_3.hi) - np.array(PROPERTY_3.lo))
    result = pf.equivalent(ACAS, PERTURBED, pf.box(middle - half, middle + half), max_seconds=300)
    # The second file subtracts offsets first: its program is rounded, and cells bound it with room for that.
    assert result.word == "different" and result.upper - result.max_difference < Fraction(1, 10**10)
    X = np.random.default_rng(0).uniform(middle - half, middle + half, size=(1_000_000, 5))
    sampled = np.abs(pf.load(ACAS)(X) - pf.load(PERTURBED)(X)).max()
    assert 0.8 * float(result.max_difference) < sampled <= result.max_difference


@pytest.mark.slow
def test_split_relus_are_equal_up_to_rounding():
    images = pf.box(0, 1)
    result = pf.equivalent(*SPLIT, images, tolerance=0.01)
    assert result.word == "equal" and result.certificate.level == "certified"
    assert 0 < result.max_difference <= result.upper < Fraction(0.005)
    X = np.random.default_rng(0).uniform(0, 1, size=(2_000, 784))
    assert np.abs(pf.load(SPLIT[0])(X) - pf.load(SPLIT[1])(X)).max() <= result.upper
    exactly = pf.equivalent(*SPLIT, images)
    assert exactly.word == "different" and 0 < exactly.max_difference <= exactly.upper < Fraction(0.005)
