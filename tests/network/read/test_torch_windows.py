"""Convolutions, pools, padding and interpolation from torch, over many random options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from helpers.torch_agreement import Calls, check_module
from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network import load
from polyfold.network.ops.spatial import Combine, Convolution, TransposedConvolution
from polyfold.network.ops.switches import Largest

nn = torch.nn
F = nn.functional
CONVOLUTIONS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
TRANSPOSED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
MAX_POOLS = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}
AVERAGE_POOLS = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
QUICK, ALL = 3, 100  # in one, two and three dimensions
SEEDS = [*range(QUICK), *(pytest.param(k, marks=pytest.mark.slow) for k in range(QUICK, ALL))]


def numbers(rng: Any, low: int, high: int, axes: int) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(low, high + 1, size=axes))


@pytest.mark.parametrize("seed", SEEDS)
def test_convolutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    axes = 1 + seed % 3
    groups = int(rng.choice([1, 1, 2, 3]))
    kernel, dilation = numbers(rng, 1, 4, axes), numbers(rng, 1, 2, axes)
    mode = str(rng.choice(["zeros", "reflect", "replicate", "circular"]))
    padding: Any = rng.choice(["numeric", "numeric", "same", "valid"])
    stride = numbers(rng, 1, 3, axes)
    if padding == "numeric":
        padding = numbers(rng, 0, 2, axes)
    elif padding == "same":
        stride = (1,) * axes
    layer = CONVOLUTIONS[axes](
        groups * int(rng.integers(1, 3)),
        groups * int(rng.integers(1, 3)),
        kernel,
        stride=stride,
        padding=str(padding) if isinstance(padding, str) else padding,
        dilation=dilation,
        groups=groups,
        bias=bool(rng.integers(2)),
        padding_mode=mode,
    )
    network = check_module(layer, (layer.in_channels, *numbers(rng, 7, 9, axes)))
    assert any(isinstance(node.op, Convolution) for node in network.nodes)


@pytest.mark.parametrize("seed", SEEDS)
def test_transposed_convolutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    axes = 1 + seed % 3
    groups = int(rng.choice([1, 1, 2, 3]))
    stride, dilation = numbers(rng, 1, 3, axes), numbers(rng, 1, 3, axes)
    layer = TRANSPOSED[axes](
        groups * int(rng.integers(1, 3)),
        groups * int(rng.integers(1, 3)),
        numbers(rng, 1, 4, axes),
        stride=stride,
        padding=numbers(rng, 0, 1, axes),
        # More than the stride is allowed if the dilation is larger.
        output_padding=tuple(int(rng.integers(max(s, d))) for s, d in zip(stride, dilation, strict=True)),
        groups=groups,
        bias=bool(rng.integers(2)),
        dilation=dilation,
    )
    network = check_module(layer, (layer.in_channels, *numbers(rng, 3, 5, axes)))
    assert any(isinstance(node.op, TransposedConvolution) for node in network.nodes)


@pytest.mark.parametrize("seed", SEEDS)
def test_max_pools(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 3
    kernel = numbers(rng, 1, 4, axes)
    pool = MAX_POOLS[axes](
        kernel,
        stride=None if rng.integers(3) == 0 else numbers(rng, 1, 4, axes),
        padding=tuple(int(rng.integers(k // 2 + 1)) for k in kernel),
        dilation=numbers(rng, 1, 2, axes),
        ceil_mode=bool(rng.integers(2)),
    )
    network = check_module(pool, (2, *numbers(rng, 7, 9, axes)))
    (node,) = network.nodes
    assert isinstance(node.op, Largest) and node.op.members.max() < network.input_dim


@pytest.mark.parametrize("seed", SEEDS)
def test_average_pools(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 3
    kernel = numbers(rng, 1, 4, axes)
    options: dict[str, Any] = {"divisor_override": 5} if axes > 1 and rng.integers(3) == 0 else {}
    pool = AVERAGE_POOLS[axes](
        kernel,
        stride=None if rng.integers(3) == 0 else numbers(rng, 1, 4, axes),
        padding=tuple(int(rng.integers(k // 2 + 1)) for k in kernel),
        ceil_mode=bool(rng.integers(2)),
        count_include_pad=bool(rng.integers(2)),
        **options,
    )
    network = check_module(pool, (2, *numbers(rng, 7, 9, axes)))
    assert isinstance(network.nodes[0].op, Combine)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(
    ("shape", "places"), [((9,), 4), ((7, 5), (3, 2)), ((7, 5), 1), ((4, 5, 6), (2, 5, 1)), ((3,), 5)]
)
def test_adaptive_pools(shape: Any, places: Any, largest: bool) -> None:
    name = f"adaptive_{'max' if largest else 'avg'}_pool{len(shape)}d"
    check_module(Calls(lambda m, x: getattr(F, name)(x, places)), (3, *shape))


PADS = {1: [(2, 1), (0, 3), (-1, 2)], 2: [(1, 1, 2, 0), (-1, -2, 1, 0), (2, 1)], 3: [(1, 2, 0, 1, 2, 1)]}


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("axes", PADS)
def test_padding(axes: int, mode: str) -> None:
    fitting = [
        n for n in PADS[axes] if mode == "constant" or (len(n) == 2 * axes and (mode != "reflect" or min(n) >= 0))
    ]
    value = 0.75 if mode == "constant" else None

    def function(m: Any, x: Any) -> Any:
        return torch.cat([F.pad(x, n, mode=mode, value=value).flatten(1) for n in fitting], 1)

    check_module(Calls(function), (2, *(4, 5, 6)[:axes]))


@pytest.mark.parametrize("layer", [nn.ZeroPad2d((1, 2, 0, 1)), nn.ConstantPad1d((2, -1), -0.5)])
def test_padding_layers(layer: Any) -> None:
    check_module(layer, (3, 5, 4)[: 3 if isinstance(layer, nn.ZeroPad2d) else 2])


INTERPOLATIONS = {
    1: ("nearest", "nearest-exact", "linear", "area"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
    3: ("nearest", "nearest-exact", "trilinear", "area"),
}


@pytest.mark.parametrize(("axes", "mode"), [(axes, mode) for axes, modes in INTERPOLATIONS.items() for mode in modes])
def test_interpolation(axes: int, mode: str) -> None:
    ways: list[dict[str, Any]] = [
        {"size": (7, 3, 5)[:axes]},
        {"size": 1},
        {"scale_factor": 2},
        {"scale_factor": (1.7, 0.6, 2.3)[:axes]},
        {"scale_factor": (1.7, 0.6, 2.3)[:axes], "recompute_scale_factor": True},
    ]
    if "linear" in mode or "cubic" in mode:
        ways += [{**way, "align_corners": True} for way in ways]
    for way in ways:
        way["mode"] = mode
    check_module(
        Calls(lambda m, x: torch.cat([F.interpolate(x, **way).flatten(1) for way in ways], 1)),
        (2, *(5, 6, 4)[:axes]),
    )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_interpolation_without_aliases(mode: str) -> None:
    def function(m: Any, x: Any) -> Any:
        sizes = [(3, 4), (9, 5), (7, 8)]
        return torch.cat([F.interpolate(x, size=n, mode=mode, antialias=True).flatten(1) for n in sizes], 1)

    check_module(Calls(function), (2, 7, 8))


FUNCTIONS = {
    "pixel_shuffle": (lambda m, x: F.pixel_shuffle(x, 2), (8, 3, 3)),
    "pixel_unshuffle": (lambda m, x: F.pixel_unshuffle(x, 2), (2, 4, 6)),
    "pixel shuffle by hand": (lambda m, x: x.view(-1, 2, 2, 3, 3).permute(0, 3, 1, 4, 2).reshape(-1, 6, 6), (4, 3, 3)),
    "unfold": (lambda m, x: F.unfold(x, 3, padding=1, stride=2), (2, 6, 7)),
    "amax": (lambda m, x: x.amax((1, 3), keepdim=True), (2, 3, 4)),
    "amin": (lambda m, x: x.amin(-1), (2, 3, 4)),
    "max over an axis": (lambda m, x: x.max(2).values, (2, 3, 4)),
    "min over an axis": (lambda m, x: x.min(1, keepdim=True)[0], (2, 3, 4)),
    "maximum with indices unused": (lambda m, x: F.max_pool2d(x, 2, return_indices=True)[0], (2, 4, 4)),
    "mean": (lambda m, x: x.mean((2, 3)), (2, 3, 4)),
    "sum of a permuted value": (lambda m, x: x.permute(0, 2, 3, 1).sum((1, 2)), (2, 3, 4)),
    "batch norm": (lambda m, x: m.norm(x), (2, 3, 4)),
    "batch norm in three axes": (lambda m, x: m.norm3(x), (2, 3, 4, 2)),
    "softshrink": (lambda m, x: F.softshrink(x, 0.3).relu(), (5,)),
    "where": (lambda m, x: torch.where(x > 0, x, 0.1 * x), (5,)),
    "where with a bound": (lambda m, x: torch.where(x < 0.5, 2 * x - 0.5, 0.5), (5,)),
    "where of the larger": (lambda m, x: torch.where(x[:, :2] >= x[:, 2:], x[:, :2], x[:, 2:]), (4,)),
    "where of the smaller": (lambda m, x: torch.where(x[:, :2] > x[:, 2:], x[:, 2:], x[:, :2]), (4,)),
    "where with a constant on the left": (lambda m, x: torch.where(torch.tensor(0.0) < x, x, -x), (4,)),
    "where with a constant condition": (lambda m, x: torch.where(torch.arange(4) < 2, x, 1.0), (4,)),
    "where of an expression written twice": (lambda m, x: torch.where(m.linear(x) > 0, m.linear(x), 0.0), (4,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function, shape = FUNCTIONS[name]
    torch.manual_seed(0)
    norm, norm3 = nn.BatchNorm2d(2), nn.BatchNorm3d(2)
    for layer in (norm, norm3):
        layer.running_mean.normal_()
        layer.running_var.uniform_(0.5, 2)
    check_module(Calls(function, norm=norm, norm3=norm3, linear=nn.Linear(4, 3)), shape)


def test_padded_places_of_a_max_pool_are_absent() -> None:
    network = check_module(nn.MaxPool2d(3, stride=2, padding=1), (1, 4, 4))
    op = network.nodes[0].op
    assert isinstance(op, Largest)
    assert sorted((op.members >= 0).sum(axis=-1).ravel().tolist()) == [4, 6, 6, 9]
    assert (op.members[..., 0] >= 0).all()


def test_names_of_layers_are_kept() -> None:
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3))
    network = check_module(module, (1, 6, 6))
    assert [node.name for node in network.nodes] == ["0", "1", "2", "3", "4"]


def test_several_images_and_outputs() -> None:
    class Two(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 2, 1)

        def forward(self, x: Any, y: Any) -> Any:
            total = self.a(x) + self.b(y)
            return total.relu(), F.max_pool2d(total, 2)

    module = Two().double()
    network = load(module, input_shape=[(1, 4, 4), (2, 4, 4)])
    x, y = torch.randn(5, 1, 4, 4).double(), torch.randn(5, 2, 4, 4).double()
    with torch.no_grad():
        expected = torch.cat([part.flatten(1) for part in module(x, y)], 1)
    rows = torch.cat([x.flatten(1), y.flatten(1)], 1)
    np.testing.assert_allclose(network(rows), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "shape", "op", "reason"),
    [
        (
            lambda m, x: F.max_pool2d(x, 2, return_indices=True),
            (1, 4, 4),
            "max_pool2d_with_indices",
            "place of a maximum",
        ),
        (lambda m, x: x.max(1).indices, (4,), "max", "place of a maximum"),
        (lambda m, x: F.conv1d(m.signal, x[:, :, :2]), (2, 4), "conv1d", "computed from the network's input"),
        (lambda m, x: F.conv2d(x, m.kernel), (4, 4), "conv2d", "must be (batch, channels, 2 spatial axes)"),
        (lambda m, x: F.hardshrink(x), (4,), "hardshrink", "jumps"),
        (lambda m, x: x.amax(0), (4,), "amax", "samples of a batch"),
        (lambda m, x: x.max(), (4,), "max", "samples of a batch"),
        (lambda m, x: F.pad(x, (0, 0, 1, 0)), (4,), "pad", "batch axis"),
        (lambda m, x: F.layer_norm(x, (4,)), (4,), "layer_norm", "batch normalisation"),
    ],
)
def test_what_is_refused(function: Any, shape: Any, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load(Calls(function, kernel=torch.ones(1, 7, 2, 2), signal=torch.ones(7, 2, 4)), input_shape=shape)
    assert f"({op}) is not supported" in str(caught.value) and reason in str(caught.value), str(caught.value)


def test_a_window_that_does_not_fit() -> None:
    with pytest.raises(NetworkError, match="does not run with an input of shape"):
        load(nn.Conv2d(1, 1, 5), input_shape=(1, 3, 3))
