"""The reference engine: cells, facets and neighbours straight from their definitions, in rational arithmetic.

It is the oracle of the compiled engine: slow, short, and free of tolerances. Open pieces of the domain are
cut gate by gate, stage by stage; a piece is a list of strict inequalities and a witness, a point that
satisfies them all. Whether a gate cuts a piece is one exact linear program. A gate is on where its
pre-activation z > 0 and off where z <= 0; only sets with an interior count, so a piece on which z is
constant is not cut, and one on which z vanishes has the gate off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from polyfold.domain.domain import Domain, DomainLike, resolve_domain
from polyfold.errors import DomainError, how_many
from polyfold.exact.linear_program import Point, dot, highest_point, integer_row, maximise, point_above
from polyfold.exact.rational import rational_matrix
from polyfold.program.passes.rationals import PointEvaluation, RationalProgram, evaluate_exactly
from polyfold.program.program import Program

Pattern = tuple[bool, ...]
Matrix = tuple[Point, ...]


class Facet(NamedTuple):
    """What a facet lies on, and the index of the cell across it (-1: the domain ends there).

    Walls are gates, and gates + r for domain row r. An inner facet lists every gate that vanishes on it but
    not on both of its cells; a facet of the domain's boundary lists its rows, and the gates that vanish on it
    but not on its cell.
    """

    walls: frozenset[int]
    neighbour: int


@dataclass(frozen=True)
class ReferenceAtlas:
    """All cells of a network on a domain, sorted by pattern, in rational numbers.

    Attributes
    ----------
    patterns : list of tuple of bool
        Which gates are on, one entry per cell.
    witnesses : list of points
        A point inside of each cell, in the domain's parameters u.
    bounded : list of bool
        Whether each cell is bounded.
    maps : list of pairs
        (A, c) with outputs A u + c, one pair per cell.
    facets : list of list of Facet
        The facets of each cell.
    """

    patterns: list[Pattern]
    witnesses: list[Point]
    bounded: list[bool]
    maps: list[tuple[Matrix, Point]]
    facets: list[list[Facet]]

    def __len__(self) -> int:
        return len(self.patterns)


def reference_unfold(program: Program, domain: DomainLike = None) -> ReferenceAtlas:
    """Every cell of a network on a domain, exactly and slowly: some hundred cells in the plane take a second.

    It shares no decision with the engine, so that the two can be compared.

    Parameters
    ----------
    program : Program
        The network.
    domain : Domain, optional
        Where to look; all of R^d if not given.

    Returns
    -------
    ReferenceAtlas
        All cells.

    Raises
    ------
    DomainError
        If the domain is empty, or has no interior.

    Examples
    --------
    >>> from polyfold.testing import program_from_layers
    >>> absolute = program_from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> reference_unfold(absolute).patterns
    [(False, True), (True, False)]
    """
    domain = resolve_domain(domain, program.input_dim)
    exact = RationalProgram(program)
    pieces = [_whole(program, domain)]
    domain_is_bounded = _is_bounded(pieces[0].rows, domain.dim)
    gate = 0
    for stage in exact.stages:
        grown = []
        for piece in pieces:
            z = stage.preactivations(piece.sources)
            for part in _cut(piece, gate, z.tolist()):
                outputs = stage.outputs(z, part.pattern[gate:])
                grown.append(replace(part, sources=(*part.sources, outputs)))
        pieces = grown
        gate = len(pieces[0].pattern)
    pieces.sort(key=lambda piece: piece.pattern)
    complex_ = _Complex(program, domain, exact, pieces)
    return ReferenceAtlas(
        patterns=[piece.pattern for piece in pieces],
        witnesses=[piece.witness for piece in pieces],
        bounded=[domain_is_bounded or _is_bounded(piece.rows, domain.dim) for piece in pieces],
        maps=[_map(exact.output(piece.sources)) for piece in pieces],
        facets=[complex_.facets(piece) for piece in pieces],
    )


def exact_at(program: Program, domain: DomainLike, parameters: Sequence[fmpq]) -> PointEvaluation:
    """The network's pattern, pre-activations and outputs at rational parameters u of a domain."""
    domain = resolve_domain(domain, program.input_dim)
    point = _inputs(domain) * fmpq_mat(domain.dim + 1, 1, [fmpq(1), *parameters])
    return evaluate_exactly(program, [value for (value,) in point.tolist()])


