"""Local maps: against autograd, against the atlas, on walls, and where floats alone cannot tell."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import polyfold as pf
from polyfold._base.clock import Progress
from polyfold.atlas.atlas import Atlas
from polyfold.engine.cells import exact_cell, shared_walls
from polyfold.engine.cells import facets as cell_facets
from polyfold.engine.cells.facets import CellFacets, Cells
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError
from polyfold.program.lower.lower import lower
from polyfold.testing import generated_case
from polyfold.testing.cases import Case
from polyfold.testing.strategies import cases

# Bytes for one input at a time of the small networks here.
LITTLE = 4096
CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


def random_layers(*widths: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


# -- maps


def test_maps_are_the_network_around_each_input() -> None:
    network = pf.load(random_layers(6, 20, 20, 3))
    X = np.random.default_rng(1).normal(size=(50, 6))
    maps = pf.local(network, X)
    assert np.abs(np.einsum("nij,nj->ni", maps.A, X) + maps.c - network(X)).max() < 1e-11
    assert all(maps.polytope(i).contains(X[i]) for i in range(len(maps)))
    assert maps.stopped_by is None and not any(len(gates) for gates in maps.on_wall)


def test_maps_do_not_depend_on_memory_or_shape() -> None:
    X = np.random.default_rng(1).normal(size=(9, 6))
    network = random_layers(6, 8, 3)
    whole, parts = pf.local(network, X), pf.local(network, X.reshape(9, 2, 3), max_memory=LITTLE)
    # Up to the order in which a product of more rows adds.
    assert np.abs(whole.A - parts.A).max() < 1e-12 and np.abs(whole.c - parts.c).max() < 1e-12
    assert (whole.signs == parts.signs).all()


def residual_network(torch: Any) -> Any:
    class Residual(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.inner, self.last = (torch.nn.Linear(5, 5) for _ in range(3))

        def forward(self, x: Any) -> Any:
            h = torch.relu(self.first(x))
            h = h + torch.nn.functional.leaky_relu(self.inner(h), 0.1)
            return torch.maximum(self.last(h), x)

    return Residual()


@pytest.mark.parametrize("kind", ["mlp", "residual"])
def test_maps_equal_autograd(kind: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    mlp = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU())
    model = (mlp if kind == "mlp" else residual_network(torch)).double().eval()
    X = torch.randn(12, 5, dtype=torch.float64)
    maps = pf.local(model, X.numpy())
    for i in range(len(X)):
        jacobian = torch.autograd.functional.jacobian(model, X[i : i + 1])[0, :, 0].numpy()
        assert np.abs(maps.A[i] - jacobian).max() < 1e-12


def test_the_constant_keeps_its_digits_far_out() -> None:
    # f(x) - A x would lose all of them: 1e20 + 0.1 - 1e20.
    maps = pf.local([([[1.0]], [0.1]), ([[1.0]], [0.0])], [[1e20]])
    assert maps.c[0, 0] == 0.1


# -- polytopes and facets


def as_set(found: CellFacets) -> set[tuple[frozenset[int], bytes]]:
    return {
        (frozenset(f.walls), b"" if f.across is None else np.packbits(f.across, bitorder="little").tobytes())
        for f in found.facets
    }


def listed(atlas: Atlas, cell: int) -> set[tuple[frozenset[int], bytes]]:
    behind = atlas.neighbour
    return {
        (frozenset(atlas.walls(f)), b"" if behind[f] < 0 else atlas.patterns[behind[f]].tobytes())
        for f in atlas.facets(cell)
    }


def assert_agrees(case: Case, most: int) -> None:
    atlas = pf.unfold(case.program, case.domain)
    chosen = np.random.default_rng(0).permutation(len(atlas))[:most]
    cells = Cells(case.program, case.domain)
    everything = atlas.halfspaces(chosen, minimal=False)
    for item, (k, signs) in enumerate(zip(chosen.tolist(), atlas.signs(chosen), strict=True)):
        validity = cells.walls.under(signs)
        A, b = everything[item]
        # Two roundings of one number lie as far apart as the bound on both allows, and no farther.
        assert (np.abs(validity.A - A[validity.wall]) <= 2 * validity.A_error).all(), case
        assert (np.abs(validity.b - b[validity.wall]) <= 2 * validity.b_error).all(), case
        missing = np.setdiff1d(np.arange(case.program.gates), validity.wall)
        assert not A[missing].any() and not b[missing].any(), case
        witness = cells.witness(validity, atlas.witnesses[k])
        assert witness is not None, case
        found = cells.facets(validity, witness)
        assert not found.undecided, case
        assert as_set(found) == listed(atlas, k), (case, k)
        assert cells.is_bounded(validity) == atlas.bounded[k], (case, k)


@pytest.mark.parametrize("seed", range(40))
def test_facets_are_those_of_the_atlas(seed: int) -> None:
    assert_agrees(generated_case(seed), 4)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(max_size=6))
def test_facets_of_any_case_are_those_of_the_atlas(case: Case) -> None:
    assert_agrees(case, 3)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(max_size=8), st.integers(2, 12))
def test_facets_of_many_cases_are_those_of_the_atlas(case: Case, most: int) -> None:
    assert_agrees(case, most)


def test_facets_at_inputs() -> None:
    program = lower(pf.load(random_layers(3, 6, 4, 1)))
    atlas = pf.unfold(program, pf.box(-2, 2))
    X = np.random.default_rng(5).uniform(-2, 2, size=(8, 3))
    maps = pf.local(program, X, domain=pf.box(-2, 2))
    for i, cell in enumerate(atlas.locate(X)):
        found = maps.facets(i)
        assert as_set(found) == listed(atlas, int(cell))
        A, b = found.rows
        assert (A @ X[i] <= b).all()
        assert len(found.names) == len(b) and maps.facets(i) is found
        centre, radius = maps.chebyshev(i)
        assert radius == pytest.approx(atlas.chebyshev([cell])[1][0])
        assert (A @ centre <= b + 1e-9).all()


def test_facets_in_high_dimension_on_a_box() -> None:
    program = lower(pf.load(random_layers(40, 30, 20, 2)))
    maps = pf.local(program, np.zeros((1, 40)), domain=pf.box(-1, 1))
    found = maps.facets(0)
    assert not found.undecided and found.proved_by == "floats"
    inner = [k for k, facet in enumerate(found.facets) if facet.across is not None]
    assert inner
    for k in inner[:4]:
        behind = maps.neighbour(0, k)
        assert behind.switched.tolist() == list(found[k].walls)
        back = pf.local(program, behind.witness.point[None, :], domain=pf.box(-1, 1))
        assert (back.signs[0] == behind.signs).all()
        assert any(facet.walls == found[k].walls for facet in back.facets(0).facets)


def test_facets_do_not_depend_on_how_much_is_done_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    program, X = lower(pf.load(random_layers(12, 30, 20, 2))), np.full((1, 12), 0.1)
    monkeypatch.setattr(cell_facets, "_LARGE", 0)
    whole = pf.local(program, X, domain=pf.box(-1, 1)).facets(0)
    monkeypatch.setattr(cell_facets, "_MOST_NUMBERS", 1)
    parts = pf.local(program, X, domain=pf.box(-1, 1)).facets(0)
    assert as_set(whole) == as_set(parts) and not parts.undecided
    monkeypatch.setattr(cell_facets, "_PROJECTIONS", 0)
    programs = pf.local(program, X, domain=pf.box(-1, 1)).facets(0)
    assert as_set(whole) == as_set(programs) and programs.programs > whole.programs


def test_a_facet_on_two_walls_switches_both() -> None:
    twins = [(np.array([[1.0, 0.0], [2.0, 0.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    maps = pf.local(twins, [[1.0, 0.5]])
    (facet,) = maps.facets(0).facets
    assert set(facet.walls) == {0, 1}
    assert maps.neighbour(0, 0).switched.tolist() == [0, 1]


def test_a_gate_that_touches_zero_and_comes_back() -> None:
    # The second gate is |x| = relu(x) + relu(-x): zero on the wall x = 0, on at both of its sides.
    touching = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0]), ([[1.0]], [0.0])]
    maps = pf.local(touching, [[1.0]])
    behind = maps.neighbour(0, 0)
    assert set(maps.facets(0)[0].walls) == {0, 1, 2}
    assert behind.signs.tolist() == [False, True, True] and behind.switched.tolist() == [0, 1]


def test_behind_the_domain_there_is_nothing() -> None:
    maps = pf.local(CORNER, [[0.5, 0.5]], domain=pf.box(-1, 1))
    names = maps.facets(0).names
    with pytest.raises(DomainError, match=r"behind facet 2 of input 0 \(domain row 2\) the domain ends"):
        maps.neighbour(0, names.index("domain row 2"))
    with pytest.raises(IndexError, match="no facet 9"):
        maps.neighbour(0, 9)


def test_the_largest_ball_has_a_limit() -> None:
    maps = pf.local(random_layers(30, 200, 100, 1), np.full((1, 30), 0.25), domain=pf.box(-1, 1))
    stopped = maps.chebyshev(0, max_seconds=1e-9)
    assert stopped.stopped_by == "max_seconds"
    assert np.isnan(stopped.radius) and np.isnan(stopped.centre).all() and stopped.centre.shape == (30,)
    centre, radius = ball = maps.chebyshev(0)
    assert ball.stopped_by is None and radius > 0
    # It touches, and with the facets known it is the same one.
    A, b = maps.facets(0).rows
    assert ((b - A @ centre) / np.linalg.norm(A, axis=1)).min() == pytest.approx(radius)
    assert maps.chebyshev(0).radius == pytest.approx(radius)
    half = pf.local([([[1.0]], [0.0]), ([[1.0]], [0.0])], [[2.0]]).chebyshev(0)
    assert half.radius == np.inf and np.isnan(half.centre).all() and half.stopped_by is None
    with pytest.raises(LimitError, match="leaves no time"):
        maps.chebyshev(0, max_seconds=0)


def test_what_cannot_be_decided_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    program = lower(pf.load(random_layers(4, 12, 8, 1)))
    X = np.random.default_rng(2).normal(size=(6, 4))
    known = [pf.local(program, X).facets(i) for i in range(len(X))]
    monkeypatch.setattr(exact_cell, "_MOST_PRODUCTS", 0)
    monkeypatch.setattr(shared_walls, "_MOST_PRODUCTS", 0)
    blind = pf.local(program, X)
    for i, found in enumerate(known):
        seen = blind.facets(i)
        assert as_set(seen) <= as_set(found)
        assert {w for f in found.facets for w in f.walls} <= {w for f in seen.facets for w in f.walls} | set(
            seen.undecided
        )
    assert any(blind.facets(i).undecided for i in range(len(X)))


# -- on walls


def test_an_input_on_a_wall_says_so() -> None:
    maps = pf.local(CORNER, [[0.0, 1.0], [2.0, 3.0], [0.0, 0.0]])
    assert [gates.tolist() for gates in maps.on_wall] == [[0], [], [0, 1]]
    assert maps.wall_distances().distance.tolist() == [0.0, 2.0, 0.0]
    assert maps.polytope(0).contains(maps.X[0])
    assert len(maps.facets(0)) == 2


def test_a_gate_that_vanishes_is_no_wall() -> None:
    # 0.1 x - 0.1 x: floats may not see that it is zero.
    cancelling = [([[0.1], [0.1]], [0.7, 0.7]), ([[0.3, -0.3], [1.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    maps = pf.local(cancelling, [[1.0]])
    assert maps.on_wall[0].tolist() == []
    assert 2 not in {wall for facet in maps.facets(0).facets for wall in facet.walls}
    assert maps.wall_distances().gate[0] in (0, 1)
    dead = [([[0.0]], [0.0]), ([[1.0]], [0.0])]
    maps = pf.local(dead, [[1.0]])
    assert len(maps.polytope(0)) == 0 and maps.on_wall[0].tolist() == [] and len(maps.facets(0)) == 0
    assert maps.nearest_wall(0).gate == -1 and maps.nearest_wall(0).distance == np.inf


def test_a_flat_pattern_has_no_facets() -> None:
    # At zero both x and -x are off; nowhere else.
    maps = pf.local([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], [[0.0]])
    assert maps.on_wall[0].tolist() == [0, 1]
    with pytest.raises(PolyfoldError, match=r"flat set at most, .* gate 0"):
        maps.facets(0)


# -- distances


@pytest.mark.parametrize("widths", [(3, 8, 8, 1), (12, 4, 3, 1)])
@pytest.mark.parametrize("memory", [LITTLE, 1 << 30])
def test_distances_are_those_of_the_rows(widths: tuple[int, ...], memory: int) -> None:
    X = np.random.default_rng(1).normal(size=(7, widths[0]))
    maps = pf.local(random_layers(*widths), X, max_memory=memory)
    found = maps.wall_distances()
    for i in range(len(X)):
        rows = maps.polytope(i)
        lengths = (rows.b - rows.A @ X[i]) / np.linalg.norm(rows.A, axis=1)
        assert found.distance[i] == pytest.approx(lengths.min())
        assert found.gate[i] == rows.wall[lengths.argmin()]
        nearest = maps.nearest_wall(i)
        assert nearest.gate == found.gate[i] and np.linalg.norm(nearest.point - X[i]) == pytest.approx(nearest.distance)
        assert nearest.name in rows.names[int(lengths.argmin())]


# -- limits and errors


def test_one_vector_is_one_row() -> None:
    one, rows = pf.local(CORNER, [3.0, -1.0]), pf.local(CORNER, [[3.0, -1.0]])
    assert len(one) == 1 and (one.A == rows.A).all() and (one.c == rows.c).all()


def test_time_limits_are_told() -> None:
    X = np.zeros((3, 6)) + 0.5
    maps = pf.local(random_layers(6, 8, 3), X, max_memory=LITTLE, max_seconds=1e-9)
    assert len(maps) == 1 and maps.stopped_by == "max_seconds" and "stopped by max_seconds" in repr(maps)
    walls = pf.local(random_layers(6, 8, 3), X).wall_distances(max_seconds=1e-9)
    assert walls.stopped_by == "max_seconds" and np.isnan(walls.distance).all() and (walls.gate == -1).all()


def test_progress_counts_inputs() -> None:
    seen: list[Progress] = []
    maps = pf.local(CORNER, np.ones((3, 2)), max_memory=LITTLE // 4, progress=seen.append)
    maps.wall_distances(progress=seen.append)
    assert [event.done for event in seen] == [1, 2, 3, 1, 2, 3]
    assert {(event.total, event.what) for event in seen} == {(3, "inputs")}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"X": [1.0, 2.0, 3.0]}, ShapeError, r"its shape is \(3,\)"),
        ({"X": [[1.0, 2.0, 3.0]]}, ShapeError, "rows of 2 numbers"),
        ({"X": [[1.0, np.nan]]}, ShapeError, r"X\[0, 1\] is nan"),
        ({"X": [["a", "b"]]}, ShapeError, "rows of 2 numbers"),
        ({"X": [[1.0, 1j]]}, ShapeError, "complex"),
        ({"max_memory": 0}, LimitError, "max_memory=0"),
        (
            {"max_memory": 100},
            LimitError,
            "max_memory=100 is too little: .* takes about [0-9,]+ bytes; give max_memory=",
        ),
        ({"settle": "yes"}, PolyfoldError, "settle must be True, False or None, got 'yes'"),
        ({"max_seconds": -1}, LimitError, "max_seconds=-1"),
        ({"domain": pf.slice_of([0.0, 0.0], [[1.0], [0.0]])}, DomainError, "slice"),
    ],
)
def test_impossible_options_are_quoted(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pf.local(CORNER, **{"X": [[1.0, 1.0]], **options})


def test_a_time_limit_leaves_walls_undecided() -> None:
    network, X = random_layers(6, 20, 20, 3), np.random.default_rng(1).normal(size=(2, 6))
    maps, seen = pf.local(network, X), list[int]()
    whole = pf.local(network, X).facets(0, progress=lambda event: seen.append(event.done))
    assert whole.stopped_by is None and not whole.undecided and seen and max(seen) <= len(whole.validity)
    stopped = maps.facets(0, max_seconds=1e-9)
    assert stopped.stopped_by == "max_seconds" and stopped.undecided and "stopped by max_seconds" in repr(stopped)
    # What is said is true: facets are facets, and the rest still bounds the cell.
    assert {facet.walls for facet in stopped.facets} <= {facet.walls for facet in whole.facets}
    assert {w for f in whole.facets for w in f.walls} <= {w for f in stopped.facets for w in f.walls} | set(
        stopped.undecided
    )
    assert len(stopped.rows[1]) == len(stopped) + len(stopped.undecided)
    # Asked again without a limit it is all there.
    assert as_set(maps.facets(0)) == as_set(whole)
    with pytest.raises(LimitError, match="max_seconds=0"):
        maps.facets(0, max_seconds=0)


@pytest.mark.parametrize("kind", ["float32", "int64", "bfloat16"])
def test_tensors_of_any_kind(kind: str) -> None:
    torch: Any = pytest.importorskip("torch")
    tensor = torch.ones(2, 2, dtype=getattr(torch, kind))
    if tensor.is_floating_point():
        tensor.requires_grad_()
    assert pf.local(CORNER, tensor).A.tolist() == [[[1.0, 1.0]]] * 2
    assert len(pf.explore(CORNER, tensor[0])) == 4


def test_no_inputs_at_all() -> None:
    maps = pf.local(CORNER, np.zeros((0, 2)))
    assert len(maps) == 0 and maps.A.shape == (0, 1, 2) and len(maps.wall_distances()) == 0


def test_items_are_counted() -> None:
    maps = pf.local(CORNER, [[1.0, 1.0]])
    assert maps.polytope(-1).signs.all()
    with pytest.raises(IndexError, match="there is no input 1: there are 1"):
        maps.facets(1)
