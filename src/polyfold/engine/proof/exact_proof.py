"""The proof, in exact arithmetic, that one cell of an atlas is right; see docs/adr/0008-what-certify-proves.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Literal

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz_mat

from polyfold._base.clock import tick
from polyfold.atlas.atlas import DOMAIN_BOUNDARY, Atlas
from polyfold.engine.cells.validity import wall_name
from polyfold.exact.implied import Inequalities
from polyfold.exact.linear_program import maximise
from polyfold.program.passes.integer_forms import ExactForms, Forms, Pattern

Kind = Literal["witness", "facets", "neighbour", "bounded"]
Row = tuple[int, ...]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a cell, in words that name the cell, and the facet and the wall where there is one."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class _Facet:
    """A listed facet: its number, its walls, and the primitive form that is >= 0 on its cell."""

    number: int
    walls: frozenset[int]
    row: Row


class ExactProof:
    """Proves cells of one atlas, one at a time; with `has_lines` they are its cells times a linear space."""

    def __init__(self, atlas: Atlas, *, has_lines: bool = False) -> None:
        self._atlas, self._has_lines = atlas, has_lines
        self._forms = ExactForms(atlas.program, atlas.domain)

    def faults(self, cell: int) -> list[Fault]:
        """What is wrong with a cell; nothing if it is proved."""
        pattern = self._pattern(cell)
        forms = self._forms.under(pattern)
        sides = self._sides(cell)
        inner = _homogeneous(self._atlas, cell)
        if inner is None:
            return [Fault("witness", f"cell {cell}: its witness is no point of R^{self._atlas.dim}")]
        # Later questions build on earlier answers: a witness outside of its cell leaves nothing to start from.
        found = list(self._witness_faults(cell, forms, sides, inner))
        if found:
            return found
        rows = [
            tuple(side * x for x in row) if any(row[:-1]) else None for side, row in zip(sides, forms.rows, strict=True)
        ]
        facets, found = self._listed_facets(cell, rows)
        if found:
            return found
        others = {row: wall for wall, row in enumerate(rows) if row is not None}
        for facet in facets:
            others.pop(facet.row, None)
        if not facets and not others:
            return self._bounded_faults(cell, [])
        inequalities = Inequalities([_seen_from(inner, facet.row) for facet in facets], self._atlas.dim)
        if not all(inequalities.implies(_seen_from(inner, row)) for row in others):
            return self._missing_facets(cell, inner, facets, others)
        proposals = _straight_out(np.array([_as_floats(facet.row) for facet in facets]), inner)
        for i, facet in enumerate(facets):
            tick()
            beyond = _first_beyond(facets, i, proposals[i])
            if beyond is None:
                position = inequalities.beyond(i)
                if position is None:
                    found.append(self._fault("facets", cell, facet, "is no facet: the others imply it"))
                    continue
                beyond = _back(inner, *position)
            found += self._across(cell, forms, facet, inner, beyond)
        return found or self._bounded_faults(cell, [facet.row for facet in facets])

    def bounded_faults(self, cell: int) -> list[Fault]:
        """Whether the flag of a cell whose facets are proved is wrong."""
        sides, rows = self._sides(cell), self._forms.under(self._pattern(cell)).rows
        walls = self._atlas.facet_wall[list(self._atlas.facets(cell))].tolist()
        return self._bounded_faults(cell, [tuple(sides[wall] * x for x in rows[wall]) for wall in walls])

    def _bounded_faults(self, cell: int, rows: list[Row]) -> list[Fault]:
        truth = not self._has_lines and is_bounded([row[:-1] for row in rows], self._atlas.dim)
        if truth == bool(self._atlas.bounded[cell]):
            return []
        words = ("unbounded", "bounded")
        return [Fault("bounded", f"cell {cell} is {words[truth]}, and marked as {words[not truth]}")]

    def _sides(self, cell: int) -> list[int]:
        return [*(1 if on else -1 for on in self._pattern(cell)), *([1] * self._atlas.domain.rows)]

    def _name(self, wall: int) -> str:
        return wall_name(self._atlas.program, self._atlas.domain, wall)

    def _pattern(self, cell: int) -> Pattern:
        return tuple(self._atlas.signs([cell])[0].tolist())

    def _fault(self, kind: Kind, cell: int, facet: _Facet, text: str) -> Fault:
        names = ", ".join(self._name(wall) for wall in sorted(facet.walls))
        return Fault(kind, f"cell {cell}, facet {facet.number} on {names}: {text}")

    def _witness_faults(self, cell: int, forms: Forms, sides: list[int], inner: list[int]) -> Iterator[Fault]:
        """Every gate must have the pattern's sign at the witness, or vanish on the whole cell and be off there."""
        (values,) = forms.at(inner)
        for wall, (row, side, value) in enumerate(zip(forms.rows, sides, values, strict=True)):
            name, is_row = self._name(wall), wall >= self._atlas.gates
            if is_row and not any(row[:-1]):
                if row[-1] < 0:
                    yield Fault("witness", f"cell {cell}: {name} holds nowhere, so the domain is empty")
            elif not any(row):
                if side > 0:
                    yield Fault("witness", f"cell {cell}: {name} vanishes on the whole cell, but is listed as on")
            elif side * value <= 0:
                place = "outside of" if side * value < 0 else "on"
                yield Fault("witness", f"cell {cell}: its witness lies {place} {name}")

    def _listed_facets(self, cell: int, rows: list[Row | None]) -> tuple[list[_Facet], list[Fault]]:
        """The facets with their forms. All walls of a facet that vary on the cell must be the same hyperplane."""
        facets: list[_Facet] = []
        found: list[Fault] = []
        for number in self._atlas.facets(cell):
            walls = frozenset(self._atlas.walls(number))
            distinct = {row for wall in walls if 0 <= wall < len(rows) and (row := rows[wall]) is not None}
            facet = _Facet(number, walls, next(iter(distinct), ()))
            if any(not 0 <= wall < len(rows) for wall in walls):
                found.append(self._fault("facets", cell, facet, "there is no such wall"))
            elif len(distinct) != 1:
                reason = "these walls are different hyperplanes" if distinct else "none of its walls varies on the cell"
                found.append(self._fault("facets", cell, facet, reason))
            elif any(facet.row == other.row for other in facets):
                found.append(self._fault("facets", cell, facet, "it is listed twice"))
            facets.append(facet)
        return facets, found

    def _missing_facets(self, cell: int, inner: list[int], facets: list[_Facet], others: dict[Row, int]) -> list[Fault]:
        """The walls that bound the cell without a facet on them. Without them many more seem to."""
        forms = [_seen_from(inner, row) for row in (*others, *(facet.row for facet in facets))]
        everything = Inequalities(forms, self._atlas.dim)
        return [
            Fault("facets", f"cell {cell}: {self._name(wall)} bounds it too, but no facet lies on it")
            for i, wall in enumerate(others.values())
            if everything.beyond(i) is not None
        ]

    def _across(self, cell: int, forms: Forms, facet: _Facet, inner: list[int], beyond: list[int]) -> Iterator[Fault]:
        """What lies behind a facet, seen at the point where the way from the witness to `beyond` meets it."""
        atlas = self._atlas
        here, there = _dot(facet.row, inner), -_dot(facet.row, beyond)
        middle = [here * x + there * w for x, w in zip(beyond, inner, strict=True)]
        (values,) = forms.at(middle)
        vanishing = {wall for wall, value in enumerate(values) if value == 0 and _varies(forms.rows[wall], wall, atlas)}
        neighbour = int(atlas.neighbour[facet.number])
        if any(wall >= atlas.gates for wall in vanishing):
            if neighbour != DOMAIN_BOUNDARY:
                text = f"it lies on the domain's boundary, but is listed as leading to cell {neighbour}"
                yield self._fault("neighbour", cell, facet, text)
        elif not 0 <= neighbour < len(atlas):
            yield self._fault("neighbour", cell, facet, f"inner, but listed with {neighbour} behind it: no cell")
            return
        else:
            pattern = self._pattern(neighbour)
            behind = self._forms.under(pattern)
            at_facet, further = behind.at(middle, beyond)
            for gate, on in enumerate(pattern):
                # A gate that is zero at the facet has the sign of its way outward; one that stays zero is off.
                if on != ((at_facet[gate] or further[gate]) > 0):
                    text = f"cell {neighbour} is listed behind it, but {self._name(gate)} is {_state(not on)} there"
                    yield self._fault("neighbour", cell, facet, text)
                    return
            vanishing |= {gate for gate in range(atlas.gates) if at_facet[gate] == 0 and any(behind.rows[gate])}
        for wall in sorted(vanishing ^ facet.walls):
            reason = "lies on it too, but is not listed" if wall in vanishing else "is listed, but does not lie on it"
            yield self._fault("neighbour", cell, facet, f"{self._name(wall)} {reason}")


