"""Shallow networks equal the deep ones, anywhere and on walls: in NumPy, torch, onnxruntime and rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from helpers.shallow_points import some_points, with_outputs
from polyfold.errors import DomainError, PolyfoldError, ShapeError
from polyfold.exact.rational import rational
from polyfold.program.passes.integer_forms import ExactForms
from polyfold.program.passes.jets import sizes_of_terms
from polyfold.rewrite.shallow.hyperplanes import distinct_hyperplanes
from polyfold.testing import Case, generated_case, wide_case
from polyfold.testing.reference import exact_at

Array = npt.NDArray[np.float64]
CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


def deep_values(atlas: pf.Atlas, points: Array) -> Array:
    values, _ = atlas.program.evaluate(atlas.lift(points))
    return values


def assert_close(found: Array, expected: Array, terms: Array, what: Any) -> None:
    """To 1e-9 relative; where much larger terms cancel, both networks lose digits of these."""
    assert found.shape == expected.shape and np.isfinite(found).all(), what
    allowed = 1e-9 * np.maximum(np.abs(expected).max(axis=1, keepdims=True), 1.0) + 1e-13 * terms
    worst = float((np.abs(found - expected) / allowed).max())
    assert worst <= 1, (what, worst)


def assert_equal_to_the_deep_one(case: Case, seed: int, count: int, near: int, on: int) -> None:
    import onnxruntime
    import torch

    rng = np.random.default_rng(seed)
    atlas = pf.unfold(with_outputs(case.program, 1 + seed % 5, rng), case.domain)
    shallow = pf.rewrite.shallow(atlas)
    points = some_points(atlas, count, near, on, rng)
    expected = deep_values(atlas, points)
    slopes, constants = sizes_of_terms(atlas.program, atlas.domain, atlas.signs(atlas.locate(points)))
    terms = np.einsum("imn,in->im", slopes, np.abs(points)) + constants
    assert_close(shallow(points), expected, terms, case)
    with torch.no_grad():
        module = shallow.to_torch()
        found = np.concatenate([module(part).numpy() for part in torch.from_numpy(points).split(1000)])
    assert_close(found, expected, terms, case)
    session = onnxruntime.InferenceSession(shallow.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    answers = [session.run(None, {"x": part}) for part in np.split(points, range(1000, count, 1000))]
    assert all(answer[1].all() for answer in answers), case
    assert_close(np.concatenate([answer[0] for answer in answers]), expected, terms, case)


@pytest.mark.parametrize("batch", range(6))
def test_generated_networks(batch: int) -> None:
    for seed in range(5 * batch, 5 * batch + 5):
        assert_equal_to_the_deep_one(generated_case(seed), seed, 1000, 300, 100)


@pytest.mark.parametrize("seed", range(30))
def test_widths_count_half_spaces(seed: int) -> None:
    """Counted in another way: every facet's hyperplane and side, in integers."""
    case = generated_case(seed)
    atlas = pf.unfold(case.program, case.domain)
    forms, sides = ExactForms(atlas.program, atlas.domain), set()
    for cell in range(len(atlas)):
        signs = atlas.signs([cell])[0].tolist()
        rows = forms.under(tuple(signs)).rows
        for wall in atlas.facet_wall[list(atlas.facets(cell))].tolist():
            sides.add(tuple(rows[wall] if wall >= atlas.gates or signs[wall] else [-x for x in rows[wall]]))
    shallow = pf.rewrite.shallow(atlas)
    n, p, m = shallow.inputs, len(atlas), shallow.outputs
    assert shallow.widths.layers[1] == 2 * n + len(sides), case
    assert shallow.widths.bound == max(2 * n + len(sides), 2 * n + p, 2 * p * m) >= max(shallow.widths.layers), case


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(30))
def test_many_generated_networks(batch: int) -> None:
    for seed in range(10 * batch, 10 * batch + 10):
        case = generated_case(1000 + seed) if seed % 3 else wide_case(seed)
        assert_equal_to_the_deep_one(case, seed, 10_000, 1000, 100)


@pytest.mark.parametrize("seed", range(24))
def test_in_rationals_it_is_the_same_function(seed: int) -> None:
    """At corners, on walls and inside exactly one piece passes, and what comes out is what the deep network has."""
    case, rng = generated_case(seed, size=5), np.random.default_rng(seed)
    atlas = pf.unfold(case.program, case.domain)
    shallow = pf.rewrite.shallow(atlas)
    for point in some_points(atlas, 30, 10, 10, rng).tolist():
        expected = exact_at(case.program, case.domain, [rational(x) for x in point]).outputs
        found = shallow.exactly(point)
        assert found.outputs == tuple(Fraction(int(x.p), int(x.q)) for x in expected), case


