"""What the tests hold an atlas against: inequalities by a forward pass of their own, Qhull, HiGHS, sampling."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, Delaunay, HalfspaceIntersection

import polyfold as pf
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Domain
from polyfold.program.program import Program
from polyfold.testing import Case, generated_case, program_from_layers

CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]


@cache
def unfolded(seed: int) -> tuple[Case, Atlas]:
    """A generated case and its atlas; odd seeds are degenerate."""
    case = generated_case(seed)
    return case, pf.unfold(case.program, case.domain, threads=1)


def by_hand() -> Iterator[Atlas]:
    """Small atlases whose shape is special: no gates, one dimension, whole spaces, strips, slices."""
    rng = np.random.default_rng(7)
    line = program_from_layers(
        [(np.array([[1.0], [1.0], [-2.0]]), np.array([0.0, -1.0, 1.0])), (np.ones((2, 3)), [1, 2])]
    )
    yield pf.unfold([(np.ones((2, 3)), np.ones(2))])
    yield pf.unfold([(np.ones((2, 3)), np.ones(2))], pf.box(-1, 2))
    yield pf.unfold([(np.ones((1, 1)), np.ones(1))], pf.box(-np.inf, 3))
    yield pf.unfold(line)
    yield pf.unfold(line, pf.box(0, 1))
    yield pf.unfold([(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.0, -1.0])), (np.ones((1, 2)), np.zeros(1))])
    yield pf.unfold(CORNER, pf.polytope([[1.0, 1.0]], [1.0]))
    yield pf.unfold(CORNER, pf.slice_of([0.5, 0.0], [1.0, -2.0], within=pf.box(-1, 1)))
    layers = [(rng.normal(size=(6, 4)), rng.normal(size=6)), (rng.normal(size=(2, 6)), rng.normal(size=2))]
    yield pf.unfold(layers, pf.slice_of(rng.normal(size=4), rng.normal(size=(4, 2)), bounds=pf.box(-2, 2)))


def cell_rows(program: Program, domain: Domain, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A u <= b for every gate and domain row, by carrying (linear, constant) forward through the stages."""
    sources = [(domain.basis, domain.origin)]
    rows, bounds = [], []
    first = 0
    for stage in program.stages:
        linear = np.zeros((stage.width, domain.dim))
        constant = np.array(stage.affine.bias)
        for block in stage.affine.blocks:
            source_linear, source_constant = sources[block.source]
            linear, constant = linear + block.weight @ source_linear, constant + block.weight @ source_constant
        on = signs[first : first + stage.width]
        rows.append(np.where(on, -1.0, 1.0)[:, None] * linear)
        bounds.append(np.where(on, 1.0, -1.0) * constant)
        slope = np.where(on, stage.slope_on, stage.slope_off)
        sources.append((slope[:, None] * linear, slope * constant))
        first += stage.width
    rows += [domain.input_rows @ domain.basis, domain.parameter_rows]
    bounds += [domain.input_offsets - domain.input_rows @ domain.origin, domain.parameter_offsets]
    return np.concatenate(rows), np.concatenate(bounds)


def normalised(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that say something, with normals of length one. What is only rounding noise is left out."""
    norms = np.linalg.norm(A, axis=1)
    kept = norms > 1e-11 * max(1.0, float(norms.max(initial=0.0)))
    return A[kept] / norms[kept, None], b[kept] / norms[kept]


def rows_of(atlas: Atlas, cell: int) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's normalised inequalities of a cell."""
    return normalised(*cell_rows(atlas.program, atlas.domain, atlas.signs([cell])[0]))


def points_inside(atlas: Atlas, cell: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random points of a cell: hit and run from the witness."""
    A, b = rows_of(atlas, cell)
    at, found = np.array(atlas.witnesses[cell]), []
    for _ in range(count):
        step = rng.normal(size=atlas.dim)
        rate, slack = A @ step, b - A @ at
        with np.errstate(divide="ignore"):
            up = float(np.min(slack[rate > 0] / rate[rate > 0], initial=3.0))
            down = float(np.max(slack[rate < 0] / rate[rate < 0], initial=-3.0))
        at = at + rng.uniform(0.95 * down, 0.95 * up) * step
        found.append(at)
    return np.array(found)


def largest_ball(A: np.ndarray, b: np.ndarray) -> float:
    """The radius of the largest ball in {A u <= b} with normalised rows; infinite if there is none."""
    if not len(A):
        return np.inf
    cost = np.append(np.zeros(A.shape[1]), -1.0)
    found = linprog(cost, np.column_stack([A, np.ones(len(A))]), b, bounds=[(None, None)] * A.shape[1] + [(0, None)])
    return np.inf if found.status in (3, 4) else float(found.x[-1])


def extent(A: np.ndarray, b: np.ndarray, direction: np.ndarray) -> float:
    """The largest direction . u over {A u <= b}."""
    if not len(A):
        return np.inf
    found = linprog(-direction, A, b, bounds=[(None, None)] * A.shape[1])
    return np.inf if found.status in (3, 4) else float(direction @ found.x)


def qhull_vertices(A: np.ndarray, b: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The vertices of a bounded cell from Qhull (in one dimension: by hand)."""
    if A.shape[1] == 1:
        ends = b / A[:, 0]
        return np.array([[ends[A[:, 0] < 0].max()], [ends[A[:, 0] > 0].min()]])
    found = HalfspaceIntersection(np.column_stack([A, -b]), inside).intersections
    return found[np.isfinite(found).all(axis=1)]


def volume_and_centroid(vertices: np.ndarray) -> tuple[float, np.ndarray]:
    """Of the convex hull of points, from Qhull's triangulation."""
    if vertices.shape[1] == 1:
        return float(np.ptp(vertices)), vertices.mean(axis=0)
    corners = vertices[ConvexHull(vertices).vertices]
    simplices = corners[Delaunay(corners).simplices]
    sizes = np.abs(np.linalg.det(simplices[:, 1:] - simplices[:, :1]))
    return ConvexHull(vertices).volume, (sizes[:, None] * simplices.mean(axis=1)).sum(axis=0) / sizes.sum()


def gaps(found: np.ndarray, expected: np.ndarray) -> float:
    """How far two finite sets of points are from being the same set."""
    distances = np.linalg.norm(found[:, None] - expected[None], axis=2)
    return float(max(distances.min(axis=0).max(), distances.min(axis=1).max()))