@dataclass(frozen=True)
class _Row:
    """The strict inequality normal.u < offset, and the wall that it comes from."""

    wall: int
    normal: Point
    offset: fmpq

    def slack(self, point: Sequence[fmpq]) -> fmpq:
        return self.offset - dot(self.normal, point)


@dataclass(frozen=True)
class _Piece:
    """An open set of parameters on which the first gates have one pattern.

    `sources` are the affine functions that the sources are there, as lines (constant, coefficients);
    `vanishing` are the gates that are zero everywhere on it.
    """

    witness: Point
    rows: tuple[_Row, ...]
    sources: tuple[fmpq_mat, ...]
    pattern: Pattern = ()
    vanishing: frozenset[int] = frozenset()

    def with_gate(self, on: bool, row: _Row | None, witness: Point) -> _Piece:
        """The part where one more gate is on, or off; the witness moves to a point with fewer digits."""
        rows = self.rows if row is None else (*self.rows, row)
        return replace(self, pattern=(*self.pattern, on), rows=rows, witness=_short(witness, rows))


def _inputs(domain: Domain) -> fmpq_mat:
    """The inputs x = origin + basis u as lines (constant, coefficients)."""
    origin, basis = rational_matrix(domain.origin[:, None]).tolist(), rational_matrix(domain.basis).tolist()
    lines = [constant + coefficients for constant, coefficients in zip(origin, basis, strict=True)]
    return fmpq_mat(domain.input_dim, domain.dim + 1, [entry for line in lines for entry in line])


def _row(wall: int, normal: Sequence[fmpq], offset: fmpq) -> _Row:
    *integers, bound = integer_row([*normal, offset])
    return _Row(wall, tuple(map(fmpq, integers)), fmpq(bound))


def _whole(program: Program, domain: Domain) -> _Piece:
    """The domain's interior, before any gate."""
    inputs = _inputs(domain)
    over_inputs = (rational_matrix(domain.input_rows) * inputs).tolist()
    over_parameters = [[fmpq(0), *line] for line in rational_matrix(domain.parameter_rows).tolist()]
    bounds = [value for (value,) in rational_matrix(domain.input_offsets[:, None]).tolist()]
    bounds += [value for (value,) in rational_matrix(domain.parameter_offsets[:, None]).tolist()]
    rows = []
    for r, ((constant, *normal), bound) in enumerate(zip(over_inputs + over_parameters, bounds, strict=True)):
        if any(normal):
            rows.append(_row(program.gates + r, normal, bound - constant))
        elif bound < constant:
            raise DomainError(f"the domain is empty: its row {r} holds nowhere")
    return _Piece(_interior_point(rows, domain), tuple(rows), (inputs,))


def _interior_point(rows: list[_Row], domain: Domain) -> Point:
    """A point strictly inside all rows: the one furthest from them, as far as 1."""
    zeros = [fmpq(0)] * domain.dim
    A = [[*row.normal, sum(map(abs, row.normal), fmpq(0))] for row in rows] + [[*zeros, fmpq(1)]]
    best = maximise([*zeros, fmpq(1)], A, [*(row.offset for row in rows), fmpq(1)])
    assert best.value is not None and best.point is not None
    if best.value < 0:
        raise DomainError(f"the domain is empty: no point satisfies its {how_many(domain.rows, 'row')}")
    if best.value == 0:
        raise DomainError(
            f"the domain is flat: points satisfy its {how_many(domain.rows, 'row')}, but it has no interior in its "
            f"{how_many(domain.dim, 'dimension')}; use a slice to look at a set of lower dimension"
        )
    return _short(best.point[:-1], rows)


