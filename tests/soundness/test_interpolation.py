"""Weights of interpolations are the numbers that the sizes and scales of a file make, not what floats make of them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import polyfold as pf
from polyfold.program.exact_program import lower_exactly
from polyfold.program.lower.lower import lower
from soundness.interpolation_oracle import onnx_axis, over_space, torch_axis

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

RULES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")


def onnx_model(nodes, constants, shape, kind=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def resize(shape, *, scales=None, sizes=None, kind=TensorProto.FLOAT, **options):
    constants = {"scales": np.asarray(scales, dtype=np.float32)} if sizes is None else {"sizes": np.asarray(sizes)}
    inputs = ["x", "", "scales"] if sizes is None else ["x", "", "", "sizes"]
    return onnx_model([helper.make_node("Resize", inputs, ["y"], **options)], constants, shape, kind)


def exact_outputs(network, numbers):
    """The network in rationals at a point, as fractions."""
    found = lower_exactly(network).evaluate([numbers])[0]
    return [Fraction(int(value.p), int(value.q)) for value in found]


def some_numbers(rng, *shape):
    flat = [Fraction(int(k), 16) for k in rng.integers(-64, 65, size=int(np.prod(shape)))]
    return flat, np.array(flat, dtype=object).reshape(shape).tolist()


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_resize_as_fractions_have_it(mode, rule, seed):
    rng = np.random.default_rng(seed)
    space = rng.integers(2, 6, size=2).tolist()
    options = {"mode": mode, "coordinate_transformation_mode": rule}
    a = Fraction(-3, 4)
    if mode == "cubic" and seed:
        options |= {"cubic_coeff_a": -0.6, "exclude_outside": int(seed == 2)}
        a = Fraction(float(np.float32(-0.6)))
    if seed % 2:
        sizes = rng.integers(1, 8, size=2).tolist()
        model = resize([1, 1, *space], sizes=[1, 1, *sizes], **options)
        scales = [Fraction(n, m) for n, m in zip(sizes, space, strict=True)]
    else:
        given = rng.uniform(0.6, 2.5, size=2).astype(np.float32)
        model = resize([1, 1, *space], scales=[1, 1, *given], **options)
        scales = [Fraction(float(scale)) for scale in given]
        sizes = [(n * scale).__floor__() for n, scale in zip(space, scales, strict=True)]
    axes = [
        partial(onnx_axis, after=m, scale=scale, rule=rule, mode=mode, a=a, exclude=options.get("exclude_outside"))
        for m, scale in zip(sizes, scales, strict=True)
    ]
    flat, nested = some_numbers(rng, *space)
    assert exact_outputs(pf.load(model), flat) == [value for row in over_space(nested, axes) for value in row]


class Interpolating(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, x):
        return functional.interpolate(x, **self.options)


WAYS = [
    *({"mode": mode, "align_corners": align} for mode in ("bilinear", "bicubic") for align in (False, True)),
    *({"mode": mode, "antialias": True} for mode in ("bilinear", "bicubic")),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_interpolate_as_fractions_have_it(way, seed):
    rng = np.random.default_rng(seed)
    space = rng.integers(2, 6, size=2).tolist()
    if seed:
        sizes, scales = rng.integers(1, 9, size=2).tolist(), [None, None]
        module = Interpolating(size=sizes, **way)
    else:
        given = [0.7, 1.3] if min(space) > 1 else [1.7, 1.3]
        scales, sizes = [Fraction(s) for s in given], [int(n * s) for n, s in zip(space, given, strict=True)]
        module = Interpolating(scale_factor=given, **way)
    options = {"align": way.get("align_corners", False), "antialias": way.get("antialias", False)}
    axes = [
        partial(torch_axis, after=m, scale=scale, mode=way["mode"].removeprefix("bi"), **options)
        for m, scale in zip(sizes, scales, strict=True)
    ]
    flat, nested = some_numbers(rng, *space)
    network = pf.load(module, input_shape=(1, *space))
    assert exact_outputs(network, flat) == [value for row in over_space(nested, axes) for value in row]


def matrix_model(matrix, divisor):
    """(matrix @ x) / divisor on rows (1, 1, n)."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Div", ["p", "d"], ["y"])]
    constants = {"w": np.asarray(matrix, dtype=np.float64).T, "d": np.array(divisor, dtype=np.float64)}
    return onnx_model(nodes, constants, [1, 1, len(matrix[0])], TensorProto.DOUBLE)


def test_thirds_are_thirds():
    """A line of two places becomes one of four: the weights are thirds, whatever float32 makes of them."""
    options = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    model = resize([1, 1, 2], sizes=[1, 1, 4], **options)
    thirds = [[3, 0], [2, 1], [1, 2], [0, 3]]
    assert pf.equivalent(model, matrix_model(thirds, 3)).word == "equal"
    module = Interpolating(size=4, mode="linear", align_corners=True)
    assert pf.equivalent(model, pf.load(module, input_shape=(1, 2))).word == "equal"
    for kind in (np.float32, np.float64):
        rounded = [[float(kind(w) / kind(3)) for w in row] for row in thirds]
        assert pf.equivalent(model, matrix_model(rounded, 1)).word == "different"


def test_two_files_that_float32_cannot_tell_apart():
    """Scales one bit apart make weights that are the same in float32, and two functions."""
    scale = np.float32(1.5)
    models = [
        resize([1, 1, 3], scales=[1, 1, each], mode="linear", coordinate_transformation_mode="asymmetric")
        for each in (scale, np.nextafter(scale, np.float32(2)))
    ]
    assert pf.equivalent(models[0], models[0]).word == "equal"
    assert pf.equivalent(*models).word == "different"


def test_scales_that_are_no_simple_quotients():
    """Cubic weights of such scales are longer than floats; in rationals they still add up to one."""
    model = resize([1, 1, 5], scales=[1, 1, np.float32(1.7)], mode="cubic")
    network = pf.load(model)
    assert set(exact_outputs(network, [1] * 5)) == {Fraction(1)}
    assert "numbers that are no floats" in lower(network).rounding.words()


def test_weights_of_sinc_functions_are_balls():
    module = Interpolating(size=(5, 2), mode="bicubic", antialias=True)
    sharp = torch.ops.aten._upsample_lanczos2d_aa.default

    class Lanczos(torch.nn.Module):
        def forward(self, x):
            return sharp(x, [5, 2], False)

    network = pf.load(Lanczos(), input_shape=(1, 3, 2))
    exact = lower_exactly(network)
    assert exact.rounding is not None and exact.rounding.largest < 1e-55
    assert pf.equivalent(network, pf.load(Lanczos(), input_shape=(1, 3, 2))).word == "equal"
    assert pf.equivalent(network, pf.load(module, input_shape=(1, 3, 2))).word == "different"


def test_the_nearest_place_that_a_runtime_takes_is_noted():
    """Three times the inverse of float32's 0.3 is a bit less than 10, and 10 in float32."""
    options = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    network = pf.load(resize([1, 1, 14], scales=[1, 1, 0.3], **options))
    (note,) = network.notes
    assert "takes entry 10 of 14 for entry 3" in note and "would take 9" in note
    with pytest.raises(pf.errors.NetworkError, match="rounded to float32"):
        pf.load(resize([1, 1, 14], scales=[1, 1, 0.3], **options), strict=True)
    assert pf.load(resize([1, 1, 14], scales=[1, 1, 0.5], **options)).notes == ()
