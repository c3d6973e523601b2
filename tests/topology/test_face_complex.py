"""The face complex: signs, boundaries and points of networks of every kind; counts that are known; what it refuses."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.topological_shapes import random_layers, sphere
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError, ShapeError
from polyfold.testing import Case
from polyfold.testing.strategies import cases


def check_boundaries(faces: pf.topology.FaceComplex) -> None:
    for k in range(2, faces.dim + 1):
        twice = faces.boundary[k - 1].astype(np.int64) @ faces.boundary[k].astype(np.int64)
        assert not abs(twice).sum()
    for k in range(1, faces.dim + 1):
        assert set(np.unique(faces.boundary[k].data)) <= {-1, 1}


def check_signs(faces: pf.topology.FaceComplex) -> None:
    """At a point inside each face the gates have the signs that the face says, as far as floats can tell."""
    atlas = faces.atlas
    for k in range(faces.dim + 1):
        signs = faces.signs(k)
        assert len(np.unique(signs, axis=0)) == len(signs)
        assert (faces.find(k, signs) == np.arange(len(signs))).all()
        assert all((faces.signs_of(k, wall) == signs[:, wall]).all() for wall in range(signs.shape[1]))
        if not len(signs):
            continue
        points = faces.inner_points(k)
        _, on = atlas.program.evaluate(atlas.domain.lift(points))
        values = preactivations(atlas, points)
        scale = 1e-7 * (1 + np.abs(points).max(axis=1, initial=0.0))[:, None] * size_of(atlas)
        clear = np.abs(values) > scale
        assert (np.where(clear, np.sign(values), 0) == np.where(clear, signs, 0)).all()
        assert on.shape == (len(signs), atlas.gates)


def preactivations(atlas: pf.Atlas, points: np.ndarray) -> np.ndarray:
    """Every gate's value and every domain row's slack at points."""
    domain = atlas.domain
    inputs = domain.lift(points)
    sources, values = [inputs], []
    for stage in atlas.program.stages:
        z = stage.affine(sources)
        values.append(z)
        sources.append(np.where(z > 0, stage.slope_on, stage.slope_off) * z)
    slack = [domain.input_offsets - inputs @ domain.input_rows.T]
    slack.append(domain.parameter_offsets - points @ domain.parameter_rows.T)
    return np.concatenate([*values, *slack], axis=1)


def size_of(atlas: pf.Atlas) -> float:
    size = 1.0
    for stage in atlas.program.stages:
        size *= 1 + sum(np.abs(block.weight).sum(axis=1).max(initial=0.0) for block in stage.affine.blocks)
    return size


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(max_size=12))
def test_networks_of_every_kind(case: Case) -> None:
    atlas = unfold_program(case.program, case.domain)
    faces = pf.topology.faces(atlas)
    assert faces.f_vector == atlas.f_vector()
    assert faces.euler_characteristic == atlas.euler_characteristic()
    check_boundaries(faces)
    assert ((faces.bounded[-1] & (faces.least == 0)) == atlas.bounded).all()
    assert ((faces.signs(faces.dim)[:, : atlas.gates] > 0) == atlas.signs()).all()
    # Every cell has as many facets as the atlas says.
    assert (np.diff(faces.boundary[faces.dim].indptr) == np.diff(atlas.facet_start)).all()
    rest = (0,) * faces.dim
    for coefficients in ("rationals", "gf2"):
        assert pf.topology.betti(faces, coefficients=coefficients).value == (1, *rest)
        if atlas.domain.rows == 0:
            assert pf.topology.betti(faces, coefficients=coefficients, homology="borel-moore").value == (*rest, 1)
    if case.domain.dim <= 4:
        check_signs(faces)


@pytest.mark.parametrize("seed", range(8))
def test_every_point_lies_inside_one_face(seed: int) -> None:
    """Networks of small integers at multiples of a half, where floats are exact and many walls meet in points."""
    rng = np.random.default_rng(seed)
    dim = 2 + seed % 2
    widths = [dim, 5, 4, 3, 1]
    layers = [
        (rng.integers(-1, 2, (after, before)).astype(float), rng.integers(-1, 2, after).astype(float))
        for before, after in pairwise(widths)
    ]
    atlas = pf.unfold(layers, pf.box(-3, 3)) if seed % 4 < 2 else pf.unfold(layers)
    faces = pf.topology.faces(atlas)
    axis = np.arange(-6, 7) / 2
    points = np.stack(np.meshgrid(*[axis] * dim), axis=-1).reshape(-1, dim)
    signs = np.sign(preactivations(atlas, points)).astype(np.int8)
    found = np.stack([faces.find(k, signs) for k in range(dim + 1)])
    assert ((found >= 0).sum(axis=0) == 1).all()
    # The grid meets faces of every dimension that there is.
    met = (found >= 0).any(axis=1)
    assert met[[k for k, count in enumerate(faces.f_vector) if count and k > 0]].all()


@pytest.mark.parametrize("threads", [1, 3])
def test_order_does_not_depend_on_threads(threads: int) -> None:
    layers = random_layers(np.random.default_rng(5), 3, 12, 8, 1)
    one, other = (pf.topology.faces(pf.unfold(layers, threads=count)) for count in (2, threads))
    for k in range(4):
        assert (one.signs(k) == other.signs(k)).all()
        assert (one.boundary[k] != other.boundary[k]).nnz == 0
    assert (one.points == other.points).all()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_hyperplanes_in_general_position(dim: int) -> None:
    """n hyperplanes have C(n, d - k) * sum_i C(n - d + k, i) faces of dimension k."""
    n = dim + 3
    faces = pf.topology.faces(pf.unfold(random_layers(np.random.default_rng(dim), dim, n, 1)))
    for k, count in enumerate(faces.f_vector):
        assert count == comb(n, dim - k) * sum(comb(n - dim + k, i) for i in range(k + 1))
    # Bounded cells: C(n - 1, d).
    assert faces.bounded[dim].sum() == comb(n - 1, dim)
    assert (np.asarray(abs(faces.boundary[1]).sum(axis=0)) == np.where(faces.bounded[1], 2, 1)).all()
    assert sorted(faces.ray_face) == np.flatnonzero(~faces.bounded[1]).tolist()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_the_faces_of_a_cube(dim: int) -> None:
    faces = pf.topology.faces(pf.unfold([(np.eye(dim), np.zeros(dim))], pf.box(0, 1)))
    assert faces.f_vector == tuple(comb(dim, k) * 2 ** (dim - k) for k in range(dim + 1))
    corners = sorted([float(i >> k & 1) for k in range(dim)] for i in range(2**dim))
    assert sorted(faces.vertices.round(12).tolist()) == corners
    assert len(faces.rays) == 0 and faces.least == 0


def test_vertices_and_rays_of_a_fan() -> None:
    faces = pf.topology.faces(pf.unfold([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0] * 3), ([[1.0] * 3], [0.0])]))
    assert faces.f_vector == (1, 6, 6)
    assert faces.signs(0).tolist() == [[0, 0, 0]]
    assert faces.walls(0, 0) == (0, 1, 2)
    directions = {tuple(np.sign(np.round(ray, 9)).tolist()) for ray in faces.rays}
    assert directions == {(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)}
    for j, face in enumerate(faces.ray_face.tolist()):
        values = np.array([faces.rays[j][0], faces.rays[j][1], faces.rays[j].sum()]).round(9)
        assert (np.sign(values) == faces.signs(1, [face])[0]).all()
    assert sorted(faces.cells(0, 0).tolist()) == list(range(6))


def test_which_cells_a_face_belongs_to() -> None:
    atlas = pf.unfold(random_layers(np.random.default_rng(1), 3, 7, 5, 1), pf.box(-2, 2))
    faces = pf.topology.faces(atlas)
    for k in range(4):
        table = faces.within(k, 3)
        for face in range(0, faces.f_vector[k], 7):
            around = faces.cells(k, face)
            assert around.tolist() == sorted(table[[face]].indices.tolist())
            # Cells agree with the face where it has a sign.
            signs = faces.signs(k, [face])[0]
            fixed = signs[: atlas.gates] != 0
            assert ((faces.signs(3, around)[:, : atlas.gates] == signs[: atlas.gates])[:, fixed]).all()
    # An inner facet belongs to two cells, which are neighbours.
    inner = np.flatnonzero(np.diff(faces.boundary[3].tocsr().indptr) == 2)
    for facet in inner[:20].tolist():
        a, b = faces.cells(2, facet).tolist()
        assert b in atlas.neighbour[atlas.facet_start[a] : atlas.facet_start[a + 1]]


def test_the_face_poset_as_a_graph() -> None:
    faces = pf.topology.faces(pf.unfold(sphere(2), pf.box(-2, 2)))
    graph = faces.hasse()
    assert graph.number_of_nodes() == len(faces)
    assert networkx.is_directed_acyclic_graph(graph)
    assert networkx.transitive_reduction(graph).number_of_edges() == graph.number_of_edges()
    for below, above, sign in graph.edges(data="incidence"):
        assert above[0] == below[0] + 1
        assert faces.boundary[above[0]][below[1], above[1]] == sign
    cells_at = {node[1] for node in networkx.descendants(graph, (0, 3)) if node[0] == 2}
    assert cells_at == set(faces.cells(0, 3).tolist())


def test_walls_and_skeletons() -> None:
    """A wall of the first stage is a hyperplane, whatever cuts it; a side of a box is a box."""
    layers = random_layers(np.random.default_rng(2), 3, 6, 5, 1)
    faces = pf.topology.faces(pf.unfold(layers))
    for gate in range(6):
        assert pf.topology.betti(faces.on_wall(gate), homology="borel-moore").value == (0, 0, 1)
        assert pf.topology.betti(faces.on_wall(gate)).value == (1, 0, 0)
    for k in range(4):
        assert faces.skeleton(k).f_vector == faces.f_vector[: k + 1]
    boxed = pf.topology.faces(pf.unfold(layers, pf.box(-1, 1)))
    sides = [boxed.on_wall(11 + row) for row in range(6)]
    assert all(pf.topology.betti(side).value == (1, 0, 0) for side in sides)
    whole = pf.topology.Subcomplex(boxed, tuple(np.any([side.chosen[k] for side in sides], axis=0) for k in range(4)))
    assert pf.topology.betti(whole).value == (1, 0, 1)


def test_slices() -> None:
    layers = random_layers(np.random.default_rng(3), 5, 8, 6, 1)
    for domain in (pf.line([0.0] * 5, [1.0] * 5), pf.slice_of([0.1] * 5, np.eye(5)[:, :2])):
        atlas = pf.unfold(layers, domain)
        faces = pf.topology.faces(atlas)
        assert faces.f_vector == atlas.f_vector()
        check_boundaries(faces)
        check_signs(faces)


def test_what_is_refused() -> None:
    layers = random_layers(np.random.default_rng(0), 2, 8, 6, 1)
    atlas = pf.unfold(layers)
    assert pf.topology.faces(layers).f_vector == atlas.f_vector()  # a network is unfolded first
    with pytest.raises(LimitError, match=r"there are [\d,]+ faces, more than max_faces=10: "):
        pf.topology.faces(atlas, max_faces=10)
    with pytest.raises(PolyfoldError, match=r"pf\.resume"):
        pf.topology.faces(pf.unfold(layers, max_cells=3))
    faces = pf.topology.faces(atlas)
    with pytest.raises(PolyfoldError, match="no faces of dimension 3"):
        faces.signs(3)
    with pytest.raises(IndexError, match="no face 100000 of dimension 1"):
        faces.closure(1, [100000])
    with pytest.raises(ShapeError, match="sign vectors have 14 entries"):
        faces.find(0, [[1, 0]])
    with pytest.raises(PolyfoldError, match="are not closed"):
        pf.topology.Subcomplex(faces, tuple(np.arange(3)[k] == np.full(n, 2) for k, n in enumerate(faces.f_vector)))
