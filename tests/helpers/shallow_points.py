"""Points to compare two networks at: anywhere, next to walls, on walls, and where walls meet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

import polyfold as pf
from polyfold.domain.points import contains
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]


def with_outputs(program: Program, outputs: int, rng: np.random.Generator) -> Program:
    """The same gates under other outputs."""
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    blocks = tuple(Block(source, rng.normal(size=(outputs, width))) for source, width in enumerate(widths))
    return replace(program, output=WrittenOut(blocks, rng.normal(size=outputs)))


def some_points(atlas: pf.Atlas, count: int, near: int, on: int, rng: np.random.Generator) -> Array:
    """`count` points of the domain: so many within 1e-12 of a wall, so many on walls and corners, the rest anywhere."""
    anywhere = _ahead(atlas, count - near - on, rng, lambda t: t * rng.uniform(0, 3, size=len(t)))
    beside = _ahead(atlas, near, rng, lambda t: t + rng.uniform(-1e-12, 1e-12, size=len(t)))
    walls = _ahead(atlas, on, rng, lambda t: t)
    corners = np.concatenate([*atlas.vertices(), np.zeros((0, atlas.dim))])
    walls[: min(on // 2, len(corners))] = rng.permutation(corners)[: on // 2]
    points = np.concatenate([anywhere, beside, walls])
    outside = np.flatnonzero(~contains(atlas.domain, points))
    # The float of a witness that is kept as rationals may lie outside.
    inner = atlas.witnesses[contains(atlas.domain, atlas.witnesses)]
    points[outside] = inner[rng.integers(len(inner), size=len(outside))]
    return points


def _ahead(atlas: pf.Atlas, count: int, rng: np.random.Generator, length) -> Array:
    """From witnesses in random directions of length one; `length` says how far, given how far the first wall is."""
    cells = rng.integers(len(atlas), size=count)
    ways = rng.normal(size=(count, atlas.dim))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    rows = atlas.halfspaces()
    first = np.empty(count)
    for i, cell in enumerate(cells.tolist()):
        A, b = rows[cell]
        rates, room = A @ ways[i], b - A @ atlas.witnesses[cell]
        with np.errstate(divide="ignore", invalid="ignore"):
            first[i] = np.where(rates > 0, room / rates, np.inf).min(initial=np.inf)
    first[~np.isfinite(first)] = 1.0
    return atlas.witnesses[cells] + length(first)[:, None] * ways
