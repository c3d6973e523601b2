"""Assignments, scattering, sorting, norms and products of torch tensors, compared with torch at random points."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

import polyfold as pf
from helpers.torch_agreement import Calls, check_module
from polyfold.errors import UnsupportedOpError
from polyfold.network import load

F = torch.nn.functional
EDGES = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
BUFFERS = {
    "vector": torch.linspace(-1, 2, 4),
    "matrix": torch.linspace(-2, 3, 16).reshape(4, 4) ** 3 / 9,
    "stack": torch.linspace(-1, 1, 60).reshape(4, 5, 3) ** 3,
    "mask": torch.tensor([True, False, True, False]),
}


def assigned(statement: str) -> Any:
    """A function that runs a statement on a copy of its input."""

    def run(m: Any, x: Any) -> Any:
        names = {"x": x.clone(), "m": m, "torch": torch}
        exec(statement, names)
        return names["x"]

    return run


ASSIGNMENTS = {
    "one column": "x[:, 0] = x[:, 1]",
    "a slice": "x[:, 1:3] = 0.5",
    "columns": "x[:, [0, 2]] = x[:, [1, 3]] * 2",
    "in place": "x[:, 0] += x[:, 1]",
    "a step": "x[..., ::2] = x[..., 1::2]",
    "a row of numbers": "x[:, :3] = m.vector[:3]",
    "a constant mask": "x.masked_fill_(m.mask, 0.25)",
    "by a mask": "x[:, m.mask] = x[:, :2]",
    "index_fill": "x.index_fill_(1, torch.tensor([0, 2]), 0.5)",
    "index_copy": "x.index_copy_(1, torch.tensor([0, 2]), 2 * x[:, [1, 3]])",
    "index_add": "x.index_add_(1, torch.tensor([0, 0]), 2 * x[:, [1, 3]], alpha=3)",
    "index_add of numbers": "x.index_add_(1, torch.tensor([0, 0]), torch.ones(len(x), 2, dtype=x.dtype))",
    "accumulated": "x.index_put_((torch.arange(len(x))[:, None], torch.tensor([1, 1])), x[:, :2].clone(), True)",
    "below zero": "x[x < 0] = 0",
    "new memory": "x = x.new_empty(len(x), 2).copy_(x[:, 1:3])",
    "filled memory": "y = torch.empty(len(x), 3, dtype=x.dtype); y[:, 0] = x[:, 2]; y[:, 1:] = x[:, :2]; x = y",
    "padded": "y = torch.zeros(len(x), 6, dtype=x.dtype); y[:, 1:5] = x; x = y",
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments(name: str) -> None:
    check_module(Calls(assigned(ASSIGNMENTS[name]), **BUFFERS), (4,))


PLACES = {
    "tril": (lambda m, x: x.tril(), (3, 4)),
    "triu": (lambda m, x: x.triu(1), (4, 4)),
    "diagonal": (lambda m, x: x.diagonal(dim1=1, dim2=2), (4, 3)),
    "diag_embed": (lambda m, x: torch.diag_embed(x, 1), (3,)),
    "rot90": (lambda m, x: x.rot90(1, (1, 2)), (4, 3)),
    "take_along_dim": (lambda m, x: torch.take_along_dim(x, torch.tensor([[0, 3]]), 1), (4,)),
    "repeat_interleave": (lambda m, x: x.repeat_interleave(2, 1), (4,)),
    "unfold": (lambda m, x: x.unfold(1, 3, 2), (7, 2)),
    "hstack": (lambda m, x: torch.hstack([x, 2 * x]), (4,)),
    "dstack": (lambda m, x: torch.dstack([x, 2 * x]), (4, 3)),
    "column_stack": (lambda m, x: torch.column_stack([x, x]), (4,)),
    "broadcast_tensors": (lambda m, x: torch.broadcast_tensors(x[:, :, None], x[:, None])[0], (4,)),
    "columns": (lambda m, x: F.unfold(x, (2, 3), padding=1, stride=2, dilation=(1, 2)), (2, 6, 5)),
    "columns added up": (lambda m, x: F.fold(x, (5, 4), (2, 3), padding=1, stride=2), (12, 6)),
    "fold of unfold": (lambda m, x: F.fold(F.unfold(x, 3, padding=2, dilation=2), (5, 6), 3, 2, 2), (2, 5, 6)),
    "zeros_like": (lambda m, x: torch.maximum(x, torch.zeros_like(x)), (4,)),
}


@pytest.mark.parametrize("name", PLACES)
def test_places(name: str) -> None:
    function, shape = PLACES[name]
    check_module(Calls(function, **BUFFERS), shape)


ALONG_AXES = {
    "cumsum": (lambda m, x: x.cumsum(1), (4, 3)),
    "cumsum of the last": (lambda m, x: x.cumsum(-1), (4, 3)),
    "cummax": (lambda m, x: x.cummax(1).values, (4, 3)),
    "cummin": (lambda m, x: x.cummin(-1)[0], (4, 3)),
    "aminmax": (lambda m, x: torch.cat(list(x.aminmax(dim=1, keepdim=True)), 1), (4, 3)),
    "sort": (lambda m, x: x.sort(1).values, (7, 2)),
    "sort down": (lambda m, x: x.sort(descending=True, stable=True).values, (6,)),
    "topk": (lambda m, x: x.topk(3, 1).values, (9, 2)),
    "smallest": (lambda m, x: x.topk(2, largest=False).values, (5,)),
    "kthvalue": (lambda m, x: x.kthvalue(2, 1, keepdim=True).values, (4, 3)),
    "median": (lambda m, x: x.median(1).values, (6, 2)),
    "L1 norm": (lambda m, x: x.norm(1, dim=1), (4, 3)),
    "L1 norm of all": (lambda m, x: torch.linalg.vector_norm(x, 1, dim=(1, 2), keepdim=True), (4, 3)),
    "maximum norm": (lambda m, x: x.norm(float("inf"), dim=-1), (4, 3)),
    "smallest absolute value": (lambda m, x: torch.linalg.vector_norm(x, -float("inf"), dim=1), (4,)),
    "L1 distance": (lambda m, x: F.pairwise_distance(x, m.vector, p=1), (4,)),
    "diff": (lambda m, x: x.diff(dim=1), (4, 3)),
    "trapezoid": (lambda m, x: torch.trapezoid(x, dim=1), (4,)),
    "fmax": (lambda m, x: torch.fmax(x, x.flip(1)), (4,)),
}


@pytest.mark.parametrize("name", ALONG_AXES)
def test_along_axes(name: str) -> None:
    function, shape = ALONG_AXES[name]
    check_module(Calls(function, **BUFFERS), shape)


PRODUCTS = {
    "an ellipsis": (lambda m, x: torch.einsum("...i,oi->...o", x, m.matrix), (3, 4)),
    "no result": (lambda m, x: torch.einsum("bi,oi", x, m.matrix), (4,)),
    "a diagonal": (lambda m, x: torch.einsum("bii->bi", x), (4, 4)),
    "a sum": (lambda m, x: torch.einsum("bij->bj", x), (4, 3)),
    "a matrix a slice": (lambda m, x: torch.einsum("bhi,hio->bho", x, m.stack), (4, 5)),
    "rows with rows": (lambda m, x: torch.einsum("bij,ij->bi", x, m.matrix), (4, 4)),
    "a chain": (lambda m, x: torch.einsum("bi,ij,jk,k->bk", x, m.matrix, m.matrix, m.vector), (4,)),
    "new indices": (lambda m, x: torch.einsum("bi,j->bij", x, m.vector), (4,)),
    "an index of length one": (lambda m, x: torch.einsum("bij,ij->bij", x[:, :1], m.matrix), (4, 4)),
    "a stack of matrices": (lambda m, x: x[:, :, None] @ m.stack, (4, 5)),
    "a stack on the left": (lambda m, x: m.stack.mT @ x[..., None], (4, 5)),
    "tensordot": (lambda m, x: torch.tensordot(x, m.matrix, dims=([1], [0])), (4, 3)),
    "baddbmm": (lambda m, x: torch.baddbmm(x, x, m.matrix.expand(len(x), 4, 4), beta=2), (3, 4)),
    "cross": (lambda m, x: torch.linalg.cross(x, m.vector[:3].expand_as(x), dim=1), (3,)),
    "lerp": (lambda m, x: torch.lerp(x, m.vector, 0.3), (4,)),
    "addcmul": (lambda m, x: torch.addcmul(x, x, m.vector, value=2), (4,)),
    "a factor of comparison": (lambda m, x: x * (x > 0), (4,)),
    "a cast comparison": (lambda m, x: (x - m.vector) * (x >= m.vector).to(x.dtype), (4,)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    function, shape = PRODUCTS[name]
    check_module(Calls(function, **BUFFERS), shape)


def test_messages_along_edges_are_a_graph_convolution() -> None:
    def forward(m: Any, x: Any) -> Any:
        messages = x.index_select(1, EDGES[0])
        return torch.zeros_like(x).index_add(1, EDGES[1], messages).relu()

    network = check_module(Calls(forward), (4, 2))
    adjacency = np.zeros((4, 4))
    np.add.at(adjacency, (EDGES[1].numpy(), EDGES[0].numpy()), 1.0)
    points = np.random.default_rng(0).normal(size=(5, 4, 2))
    np.testing.assert_allclose(
        network(points.reshape(5, -1)).reshape(5, 4, 2), np.maximum(adjacency @ points, 0), rtol=0, atol=1e-12
    )


def test_sorted_values_have_one_region_an_order() -> None:
    """Four numbers have 24 orders, in each of which the sorted ones are another affine function."""
    atlas = pf.unfold(load(Calls(lambda m, x: x.sort(1).values), input_shape=(4,)), pf.box(-1, 1))
    assert pf.certify(atlas).level == "certified"
    found = {tuple(A.ravel()) for A in atlas.maps(np.arange(len(atlas)))[0].round(12)}
    assert found == {tuple(np.eye(4)[list(order)].ravel()) for order in permutations(range(4))}


@pytest.mark.parametrize(
    ("function", "pieces"),
    [
        (lambda m, x: x.norm(1, dim=1), 8),
        (lambda m, x: x.norm(float("inf"), dim=1), 6),
        (lambda m, x: x.median(1).values, 3),
        (lambda m, x: x.cummax(1).values[:, -1], 3),
        (lambda m, x: x.cumsum(1).relu(), 8),
    ],
)
def test_every_affine_piece_is_found(function: Any, pieces: int) -> None:
    """The number of affine pieces of these functions of three numbers is known by heart."""
    atlas = pf.unfold(load(Calls(function), input_shape=(3,)), pf.box(-1, 1))
    A, c = atlas.maps(np.arange(len(atlas)))
    found = np.unique(np.concatenate([A.reshape(len(A), -1), c], axis=1).round(12), axis=0)
    assert atlas.complete and len(found) == pieces


def test_samples_may_not_be_written_into_each_other() -> None:
    with pytest.raises(UnsupportedOpError, match="batch axis"):
        load(Calls(assigned("x[0] = x[1]")), input_shape=(4,))
