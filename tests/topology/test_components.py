"""Connected components of sets of faces, the boundary between several classes, and the cells that it meets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import polyfold as pf
from helpers import topological_shapes as shapes
from polyfold.datasets import iris
from polyfold.engine.unfold import unfold_program
from polyfold.errors import PolyfoldError
from polyfold.testing import Case
from polyfold.testing.strategies import cases


def test_two_spheres() -> None:
    atlas = pf.unfold(shapes.two_cubes())
    boundary = pf.topology.boundary(atlas)
    found = boundary.components
    assert len(found) == 2
    assert found.dim.tolist() == [2, 2] and found.bounded.all()
    assert found.facets[0] == found.facets[1] and found.facets.sum() == boundary.f_vector[2]
    assert found.euler.tolist() == [2, 2]  # of a sphere
    sides = np.sign(found.point[:, 0])
    assert sorted(sides) == [-1, 1]
    for number in range(2):
        assert pf.topology.betti(found[number]).value == (1, 0, 1)
        # The point lies on the boundary, in the cell that is named.
        assert np.allclose(pf.load(shapes.two_cubes())(found.point[[number]]), 0, atol=1e-9)
        rows = atlas.halfspaces([found.cell[number]])
        assert (rows.A @ found.point[number] <= rows.b + 1e-9).all()
    with pytest.raises(IndexError, match="no component 2"):
        found[2]


def test_the_shell_and_what_it_separates() -> None:
    atlas = pf.unfold(shapes.shell(3))
    outside = pf.topology.class_region(atlas, 1).components
    assert len(outside) == 2 and sorted(outside.bounded.tolist()) == [False, True]
    inner = int(np.flatnonzero(outside.bounded)[0])
    assert np.abs(outside.point[inner]).max() < 1
    assert outside.euler[inner] == 1


def test_several_classes() -> None:
    """Three classes that meet in one point of the plane: three rays, one loop each with the point at infinity."""
    larger = [([[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]], [0.0, 0.0, 0.0])]
    atlas = pf.unfold(larger)
    boundary = pf.topology.boundary(atlas)
    assert pf.topology.betti(boundary).value == (1, 0)
    assert pf.topology.betti(boundary, homology="borel-moore").value == (0, 2)
    assert pf.topology.betti(boundary, homology="compactified").value == (1, 2)
    assert not boundary.compact
    assert boundary.cells.tolist() == [0]
    for label in range(3):
        assert pf.topology.betti(pf.topology.class_region(atlas, label)).value == (1, 0, 0)
        ray = pf.topology.boundary(atlas, between=(label, (label + 1) % 3))
        assert pf.topology.betti(ray).value == (1, 0) and pf.topology.betti(ray, homology="borel-moore").value == (0, 0)


def test_iris() -> None:
    """The boundary meets exactly the cells in which two classes come up, and its facets are those of the boundary."""
    atlas = pf.unfold(iris(), pf.box(0, 8))
    classes = pf.stats.classes(atlas)
    boundary = pf.topology.boundary(classes)
    pieces = pf.stats.decision_boundary(classes)
    assert boundary.f_vector[-1] == len(pieces)
    assert set(np.unique(pieces.cells)) <= set(boundary.cells.tolist())
    mixed = [cell for cell in range(len(atlas)) if len(set(classes.label[classes.cell == cell].tolist())) > 1]
    assert set(mixed) <= set(boundary.cells.tolist())
    found = boundary.components
    assert found.facets.sum() == len(pieces)
    assert len(found) == pf.topology.betti(boundary).value[0]
    # Euler characteristics are those of the Betti numbers, component by component.
    for number in range(len(found)):
        numbers = pf.topology.betti(found[number]).value
        assert numbers[0] == 1
        assert found.euler[number] == sum((-1) ** k * b for k, b in enumerate(numbers))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=8))
def test_regions_and_boundaries_of_every_kind(case: Case) -> None:
    atlas = unfold_program(case.program, case.domain)
    assume(atlas.dim <= 4 and len(atlas) < 200)
    classes = pf.stats.classes(atlas)
    boundary = pf.topology.boundary(classes)
    assert (boundary.f_vector[-1] if len(boundary) else 0) == len(pf.stats.decision_boundary(classes))
    sets = [boundary, *(pf.topology.class_region(classes, label) for label in range(len(classes)))]
    for found in sets:
        rational = pf.topology.betti(found).value
        closed = pf.topology.betti(found, homology="borel-moore").value
        if not len(found):
            assert rational == closed == ()
            continue
        assert rational[0] == len(found.components)
        assert found.components.bounded.all() == found.compact
        assert sum(found.f_vector) == sum(int((label >= 0).sum()) for label in found.components.label)
        # Borel-Moore: the alternating sum of all faces. For bounded sets both are the same.
        assert sum((-1) ** k * n for k, n in enumerate(found.f_vector)) == sum(
            (-1) ** k * n for k, n in enumerate(closed)
        )
        if found.compact:
            assert closed == rational == pf.topology.betti(found, homology="compactified").value
        # The dimensions of homology over two elements are not smaller.
        assert all(a >= b for a, b in zip(pf.topology.betti(found, coefficients="gf2").value, rational, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_alexander_duality(seed: int) -> None:
    """For a compact set K in R^d: the complement has one component more than K has voids, and as many loops around K's
    loops (d = 3) or components (d = 2), without the one around all of it."""
    rng = np.random.default_rng(seed)
    dim = 2 + seed % 2
    *hidden, (weight, bias) = shapes.random_layers(rng, dim, 7, 5, 1)
    # A steep bowl makes sublevel sets compact.
    first = np.concatenate([hidden[0][0], np.eye(dim), -np.eye(dim)])
    second = np.pad(hidden[1][0], ((0, 2 * dim), (0, 2 * dim)))
    second[len(hidden[1][0]) :, len(hidden[0][0]) :] = np.eye(2 * dim)
    layers = [
        (first, np.append(hidden[0][1], np.zeros(2 * dim))),
        (second, np.append(hidden[1][1], np.zeros(2 * dim))),
        (np.concatenate([weight, np.full((1, 2 * dim), 40.0)], axis=1), bias),
    ]
    atlas = pf.unfold(layers)
    value = float(np.median(pf.load(layers)(rng.normal(size=(100, dim)))))
    inside, outside = (
        pf.topology.betti(pf.topology.sublevel(atlas, value)).value,
        pf.topology.betti(pf.topology.superlevel(atlas, value)).value,
    )
    assert pf.topology.sublevel(atlas, value).compact
    assert outside[0] == 1 + inside[dim - 1]
    assert outside[dim - 1] == inside[0]
    if dim == 3:
        assert outside[1] == inside[1]


def test_what_is_refused() -> None:
    atlas = pf.unfold(shapes.sphere(2))
    with pytest.raises(IndexError, match="no class 2"):
        pf.topology.class_region(atlas, 2)
    with pytest.raises(PolyfoldError, match="must name two different classes"):
        pf.topology.boundary(atlas, between=(1, 1))
    with pytest.raises(pf.PolyfoldError, match="no output 1"):
        pf.topology.sublevel(atlas, 0.0, output=1)
    with pytest.raises(PolyfoldError, match="threshold='x' must be a number"):
        pf.topology.sublevel(atlas, "x")  # type: ignore[arg-type]
    with pytest.raises(PolyfoldError, match="threshold=nan must be a finite number"):
        pf.topology.level_set(atlas, float("nan"))
    faces = pf.topology.faces(atlas)
    with pytest.raises(PolyfoldError, match="homology='singular' must be 'truncated'"):
        pf.topology.betti(faces, homology="singular")  # type: ignore[arg-type]
    with pytest.raises(PolyfoldError, match="coefficients='reals' must be 'rationals'"):
        pf.topology.betti(faces, coefficients="reals")  # type: ignore[arg-type]


def test_what_is_asked_of_a_network_is_asked_of_its_atlas() -> None:
    layers = shapes.sphere(2)
    atlas = pf.unfold(layers)
    assert pf.topology.betti(layers).value == pf.topology.betti(atlas).value == (1, 0, 0)
    assert pf.topology.level_set(layers).f_vector == pf.topology.level_set(atlas).f_vector
    with pytest.raises(pf.errors.DomainError, match="an atlas has a domain of its own"):
        pf.topology.betti(pf.topology.level_set(atlas), pf.box(0, 1))
