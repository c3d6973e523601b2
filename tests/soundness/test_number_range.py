"""Networks and boxes with numbers at the ends of float64's range: what is found of them is true, or an error of ours.

Judged by `cells_in_fractions`, which shares no code with the library. Numpy's warnings are errors here: a number that
overflows unnoticed is what these tests look for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold import _core as core
from polyfold.atlas.core_problem import core_problem
from polyfold.domain.domain import resolve_domain
from polyfold.errors import ContradictionError, LimitError, PolyfoldError
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder
from polyfold.program.lower.lower import lower
from soundness.cells_in_fractions import ExactCell, value, vertices
from soundness.edge_networks import DOMAINS, KINDS, LARGEST, LEAST, EdgeCase, edge_case

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

Result = TypeVar("Result")
BEYOND = Fraction(LARGEST)
A_ROUND = len(KINDS) * len(DOMAINS)  # every kind on every domain once


def patterns(atlas: pf.Atlas) -> list[tuple[bool, ...]]:
    """Patterns by the layers' order; a layer that multiplies by zero is decided earlier than it comes."""
    origins = [(origin.node, origin.index, gate) for gate, origin in enumerate(atlas.program.origins)]
    order = [gate for _, _, gate in sorted(origins)]
    return [tuple(map(bool, signs[order])) for signs in atlas.signs()]


def is_near(found: float, exact: Fraction, size: Fraction) -> bool:
    """Whether a float is the number, up to this size; beyond float64 it has to be infinite."""
    if np.isinf(found):
        return abs(exact) + size >= BEYOND and (found > 0) == (exact > 0)
    return bool(np.isfinite(found)) and abs(Fraction(float(found)) - exact) <= size + Fraction(LEAST)


def assert_map(slopes: np.ndarray, constant: float, cell: ExactCell, output: int, name: str) -> None:
    rows = [*slopes.tolist(), constant], cell.outputs[output], cell.sizes[output]
    for found, exact, size in zip(*rows, strict=True):
        assert is_near(found, exact, size / 10**12), f"{name}: {found} for {exact}"


def look_at(case: EdgeCase, *, everything: bool) -> None:
    truth = case.truth()
    by_pattern = {cell.pattern: cell for cell in truth}
    counted = pf.count(case.layers, case.domain, threads=1)
    assert (counted.cells, counted.complete) == (len(truth), True), case.name
    atlas = pf.unfold(case.layers, case.domain, threads=1)
    found = patterns(atlas)
    assert set(found) == set(by_pattern) and len(found) == len(truth), case.name
    failed = pf.check(atlas).failed_checks
    assert atlas.certificate.level == "checked" and not failed, (case.name, failed)

    faces = atlas.f_vector()
    assert counted.f_vector == faces and faces[-1] == len(truth), case.name
    assert atlas.euler_characteristic() == (1 if case.domain else (-1) ** case.dim), (case.name, faces)
    if case.dim <= 2:
        assert faces[0] == len(set().union(*map(vertices, truth))), (case.name, faces)

    A, c = atlas.maps()
    for i, pattern in enumerate(found):
        for k in range(atlas.outputs):
            assert_map(A[i, k], c[i, k], by_pattern[pattern], k, case.name)
    look_at_inputs(case, atlas, [by_pattern[pattern] for pattern in found])
    assert pf.equivalent(case.layers, case.layers, case.domain).word == "equal", case.name
    if everything:
        look_closer(case, atlas, [by_pattern[pattern] for pattern in found])


def look_at_inputs(case: EdgeCase, atlas: pf.Atlas, cells: list[ExactCell]) -> None:
    """Witnesses that floats hold lie in their cells, and the map around them is that of the cell."""
    inner = [i for i, cell in enumerate(cells) if is_inside(cell, atlas.witnesses[i])]
    if not inner:
        return
    assert atlas.locate(atlas.witnesses[inner]).tolist() == inner, case.name
    maps = pf.local(case.layers, atlas.witnesses[inner])
    assert not any(map(len, (*maps.undecided, *maps.on_wall))), case.name
    for row, i in enumerate(inner):
        for k in range(atlas.outputs):
            assert_map(maps.A[row, k], maps.c[row, k], cells[i], k, case.name)