def test_every_point_of_a_wall_belongs_to_one_piece() -> None:
    shallow = pf.rewrite.shallow(pf.unfold(CORNER))
    half = Fraction(1, 3)
    pieces = {shallow.exactly(point).piece for point in ([0, half], [0, -half], [half, 0], [-half, 0], [0, 0])}
    assert len(pieces) > 1
    assert shallow.exactly([0, 0]).outputs == (0,) and shallow.exactly([half, half]).outputs == (2 * half,)
    for tiny in (Fraction(1, 10**400), -Fraction(1, 10**400)):
        assert shallow.exactly([tiny, 1]).outputs == (1 + max(tiny, 0),)


def test_its_weights_are_those_of_the_theorem() -> None:
    """Evaluated layer by layer, with infinity times zero being zero."""
    atlas = pf.unfold(generated_case(2).program, generated_case(2).domain)
    shallow = pf.rewrite.shallow(atlas)
    points = atlas.witnesses[:20]
    expected = shallow(points)
    for point, y in zip(points, expected, strict=True):
        value = point
        for number, (weights, bias) in enumerate(shallow.layers):
            value = np.array([_product(weights[i], value) for i in range(weights.shape[0])]) + bias
            value = np.maximum(value, 0) if number < 3 else value
        assert np.allclose(value, y, rtol=1e-12, atol=1e-12)
    assert [weights.shape[0] for weights, _ in shallow.layers[:3]] == list(shallow.widths.layers)
    first, second, third, last = (weights for weights, _ in shallow.layers)
    n, p, m = shallow.inputs, len(shallow), shallow.outputs
    assert np.array_equal(first[: 2 * n].toarray(), np.concatenate([np.eye(n), -np.eye(n)]))
    assert np.array_equal(second[: 2 * n, : 2 * n].toarray(), np.eye(2 * n))
    assert np.array_equal(third[: p * m, :n].toarray(), -third[p * m :, :n].toarray())
    assert set(shallow.R.data.tolist()) == {1.0} and set(last.data.tolist()) == {1.0, -1.0}


def _product(row: Any, value: Array) -> float:
    there = value[row.indices] != 0
    return float((row.data[there] * value[row.indices][there]).sum())


def test_hyperplanes_are_listed_once() -> None:
    """Parallel and coinciding walls, scaled and turned: three hyperplanes, in exact numbers."""
    W = np.array([[1.0, 2.0], [-3.0, -6.0], [0.1, 0.2], [1.0, 2.0], [0.0, 1.0]])
    network = [(W, np.array([1.0, -3.0, 0.1, 2.0, 0.0])), (np.ones((1, 5)), np.zeros(1))]
    # A tenth of (1, 2, 1) is not a tenth in floats: (0.1, 0.2, 0.1) is the same hyperplane all the same.
    assert len(pf.rewrite.shallow(pf.unfold(network)).c) == 3
    network[0][1][2] = np.nextafter(0.1, 1)
    assert len(pf.rewrite.shallow(pf.unfold(network)).c) == 4


def test_hyperplanes_that_floats_hardly_know_are_listed_once() -> None:
    """Second-layer walls at the same place, of which floats know some only roughly: terms a million times as large."""
    first = (np.array([[1.0], [1.0], [1.0]]), np.array([10.0, 20.0, 30.0]))
    big = 2.0**40
    rows = np.array([[0.5, 0.5, 0.0], [big, 1 - big, 0.0], [0.0, 1.0 + big, -big], [-3 * big, 6 * big + 2, -3 * big]])
    # On x > -10 all of them are x plus a constant, up to a factor; biases put their zeros at x = 1.
    bias = -(rows @ (first[1] + 1.0))
    network = [first, (rows, bias), (np.ones((1, 4)), np.zeros(1))]
    atlas = pf.unfold(network, pf.box(-5, 5))
    shallow = pf.rewrite.shallow(atlas)
    exact = {tuple(shallow.exact.hyperplane(k)) for k in range(len(shallow.c))}
    assert len(exact) == len(shallow.c) == len(shallow.H) < len(atlas.facet_wall)


