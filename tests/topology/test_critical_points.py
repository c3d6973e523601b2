"""Critical points: by hand, and against persistence pairs that GUDHI finds; persistence against level sets."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import polyfold as pf
from helpers import topological_shapes as shapes
from polyfold.engine.unfold import unfold_program
from polyfold.errors import DomainError, LimitError, PolyfoldError
from polyfold.network.ops.linear import Add, Linear
from polyfold.network.ops.op import constant
from polyfold.network.ops.switches import Rectify
from polyfold.network.read.builder import Builder
from polyfold.testing import Case
from polyfold.testing.strategies import cases
from polyfold.topology.critical_points import _flat_sets, _lower_stars
from polyfold.topology.endless_stars import relative_numbers
from polyfold.topology.vertex_order import ends_of_edges, vertex_order

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


def kinds(found: pf.topology.CriticalPoints) -> list[tuple[float, tuple[int, ...]]]:
    """Values and indices of the critical sets."""
    return [(round(float(found.value[s]), 9), tuple(found.indices[s].tolist())) for s in found.critical.tolist()]


def test_a_saddle() -> None:
    """|x| - |y| on R^2: the origin is a saddle, and nothing else is critical; its negative has the same one."""
    features = [([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.0] * 4)]
    for sign in (1.0, -1.0):
        found = pf.topology.critical_points(pf.unfold([*features, ([[sign, sign, -sign, -sign]], [0.0])]))
        assert kinds(found) == [(0.0, (0, 1, 0))]
        assert not found.boundary[0] and not found.flat[0]
        assert np.abs(found.points(0)).max() == 0


def test_a_monkey_saddle() -> None:
    """Three valleys meet: passing the point joins three components, a saddle counted twice."""
    # max(a, b, c) + min(a, b, c) of a = x, b = y, c = -x - y; its sign alternates six times around the origin.
    layers = [
        ([[1.0, -1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.0] * 5),
        # max(a, b) - c, c - min(a, b), and c in two halves
        (
            [[1.0, 1, -1, 2, -2], [1.0, -2, 2, -1, 1], [0.0, -1, 1, -1, 1], [0.0, 1, -1, 1, -1]],
            [0.0] * 4,
        ),
        ([[1.0, -1.0, 2.0, -2.0]], [0.0]),
    ]
    points = np.random.default_rng(0).normal(size=(50, 2))
    forms = np.column_stack([points, -points.sum(axis=1)])
    assert np.allclose(pf.load(layers)(points)[:, 0], forms.max(axis=1) + forms.min(axis=1))
    found = pf.topology.critical_points(pf.unfold(layers))
    assert kinds(found) == [(0.0, (0, 2, 0))]
    assert found.index_sum == -2


def test_extrema_in_a_box() -> None:
    found = pf.topology.critical_points(pf.unfold(ABSOLUTE, pf.box(-1, 2)))
    assert kinds(found) == [(0.0, (1, 0))]
    falling = pf.topology.critical_points(pf.unfold([ABSOLUTE[0], ([[-1.0, -1.0]], [0.0])], pf.box(-1, 2)))
    assert kinds(falling) == [(-2.0, (1, 0)), (-1.0, (1, 0)), (0.0, (0, 1))]
    assert falling.boundary[falling.critical].tolist() == [True, True, False]


def test_flat_sets() -> None:
    """max(|x_k|) - 1 cut off at 0 is a plateau: a flat set that is a minimum, as a disc is a point."""
    *hidden, (weight, bias) = shapes.largest_coordinate(2)
    pool = [*hidden, (weight, bias - 1.0), (np.eye(1), np.zeros(1))]
    found = pf.topology.critical_points(pf.unfold(pool, pf.box(-2, 2)))
    assert kinds(found) == [(0.0, (1, 0, 0))]
    assert found.flat[0] and len(found.points(0)) > 4
    # Its outside: | max |x_k| - 2 | is zero on a square without its inside: a loop of minima.
    ring = pf.topology.critical_points(pf.unfold(shapes.shell(2), pf.box(-4, 4)))
    assert kinds(ring) == [(-1.0, (1, 1, 0)), (1.0, (0, 0, 1))]


def test_constants() -> None:
    found = pf.topology.critical_points(
        pf.unfold([(np.eye(2), np.zeros(2)), (np.zeros((1, 2)), np.ones(1))], pf.box(-1, 1))
    )
    assert kinds(found) == [(1.0, (1, 0, 0))]
    assert len(found.value) == 1 and found.flat[0]


def test_flat_sets_without_end() -> None:
    """A plateau that is a quadrant is a minimum, a valley along an axis too, and so is the whole plane."""
    for weights in ([1.0, 1.0], [1.0, 0.0], [0.0, 0.0]):
        atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.array([weights]), np.zeros(1))])
        found = pf.topology.critical_points(atlas)
        assert kinds(found) == [(0.0, (1, 0, 0))]
        assert found.flat[0] and not len(found.undecided)
    # The same output upside down has no minimum: all of the plateau's surroundings are below.
    found = pf.topology.critical_points(pf.unfold([(np.eye(2), np.zeros(2)), (np.array([[-1.0, -1.0]]), np.zeros(1))]))
    assert kinds(found) == []
    # A ridge between two slopes that go down for ever joins them.
    ridge = [([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0.0] * 3), ([[-1.0, -1.0, 0.0]], [0.0])]
    assert kinds(pf.topology.critical_points(pf.unfold(ridge))) == [(0.0, (0, 1, 0))]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=6))
def test_chains_of_faces_say_the_same_as_faces(case: Case) -> None:
    """Where a flat set ends, both ways to its indices are open."""
    atlas = unfold_program(case.program, case.domain)
    faces = pf.topology.faces(atlas)
    assume(faces.least == 0 and faces.dim <= 4 and len(faces) < 2000)
    found = pf.topology.critical_points(faces)
    label, _ = _flat_sets(faces, order := vertex_order(faces, 0, "a test"))
    stars = _lower_stars(faces, order, label)
    ending = np.setdiff1d(np.arange(len(found.value)), stars.endless)
    for flat_set in ending[:: max(1, len(ending) // 12)].tolist():
        numbers = relative_numbers(*stars.of(flat_set, faces), faces.dim)
        assert numbers is None or numbers == found.indices[flat_set].tolist()


@pytest.mark.parametrize("tilt", [2.0**-60, -(2.0**-60), 0.0])
def test_values_that_floats_cannot_tell_apart(tilt: float) -> None:
    """A valley whose floor, from 1 to 3, is tilted by less than floats of size 1 can show, or not at all."""
    layers = [([[1.0], [1.0], [1.0], [1.0]], [0.0, -1.0, -3.0, -1.0]), ([[-1.0, 1.0, 1.0, tilt]], [2.0])]
    found = pf.topology.critical_points(pf.unfold(layers, pf.box(0, 4)))
    assert kinds(found) == [(1.0, (1, 0))]
    lowest = sorted(found.points(int(found.critical[0]))[:, 0].round(9).tolist())
    assert lowest == {1: [1.0], -1: [3.0], 0: [1.0, 3.0]}[int(np.sign(tilt))]


def test_ends_of_an_edge_that_only_exact_numbers_tell_apart() -> None:
    """A slope that cancels in floats does not in rationals, so that there is a saddle as high as a minimum."""
    builder = Builder("test")
    x = builder.port("x", (2,))
    gate = builder.emit("gate", Linear(constant([[1.75, -1.25]]), constant([-1.75])), x)
    slopes = [[0.36927753397214236, -0.10550786684918353], [-1.9782457018275978, 0.5652130576650279]]
    straight = builder.emit("straight", Linear(constant(slopes), constant([-0.7365624740375003, 2.00879908037566])), x)
    bend = Linear(constant([[-0.21101573369836707], [1.1304261153300559]]), constant(np.zeros(2)))
    bent = builder.emit("bent", bend, builder.emit("relu", Rectify(constant(1.0), constant(0.0)), gate))
    rows = [[1, 0], [0, 1], [-1, 0], [0, -1], [-0.1502713372319387, 0.7248227952739724]]
    rows += [[0.31872162736538096, -0.17458656898496608], [-0.1860678637787283, -0.5606052296008889]]
    bounds = [0.7265998557343423, 0.8240176663006229, 1.87072570352951, 1.484778929185779]
    bounds += [0.532306416278512, 0.6007683329691418, 1.07560114887867]
    network = builder.finish([builder.emit("sum", Add(), straight, bent)])
    found = pf.topology.critical_points(pf.unfold(network, pf.polytope(rows, bounds)))
    (low, minimum), (high, saddle) = kinds(found)[1:]
    assert minimum == (1, 0, 0) and saddle == (0, 1, 0) and low == high
    assert found.index_sum == 1


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=8))
def test_indices_are_births_and_deaths(case: Case) -> None:
    """Passing a critical value makes features of dimension k and ends some of dimension k - 1, as indices say."""
    atlas = unfold_program(case.program, case.domain)
    assume(bool(atlas.bounded.all()) and atlas.dim <= 4 and sum(atlas.f_vector()) < 4000)
    faces = pf.topology.faces(atlas)
    found = pf.topology.critical_points(faces)
    assert found.index_sum == 1 == faces.euler_characteristic
    assert not len(found.undecided)
    # Values that differ by less than floats can tell make a pair that GUDHI, which has floats, does not see.
    a, b = ends_of_edges(faces)
    assume(
        not ((found.label[a] != found.label[b]) & (found.value[found.label[a]] == found.value[found.label[b]])).any()
    )
    pairs = pf.topology.persistence(faces).diagrams
    births = np.array([len(diagram) for diagram in pairs])
    deaths = np.array([np.isfinite(diagram[:, 1]).sum() for diagram in pairs])
    assert (births + np.append(0, deaths[:-1]) == found.indices.sum(axis=0)).all()
    assert births.sum() - deaths.sum() == 1
    # Upside down: superlevel sets of an output are sublevel sets of its negative.
    up = pf.topology.persistence(faces, sets="superlevel")
    assert up.betti(float(found.value.min()) - 1) == (1, *[0] * faces.dim)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=6))
def test_persistence_knows_the_sublevel_sets(case: Case) -> None:
    atlas = unfold_program(case.program, case.domain)
    assume(bool(atlas.bounded.all()) and atlas.dim <= 3 and sum(atlas.f_vector()) < 2000)
    found, up = pf.topology.persistence(atlas), pf.topology.persistence(atlas, sets="superlevel")
    values = np.unique(pf.topology.critical_points(atlas).value)
    for low, high in list(itertools.pairwise(values))[:: max(1, len(values) // 4)]:
        between = float((low + high) / 2)
        if not low < between < high:
            continue
        for diagrams, make in ((found, pf.topology.sublevel), (up, pf.topology.superlevel)):
            numbers = pf.topology.betti(make(atlas, between), coefficients="gf2").value
            assert (*numbers, *[0] * (atlas.dim + 1 - len(numbers))) == diagrams.betti(between)


def test_persistence_of_a_torus() -> None:
    """A function of the distance from a torus: the solid torus comes with a loop, and the outside ends it."""
    found = pf.topology.persistence(pf.unfold(shapes.torus(), pf.box(-4, 4)))
    essential = [diagram[np.isinf(diagram[:, 1])].tolist() for diagram in found.diagrams]
    assert essential == [[[-1.0, np.inf]], [], [], []]
    assert found.diagrams[1].round(9).tolist() == [[-1.0, 1.0]]
    assert found.betti(0.0) == (1, 1, 0, 0)
    assert found.betti(2.5) == (1, 0, 0, 0)


def test_what_is_refused() -> None:
    atlas = pf.unfold(shapes.sphere(2))
    boxed = pf.unfold(shapes.sphere(2), pf.box(-2, 2))
    with pytest.raises(DomainError, match=r"bounded domain, and \d+ cells are unbounded"):
        pf.topology.persistence(atlas)
    with pytest.raises(LimitError, match="more than max_simplices=3"):
        pf.topology.persistence(boxed, max_simplices=3)
    with pytest.raises(PolyfoldError, match="sets='level' must be 'sublevel'"):
        pf.topology.persistence(boxed, sets="level")  # type: ignore[arg-type]
    with pytest.raises(pf.PolyfoldError, match="no output 1"):
        pf.topology.critical_points(boxed, output=1)
    slabs = pf.unfold([([[1.0, 1.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(DomainError, match="needs vertices, and the cells have none"):
        pf.topology.critical_points(slabs)
    with pytest.raises(PolyfoldError, match="an empty list is no network"):
        pf.topology.critical_points([])  # type: ignore[arg-type]


def test_persistence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gudhi", None)
    with pytest.raises(PolyfoldError, match=r"persistent homology needs the package 'gudhi'.*polyfold\[topology\]"):
        pf.topology.persistence(pf.unfold(ABSOLUTE, pf.box(-1, 1)))