def is_inside(cell: ExactCell, point: np.ndarray) -> bool:
    exact = tuple(map(Fraction, point.tolist()))
    return all(value(wall, exact) > 0 for wall in cell.walls)


def look_closer(case: EdgeCase, atlas: pf.Atlas, cells: list[ExactCell]) -> None:
    """Proofs, sizes, and everything that people ask next: an answer that is right, or an error of ours."""
    assert pf.certify(atlas).level == "certified", case.name
    if case.domain is not None:
        assert_counted_by_programs(case, len(cells))
        if case.dim <= 2:
            assert_sizes(case, atlas, cells)
    for ask in (
        lambda: atlas.vertices(),
        lambda: atlas.chebyshev(),
        lambda: atlas.halfspaces(),
        lambda: atlas.to_pandas(),
        lambda: pf.summarise(atlas, atlas.witnesses),
        lambda: pf.regions(atlas),
        lambda: pf.topology.faces(atlas),
        lambda: pf.stats.lipschitz(atlas),
        lambda: pf.stats.variance(atlas).value,
        lambda: pf.maps.of_pattern(case.layers, atlas.signs([0])[0]).feasible,
        lambda: pf.local(case.layers, atlas.witnesses[:1]).facets(0),
        lambda: pf.local(case.layers, atlas.witnesses[:1]).nearest_wall(0),
    ):
        answer_or_none(ask)


def answer_or_none(ask: Callable[[], Result]) -> Result | None:
    try:
        return ask()
    except PolyfoldError as error:
        assert not isinstance(error, ContradictionError)
        return None


def assert_counted_by_programs(case: EdgeCase, cells: int) -> None:
    """The walk by linear programs, which cases of so few dimensions do not take."""
    program = lower(pf.load(case.layers))
    try:
        found, _ = core.count(core_problem(program, resolve_domain(case.domain, case.dim)), True, 1, lambda _: True)
    except core.OpenDomain:
        return  # too far out for it
    assert found == cells, case.name


def assert_sizes(case: EdgeCase, atlas: pf.Atlas, cells: list[ExactCell]) -> None:
    volumes, centroids = atlas.measures()
    assert not np.isnan(centroids).any(), case.name
    for found, cell in zip(volumes, cells, strict=True):
        assert is_near(found, size_of(cell), size_of(cell) / 10**5), (case.name, found)
    largest = answer_or_none(lambda: pf.stats.maximum(atlas, output=0))
    if largest is not None:
        exact = max(value(cell.outputs[0], corner) for cell in cells for corner in vertices(cell))
        assert is_near(largest.value, exact, abs(exact) / 10**9), (case.name, largest)
    total = answer_or_none(lambda: pf.stats.integral(atlas).value) if case.dim == 1 else None
    if total is not None:
        exact, size = (sum(column) for column in zip(*map(integral_of, cells), strict=True))
        assert is_near(total[0], exact, size / 10**5), (case.name, total)


def size_of(cell: ExactCell) -> Fraction:
    """The length or area of a cell; of a polygon as a fan of triangles around one of its corners."""
    first, *others = sorted(vertices(cell))
    if len(first) == 1:
        return others[0][0] - first[0]
    arms = [(x - first[0], y - first[1]) for x, y in others]
    # From the leftmost corner all others are seen in half a turn, so that slopes put them in order.
    arms.sort(key=lambda arm: (arm[0] == 0, arm[1] / arm[0] if arm[0] else 0))
    return sum((abs(p[0] * q[1] - p[1] * q[0]) for p, q in pairwise(arms)), Fraction(0)) / 2


