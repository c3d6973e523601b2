"""Networks from torch modules that can be read. Every load compares with torch at random points by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from polyfold.network import Network, load
from polyfold.network.ops.switches import Clamp, Rectify

nn = torch.nn
F = nn.functional


class Custom(nn.Module):  # type: ignore[name-defined,misc]
    """A module with a few layers and a forward pass that the test gives."""

    def __init__(self, forward: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 6)
        self.second = nn.Linear(6, 6)
        self.relu = nn.ReLU(inplace=True)
        self.norm = nn.BatchNorm1d(6)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)
        self.prelu = nn.PReLU(6)
        self.matrix = nn.Parameter(torch.randn(6, 5))
        self.register_buffer("vector", torch.randn(6))
        self.body = forward

    def forward(self, x: Any) -> Any:
        return self.body(self, x)


def check(module: Any, **options: Any) -> Network:
    """Load, compare with the module in float64 at fresh points, and see that the module was left alone."""
    before = copy.deepcopy(module.state_dict())
    training = [part.training for part in module.modules()]
    network = load(module, **options)
    assert training == [part.training for part in module.modules()]
    for key, value in module.state_dict().items():
        assert torch.equal(value, before[key]) and value.dtype == before[key].dtype
    points = np.random.default_rng(5).normal(size=(100, network.input_dim)) * 3
    shaped = torch.as_tensor(points).reshape(100, *network.inputs[0].shape)
    with torch.no_grad():
        expected = copy.deepcopy(module).double().eval()(shaped)
    np.testing.assert_allclose(network.model_outputs(points), expected.reshape(100, -1).numpy(), rtol=1e-9, atol=1e-9)
    return network


def names(network: Network) -> list[str]:
    return [node.name for node in network.nodes]


def test_a_plain_mlp_keeps_the_users_names_and_weights() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    network = check(module)
    assert names(network) == ["0", "1", "2"]
    assert network.source == "torch" and network.head is None
    weight = module[0].weight.detach().double().numpy()
    np.testing.assert_array_equal(network.nodes[0].op.weight, weight)  # type: ignore[attr-defined]


def test_nested_reused_and_in_place_relus() -> None:
    def forward(m: Any, x: Any) -> Any:
        y = m.relu(m.first(x))
        return m.relu(m.second(y)) + y

    network = check(Custom(forward))
    assert names(network) == ["first", "relu", "second", "relu#2", "add"]


def test_writing_into_a_view_changes_the_viewed_value() -> None:
    def forward(m: Any, x: Any) -> Any:
        y = m.first(x)
        y.view(-1, 2, 3).relu_()
        y += 1
        return y + m.second(y)

    check(Custom(forward))


OPS: dict[str, Callable[[Any, Any], Any]] = {
    "leaky_relu": lambda m, x: F.leaky_relu(m.first(x), 0.2),
    "leaky_relu_": lambda m, x: F.leaky_relu_(m.first(x), 0.2),
    "prelu": lambda m, x: m.prelu(m.first(x)),
    "prelu of matrices": lambda m, x: F.prelu(m.first(x).view(-1, 2, 3), m.vector[:2]),
    "rrelu": lambda m, x: F.rrelu(m.first(x), training=False),
    "hardtanh": lambda m, x: F.hardtanh(m.first(x), -0.5, 2.0),
    "relu6": lambda m, x: F.relu6(m.first(x)),
    "hardsigmoid": lambda m, x: F.hardsigmoid(m.first(x)),
    "threshold": lambda m, x: F.threshold(m.first(x), 0.5, 0.5),
    "clamp": lambda m, x: m.first(x).clamp(-1, 0.5),
    "clamp_min": lambda m, x: m.first(x).clamp_min(-1),
    "clamp_max": lambda m, x: m.first(x).clamp(max=0.1),
    "clamp by tensors": lambda m, x: m.first(x).clamp(m.vector - 1, m.vector),
    "abs": lambda m, x: m.first(x).abs(),
    "maximum": lambda m, x: torch.maximum(m.first(x), m.second(m.first(x))),
    "minimum": lambda m, x: torch.minimum(m.first(x), m.vector),
    "max.other": lambda m, x: torch.max(m.first(x), m.vector),
    "min.other": lambda m, x: torch.min(m.first(x), m.second(m.first(x))),
    "batch_norm": lambda m, x: m.norm(m.first(x)),
    "dropout": lambda m, x: F.dropout(m.first(x), training=m.training),
    "alpha_dropout": lambda m, x: F.alpha_dropout(m.first(x), training=m.training),
    "addmm": lambda m, x: torch.addmm(m.vector, x, m.first.weight.T, beta=0.5, alpha=2),
    "matmul": lambda m, x: m.first(x) @ m.matrix,
    "matmul by a vector": lambda m, x: m.first(x) @ m.vector,
    "matmul from the left": lambda m, x: m.matrix.T @ m.first(x).unsqueeze(-1),
    "arithmetic": lambda m, x: (2 - m.first(x)) * m.vector / 3 - 1 + (-m.first(x)),
    "add with alpha": lambda m, x: torch.add(m.first(x), m.second(m.first(x)), alpha=2),
    "sub with alpha": lambda m, x: torch.sub(m.first(x), m.second(m.first(x)), alpha=2),
    "rsub": lambda m, x: torch.rsub(m.first(x), 3, alpha=2),
    "vector minus value": lambda m, x: m.vector - m.first(x),
    "view": lambda m, x: m.first(x).view(x.size(0), -1),
    "reshape": lambda m, x: m.first(x).reshape(-1, 3, 2).flatten(1),
    "squeeze": lambda m, x: m.first(x).unsqueeze(1).squeeze(1).contiguous().clone().detach(),
    "double": lambda m, x: m.first(x).double(),
    "cat": lambda m, x: torch.cat([m.first(x), x], dim=1),
    "cat with a constant": lambda m, x: torch.cat([m.first(x), torch.ones(x.size(0), 2)], dim=-1),
    "stack": lambda m, x: torch.stack([m.first(x), m.first(x).relu()], dim=2),
    "slice": lambda m, x: m.first(x)[:, 1:5:2],
    "select": lambda m, x: m.first(x)[:, -2],
    "index": lambda m, x: m.first(x)[:, torch.tensor([3, 0, 3])],
    "index_select": lambda m, x: m.first(x).index_select(1, torch.tensor([5, 1])),
    "split": lambda m, x: torch.cat(m.first(x).split([1, 2, 3], dim=1)[::-1], dim=1),
    "chunk": lambda m, x: m.first(x).chunk(3, dim=1)[1],
    "unbind": lambda m, x: m.first(x).unbind(1)[2],
    "permute": lambda m, x: m.first(x).view(-1, 2, 3).permute(0, 2, 1),
    "transpose": lambda m, x: m.first(x).view(-1, 2, 3).transpose(1, 2).flip(2),
    "expand": lambda m, x: m.first(x).unsqueeze(1).expand(-1, 3, -1),
    "repeat": lambda m, x: m.first(x).repeat(1, 2),
    "sum": lambda m, x: m.first(x).view(-1, 2, 3).sum((1, 2)),
    "mean": lambda m, x: m.first(x).view(-1, 2, 3).mean(1, keepdim=True),
    "no_grad": lambda m, x: _without_gradient(m, x),
}


def _without_gradient(m: Any, x: Any) -> Any:
    with torch.no_grad():
        return m.first(x).relu()


@pytest.mark.parametrize("name", OPS)
def test_each_op(name: str) -> None:
    check(Custom(OPS[name]))


def test_switches_become_the_matching_ops() -> None:
    network = check(nn.Sequential(nn.Linear(2, 2), nn.ReLU6(), nn.LeakyReLU(0.25), nn.Hardtanh()))
    clamp, leaky, hard = (node.op for node in network.nodes[1:])
    assert isinstance(clamp, Clamp) and (clamp.low, clamp.high) == (0.0, 6.0)
    assert isinstance(leaky, Rectify) and leaky.slope_off == 0.25
    assert isinstance(hard, Clamp) and (hard.low, hard.high) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("end", "op"),
    [
        (nn.Softmax(dim=1), "softmax"),
        (nn.LogSoftmax(dim=1), "log-softmax"),
        (nn.Sigmoid(), "sigmoid"),
        (nn.LogSigmoid(), "log-sigmoid"),
    ],
)
def test_what_comes_behind_the_last_layer_is_the_head(end: Any, op: str) -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), end, nn.Unflatten(1, (2, 1)))
    network = check(module)
    assert network.head is not None and network.head.kinds == op and network.head.outputs[0].ops[0].name == "3"
    assert network.head.outputs[0].shape == (2, 1)
    points = np.random.default_rng(0).normal(size=(20, 3))
    with torch.no_grad():
        expected = copy.deepcopy(module).double()[:3](torch.as_tensor(points))
    np.testing.assert_allclose(network(points), expected, atol=1e-12)


def test_argmax_behind_softmax() -> None:
    network = check(Custom(lambda m, x: m.first(x).softmax(1).argmax(1)))
    assert network.output_dim == 6 and network.head is not None and network.head.kinds == "softmax and argmax"


def test_inputs_with_several_axes_need_their_shape() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(12, 3), nn.ReLU())
    network = check(module, input_shape=(3, 2, 2))
    assert network.inputs[0].shape == (3, 2, 2)
    assert check(nn.ReLU(), input_shape=4).input_dim == 4


def test_several_inputs_and_outputs() -> None:
    class Two(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(2, 3), nn.Linear(1, 3)

        def forward(self, x: Any, y: Any) -> Any:
            return {"sum": self.a(x) + self.b(y), "relu": self.a(x).relu()}

    module = Two()
    network = load(module, input_shape=[(2,), (1,)])
    assert [port.name for port in network.inputs] == ["x", "y"]
    x = torch.randn(5, 3)
    with torch.no_grad():
        expected = module(x[:, :2], x[:, 2:])
    np.testing.assert_allclose(network(x), torch.cat([expected["sum"], expected["relu"]], 1), atol=1e-5)


def test_constants_computed_from_weights_are_folded() -> None:
    module = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 1))
    assert names(check(module)) == ["0", "1", "2"]


def test_a_forward_pass_that_insists_on_float32() -> None:
    assert load(Custom(lambda m, x: m.first(x.float()).relu())).output_dim == 6


@pytest.mark.parametrize(("dynamic", "batch"), [(True, 2), (False, 2), (False, 300)])
def test_an_exported_program_and_its_file(tmp_path: Path, dynamic: bool, batch: int) -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Unflatten(1, (2, 2)), nn.Flatten()).eval()
    shapes = ({0: torch.export.Dim("batch")},) if dynamic else None
    program = torch.export.export(module, (torch.zeros(batch, 3),), dynamic_shapes=shapes)
    path = tmp_path / "model.pt2"
    torch.export.save(program, path)
    points = np.random.default_rng(0).normal(size=(20, 3))
    for network in (load(path), load(program)):
        expected = module(torch.as_tensor(points, dtype=torch.float32)).detach()
        np.testing.assert_allclose(network(points), expected, atol=1e-5)
