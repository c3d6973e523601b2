"""Betti numbers of shapes that are known, and against GUDHI."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import polyfold as pf
from helpers import topological_shapes as shapes
from helpers.gudhi_oracle import betti_by_gudhi

BOTH = ("rationals", "gf2")

# network, dimension, and the Betti numbers of {f = 0}, {f <= 0} and {f >= 0} over R^d
SHAPES = {
    "two points": (shapes.sphere(1), (2,), (1, 0), (2, 0)),
    "circle": (shapes.sphere(2), (1, 1), (1, 0, 0), (1, 1, 0)),
    "sphere": (shapes.sphere(3), (1, 0, 1), (1, 0, 0, 0), (1, 0, 1, 0)),
    "annulus": (shapes.shell(2), (2, 2), (1, 1, 0), (2, 1, 0)),
    "shell": (shapes.shell(3), (2, 0, 2), (1, 0, 1, 0), (2, 0, 1, 0)),
    "two cubes": (shapes.two_cubes(), (2, 0, 2), (2, 0, 0, 0), (1, 0, 2, 0)),
    "torus": (shapes.torus(), (1, 2, 1), (1, 1, 0, 0), (1, 1, 1, 0)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("bounded", [False, True])
def test_known_shapes(name: str, bounded: bool) -> None:
    layers, *expected = SHAPES[name]
    atlas = pf.unfold(layers, pf.box(-6, 6)) if bounded else pf.unfold(layers)
    for make, numbers in zip(
        (pf.topology.level_set, pf.topology.sublevel, pf.topology.superlevel), expected, strict=True
    ):
        found = make(atlas)
        for coefficients in BOTH:
            assert pf.topology.betti(found, coefficients=coefficients).value == numbers
        assert betti_by_gudhi(found) == numbers
        assert betti_by_gudhi(found, prime=3) == numbers


@pytest.mark.parametrize("name", ["circle", "annulus", "torus", "two cubes"])
def test_the_decision_boundary_is_the_level_set_where_the_output_changes_its_sign(name: str) -> None:
    layers, expected, *_ = SHAPES[name]
    atlas = pf.unfold(layers)
    boundary = pf.topology.boundary(atlas)
    assert pf.topology.betti(boundary).value == expected
    assert boundary.compact
    assert boundary.dim == atlas.dim - 1
    assert boundary.f_vector[-1] == len(pf.stats.decision_boundary(atlas))
    assert pf.topology.betti(pf.topology.class_region(atlas, 0)).value == SHAPES[name][2]
    assert pf.topology.betti(pf.topology.class_region(atlas, 1)).value == SHAPES[name][3]


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_whole_space(dim: int) -> None:
    rng = np.random.default_rng(dim)
    faces = pf.topology.faces(pf.unfold(shapes.random_layers(rng, dim, 6, 4, 1)))
    rest = (0,) * (dim - 1)
    for coefficients in BOTH:

        def numbers(homology: str, coefficients: str = coefficients) -> tuple[int, ...]:
            return pf.topology.betti(faces, homology=homology, coefficients=coefficients).value

        assert numbers("truncated") == (1, *rest, 0)
        assert numbers("borel-moore") == (0, *rest, 1)
        assert numbers("compactified") == (1, *rest, 1)
    assert pf.topology.betti(faces.bounded_part()).value == (1, *rest, 0)[: faces.bounded_part().dim + 1]


def test_spaces_that_contain_lines() -> None:
    """Two parallel walls in R^3: slabs without a vertex. The set between them, both walls, and all of it."""
    slabs = [([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])]
    atlas = pf.unfold(slabs)
    faces = pf.topology.faces(atlas)
    assert faces.f_vector == (0, 0, 2, 3)
    assert faces.least == 2 and faces.lines.shape == (2, 3)
    assert np.abs(faces.lines @ [1.0, 1.0, 0.0]).max() == 0
    walls = faces.closure(2, [0, 1])
    assert not walls.compact
    assert pf.topology.betti(faces).value == (1, 0, 0, 0)
    assert pf.topology.betti(faces, homology="borel-moore").value == (0, 0, 0, 1)
    assert pf.topology.betti(walls).value == (2, 0, 0)
    assert pf.topology.betti(walls, homology="borel-moore").value == (0, 0, 2)
    assert pf.topology.betti(walls, homology="compactified").value == (1, 0, 2)
    between = faces.closure(3, np.flatnonzero(faces.bounded[3]))
    assert between.f_vector == (0, 0, 2, 1)
    assert pf.topology.betti(between).value == (1, 0, 0, 0)
    # The slab is a plane times a segment, which has no homology of its own.
    assert pf.topology.betti(between, homology="borel-moore").value == (0, 0, 1, 0)


def test_no_walls_at_all() -> None:
    faces = pf.topology.faces(pf.unfold([(np.eye(2), np.zeros(2))]))
    assert faces.f_vector == (0, 0, 1)
    assert pf.topology.betti(faces).value == (1, 0, 0)
    assert pf.topology.betti(faces, homology="compactified").value == (1, 0, 1)


def test_lines_in_the_plane() -> None:
    """n lines through a point: with a point at infinity they are a wedge of 2n - 1 circles."""
    angles = np.pi * np.arange(4) / 4
    weights = np.stack([np.round(np.cos(angles) * 8), np.round(np.sin(angles) * 8)], axis=1)
    atlas = pf.unfold([(weights, np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
    lines = pf.topology.faces(atlas).closure(1, np.arange(8))
    assert pf.topology.betti(lines).value == (1, 0)
    assert pf.topology.betti(lines, homology="borel-moore").value == (0, 7)
    assert pf.topology.betti(lines, homology="compactified").value == (1, 7)


def test_torsion() -> None:
    """The projective plane of ten triangles lies in the boundary of a simplex in R^5."""
    simplex = pf.polytope(np.concatenate([-np.eye(5), np.ones((1, 5))]), np.append(np.zeros(5), 1.0))
    faces = pf.topology.faces(pf.unfold([(np.ones((1, 5)), np.zeros(1))], simplex))
    assert faces.f_vector == (6, 15, 20, 15, 6, 1)
    projective = [
        (0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5), (0, 1, 5),
        (1, 2, 4), (2, 3, 5), (1, 3, 4), (2, 4, 5), (1, 3, 5),
    ]  # fmt: skip
    triangles = faces.within(0, 2).T.tocsr()
    corners = [tuple(sorted(triangles.indices[3 * i : 3 * i + 3].tolist())) for i in range(20)]
    plane = faces.closure(2, [corners.index(three) for three in projective])
    assert plane.f_vector == (6, 15, 10)
    assert all(sum(set(pair) <= set(three) for three in projective) == 2 for pair in combinations(range(6), 2))
    assert pf.topology.betti(plane, coefficients="rationals").value == (1, 0, 0)
    assert pf.topology.betti(plane, coefficients="gf2").value == (1, 1, 1)
    assert betti_by_gudhi(plane) == (1, 1, 1)
    assert betti_by_gudhi(plane, prime=3) == (1, 0, 0)


def test_a_network_that_learned_to_tell_a_disc_from_a_ring() -> None:
    """The decision boundary is one loop around the disc."""
    import torch

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    radius = np.concatenate([np.sqrt(rng.uniform(0, 1, 150)), rng.uniform(1.5, 2.5, 250)])
    angle = rng.uniform(0, 2 * np.pi, 400)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    X, y = torch.tensor(points, dtype=torch.float64), torch.tensor(radius > 1.25, dtype=torch.float64)
    sizes = [torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)]
    model = torch.nn.Sequential(*sizes).double()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that wait for each other take longer than so small a network
    for _ in range(200):
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(X)[:, 0], y).backward()
        optimiser.step()
    torch.set_num_threads(threads)
    atlas = pf.unfold(model, pf.box(-2.5, 2.5))
    assert (pf.stats.classes(atlas).of(points) == (radius > 1.25)).all()
    boundary = pf.topology.boundary(atlas)
    assert (
        pf.topology.betti(boundary).value
        == pf.topology.betti(boundary, coefficients="gf2").value
        == betti_by_gudhi(boundary)
        == (1, 1)
    )
    assert pf.topology.betti(pf.topology.class_region(atlas, 0)).value == (1, 0, 0)
    assert pf.topology.betti(pf.topology.class_region(atlas, 1)).value == (1, 1, 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [pf.topology.level_set, pf.topology.sublevel, pf.topology.superlevel])
def test_random_networks_against_gudhi(seed: int, make: Callable[..., pf.topology.Subcomplex]) -> None:
    rng = np.random.default_rng(seed)
    dim = 2 + seed % 2
    atlas = pf.unfold(shapes.random_layers(rng, dim, 8, 6, 2), pf.box(-3, 3))
    values = pf.load(shapes.random_layers(np.random.default_rng(seed), dim, 8, 6, 2))(rng.uniform(-3, 3, (200, dim)))
    found = make(atlas, float(np.median(values[:, 1])), output=1)
    assert pf.topology.betti(found).value == pf.topology.betti(found, coefficients="gf2").value == betti_by_gudhi(found)
