"""Convolutions, pools, padding, interpolation and recurrences from ONNX; every load compares with onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

from helpers.slow_params import quick_then_slow
from polyfold.errors import UnsupportedOpError
from polyfold.network import Network, load
from polyfold.network.ops.spatial import Convolution
from polyfold.network.ops.switches import Largest

SEEDS = quick_then_slow(range(120), quick=60)


def single(
    op: str,
    shape: Any,
    constants: dict[str, Any] | None = None,
    *,
    inputs: str | None = None,
    outputs: tuple[str, ...] = ("y",),
    opset: int = 19,
    batch: Any = "N",
    **attributes: Any,
) -> Any:
    """A model of one node; `inputs` are names, x and constants, in the node's order."""
    constants = constants or {}
    names = (inputs if inputs is not None else " ".join(["x", *constants])).split(" ")
    node = helper.make_node(op, names, list(outputs), name="node", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, *shape] if batch is not None else list(shape))
    graph = helper.make_graph(
        [node],
        "net",
        [x],
        [helper.make_empty_tensor_value_info(name) for name in outputs if name],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    for output in graph.output:
        output.type.tensor_type.elem_type = TensorProto.FLOAT
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def numbers(rng: Any, low: int, high: int, axes: int) -> list[int]:
    return [int(n) for n in rng.integers(low, high + 1, size=axes)]


def floats(rng: Any, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float32)


def padding(rng: Any, kernel: list[int]) -> dict[str, Any]:
    kind = rng.choice(["pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if kind != "pads":
        return {"auto_pad": str(kind)}
    return {"pads": [int(rng.integers(k)) for k in kernel + kernel]}


@pytest.mark.parametrize("seed", SEEDS)
def test_convolutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes, groups = 1 + seed % 3, int(rng.choice([1, 2, 3]))
    kernel = numbers(rng, 1, 4, axes)
    channels, outputs = groups * int(rng.integers(1, 3)), groups * int(rng.integers(1, 3))
    constants = {"w": floats(rng, outputs, channels // groups, *kernel), "b": floats(rng, outputs)}
    options = padding(rng, kernel)
    # onnxruntime does not dilate where it pads by itself.
    dilations = [1] * axes if "auto_pad" in options else numbers(rng, 1, 2, axes)
    model = single(
        "Conv",
        (channels, *numbers(rng, 8, 10, axes)),
        constants if rng.integers(2) else {"w": constants["w"]},
        strides=numbers(rng, 1, 3, axes),
        dilations=dilations,
        group=groups,
        batch="N" if rng.integers(2) else 1,
        **options,
    )
    network = load(model)
    assert isinstance(network.nodes[0].op, Convolution) and network.nodes[0].name == "node"


@pytest.mark.parametrize("seed", SEEDS)
def test_transposed_convolutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes, groups = 1 + seed % 2, int(rng.choice([1, 2]))
    kernel, strides = numbers(rng, 1, 4, axes), numbers(rng, 1, 3, axes)
    space = numbers(rng, 3, 5, axes)
    channels = groups * int(rng.integers(1, 3))
    constants = {"w": floats(rng, channels, int(rng.integers(1, 3)), *kernel)}
    if rng.integers(2):
        constants["b"] = floats(rng, constants["w"].shape[1] * groups)
    options: dict[str, Any] = {"strides": strides, "group": groups}
    kind = rng.choice(["pads", "output_padding", "output_shape", "SAME_UPPER", "SAME_LOWER"])
    if kind == "output_shape":
        full = [s * (n - 1) + k for n, s, k in zip(space, strides, kernel, strict=True)]
        options["output_shape"] = [int(rng.integers(max(1, n - 2), n + s)) for n, s in zip(full, strides, strict=True)]
    elif kind in ("pads", "output_padding"):
        options["dilations"] = numbers(rng, 1, 2, axes)
        options["pads"] = [int(rng.integers(min(2, k))) for k in kernel + kernel]
        if kind == "output_padding":
            options["output_padding"] = [int(rng.integers(s)) for s in strides]
    else:
        options["auto_pad"] = str(kind)
    load(single("ConvTranspose", (channels, *space), constants, **options))


@pytest.mark.parametrize("seed", SEEDS)
def test_pools(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes, largest = 1 + seed % 3, bool(rng.integers(2))
    kernel = numbers(rng, 1, 4, axes)
    options = padding(rng, kernel)
    if "pads" in options:
        options["ceil_mode"] = int(rng.integers(2))
        options["dilations"] = numbers(rng, 1, 2, axes) if largest else [1] * axes
    if not largest:
        options["count_include_pad"] = int(rng.integers(2))
    strides = numbers(rng, 1, 3, axes)
    if "auto_pad" in options:
        # Where windows leave gaps, onnxruntime cannot run what it pads by itself.
        strides = [min(k, s) for k, s in zip(kernel, strides, strict=True)]
    model = single(
        "MaxPool" if largest else "AveragePool",
        (2, *numbers(rng, 8, 10, axes)),
        kernel_shape=kernel,
        strides=strides,
        **options,
    )
    network = load(model)
    assert isinstance(network.nodes[0].op, Largest) == largest


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_global_pools(op: str, axes: int) -> None:
    assert load(single(op, (3, *(4, 3, 2)[:axes]))).output_dim == 3


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("amounts", [[0, 0, 1, 2, 0, 0, 2, 1], [0, 0, 0, 3, 0, 0, 1, 0], [0, 0, -1, 1, 0, 0, 0, -2]])
def test_padding(mode: str, amounts: list[int]) -> None:
    if mode == "wrap" and min(amounts) < 0:
        pytest.skip("onnxruntime wraps what it crops")
    constants = {"amounts": np.array(amounts), "fill": np.array(0.75, np.float32)}
    load(single("Pad", (2, 4, 5), constants if mode == "constant" else {"amounts": constants["amounts"]}, mode=mode))


def test_padding_of_chosen_axes_and_of_old_versions() -> None:
    constants = {"amounts": np.array([1, 2]), "axes": np.array([-1])}
    assert load(single("Pad", (2, 3), constants, inputs="x amounts  axes")).output_dim == 12
    assert load(single("Pad", (2, 3), opset=10, pads=[0, 1, 0, 0, 0, 2], value=0.5)).output_dim == 15


COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]
MODES = {
    "nearest": [{"nearest_mode": way} for way in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")],
    "linear": [{}],
    "cubic": [{}, {"cubic_coeff_a": -0.5}, {"exclude_outside": 1}],
}


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scales", [(2.0, 2.0), (1.5, 0.5), (0.6, 2.3), None])
def test_resize(scales: Any, mode: str, coordinates: str) -> None:
    if (mode, coordinates, scales) == ("nearest", "half_pixel_symmetric", (0.6, 2.3)):
        pytest.skip("a place lies between two others, and onnxruntime's last float32 bit decides")
    for options in MODES[mode]:
        if scales is None:
            constants: dict[str, Any] = {"sizes": np.array([1, 2, 7, 3])}
            inputs = "x   sizes"
        else:
            constants = {"scales": np.array([1, 1, *scales], np.float32)}
            inputs = "x  scales"
        load(
            single(
                "Resize",
                (2, 5, 6),
                constants,
                inputs=inputs,
                batch=1,
                mode=mode,
                coordinate_transformation_mode=coordinates,
                **options,
            )
        )


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_resize_in_more_and_fewer_axes(axes: int) -> None:
    constants = {"scales": np.array([1, 1, 2, 1.5, 2][: axes + 2], np.float32)}
    space = (3, 4, 2)[:axes]
    for mode in ("nearest", "linear"):
        load(single("Resize", (2, *space), constants, inputs="x  scales", mode=mode))
    load(single("Upsample", (2, *space), {"scales": constants["scales"]}, opset=9, mode="nearest"))


def test_resize_with_channels_last() -> None:
    constants = {"scales": np.array([1, 2, 2, 1], np.float32)}
    options = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    assert load(single("Resize", (3, 4, 2), constants, inputs="x  scales", **options)).output_dim == 6 * 8 * 2


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reductions(op: str, keepdims: int) -> None:
    assert load(single(op, (2, 3, 4), opset=12, axes=[1, -1], keepdims=keepdims)).output_dim == 3
    with pytest.raises(UnsupportedOpError, match=rf"node 'node' \({op}\).*batch axis"):
        load(single(op, (2, 3, 4), opset=12, axes=[0]))
    assert load(single(op, (4,), opset=12, axes=[0, 1], batch=1)).output_dim == 1


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("start", ["zero", "constant"])
def test_recurrences(direction: str, start: str) -> None:
    rng = np.random.default_rng(0)
    ways = 2 if direction == "bidirectional" else 1
    constants = {"w": floats(rng, ways, 3, 4), "r": floats(rng, ways, 3, 3), "b": floats(rng, ways, 6)}
    inputs = "x w r b"
    if start == "constant":
        constants["h"] = floats(rng, ways, 1, 3)
        inputs = "x w r b  h"
    options = {"hidden_size": 3, "direction": direction, "activations": ["Relu"] * ways}
    # Without an open batch axis the whole tensor (steps, batch, features) is the input.
    model = single("RNN", (5, 1, 4), constants, inputs=inputs, outputs=("y", "last"), batch=None, **options)
    assert load(model).output_dim == 5 * ways * 3 + ways * 3
    # A batch axis in front goes to its place with a Transpose; only a fixed one fits a constant state.
    batch = "N" if start == "zero" else 1
    model = transposed(single("RNN", (5, 4), constants, inputs=inputs, outputs=("y", "last"), batch=batch, **options))
    network = load(model)
    assert (network.input_dim, network.output_dim) == (20, ways * 3 * 6)


@pytest.mark.parametrize(("start", "batch"), [(False, "N"), (False, 1), (True, 1)])
def test_a_recurrence_with_the_batch_in_front(start: bool, batch: Any) -> None:
    rng = np.random.default_rng(0)
    constants = {"w": floats(rng, 1, 3, 4), "r": floats(rng, 1, 3, 3), "b": floats(rng, 1, 6)}
    inputs = "x w r b"
    if start:
        constants["h"] = floats(rng, 1, 1, 3)
        inputs = "x w r b  h"
    options = {"hidden_size": 3, "activations": ["Relu"], "layout": 1}
    network = load(single("RNN", (5, 4), constants, inputs=inputs, outputs=("y", "last"), batch=batch, **options))
    X = rng.normal(size=(6, 5, 4))
    state = np.tile(constants["h"][0].astype(np.float64), (6, 1)) if start else np.zeros((6, 3))
    states = []
    for t in range(5):
        drive = X[:, t] @ constants["w"][0].T + state @ constants["r"][0].T
        state = np.maximum(drive + constants["b"][0, :3] + constants["b"][0, 3:], 0)
        states.append(state)
    expected = np.concatenate([np.stack(states, axis=1).reshape(6, -1), state], axis=1)
    np.testing.assert_allclose(network(X.reshape(6, -1)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("padded", [{}, {"pads": [1, 0, 1, 1], "strides": [2, 1]}])
def test_a_pool_of_absolute_values(padded: dict[str, Any]) -> None:
    assert load(single("LpPool", (2, 5, 4), p=1, kernel_shape=[2, 3], **padded)).output_dim > 0


def transposed(model: Any) -> Any:
    """The input (batch, steps, features) brought into ONNX's order; the outputs are left as they are."""
    model.graph.node[0].input[0] = "turned"
    model.graph.node.insert(0, helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0, 2]))
    return model


def test_a_network_with_everything() -> None:
    rng = np.random.default_rng(0)
    text = """<ir_version: 8, opset_import: ["": 17]> net (float[N,1,12,12] x) => (float[N,3] y) {
        a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1) b = Relu (a)
        c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
        d = Conv <strides = [2, 2]> (c, w2) e = LeakyRelu (d) f = ConvTranspose <strides = [2, 2]> (e, w3)
        g = AveragePool <kernel_shape = [2, 2]> (f) h = Concat <axis = 1> (g, g) i = GlobalMaxPool (h)
        j = Flatten (i) y = Gemm (j, w4) }"""
    model = onnx.parser.parse_model(text)
    shapes = {"w1": (4, 1, 3, 3), "b1": (4,), "w2": (4, 4, 3, 3), "w3": (4, 2, 3, 3), "w4": (4, 3)}
    model.graph.initializer.extend(numpy_helper.from_array(floats(rng, *shape), name) for name, shape in shapes.items())
    network: Network = load(model)
    assert [node.name for node in network.nodes] == [*"abcdefgh", "i", "j", "y"]


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("c = Greater (x, zero) s = Mul (x, slope) y = Where (c, x, s)", "float[N,3] x"),
        ("c = Less (x, zero) n = Neg (x) y = Where (c, n, x)", "float[N,3] x"),
        ("r = Neg (x) c = GreaterOrEqual (x, r) y = Where (c, x, r)", "float[N,3] x"),
        ("c = Greater (slope, zero) n = Neg (x) y = Where (c, x, n)", "float[N,3] x"),
        ("y = Shrink <lambd = 0.5, bias = 0.5> (x)", "float[N,3] x"),
        ("y = ThresholdedRelu <alpha = 0.0> (x)", "float[N,3] x"),
    ],
)
def test_choices(body: str, shape: str) -> None:
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> net ({shape}) => (float[N,3] y) {{ {body} }}'
    )
    for name, number in (("zero", 0.0), ("slope", 0.1)):
        model.graph.initializer.append(numpy_helper.from_array(np.array(number, np.float32), name))
    assert load(model).output_dim == 3


RNN = {"w": np.ones((1, 3, 4), np.float32), "r": np.ones((1, 3, 3), np.float32)}
GATED = {"w": np.ones((1, 12, 4), np.float32), "r": np.ones((1, 12, 3), np.float32)}


@pytest.mark.parametrize(
    ("model", "op", "reason"),
    [
        (single("RNN", (5, 1, 4), RNN, batch=None, hidden_size=3), "RNN", "nonlinearity='relu'"),
        (single("LSTM", (5, 1, 4), GATED, batch=None, hidden_size=3), "LSTM", "sigmoids"),
        (single("MaxPool", (1, 4), outputs=("y", "i"), kernel_shape=[2]), "MaxPool", "place of a maximum"),
        (single("Shrink", (4,)), "Shrink", "jumps"),
        (single("ThresholdedRelu", (4,)), "ThresholdedRelu", "jumps"),
        (single("Conv", (2, 1, 4), {"w": np.ones((1, 1, 2), np.float32)}, batch=None), "Conv", "a batch of one"),
        (
            single("Resize", (1, 4), {"s": np.array([1, 1, 2], np.float32)}, inputs="x  s", antialias=1, mode="linear"),
            "Resize",
            "antialias",
        ),
        (single("Pad", (4,), {"amounts": np.array([1, 0, 0, 0])}), "Pad", "batch axis"),
    ],
)
def test_what_is_refused(model: Any, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load(model)
    assert str(caught.value).startswith(f"node 'node' ({op})") and reason in str(caught.value), str(caught.value)