def _short(point: Point, rows: Iterable[_Row]) -> Point:
    """A point near the given one, strictly inside the same rows, with as few binary digits as that takes."""
    scale = 1
    while True:
        rounded = tuple(fmpq((x * scale + fmpq(1, 2)).floor(), scale) for x in point)
        if all(row.slack(rounded) > 0 for row in rows):
            return rounded
        scale = scale * scale if scale > 1 else 4


def _cut(piece: _Piece, first_gate: int, lines: list[list[fmpq]]) -> list[_Piece]:
    """The parts of a piece on which every gate of a stage has one sign; the lines are the pre-activations."""
    parts = [piece]
    for gate, line in enumerate(lines, start=first_gate):
        parts = [side for part in parts for side in _sides(part, gate, line)]
    return parts


def _sides(piece: _Piece, gate: int, line: list[fmpq]) -> Iterator[_Piece]:
    """The sides {z < 0} and {z > 0} of a gate that have points in a piece; all of it if z is constant."""
    constant, *normal = line
    if not any(normal):
        vanishing = piece.vanishing | {gate} if constant == 0 else piece.vanishing
        yield replace(piece, pattern=(*piece.pattern, constant > 0), vanishing=vanishing)
        return
    below, above = _row(gate, normal, -constant), _row(gate, [-entry for entry in normal], constant)
    lowest, highest = _farthest_inside(piece, below), _farthest_inside(piece, above)
    if below.slack(lowest) > 0:
        yield piece.with_gate(False, _touched(below, above, highest), lowest)
    if above.slack(highest) > 0:
        yield piece.with_gate(True, _touched(above, below, lowest), highest)


def _touched(row: _Row, opposite: _Row, farthest: Point) -> _Row | None:
    """The row, unless the piece with its boundary stays inside of it: then no facet of a part can lie on it."""
    return row if opposite.slack(farthest) >= 0 else None


def _farthest_inside(piece: _Piece, row: _Row) -> Point:
    """A point of an open piece that lies strictly inside one more row.

    If there is none, a point of the piece with its boundary that comes as close to it as possible.
    """
    here = row.slack(piece.witness)
    if here > 0:
        return piece.witness
    if here == 0:
        inward = tuple(-entry for entry in row.normal)
        return _along(piece.witness, inward, _reach(piece, inward) / 2)
    there = highest_point(
        [-entry for entry in row.normal],
        -row.offset,
        [other.normal for other in piece.rows],
        [other.offset for other in piece.rows],
        piece.witness,
    )
    if row.slack(there) <= 0:
        return there
    # The point found may lie on the piece's boundary. All points between it and the witness are inside the
    # piece, and those beyond the crossing with the row's hyperplane are inside the row.
    crossing = here / (here - row.slack(there))
    step = tuple(t - w for t, w in zip(there, piece.witness, strict=True))
    return _along(piece.witness, step, (crossing + 1) / 2)


def _reach(piece: _Piece, direction: Point) -> fmpq:
    """How far one can go from the witness and stay inside (1 if that is for ever)."""
    rates = ((row.slack(piece.witness), dot(row.normal, direction)) for row in piece.rows)
    return min((slack / rate for slack, rate in rates if rate > 0), default=fmpq(1))


def _along(start: Point, direction: Point, step: fmpq) -> Point:
    return tuple(x + step * v for x, v in zip(start, direction, strict=True))


def _is_bounded(rows: Sequence[_Row], dim: int) -> bool:
    """Whether {normal.u <= offset}, not empty, is bounded: unless all normal.v <= 0 for some v != 0."""
    normals = [row.normal for row in rows]
    if not normals or fmpq_mat(len(normals), dim, [x for normal in normals for x in normal]).rank() < dim:
        return False
    # The normals span R^d, so v != 0 has some normal.v != 0, and then the sum of all -normal.v is positive.
    away = [-sum(column, fmpq(0)) for column in zip(*normals, strict=True)]
    origin = (fmpq(0),) * dim
    return point_above(away, fmpq(0), normals, [fmpq(0)] * len(normals), origin) is None