@pytest.mark.parametrize(
    ("network", "points"),
    [
        pytest.param([([[1e-200]], [0.0]), ([[1e200]], [0.0])], [0.5, -0.5], id="tiny slopes"),
        pytest.param([([[1e200]], [0.0]), ([[1e-200]], [0.0])], [0.5, -0.5], id="huge slopes"),
        pytest.param([([[1e-200]], [1e200]), ([[1.0]], [0.0])], [0.5, -0.5], id="a wall beyond all floats"),
        pytest.param(
            [
                ([[0.1], [1.0]], [1.0, 10.0]),
                ([[10.0, -1.0]], [float(-(10 * Fraction(0.1) - 1))]),
                ([[2.0**54]], [0.0]),
            ],
            [-4.0, 0.5, 2.0, 4.0],
            id="terms that cancel",
        ),
    ],
)
def test_what_floats_do_not_know_is_taken_from_rationals(network: Any, points: list[float]) -> None:
    shallow = pf.rewrite.shallow(network, pf.box(-5, 5))
    expected = [float(shallow.exactly([x]).outputs[0]) for x in points]
    exact = pf.unfold(network, pf.box(-5, 5)).program
    assert [
        float(int(v.p) / int(v.q)) for x in points for v in exact_at(exact, pf.box(-5, 5), [rational(x)]).outputs
    ] == expected
    column = np.array(points)[:, None]
    assert np.allclose(shallow(column).ravel(), expected, rtol=1e-12, atol=0)
    torch = pytest.importorskip("torch")
    assert np.allclose(
        shallow.to_torch()(torch.from_numpy(column)).detach().numpy().ravel(), expected, rtol=1e-12, atol=0
    )


def test_maps_beyond_the_floats_are_refused() -> None:
    with pytest.raises(PolyfoldError, match=r"the map of piece . has numbers that are too large for floats"):
        pf.rewrite.shallow([([[1e200]], [0.0]), ([[1e200]], [0.0]), ([[1.0]], [0.0])])


def test_slices_far_from_the_origin_have_their_boundary_inside() -> None:
    torch = pytest.importorskip("torch")
    origin = [640.5920704482397, -640.5420704482398]
    domain = pf.slice_of(origin, [[1.0], [0.0]], within=pf.polytope([[0.7, 0.7], [-1, -1]], [0.1, 1.0]))
    shallow = pf.rewrite.shallow([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], domain)
    u = np.array([[np.nextafter(0.09285714285718835, 0)]])
    assert shallow.to_torch().inside(torch.from_numpy(u)).all()
    assert np.allclose(shallow.to_torch()(torch.from_numpy(u)).detach().numpy(), shallow(u))


def test_outside_the_domain() -> None:
    shallow = pf.rewrite.shallow(pf.unfold(CORNER, pf.box(-1, 1)))
    with pytest.raises(DomainError, match=r"point 1, \[2.0, 0.0\], lies outside the domain"):
        shallow([[1.0, 1.0], [2.0, 0.0]])
    assert shallow([[1.0, 1.0], [2.0, 0.0]], outside="zero").tolist() == [[2.0], [0.0]]
    assert shallow.piece([[2.0, 0.0]], outside="ignore").tolist() == [-1]
    with pytest.raises(DomainError, match="outside the domain"):
        shallow.exactly([2, 0])
    torch = pytest.importorskip("torch")
    points = torch.tensor([[1.0, 1.0], [2.0, 0.0]], dtype=torch.float64)
    module = shallow.to_torch()
    assert module(points).tolist() == [[2.0], [0.0]] and module.inside(points).tolist() == [True, False]


def test_bad_input() -> None:
    with pytest.raises(PolyfoldError, match=r"incomplete \(stopped by max_cells\)"):
        pf.rewrite.shallow(pf.unfold(CORNER, max_cells=2))
    with pytest.raises(PolyfoldError, match="has a domain of its own"):
        pf.rewrite.shallow(pf.unfold(CORNER), pf.box(-1, 1))
    shallow = pf.rewrite.shallow(CORNER)
    with pytest.raises(ShapeError, match="rows of 2 numbers"):
        shallow([[1.0]])
    with pytest.raises(PolyfoldError, match="outside must be 'error' or 'zero', got 'ignore'"):
        shallow([[1.0, 1.0]], outside="ignore")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="a point has 2 numbers"):
        shallow.exactly([1])
    for point in ([np.nan, 0], [np.inf, 0], ["a", 0], 3.0):
        with pytest.raises(ShapeError, match="a point is a list of finite numbers"):
            shallow.exactly(point)


def test_a_network_without_gates() -> None:
    shallow = pf.rewrite.shallow([(np.array([[2.0, 1.0]]), np.array([3.0]))])
    assert len(shallow) == 1 and shallow([[1.0, 1.0]]).tolist() == [[6.0]]
    torch = pytest.importorskip("torch")
    assert shallow.to_torch()(torch.ones(1, 2)).tolist() == [[6.0]]


