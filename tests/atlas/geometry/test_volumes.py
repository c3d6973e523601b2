"""Volumes of cells against rational numbers, in degenerate networks, whose cells are thin and far out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import polyfold as pf
from polyfold.engine.bounds.cell_bounds import ExactPrograms
from polyfold.testing import wide_case


def exact_volume(A: Sequence[Sequence[fmpq]], b: Sequence[fmpq]) -> fmpq:
    """The volume of a simple cell A u <= b: faces of one dimension more from those of one less, from vertices on."""
    dim = len(A[0])
    faces: dict[frozenset[int], tuple[list[fmpq], fmpq]] = {}
    for chosen in itertools.combinations(range(len(A)), dim):
        rows = fmpq_mat(dim, dim, [x for i in chosen for x in A[i]])
        if rows.det() == 0:
            continue
        place = [x for (x,) in rows.solve(fmpq_mat(dim, 1, [b[i] for i in chosen])).tolist()]
        slack = [
            level - sum((a * x for a, x in zip(row, place, strict=True)), fmpq(0))
            for row, level in zip(A, b, strict=True)
        ]
        if min(slack) >= 0:
            faces[frozenset(chosen)] = slack, 1 / abs(rows.det())
    for _ in range(dim):
        above: dict[frozenset[int], tuple[list[fmpq], fmpq]] = {}
        for walls, (apex, size) in faces.items():
            for wall in walls:
                first, so_far = above.get(walls - {wall}, (apex, fmpq(0)))
                above[walls - {wall}] = first, so_far + first[wall] * size
        faces = above
    return faces[frozenset()][1] / math.factorial(dim)


# In 230 walls nearly coincide: a determinant that floats find is of no use. The others are too thin for plain floats.
@pytest.mark.parametrize("seed", [12, 77, 159, 230, 301, 371, 399])
def test_volumes_are_those_of_rational_numbers(seed: int) -> None:
    case = wide_case(seed)
    atlas = pf.unfold(case.program, case.domain, threads=1)
    volumes, programs = atlas.volumes(), ExactPrograms(atlas)
    generators = atlas.generators()
    simple = np.diff(generators.facet_start) == atlas.dim
    looked_at = [
        cell
        for cell in np.flatnonzero(atlas.bounded).tolist()
        if simple[generators.start[cell] : generators.start[cell + 1]].all()
    ][:24]
    for cell in looked_at:
        A, b, _ = programs.inequalities(cell)
        truth = exact_volume(A, b)
        assert float(abs(fmpq(*volumes[cell].as_integer_ratio()) / truth - 1)) < 1e-11, cell
    assert looked_at
