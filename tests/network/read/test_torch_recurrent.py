"""Recurrent layers with ReLU and graph convolutions from torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from helpers.slow_params import quick_then_slow
from helpers.torch_agreement import Calls, check_module
from polyfold.errors import UnsupportedOpError
from polyfold.network import load
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.spatial import Combine
from polyfold.network.ops.switches import Rectify

nn = torch.nn


def rnn(**options: Any) -> Any:
    torch.manual_seed(0)
    return nn.RNN(4, 3, nonlinearity="relu", **options)


# Quick are those in which every two options meet.
MEETING = [(1, False, True), (1, True, False), (3, False, False), (3, True, True)]
OTHERS = [(1, False, False), (1, True, True), (3, False, True), (3, True, False)]


@pytest.mark.parametrize(
    ("layers", "bidirectional", "bias"),
    [*MEETING, *(pytest.param(*options, marks=pytest.mark.slow) for options in OTHERS)],
)
def test_all_states(layers: int, bidirectional: bool, bias: bool) -> None:
    layer = rnn(batch_first=True, num_layers=layers, bidirectional=bidirectional, bias=bias)
    network = check_module(Calls(lambda m, x: m.rnn(x)[0], rnn=layer), (5, 4))
    gates = [node for node in network.nodes if isinstance(node.op, Rectify)]
    assert len(gates) == 5 * layers * (1 + bidirectional)
    assert gates[0].name == "rnn.layer0.step0"


FUNCTIONS = {
    "last state": lambda m, x: m.rnn(x)[1][-1],
    "both outputs": lambda m, x: torch.cat([m.rnn(x)[0].flatten(1), m.rnn(x)[1].transpose(0, 1).flatten(1)], 1),
    "last step": lambda m, x: m.rnn(x)[0][:, -1],
    "time in front": lambda m, x: m.front(x.transpose(0, 1))[0].transpose(0, 1),
    "last step, time in front": lambda m, x: m.front(x.transpose(0, 1))[0][-1],
    "a layer on states with time in front": lambda m, x: (
        m.linear(m.front(x.transpose(0, 1))[0]).relu().permute(1, 0, 2)
    ),
    "constant start": lambda m, x: m.rnn(x, m.start.expand(2, x.size(0), 3).contiguous())[0],
    "computed start": lambda m, x: m.rnn(x, m.first(x[:, 0]).unsqueeze(0).repeat(2, 1, 1))[0],
    "two in a row": lambda m, x: m.rnn(m.rnn(x)[0] @ m.matrix)[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ways_to_use_a_recurrent_layer(name: str) -> None:
    torch.manual_seed(0)
    module = Calls(
        FUNCTIONS[name],
        rnn=rnn(batch_first=True, num_layers=2),
        front=rnn(),
        first=nn.Linear(4, 3),
        linear=nn.Linear(3, 2),
        start=torch.randn(2, 1, 3),
        matrix=torch.randn(3, 4),
    )
    check_module(module.double(), (5, 4))


def test_a_layer_by_itself_with_its_two_outputs() -> None:
    module = rnn(batch_first=True, num_layers=2).double()
    network = load(module, input_shape=(5, 4))
    x = torch.randn(6, 5, 4).double()
    with torch.no_grad():
        states, last = module(x)
    np.testing.assert_allclose(
        network(x), torch.cat([states.flatten(1), last.transpose(0, 1).flatten(1)], 1), atol=1e-12
    )


def test_a_cell_step_by_step() -> None:
    torch.manual_seed(0)

    def forward(m: Any, x: Any) -> Any:
        state = m.cell(x[:, 0])
        for t in range(1, 4):
            state = m.cell(x[:, t], state)
        return state

    network = check_module(Calls(forward, cell=nn.RNNCell(4, 3, nonlinearity="relu")), (4, 4))
    assert sum(isinstance(node.op, Rectify) for node in network.nodes) == 4


@pytest.mark.parametrize(
    ("layer", "op", "reason"),
    [
        (nn.RNN(4, 3, batch_first=True), "rnn_tanh", "nonlinearity='relu'"),
        (nn.LSTM(4, 3, batch_first=True), "lstm", "sigmoids"),
        (nn.GRU(4, 3, batch_first=True), "gru", "sigmoids"),
        (rnn(), "rnn_relu", "batch_first=True"),
    ],
)
def test_what_is_refused(layer: Any, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpError, match=rf"node 'rnn' \({op}\)") as caught:
        load(Calls(lambda m, x: m.rnn(x)[0], rnn=layer), input_shape=(5, 4))
    assert reason in str(caught.value)


def test_a_start_that_differs_from_sample_to_sample() -> None:
    start = torch.arange(21.0).reshape(1, 7, 3)
    with pytest.raises(UnsupportedOpError, match="differs from sample to sample"):
        load(Calls(lambda m, x: m.rnn(x, m.start)[0], rnn=rnn(batch_first=True), start=start), input_shape=(5, 4))


def adjacency(nodes: int, edges: int) -> Any:
    """A random graph with loops, each row normalised."""
    rng = np.random.default_rng(0)
    matrix = np.eye(nodes)
    matrix[rng.integers(nodes, size=edges), rng.integers(nodes, size=edges)] = 1.0
    return torch.as_tensor(matrix / matrix.sum(1, keepdims=True), dtype=torch.float32)


GRAPHS = {
    "two layers": lambda m, x: m.adjacency @ m.second((m.adjacency @ m.first(x)).relu()),
    "torch.matmul": lambda m, x: torch.matmul(m.adjacency, x),
    "bmm": lambda m, x: torch.bmm(m.adjacency.expand(x.size(0), -1, -1), m.first(x)),
    "einsum": lambda m, x: torch.einsum("ij,bjf->bif", m.adjacency, m.first(x)),
    "einsum with weights": lambda m, x: torch.einsum("ij,bjf,fg->big", m.adjacency, x, m.first.weight.T),
    "einsum that scales": lambda m, x: torch.einsum("bjf,ij,j->bif", x, m.adjacency, m.adjacency[0]),
    "one feature": lambda m, x: x[:, :, 0] @ m.adjacency.T,
    "columns": lambda m, x: (m.adjacency @ x[:, :, 0].T).T,
}


@pytest.mark.parametrize("nodes", quick_then_slow([6, 40], quick=1))
@pytest.mark.parametrize("name", GRAPHS)
def test_graph_convolutions(name: str, nodes: int) -> None:
    torch.manual_seed(0)
    module = Calls(GRAPHS[name], adjacency=adjacency(nodes, nodes), first=nn.Linear(3, 4), second=nn.Linear(4, 2))
    network = check_module(module, (nodes, 3))
    if nodes == 40 and name not in ("one feature", "columns"):
        assert any(isinstance(node.op, Combine) for node in network.nodes)


def test_a_large_graph_stays_sparse() -> None:
    torch.manual_seed(0)
    module = Calls(
        lambda m, x: m.second((m.adjacency @ m.first(x)).relu()).amax(1),
        adjacency=adjacency(700, 2100),
        first=nn.Linear(3, 8),
        second=nn.Linear(8, 2),
    )
    network = check_module(module, (700, 3))
    assert max(node.op.weight.size for node in network.nodes if isinstance(node.op, Linear)) <= 24
    (combine,) = (node.op for node in network.nodes if isinstance(node.op, Combine))
    assert combine.matrix.nnz < 8 * 2835


@pytest.mark.parametrize("product", [torch.sparse.mm, torch.matmul])
def test_sparse_tensors(product: Any) -> None:
    module = Calls(lambda m, x: product(m.adjacency, x.T).T.relu(), adjacency=adjacency(5, 5).to_sparse())
    assert isinstance(check_module(module, (5,)).nodes[0].op, Combine)


def test_sparse_tensors_say_what_to_do() -> None:
    module = Calls(lambda m, x: torch.sparse.mm(m.adjacency, x), adjacency=adjacency(7, 5).to_sparse())
    with pytest.raises(UnsupportedOpError, match=r"_sparse_mm.*batch axis.*to_dense\(\)"):
        load(module, input_shape=(4,))
