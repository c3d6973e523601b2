"""Surfaces and solids, read as data: heights are outputs, volumes add up, colours are those of the classes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from polyfold.errors import PolyfoldError
from polyfold.network.load import load
from polyfold.plotting.render.faces import face_corners, in_sight, outlines
from polyfold.plotting.scene.shapes import Mesh, Points, Scene
from polyfold.plotting.scene.solids import solids_scene
from polyfold.plotting.scene.surface import surface_scene

Array = npt.NDArray[np.float64]


def random_network(seed: int, sizes: tuple[int, ...]) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)), rng.normal(size=m)) for n, m in pairwise(sizes)]


def mesh_of(scene: Scene) -> Mesh:
    (mesh,) = (part for part in scene.parts if isinstance(part, Mesh))
    return mesh


def volumes(mesh: Mesh) -> Array:
    """Of each piece, by the divergence theorem."""
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    found = np.zeros(int(mesh.piece.max()) + 1)
    np.add.at(found, mesh.piece, np.einsum("td,td->t", a, np.cross(b, c)) / 6)
    return found


def inside(mesh: Mesh) -> Array:
    """A point within each piece: the mean of its triangles' corners."""
    count = int(mesh.piece.max()) + 1
    sums = np.zeros((count, 3))
    np.add.at(sums, mesh.piece, mesh.points[mesh.triangles].mean(axis=1))
    return sums / np.bincount(mesh.piece, minlength=count)[:, None]


def winners(network: object, X: Array) -> npt.NDArray[np.int64]:
    values = load(network)(X)
    return values.argmax(axis=1) if values.shape[1] > 1 else (values[:, 0] > 0).astype(np.int64)


@pytest.mark.parametrize("colour", ["output", "class"])
def test_a_surface_has_the_outputs_heights(colour: str) -> None:
    layers = random_network(0, (2, 6, 5, 2))
    mesh = mesh_of(surface_scene(pf.unfold(layers), output=1, view=(-1, 2, -1, 1), colour=colour))
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(3), size=len(mesh.triangles))
    samples = np.einsum("tk,tkd->td", weights, mesh.points[mesh.triangles])
    np.testing.assert_allclose(load(layers)(samples[:, :2])[:, 1], samples[:, 2], atol=1e-9)
    a, b, c = (mesh.points[mesh.triangles[:, k], :2] for k in range(3))
    sides = np.stack([b - a, c - a], axis=1)
    assert (np.linalg.det(sides) / 2).sum() == pytest.approx(6.0, rel=1e-9)
    if colour == "class":
        assert mesh.colouring is not None and mesh.colouring.names == ("0", "1")
        assert (mesh.colouring.values[mesh.piece] == winners(layers, samples[:, :2])).all()


def test_data_lie_on_the_surface() -> None:
    layers = random_network(3, (2, 5, 1))
    scene = surface_scene(pf.unfold(layers, pf.box(-1, 1)), X=[[0.5, 0.5], [-0.25, 0.0], [5.0, 5.0]])
    (data,) = (part for part in scene.parts if isinstance(part, Points))
    np.testing.assert_allclose(data.points[:, 2], load(layers)(data.points[:, :2])[:, 0], atol=1e-12)
    assert data.points[:, :2].tolist() == [[0.5, 0.5], [-0.25, 0.0]]


@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_solids_fill_the_view_and_have_their_classes_colours(domain: object, outputs: int) -> None:
    layers = random_network(4, (3, 5, 3, outputs))
    scene = solids_scene(pf.unfold(layers, domain), colour="class", view=(-1, 1, -1, 1, -1, 1))
    mesh = mesh_of(scene)
    found = volumes(mesh)
    assert found.sum() == pytest.approx(8.0, rel=1e-9)
    assert mesh.colouring is not None
    large = found > 1e-6
    assert (mesh.colouring.values[large] == winners(layers, inside(mesh)[large])).all()
    assert len(mesh.hover) == len(found)
    beyond = [note for note in scene.notes if "beyond the view" in note]
    assert bool(beyond) == (domain is None)


def test_cut_and_exploded() -> None:
    atlas = pf.unfold(random_network(5, (3, 6, 1)), pf.box(-1, 1))
    half = mesh_of(solids_scene(atlas, cut=(0, 0.0)))
    assert half.points[:, 0].max() <= 1e-12 and volumes(half).sum() == pytest.approx(4.0, rel=1e-9)
    apart = mesh_of(solids_scene(atlas, explode=1.0, colour="volume"))
    assert volumes(apart).sum() == pytest.approx(8.0, rel=1e-9)
    assert apart.colouring is not None
    np.testing.assert_allclose(10**apart.colouring.values, volumes(apart), rtol=1e-9)
    together = mesh_of(solids_scene(atlas))
    assert np.ptp(apart.points, axis=0).min() > 1.5 * np.ptp(together.points, axis=0).max() / 2
    some = mesh_of(solids_scene(atlas, cells=[1], colour=np.arange(len(atlas))))
    assert some.colouring is not None and some.colouring.values.tolist() == [1.0]
    np.testing.assert_allclose(volumes(some), atlas.volumes([1]), rtol=1e-9)


def test_what_can_be_seen_is_the_outside() -> None:
    atlas = pf.unfold(random_network(6, (3, 6, 2, 1)))
    mesh = mesh_of(solids_scene(atlas, view=(-1, 1, -1, 1, -1, 1)))
    outside = in_sight(mesh)
    # Every triangle on a side of the view, and no other: their areas add up to the cube's.
    sides = np.abs(outside.points[outside.triangles])
    assert (sides.min(axis=1).max(axis=1) >= 1 - 1e-9).all()
    a, b, c = (outside.points[outside.triangles[:, k]] for k in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(24.0, rel=1e-9)
    apart = mesh_of(solids_scene(atlas, view=(-1, 1, -1, 1, -1, 1), explode=0.5))
    assert in_sight(apart) is apart and len(apart.triangles) == len(mesh.triangles)


def test_faces_are_outlined() -> None:
    # A cube that nothing cuts: six squares, of two triangles each.
    mesh = mesh_of(solids_scene(pf.unfold([(np.zeros((1, 3)), [0.0])], pf.box(-1, 1))))
    start, rows, piece = face_corners(mesh)
    assert np.diff(start).tolist() == [4] * 6 and piece.tolist() == [0] * 6 and len(mesh.triangles) == 12
    for face in range(6):
        square = mesh.points[rows[start[face] : start[face + 1]]]
        np.testing.assert_allclose(np.linalg.norm(square - np.roll(square, 1, axis=0), axis=1), 2.0)
    line = outlines(mesh)
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    assert np.nansum(steps) == pytest.approx(48.0) and np.isnan(line[:, 0]).sum() == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"explode": -1}, "explode=-1"),
        ({"explode": "far"}, "explode='far'"),
        ({"explode": 1, "X": [[0, 0, 0]]}, "pulled apart"),
        ({"cut": (0, "half")}, "cut="),
        ({"colour": "no such"}, "no such"),
    ],
)
def test_wrong_options(options: dict[str, object], said: str) -> None:
    atlas = pf.unfold(random_network(5, (3, 3, 1)), pf.box(-1, 1))
    with pytest.raises(PolyfoldError, match=said):
        solids_scene(atlas, **options)  # type: ignore[arg-type]
