"""Vertices and rays of a complex in rationals, and an output's values there."""

from __future__ import annotations

from functools import lru_cache

from flint import fmpq, fmpq_mat

from polyfold.domain.points import jets_around
from polyfold.exact.rational import rational
from polyfold.program.passes.rationals import RationalProgram
from polyfold.topology.face_complex import FaceComplex

Form = tuple[fmpq, ...]  # a slope a parameter, and the constant

# Cells whose gates are remembered as forms.
_CELLS_KEPT = 256


class ExactPoints:
    """What single vertices and rays are exactly: the solutions of the equations of the walls through them."""

    def __init__(self, faces: FaceComplex) -> None:
        self._faces = faces
        self._program = RationalProgram(faces.atlas.program)
        self._forms = lru_cache(_CELLS_KEPT)(self._forms_on)

    def value(self, vertex: int, cell: int, output: int) -> fmpq:
        """An output at a vertex of a cell."""
        rows = [row for row in self._equations(0, vertex, cell) if any(row)]
        reduced, rank = fmpq_mat(rows).rref()
        d = self._faces.dim
        assert rank == d
        # Reduced rows say u_k + constant = 0.
        point = [-reduced[k, d] for k in range(d)]
        return _at(self._forms(cell)[1][output], [*point, fmpq(1)])

    def slope(self, face: int, direction: list[float], cell: int, output: int) -> int:
        """The sign of an output's slope along a ray, of which floats tell the direction roughly."""
        d = self._faces.dim
        exact = _null_vector([row[:d] for row in self._equations(1, face, cell)], d)
        if sum((a * rational(b) for a, b in zip(exact, direction, strict=True)), fmpq(0)) < 0:
            exact = [-x for x in exact]
        slope = _at(self._forms(cell)[1][output], [*exact, fmpq(0)])
        return int(slope > 0) - int(slope < 0)

    def _equations(self, dim: int, face: int, cell: int) -> list[Form]:
        gates = self._forms(cell)[0]
        return [gates[wall] for wall in self._faces.walls(dim, face)]

    def _forms_on(self, cell: int) -> tuple[list[Form], list[Form]]:
        """All gates and domain rows, and all outputs, as functions of the parameters on a cell."""
        atlas = self._faces.atlas
        domain, witness = atlas.domain, atlas.rational_witness(cell)
        jets = jets_around(domain, witness)
        passed = self._program.forward(jets)
        over_inputs = [
            _row(row, offset, jets.tolist())
            for row, offset in zip(domain.input_rows.tolist(), domain.input_offsets.tolist(), strict=True)
        ]
        over_parameters = [
            (*(-rational(a) for a in row), rational(offset))
            for row, offset in zip(domain.parameter_rows.tolist(), domain.parameter_offsets.tolist(), strict=True)
        ]
        walls = [_form(line, witness) for line in [*passed.preactivations, *over_inputs]] + over_parameters
        return walls, [_form(line, witness) for line in passed.outputs]


def _at(form: Form, point: list[fmpq]) -> fmpq:
    return sum((a * x for a, x in zip(form, point, strict=True)), fmpq(0))


def _form(line: list[fmpq], witness: tuple[fmpq, ...]) -> Form:
    """A jet at the witness as a form."""
    value, *slopes = line
    return (*slopes, value - sum((a * w for a, w in zip(slopes, witness, strict=True)), fmpq(0)))


def _row(coefficients: list[float], offset: float, jets: list[list[fmpq]]) -> list[fmpq]:
    """The jet of a domain row b - a . x, from those of the inputs."""
    exact = [rational(a) for a in coefficients]
    jet = [-sum((a * line[j] for a, line in zip(exact, jets, strict=True)), fmpq(0)) for j in range(len(jets[0]))]
    return [jet[0] + rational(offset), *jet[1:]]


def _null_vector(rows: list[Form], size: int) -> list[fmpq]:
    """The vector, up to a factor, on which all of these vanish."""
    kept = [row for row in rows if any(row)]
    if not kept:
        return [fmpq(1)] * size
    reduced, rank = fmpq_mat(kept).rref()
    assert rank == size - 1
    pivots = [next(j for j in range(size) if reduced[i, j] != 0) for i in range(rank)]
    free = next(j for j in range(size) if j not in pivots)
    vector = [fmpq(0)] * size
    vector[free] = fmpq(1)
    for i, pivot in enumerate(pivots):
        vector[pivot] = -reduced[i, free]
    return vector
