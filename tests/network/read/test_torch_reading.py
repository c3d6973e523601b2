"""Torch modules that merge their batch, end in constants, hold layers that are refused, or are read in part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from torch import nn

import polyfold as pf
from polyfold.errors import NetworkError, UnsupportedOpError


class Of(nn.Module):  # type: ignore[misc]
    """A function of the input and of layers."""

    def __init__(self, forward: Any, **layers: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.function = forward

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


def agrees(module: Any, shape: tuple[int, ...]) -> Any:
    network = pf.load(module, input_shape=shape)
    X = np.random.default_rng(0).normal(size=(5, *shape))
    expected = module.double()(torch.as_tensor(X)).detach().reshape(5, -1).numpy()
    np.testing.assert_allclose(network(X), expected, rtol=1e-9, atol=1e-9)
    return network


def linear() -> Any:
    torch.manual_seed(1)
    return nn.Linear(2, 3)


@pytest.mark.parametrize(
    "module",
    [
        Of(lambda m, x: m.f(x.reshape(-1, 2)).relu().reshape(-1, 4, 3), f=linear()),
        Of(
            lambda m, x: m.n(m.f(x.reshape(-1, 2))).relu().view(x.shape[0], 4, 3).sum(1),
            f=linear(),
            n=nn.BatchNorm1d(3),
        ),
        Of(lambda m, x: m.p(m.f(x.flatten(0, 1))), f=linear(), p=nn.PReLU(3)),
    ],
    ids=["layer for every step", "batch norm", "no way back"],
)
def test_merged_batches(module: Any) -> None:
    agrees(module.eval(), (4, 2))


def test_samples_that_mix_are_refused() -> None:
    module = Of(lambda m, x: (m.f(x.reshape(-1, 2)) - m.f(x.reshape(-1, 2)).mean(0)).reshape(-1, 4, 3), f=linear())
    with pytest.raises(UnsupportedOpError, match="batch axis"):
        pf.load(module, input_shape=(4, 2))


@pytest.mark.parametrize("open_batch", [False, True])
def test_merged_batches_of_exported_programs(open_batch: bool) -> None:
    module = Of(lambda m, x: m.f(x.reshape(-1, 2)).relu().reshape(-1, 4, 3), f=linear()).double().eval()
    dynamic = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)} if open_batch else {}
    example = torch.zeros(3 if open_batch else 1, 4, 2, dtype=torch.float64)
    network = pf.load(torch.export.export(module, (example,), **dynamic))
    X = np.random.default_rng(0).normal(size=(3, 8))
    expected = module(torch.as_tensor(X).reshape(3, 4, 2)).detach().reshape(3, -1).numpy()
    np.testing.assert_allclose(network(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (lambda m, x: torch.ones(x.shape[0], 2), [1.0, 1.0]),
        (lambda m, x: x.new_full((x.shape[0], 1), 2.5), [2.5]),
        (lambda m, x: torch.tensor([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]),
        (lambda m, x: (x, torch.zeros(4)), [5.0, 6.0, *[0.0] * 4]),
        (lambda m, x: x**0, [1.0, 1.0]),
    ],
)
def test_constant_outputs(forward: Any, expected: list[float]) -> None:
    network = pf.load(Of(forward), input_shape=(2,))
    assert network([[5.0, 6.0]]).tolist() == [expected]
    assert pf.count(network).cells == 1


TRANSFORMERS = {
    "self_attn": lambda: (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (3, 4)),
    "layers.0.self_attn": lambda: (nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1), (3, 4)),
    "attention": lambda: (Of(lambda m, x: m.attention(x, x, x)[0], attention=nn.MultiheadAttention(4, 2)), (3, 4)),
    "MultiheadAttention": lambda: (nn.MultiheadAttention(4, 2, batch_first=True), [(3, 4)] * 3),
    "encoder.layers.0.self_attn": lambda: (nn.Transformer(4, 2, 1, 1, 8, batch_first=True), [(3, 4)] * 2),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_are_refused_by_name(name: str) -> None:
    module, shape = TRANSFORMERS[name]()
    with pytest.raises(UnsupportedOpError, match=rf"node '{name}' \(MultiheadAttention\).*attention multiplies"):
        pf.load(module.eval(), input_shape=shape)


class TestUntil:
    """The part in front of a node or module."""

    def module(self) -> Any:
        return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3), nn.Linear(3, 1))

    def test_a_layer(self) -> None:
        with pytest.raises(UnsupportedOpError, match=r"node '2' \(layer_norm\).*until='2'"):
            pf.load(self.module())
        network = pf.load(self.module(), until="2")
        assert network.output_dim == 3 and [node.name for node in network.nodes] == ["0", "1"]
        assert network.notes == ("this is the part in front of '2', not the whole model",)

    def test_a_module_of_layers(self) -> None:
        inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
        network = pf.load(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), inner, nn.ReLU()), until="2")
        assert network.output_dim == 3 and len(network.nodes) == 2

    def test_a_layer_that_is_called_twice(self) -> None:
        module = Of(lambda m, x: m.act(m.f(m.act(m.f(x)))), f=nn.Linear(2, 2), act=nn.Tanh())
        assert len(pf.load(module, input_shape=(2,), until="act").nodes) == 1

    def test_a_product_has_two_factors(self) -> None:
        module = Of(lambda m, x: m.f(x) * m.f(x).relu(), f=linear())
        assert pf.load(module, input_shape=(2,), until="mul").output_dim == 6

    def test_saved_programs(self, tmp_path: Any) -> None:
        torch.export.save(
            torch.export.export(self.module().double(), (torch.zeros(3, 2).double(),)), tmp_path / "m.pt2"
        )
        assert pf.load(tmp_path / "m.pt2", until="2").output_dim == 3

    def test_attention(self) -> None:
        module = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)).eval()
        assert pf.load(module, input_shape=(3, 4), until="2.self_attn").output_dim == 12

    def test_unknown_names(self) -> None:
        with pytest.raises(NetworkError, match="until='layer_nom' is no node of the model; nodes are called 'layer"):
            pf.load(self.module(), until="layer_nom")


@pytest.mark.parametrize(
    "forward",
    [
        lambda x: x**1,
        lambda x: torch.pow(x, torch.tensor([1.0, 0.0, 1.0])),
        lambda x: torch.linalg.vector_norm(x, ord=float("inf"), dim=1),
        lambda x: torch.linalg.norm(x, ord=float("inf"), dim=1, keepdim=True),
        lambda x: torch.linalg.norm(x.reshape(-1, 3, 1) * torch.ones(2), ord=float("-inf"), dim=(1, 2)),
        lambda x: torch.linalg.matrix_norm(x.reshape(-1, 3, 1) * torch.tensor([1.0, -2.0]), ord=1),
        lambda x: torch.linalg.matrix_norm(x.reshape(-1, 1, 3) - x.reshape(-1, 3, 1), ord=float("inf"), keepdim=True),
        lambda x: x.abs().amax(1),
    ],
)
def test_powers_and_norms(forward: Any) -> None:
    agrees(Of(lambda m, x: forward(m.f(x)), f=linear()), (2,))


@pytest.mark.parametrize(("power", "words"), [(2, "the power 2 is not"), (0.5, "the power 0.5 is not")])
def test_other_powers_are_refused(power: float, words: str) -> None:
    with pytest.raises(UnsupportedOpError, match=words):
        pf.load(Of(lambda m, x: x**power), input_shape=(2,))


def test_layers_of_width_zero() -> None:
    module = nn.Sequential(nn.Linear(2, 0), nn.ReLU(), nn.Linear(0, 1))
    network = pf.load(module)
    assert network(np.ones((3, 2))).tolist() == [module[2].bias.tolist()] * 3
    assert pf.count(network).cells == 1
    arrays = pf.load([(np.zeros((0, 2)), np.zeros(0)), (np.zeros((1, 0)), [4.0])])
    assert arrays([[1.0, 2.0]]).tolist() == [[4.0]]
    for last in (nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 0)), nn.Sequential(nn.Linear(0, 3))):
        with pytest.raises(NetworkError, match="no numbers"):
            pf.load(last)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_are_read_exactly(dtype: Any) -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).to(dtype)
    network = pf.load(module)
    for number, name in ((0, "0"), (2, "2")):
        op: Any = next(node.op for node in network.nodes if node.name == name)
        assert op.weight.tolist() == module[number].weight.tolist()
        assert op.bias.tolist() == module[number].bias.tolist()