def integral_of(cell: ExactCell) -> tuple[Fraction, Fraction]:
    """The integral of the first output over an interval, and that of its terms' sizes."""
    low, high = sorted(corner[0] for corner in vertices(cell))
    (slope, constant), (size, constant_size) = cell.outputs[0], cell.sizes[0]
    farthest = max(abs(low), abs(high))
    return (high - low) * (slope * (low + high) / 2 + constant), (high - low) * (size * farthest + constant_size)


@pytest.mark.parametrize("first", quick_then_slow(range(0, 2 * A_ROUND, len(KINDS)), quick=7))
def test_every_kind_on_every_domain(first: int) -> None:
    for seed in range(first, first + len(KINDS)):
        look_at(edge_case(seed), everything=seed % 4 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2 * A_ROUND, 16 * A_ROUND, A_ROUND))
def test_many_networks_at_the_edges(first: int) -> None:
    for seed in range(first, first + A_ROUND):
        look_at(edge_case(seed), everything=True)


# -- one network a cause


def test_the_sum_of_two_values_overflows() -> None:
    """A wall between vertices at which the gate is -1.1e308 and 1.1e308: their distance is no float."""
    layers = [([[1.1e308], [-0.125]], [0.0, 0.0]), ([[0.0, 0.5]], [-0.5]), ([[1.0]], [0.0])]
    atlas = pf.unfold(layers, pf.box(-LARGEST, LARGEST))
    assert len(atlas) == pf.count(layers, pf.box(-LARGEST, LARGEST)).cells == 3
    assert atlas.f_vector() == (4, 3)
    assert pf.certify(atlas).level == "certified"


@pytest.mark.parametrize(("scales", "slope"), [((1e200, 1e200, 1e-300), 1e100), ((1e-200, 1e-200, 1e300), 1e-100)])
def test_products_that_come_back(scales: tuple[float, ...], slope: float) -> None:
    """On the way products are infinite, or zero; the map is neither."""
    layers = [([[scale]], [0.0]) for scale in scales]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    A, c = atlas.maps(1)
    assert A[0, 0, 0] == pytest.approx(slope, rel=1e-15) and c[0, 0] == 0
    assert pf.local(layers, [[0.5]]).A[0, 0, 0] == A[0, 0, 0]
    assert pf.check(atlas).level == "checked"


def test_beyond_float64_is_infinite_and_never_nan() -> None:
    layers = [([[1e200], [1.0]], [0.0, 0.0]), ([[1e200, 0.0]], [1.0])]
    A, c = pf.unfold(layers, pf.box(-1, 1)).maps(1)
    assert A.tolist() == [[[np.inf]]] and c.tolist() == [[1.0]]


def test_an_error_bound_that_overflows_is_not_zero() -> None:
    """Zero times the infinite error of the gate before is not a number, which was taken for an exact sign."""
    layers = [([[1e308, 1e308]], [0.0]), ([[1e308], [0.0]], [-1.0, 1.0]), ([[1.0, -1.0]], [0.0]), ([[1.0]], [0.0])]
    maps = pf.local(layers, [[1e300, -1e300 * (1 - 2.0**-52)]])
    assert maps.signs[0].tolist() == [True] * 4 and not len(maps.undecided[0])


def test_walls_beyond_float64_are_scaled() -> None:
    layers = [([[1e200, 0.0]], [0.0]), ([[1e200]], [-1e300]), ([[1.0]], [0.0])]
    atlas = pf.unfold(layers, pf.box(-1, 1))
    rows, bounds = atlas.halfspaces(int(atlas.locate([[0.5, 0.0]])[0]))[0]
    wall = rows[:, 0].argmin()
    assert np.isfinite(rows).all() and bounds[wall] / rows[wall, 0] == pytest.approx(1e-100, rel=1e-12)