def _map(lines: fmpq_mat) -> tuple[Matrix, Point]:
    table = lines.tolist()
    return tuple(tuple(line[1:]) for line in table), tuple(line[0] for line in table)


class _Complex:
    """All cells together: finds each cell's facets and what lies across them."""

    def __init__(self, program: Program, domain: Domain, exact: RationalProgram, pieces: list[_Piece]) -> None:
        self.gates = program.gates
        self.inputs = _inputs(domain)
        self.exact = exact
        self.pieces = pieces
        self.index = {piece.pattern: i for i, piece in enumerate(pieces)}

    def facets(self, piece: _Piece) -> list[Facet]:
        # Seen from the witness a row reads y.v < 1 with y = normal / slack: one y for each hyperplane.
        walls: dict[Point, set[int]] = {}
        for row in piece.rows:
            slack = row.slack(piece.witness)
            walls.setdefault(tuple(entry / slack for entry in row.normal), set()).add(row.wall)
        normals = list(walls)
        facets = [
            self._facet(piece, normals[i], _along(piece.witness, hit, fmpq(1)), walls[normals[i]])
            for i, hit in _facet_points(normals).items()
        ]
        return sorted(facets, key=lambda facet: (facet.neighbour, sorted(facet.walls)))

    def _facet(self, piece: _Piece, normal: Point, point: Point, walls: set[int]) -> Facet:
        """The facet with a given outward normal through a point of its relative interior."""
        if any(wall >= self.gates for wall in walls):
            return Facet(frozenset(walls), -1)
        across = fmpq_mat(
            len(point) + 1,
            2,
            [fmpq(1), fmpq(0), *(x for pair in zip(point, normal, strict=True) for x in pair)],
        )
        pattern = self.exact.forward(self.inputs * across).pattern
        assert pattern in self.index, f"a facet of the cell {piece.pattern} leads to the unknown cell {pattern}"
        neighbour = self.index[pattern]
        return Facet(frozenset(walls | (piece.vanishing - self.pieces[neighbour].vanishing)), neighbour)


def _facet_points(normals: list[Point]) -> dict[int, Point]:
    """For each y that carries a facet of {v : y.v <= 1 for all y}, a point of its relative interior; all y differ.

    A ray from the origin that leaves through one hyperplane only proves that this one carries a facet, and
    hits the facet's relative interior. The rays along the normals find most facets; a linear program settles
    each of the others.
    """
    points: dict[int, Point] = {}
    for direction, rates in zip(normals, _products(normals), strict=True):
        fastest = max(rates)
        if rates.count(fastest) == 1:
            points.setdefault(rates.index(fastest), tuple(entry / fastest for entry in direction))
    needed = set(range(len(normals)))
    for i in sorted(needed - points.keys()):
        y, others = normals[i], [normals[other] for other in sorted(needed - {i})]
        beyond = point_above(y, fmpq(1), others, [fmpq(1)] * len(others), [fmpq(0)] * len(y))
        if beyond is None:
            # The others imply y.v <= 1, so that the set is the same without it.
            needed.remove(i)
        else:
            # The others hold at that point, and strictly at the origin: strictly, then, where the segment
            # between the two meets y.v = 1.
            rate = dot(y, beyond)
            points[i] = tuple(entry / rate for entry in beyond)
    return points


def _products(normals: list[Point]) -> list[list[fmpq]]:
    """The products of all with all."""
    if not normals:
        return []
    matrix = fmpq_mat(len(normals), len(normals[0]), [entry for normal in normals for entry in normal])
    products: list[list[fmpq]] = (matrix * matrix.transpose()).tolist()
    return products
