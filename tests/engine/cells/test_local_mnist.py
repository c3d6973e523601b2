"""The cell of an MNIST image in 784 dimensions: its minimal facets, each verified from both sides in rationals."""

from __future__ import annotations

import gzip

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from helpers.shared_files import MNIST, MODELS
from polyfold.engine.cells.exact_cell import ExactCells
from polyfold.exact.combination import follows
from polyfold.exact.rational import rational
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import evaluate_exactly

pytestmark = pytest.mark.shared("models", "mnist")


@pytest.fixture(scope="module")
def program() -> pf.program.Program:
    pytest.importorskip("onnx")
    return lower(pf.load(MODELS / "marabou_mnist2x10.onnx"))


@pytest.fixture(scope="module")
def images() -> npt.NDArray[np.float64]:
    with gzip.open(MNIST / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read()[16 : 16 + 8 * 784], dtype=np.uint8)
    return pixels.reshape(-1, 784) / 255.0


def test_every_facet_is_one_from_both_sides(program: pf.program.Program, images: npt.NDArray[np.float64]) -> None:
    maps = pf.local(program, images[:1])
    found = maps.facets(0)
    assert not found.undecided and 0 < len(found) < program.gates
    here = tuple(maps.signs[0].tolist())
    exact = ExactCells(program, maps.domain)
    assert exact.inside(here, found.witness.rational)
    sides = [1 if on else -1 for on in here]
    rows = [[side * x for x in row] for side, row in zip(sides, exact.forms.under(here).rows, strict=True)]
    for k, facet in enumerate(found.facets):
        (gate,) = facet.walls
        # Where the way from the witness to the neighbour's meets the wall, all others hold strictly: in rationals.
        behind = maps.neighbour(0, k)
        w, v = found.witness.rational, behind.witness.rational
        at_w, at_v = (sum(a * x for a, x in zip(rows[gate], p, strict=False)) + rows[gate][-1] for p in (w, v))
        assert at_w > 0 > at_v
        middle = [(at_w * y - at_v * x) / (at_w - at_v) for x, y in zip(w, v, strict=True)]
        values = evaluate_exactly(program, middle).preactivations
        assert values[gate] == 0
        assert all(side * z > 0 for g, (side, z) in enumerate(zip(sides, values, strict=True)) if g != gate)
        # The neighbour's pattern is this one with the gate switched, and the same facet leads back.
        assert behind.switched.tolist() == [gate]
        assert evaluate_exactly(program, v).pattern == tuple(behind.signs.tolist())
        back = pf.local(program, behind.witness.point[None, :]).facets(0)
        assert not back.undecided
        (same,) = [other for other in back.facets if other.walls == facet.walls]
        assert same.across is not None and tuple(same.across.tolist()) == here
    # The others follow from the facets: dropping them changes nothing.
    carrying = [facet.walls[0] for facet in found.facets]
    for gate in set(range(program.gates)) - set(carrying):
        assert implied(rows, carrying, gate), gate


def implied(rows: list[list[int]], by: list[int], gate: int) -> bool:
    """Whether some of the rows add up to the gate's; a float program says which."""
    from scipy.optimize import linprog

    A = np.array([[float(x) for x in row[:-1]] for row in rows])
    b = np.array([float(row[-1]) for row in rows])
    scale = np.abs(A).max(axis=1)
    found = linprog(A[gate] / scale[gate], -A[by] / scale[by, None], b[by] / scale[by], bounds=(None, None))
    used = [wall for wall, dual in zip(by, found.ineqlin.marginals, strict=True) if dual < 0]
    return follows([rows[wall] for wall in used], rows[gate])


def test_maps_of_images(program: pf.program.Program, images: npt.NDArray[np.float64]) -> None:
    network = pf.load(MODELS / "marabou_mnist2x10.onnx")
    maps = pf.local(network, images.reshape(-1, 1, 28, 28))
    scores, _ = program.evaluate(images)
    assert np.abs(np.einsum("nij,nj->ni", maps.A, images) + maps.c - scores).max() < 1e-12
    walls = maps.wall_distances()
    assert (walls.distance > 0).all()
    # Just short of the wall nothing has switched, just behind it the gate has.
    for i in range(len(images)):
        nearest = maps.nearest_wall(i)
        way = nearest.point - images[i]
        assert (program.evaluate(images[i : i + 1] + 0.999 * way)[1] == maps.signs[i]).all()
        (switched,) = np.flatnonzero(program.evaluate(images[i : i + 1] + 1.001 * way)[1][0] != maps.signs[i])
        assert switched == walls.gate[i]


def test_within_the_range_of_the_middle_pixels(program: pf.program.Program, images: npt.NDArray[np.float64]) -> None:
    """The border stays as it is in the picture: 144 pixels change instead of 784."""
    middle = np.zeros((28, 28), dtype=bool)
    middle[8:20, 8:20] = True
    middle, image = middle.ravel(), images[1]
    (W, b), *others = ((affine.blocks[0].weight, affine.bias) for affine in program.affines)
    maps = pf.local(
        [(W[:, middle], b + W[:, ~middle] @ image[~middle]), *others], image[None, middle], domain=pf.box(0, 1)
    )
    check_within_the_range(maps, 250)


@pytest.mark.slow
def test_within_the_pixels_range(program: pf.program.Program, images: npt.NDArray[np.float64]) -> None:
    maps = pf.local(program, images[1:2], domain=pf.box(0, 1))
    check_within_the_range(maps, 1500)


def check_within_the_range(maps: pf.maps.LocalMaps, least: int) -> None:
    found = maps.facets(0)
    assert not found.undecided and found.proved_by == "floats"
    assert sum(facet.across is None for facet in found.facets) > least
    point = np.array([rational(x) for x in found.witness.point.tolist()])
    assert ((point > 0) & (point < 1)).all()


def test_exploring_around_an_image(program: pf.program.Program, images: npt.NDArray[np.float64]) -> None:
    atlas = pf.explore(program, images[0], max_cells=12)
    assert len(atlas) == 12 and not atlas.certificate.failed_checks and not atlas.bounded.any()
    way = pf.explore(program, images[0], order="path", path=images[1:2])
    ends = way.locate(images[:2])
    assert ends[0] == 0 and ends[1] == len(way) - 1
    assert not way.certificate.failed_checks and way.inner_facets >= len(way) - 1