def is_bounded(normals: list[Row], dim: int) -> bool:
    """Whether a polyhedron {v : a . v >= some number for all normals a} has an end in every direction.

    If their sum grows for ever, along a ray on which none falls, it has none. If not, no direction leads away from any
    of them, and only those remain along which all stay the same.

    >>> is_bounded([(1, 0), (0, 1), (-1, -1)], 2), is_bounded([(1, 0), (0, 1)], 2), is_bounded([(1, 0), (-1, 0)], 2)
    (True, False, False)
    """
    if not normals or fmpz_mat([list(row) for row in normals]).rank() < dim:
        return False
    upward = [fmpq(sum(column)) for column in zip(*normals, strict=True)]
    rows = [[fmpq(-x) for x in row] for row in normals]
    return maximise(upward, rows, [fmpq(1)] * len(rows), start=[fmpq(0)] * dim).status == "optimal"


def _varies(row: list[int], wall: int, atlas: Atlas) -> bool:
    """Whether a wall's form is not zero all over the cell; a domain row that does not vary is no wall at all."""
    return any(row[:-1]) if wall >= atlas.gates else any(row)


def _state(on: bool) -> str:
    return "on" if on else "off"


def _dot(a: Row | list[int], b: list[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _homogeneous(atlas: Atlas, cell: int) -> list[int] | None:
    """The witness as integers over the last one."""
    exact = atlas.exact_witnesses.get(cell)
    if not np.isfinite(atlas.witnesses[cell]).all() if exact is None else len(exact) != atlas.dim:
        return None
    witness = [(int(x.p), int(x.q)) for x in atlas.rational_witness(cell)]
    common = lcm(*(q for _, q in witness))
    return [*(p * (common // q) for p, q in witness), common]


def _seen_from(inner: list[int], row: Row) -> list[int]:
    """A form in coordinates v with u = (inner + v) / last: the inner point is the origin, and all stay integers."""
    return [*row[:-1], _dot(row, inner)]


def _back(inner: list[int], numerators: list[int], denominator: int) -> list[int]:
    """A point v of those coordinates as a homogeneous one."""
    return [*(denominator * w + v for w, v in zip(inner, numerators, strict=False)), denominator * inner[-1]]


def _as_floats(row: Row) -> list[float]:
    """A form, scaled; for proposals only."""
    largest = max(abs(x) for x in row[:-1])
    try:
        return [x / largest for x in row]
    except OverflowError:
        return [float("nan")] * len(row)


@np.errstate(all="ignore")
def _straight_out(A: npt.NDArray[np.float64], inner: list[int]) -> list[list[int] | None]:
    """For each facet a float point straight out of the cell, half-way to the next facet's hyperplane: a proposal."""
    if not len(A):
        return []
    try:
        u = np.array([x / inner[-1] for x in inner[:-1]])
    except OverflowError:
        return [None] * len(A)
    value = A[:, :-1] @ u + A[:, -1]
    rates = A[:, :-1] @ A[:, :-1].T  # [other, facet]: how fast `other` falls on the way
    lengths = np.where(rates > 0, value[:, None] / rates, np.inf)
    exits = np.diag(lengths).copy()
    np.fill_diagonal(lengths, np.inf)
    following = np.minimum(lengths.min(axis=0), 3 * exits)
    points = u - (0.5 * (exits + following))[:, None] * A[:, :-1]
    usable = np.isfinite(points).all(axis=1) & (following > exits)
    return [_exactly(point) if fine else None for point, fine in zip(points.tolist(), usable.tolist(), strict=True)]


def _exactly(point: list[float]) -> list[int]:
    ratios = [x.as_integer_ratio() for x in point]
    common = max(q for _, q in ratios)  # powers of two
    return [*(p * (common // q) for p, q in ratios), common]


def _first_beyond(facets: list[_Facet], i: int, proposal: list[int] | None) -> list[int] | None:
    """The proposal, if it lies beyond this facet and on the inner side of all others."""
    if proposal is None:
        return None
    fits = all((_dot(facet.row, proposal) < 0) == (j == i) for j, facet in enumerate(facets))
    return proposal if fits else None