def test_the_nearest_wall_of_an_input_at_the_end_of_floats() -> None:
    """A step of 6.8e308 times a slope of 0.25: the foot is within reach, the step is not."""
    layers = [([[0.25, 0.0]], [0.0]), ([[1.0]], [0.0])]
    wall = pf.local(layers, [[LARGEST, 1.0]]).nearest_wall(0)
    assert wall.point.tolist() == [0.0, 1.0] and wall.distance == LARGEST


def test_thin_and_lopsided_cells_have_their_sizes() -> None:
    """Areas of cells that are far longer than wide."""
    layers = [([[1.0, 0.0], [1.0, 1e-280]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    atlas = pf.unfold(layers, pf.box([-1.0, -1e280], [1.0, 1e280]))
    assert sorted(atlas.volumes()) == pytest.approx([0.5e280, 0.5e280, 1.5e280, 1.5e280], rel=1e-12)


def test_cells_that_are_none_are_an_error_of_ours() -> None:
    atlas = pf.unfold([(np.eye(2), [0.0, 0.0]), ([[1.0, 1.0]], [0.0])], pf.box([1.0, 1.0], [2.0, 2.0]))
    forged = replace(atlas, patterns=np.zeros_like(atlas.patterns))
    with pytest.raises(ContradictionError, match="is no cell of this network"):
        forged.volumes()


def test_moments_that_underflow_are_refused() -> None:
    layers = [(np.eye(2), [0.0, 0.0]), ([[1e300, 1e300]], [1e10])]
    atlas = pf.unfold(layers, pf.box(-1e-300, 1e-300))
    for question in (pf.stats.mean, pf.stats.variance, pf.stats.integral):
        with pytest.raises(PolyfoldError, match="underflows"):
            question(atlas)


def test_centroids_that_underflow_are_refused() -> None:
    """The centroid of the least interval, 2.5e-324, is rounded to nothing; the mean there is 4e-16 and not zero."""
    layers = [([[1.7e308]], [0.0]), ([[1.0]], [0.0])]
    with pytest.raises(PolyfoldError, match="the mean underflows"):
        pf.stats.mean(pf.unfold(layers, pf.box(-LEAST, LEAST)), by="cell")
    found = pf.stats.mean(pf.unfold(layers, pf.box(-1e-290, 1e-290))).value
    assert found == pytest.approx(1.7e308 * 1e-290 / 4, rel=1e-12)
    steeper = [([[-1.7e308]], [0.0]), ([[1e308]], [0.0])]
    with pytest.raises(PolyfoldError, match="the integral underflows"):
        pf.stats.integral(pf.unfold(steeper, pf.box(-LEAST, 2 * LEAST)))  # 2e-31


def steps_in_a_row(*steps: tuple[float, float] | None) -> Network:
    """Functions x -> a x + b of one number, one behind the other; None is a ReLU."""
    builder = Builder("arrays")
    value = builder.port("x", (1,))
    for number, step in enumerate(steps):
        relu = Rectify(np.array(1.0), np.array(0.0))
        op = relu if step is None else Linear(np.array([[step[0]]]), np.array([step[1]]))
        value = builder.emit(f"step{number}", op, value)
    return builder.finish([value])


CHAINS_BEYOND_FLOATS = {
    "before a gate": steps_in_a_row((1e200, 0.0), (1e200, 0.0), None),
    "before an output": steps_in_a_row(None, (1e200, 0.0), (1e200, 0.0)),
    "in a bias": steps_in_a_row((1.0, 1e200), (1e200, 0.0), None),
}


@pytest.mark.parametrize("name", CHAINS_BEYOND_FLOATS)
def test_chains_that_multiply_beyond_floats_are_refused_and_compared_in_rationals(name: str) -> None:
    network = CHAINS_BEYOND_FLOATS[name]
    for ask in (pf.unfold, pf.count):
        with pytest.raises(LimitError, match=r"beyond .*, the largest float"):
            ask(network, pf.box(-1, 1))
    assert not pf.equivalent(network, [([[1.0]], [0.0])], pf.box(-1, 1))
    assert pf.equivalent(network, network, pf.box(-1, 1))