def test_fine_tuning_keeps_it_a_shallow_network(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    module = pf.rewrite.shallow(atlas).to_torch()
    assert {name for name, _ in module.named_parameters()} == {"alpha", "beta"}
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5, momentum=0.8)
    points = torch.rand(64, 2, dtype=torch.float64)  # all of them in the piece where both gates are on
    for _ in range(400):
        optimiser.zero_grad()
        (module(points) - (3 * points[:, :1] - points[:, 1:] + 1)).square().mean().backward()
        optimiser.step()
    piece = int(pf.rewrite.shallow(atlas).piece([[0.5, 0.5]])[0])
    moved = [i for i in range(4) if not torch.equal(module.alpha[i], before["alpha"][i])]
    assert moved == [piece]
    for name, tensor in module.state_dict().items():
        assert name in ("alpha", "beta") or torch.equal(tensor, before[name])
    assert torch.allclose(module(points), 3 * points[:, :1] - points[:, 1:] + 1, atol=0.05)
    torch.save(module.state_dict(), tmp_path / "shallow.pt")
    again = pf.rewrite.shallow(atlas).to_torch()
    again.load_state_dict(torch.load(tmp_path / "shallow.pt", weights_only=True))
    assert torch.equal(again(points), module(points))


def test_pieces_with_the_value_zero_can_be_trained_too() -> None:
    torch = pytest.importorskip("torch")
    module = pf.rewrite.shallow(CORNER).to_torch()
    points = torch.tensor([[-0.5, -0.5], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    module(points).sum().backward()
    assert module.beta.grad.sum() == 2
    # On a wall: the gradient of the piece that passes.
    piece = int(pf.rewrite.shallow(CORNER).piece([[0.0, 1.0]])[0])
    assert torch.equal(points.grad[1], module.alpha[piece, 0])
    assert module(torch.zeros(0, 2)).shape == (0, 1)


def test_hidden_layers_are_those_of_the_weights() -> None:
    torch = pytest.importorskip("torch")
    shallow = pf.rewrite.shallow(CORNER)
    points = np.array([[0.0, 1.0], [0.0, 0.0], [2.0, -1.0], [-1.0, -1.0]])
    first, second, third = (layer.detach().numpy() for layer in shallow.to_torch().hidden(torch.from_numpy(points)))
    (W1, b1), (W2, b2), (W3, b3), (W4, _) = shallow.layers
    for point, one, two, three in zip(points, first, second, third, strict=True):
        expected = np.maximum(W1 @ point + b1, 0)
        assert np.array_equal(one, expected)
        expected = np.maximum(np.array([_product(row, expected) for row in W2]) + b2, 0)
        assert len(two) == len(expected) and np.array_equal(np.sort(two), np.sort(expected))
        expected = np.maximum(np.array([_product(row, expected) for row in W3]) + b3, 0)
        assert np.array_equal(three, expected)
        assert np.allclose(W4 @ three, shallow([point])[0])


def test_small_convolutional_recurrent_and_graph_networks() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    nn = torch.nn
    conv = nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(2, 1)).double()
    adjacency = torch.tensor([[0.5, 0.5, 0.0], [0.3, 0.4, 0.3], [0.0, 0.5, 0.5]], dtype=torch.float64)

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lift, self.drop = nn.Linear(1, 2), nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.drop(adjacency @ torch.relu(self.lift(adjacency @ x)))

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells, self.read = nn.RNN(1, 2, nonlinearity="relu", batch_first=True), nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return self.read(self.cells(x)[0][:, -1])

    for module, shape in ((conv, (1, 4)), (Graph().double(), (3, 1)), (Recurrent().double(), (3, 1))):
        shallow = pf.rewrite.shallow(pf.unfold(pf.load(module.eval(), input_shape=shape), pf.box(-2, 2)))
        points = torch.rand(200, *shape, dtype=torch.float64) * 4 - 2
        expected = module(points).detach().flatten(1).numpy()
        assert np.allclose(shallow(points.flatten(1).numpy()), expected, rtol=1e-9, atol=1e-9)


def test_hyperplanes_behind_weights_of_all_sizes():
    """Walls x = 0 and y = -1/2 of relu(2**700 x), times 2**650 and so on: squares of such rows overflow."""
    inner = [(np.diag([factor, 1.0]), np.zeros(2)) for factor in (2.0**650, 2.0**-700)]
    layers = [([[2.0**700, 0.0], [0.0, 1.0]], [0.0, 0.5]), *inner, ([[2.0**-650, -1.0]], [0.0])]
    with np.errstate(all="ignore"):
        found = distinct_hyperplanes(pf.unfold(layers, pf.box(-1, 1)))
    walls = {tuple(np.abs(row).tolist()) for row in np.column_stack([found.H, found.c])}
    assert walls == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.5), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)} and len(found.c) == 6
