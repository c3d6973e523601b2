"""Polyhedra of cells fill a view once: volumes by the divergence theorem add up, and surfaces are closed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import polyfold as pf
from polyfold.errors import DomainError
from polyfold.plotting.geometry.polyhedra import CUT, VIEW_SIDE, Polyhedra, half_space, polyhedra
from polyfold.plotting.geometry.view import view_of

Array = npt.NDArray[np.float64]
CUBE = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)


def random_network(seed: int, widths: tuple[int, ...]) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise((3, *widths, 1))]


def mesh_volumes(found: Polyhedra) -> Array:
    """By the divergence theorem: the signed volumes of the cones over all triangles."""
    triangles, face = found.triangles
    piece = found.owner[face]
    a, b, c = (found.points[triangles[:, k]] for k in range(3))
    volumes = np.zeros(len(found))
    np.add.at(volumes, piece, np.einsum("td,td->t", a, np.cross(b, c)) / 6)
    return volumes


def corners(found: Polyhedra, item: int) -> Array:
    first, last = found.corner_start[found.face_start[[item, item + 1]]]
    return found.points[first:last]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    widths=st.sampled_from([(3,), (6,), (4, 3)]),
    domain=st.sampled_from([None, pf.box(-1, 1), pf.box(-3, 2)]),
    view=st.sampled_from([CUBE, (-0.5, 0.75, -0.25, 0.5, 0.0, 1.0), (0.0, 1e-3, 0.0, 1e-3, 0.0, 1e-3)]),
)
def test_fill_the_view_once(seed: int, widths: tuple[int, ...], domain: object, view: tuple[float, ...]) -> None:
    atlas = pf.unfold(random_network(seed, widths), domain)
    window = view_of(atlas, view, dim=3)
    found = polyhedra(atlas, window)
    volumes = mesh_volumes(found)
    assert (volumes > 0).all()
    assert volumes.sum() == pytest.approx(window.area, rel=1e-9)
    np.testing.assert_allclose(found.volumes, volumes, atol=1e-9 * window.area)
    large = np.flatnonzero(volumes > 1e-6 * window.area)
    # Each is the hull of its corners, and lies in its cell.
    np.testing.assert_allclose(volumes[large], [ConvexHull(corners(found, k)).volume for k in large], rtol=1e-6)
    assert (atlas.locate(found.centres[large]) == found.cells[large]).all()


def test_surfaces_are_closed() -> None:
    atlas = pf.unfold(random_network(3, (6, 4)), pf.box(-1, 1))
    found = polyhedra(atlas, view_of(atlas, dim=3))
    assert len(found) == len(atlas)
    for item in range(len(found)):
        along: Counter[tuple[bytes, bytes]] = Counter()
        for face in range(found.face_start[item], found.face_start[item + 1]):
            ring = [row.tobytes() for row in found.points[found.corner_start[face] : found.corner_start[face + 1]]]
            along.update(zip(ring, ring[1:] + ring[:1], strict=True))
        assert set(along.values()) == {1}
        assert all((b, a) in along for a, b in along)
        # Euler's formula.
        faces = found.face_start[item + 1] - found.face_start[item]
        assert len({a for a, _ in along}) - len(along) // 2 + faces == 2


def test_whole_cells_have_their_own_vertices_and_volumes() -> None:
    atlas = pf.unfold(random_network(5, (7,)), pf.box([-1, 0, 0], [2, 1, 3]))
    window = view_of(atlas, dim=3)
    assert window.limits == ((-1.0, 2.0), (0.0, 1.0), (0.0, 3.0))
    found = polyhedra(atlas, window)
    assert found.cells.tolist() == list(range(len(atlas))) and not found.cut.any()
    np.testing.assert_allclose(mesh_volumes(found), atlas.volumes(), rtol=1e-9)
    for item, vertices in enumerate(atlas.vertices()):
        assert {row.tobytes() for row in corners(found, item)} == {row.tobytes() for row in vertices}


def test_what_the_view_cuts_off_is_said() -> None:
    # Two half-spaces, x <= 0 and x >= 0, without any vertex.
    atlas = pf.unfold([([[1.0, 0.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    found = polyhedra(atlas, view_of(atlas, dim=3))
    assert mesh_volumes(found).tolist() == [4.0, 4.0]
    assert found.cut.all()
    assert [int((found.on[found.owner == k] == VIEW_SIDE).sum()) for k in range(2)] == [5, 5]
    # The wall between them, listed by both, is all that cannot be seen.
    assert found.covered(atlas).tolist() == (found.on >= 0).tolist() and found.covered(atlas).sum() == 2
    alone = polyhedra(atlas, view_of(atlas, dim=3), [1])
    assert not alone.covered(atlas).any()


@pytest.mark.parametrize("cut", [(2, 0.25), ((0, 0, 1), 0.25), ((1.0, 1.0, -0.5), 0.1)])
def test_cut_open(cut: object) -> None:
    atlas = pf.unfold(random_network(8, (6, 3)), pf.box(-1, 1))
    window = view_of(atlas, dim=3)
    normal, offset = half_space(cut)
    kept = polyhedra(atlas, window, cut=(normal, offset))
    other = polyhedra(atlas, window, cut=(-normal, -offset))
    assert (kept.points @ normal <= offset + 1e-9).all()
    assert mesh_volumes(kept).sum() + mesh_volumes(other).sum() == pytest.approx(8.0, rel=1e-9)
    if normal[:2].any():
        # The box's part on one side, from the whole box without any cells.
        plain = polyhedra(pf.unfold([(np.zeros((1, 3)), [0.0])], pf.box(-1, 1)), window, cut=(normal, offset))
        assert mesh_volumes(kept).sum() == pytest.approx(mesh_volumes(plain).sum(), rel=1e-9)
    else:
        assert mesh_volumes(kept).sum() == pytest.approx(4 * 1.25, rel=1e-9)
    # The cut shows the cells that a plane slice of the network has there.
    if cut == (2, 0.25):
        section = pf.unfold(random_network(8, (6, 3)), pf.plane([0, 0, 0.25], [1, 0, 0], [0, 1, 0], pf.box(-1, 1)))
        shown = found_areas(kept)
        assert len(shown) == len(section)
        np.testing.assert_allclose(np.sort(shown), np.sort(section.volumes()), rtol=1e-9, atol=1e-12)


def found_areas(found: Polyhedra) -> Array:
    """The areas of the faces in the cutting plane, which is level."""
    areas = []
    for face in np.flatnonzero(found.on == CUT):
        x, y, _ = found.points[found.corner_start[face] : found.corner_start[face + 1]].T
        areas.append(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
    return np.array(areas)


def test_exploded_cells_keep_their_shapes() -> None:
    atlas = pf.unfold(random_network(2, (6,)), pf.box(-1, 1))
    found = polyhedra(atlas, view_of(atlas, dim=3))
    apart = found.exploded(0.5)
    np.testing.assert_allclose(mesh_volumes(apart), mesh_volumes(found), rtol=1e-9)
    np.testing.assert_allclose(apart.centres, 1.5 * found.centres, atol=1e-12)
    assert found.exploded(0.0) is found


def test_part_of_the_cells() -> None:
    atlas = pf.unfold(random_network(1, (6,)), pf.box(-1, 1))
    window = view_of(atlas, dim=3)
    assert polyhedra(atlas, window, [2, 0]).cells.tolist() == [2, 0]
    assert len(polyhedra(atlas, window, [])) == 0
    assert len(polyhedra(atlas, window, [], cut=half_space((0, -5.0))).triangles[0]) == 0
    assert len(polyhedra(atlas, window, cut=half_space((0, -5.0)))) == 0


@pytest.mark.parametrize("cut", [3, (3, 0.0), (0,), (0, np.nan), ((1.0, 0.0), 1.0), ((0.0, 0.0, 0.0), 1.0), ("x", 1.0)])
def test_no_cut(cut: object) -> None:
    with pytest.raises((DomainError, IndexError), match=r"cut|axis"):
        half_space(cut)


@pytest.mark.parametrize("view", [(0, 1, 2), (0, 1, 0, 1), (0, 0, 1, 1, 0, 1), "a view"])
def test_no_view(view: object) -> None:
    atlas = pf.unfold(random_network(1, (3,)), pf.box(-1, 1))
    with pytest.raises(DomainError, match="view"):
        view_of(atlas, view, dim=3)
    with pytest.raises(DomainError, match="dimension 2, not 3"):
        view_of(atlas)
