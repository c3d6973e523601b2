"""Cells of small ReLU networks in `fractions.Fraction`: a judge that shares no code and no method with the library.

A network is a list of (weights, biases); every layer but the last is followed by ReLU. A cell is known by the
half-spaces that make it and by a point inside. A gate cuts it if the gate's affine form takes the other sign somewhere
in it, which a simplex walk from the inner point finds out. Small numbers of inputs and gates only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Form = tuple[Fraction, ...]  # slopes, and the constant at the end
Point = tuple[Fraction, ...]
Layers = Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]]


@dataclass(frozen=True)
class ExactCell:
    """{x : form(x) > 0 for all `walls`}: its gates with their forms, a point of it, and what the network does there."""

    pattern: tuple[bool, ...]
    gates: tuple[Form, ...]
    walls: tuple[Form, ...]
    inside: Point
    outputs: tuple[Form, ...]


def value(form: Form, point: Point) -> Fraction:
    return sum((a * x for a, x in zip(form, point, strict=False)), form[-1])


def cells(layers: Layers, dim: int, domain: Sequence[Form], inside: Point) -> list[ExactCell]:
    """All cells on the domain {x : every form >= 0}, of which one inner point is given."""
    start = [tuple(Fraction(int(i == k)) for k in range(dim + 1)) for i in range(dim)]
    found = [ExactCell((), (), tuple(domain), inside, tuple(start))]
    for number, (weights, biases) in enumerate(layers):
        found = [_through(cell, weights, biases) for cell in found]
        if number < len(layers) - 1:
            for row in range(len(biases)):
                found = [part for cell in found for part in _parts(cell, row)]
    return found


def _through(cell: ExactCell, weights: Sequence[Sequence[float]], biases: Sequence[float]) -> ExactCell:
    """The cell with the next layer's forms in place of its outputs."""
    size = len(cell.inside) + 1
    forms = []
    for row, bias in zip(weights, biases, strict=True):
        total = [Fraction(0)] * (size - 1) + [Fraction(bias)]
        for weight, form in zip(row, cell.outputs, strict=True):
            factor = Fraction(weight)
            total = [t + factor * a for t, a in zip(total, form, strict=True)] if factor else total
        forms.append(tuple(total))
    return ExactCell(cell.pattern, cell.gates, cell.walls, cell.inside, tuple(forms))


def _parts(cell: ExactCell, row: int) -> list[ExactCell]:
    """The cell, or the two parts that a gate makes of it."""
    form = cell.outputs[row]
    here = value(form, cell.inside)
    minus = tuple(-a for a in form)
    if not any(form[:-1]):
        return [_side(cell, row, here > 0, (), cell.inside)]
    if here == 0:
        # The point lies on the wall: a step to both sides that stays inside.
        up, down = _step(cell, form), _step(cell, minus)
        return [_side(cell, row, False, (minus,), down), _side(cell, row, True, (form,), up)]
    there = _other_side(cell, minus if here > 0 else form)
    if there is None:
        return [_side(cell, row, here > 0, (), cell.inside)]
    on, off = (cell.inside, there) if here > 0 else (there, cell.inside)
    return [_side(cell, row, False, (minus,), off), _side(cell, row, True, (form,), on)]


def _side(cell: ExactCell, row: int, on: bool, walls: tuple[Form, ...], inside: Point) -> ExactCell:
    zero = tuple(Fraction(0) for _ in range(len(inside) + 1))
    outputs = tuple(form if i != row or on else zero for i, form in enumerate(cell.outputs))
    return ExactCell((*cell.pattern, on), (*cell.gates, cell.outputs[row]), cell.walls + walls, inside, outputs)


def _step(cell: ExactCell, form: Form) -> Point:
    """From the inner point, where `form` is zero, a little way to where it is positive."""
    length = Fraction(1)
    for wall in cell.walls:
        slope = sum((a * b for a, b in zip(wall[:-1], form[:-1], strict=True)), Fraction(0))
        if slope < 0:
            length = min(length, value(wall, cell.inside) / -slope / 2)
    return tuple(x + length * a for x, a in zip(cell.inside, form[:-1], strict=True))


def _other_side(cell: ExactCell, form: Form) -> Point | None:
    """A point inside the cell where `form`, negative at its inner point, is positive."""
    best = _positive_point(cell.walls, form, cell.inside)
    if best is None:
        return None
    # Every point on the way back to the inner one is inside; far enough towards `best` the form is positive.
    low, high = value(form, cell.inside), value(form, best)
    back = high / (high - low) / 2
    return tuple(b + back * (x - b) for b, x in zip(best, cell.inside, strict=True))


def _positive_point(walls: tuple[Form, ...], form: Form, start: Point) -> Point | None:
    """Where `form` is positive within the closed cell, by Bland's simplex; None where that is nowhere.

    Rows are (constant, coefficients of the nonbasic variables). With the start as origin all slacks are positive.
    Variables below `dim` are free, the others are slacks.
    """
    dim = len(start)
    rows = [[value(wall, start), *wall[:-1]] for wall in walls]
    goal = [value(form, start), *form[:-1]]
    nonbasic, basic = list(range(dim)), [dim + i for i in range(len(rows))]
    while goal[0] <= 0:
        useful = [k for k in range(dim) if goal[k + 1] > 0 or (goal[k + 1] < 0 and nonbasic[k] < dim)]
        if not useful:
            return None
        k = min(useful, key=lambda j: nonbasic[j])
        way = 1 if goal[k + 1] > 0 else -1
        limits = [
            (-row[0] / (row[k + 1] * way), basic[i], i)
            for i, row in enumerate(rows)
            if basic[i] >= dim and row[k + 1] * way < 0
        ]
        if not limits:  # unbounded: so far that the goal is positive
            far = (1 - goal[0]) / abs(goal[k + 1]) * way
            return _point(rows, nonbasic, basic, start, k, far)
        i = min(limits)[2]
        pivot = rows[i][k + 1]
        entering = [-a / pivot for a in rows[i]]
        entering[k + 1] = 1 / pivot
        for row in [*rows[:i], *rows[i + 1 :], goal]:
            factor = row[k + 1]
            row[k + 1] = Fraction(0)
            for j, a in enumerate(entering):
                row[j] += factor * a
        rows[i] = entering
        basic[i], nonbasic[k] = nonbasic[k], basic[i]
    return _point(rows, nonbasic, basic, start, 0, Fraction(0))


def _point(
    rows: list[list[Fraction]], nonbasic: list[int], basic: list[int], start: Point, k: int, far: Fraction
) -> Point:
    moved = dict.fromkeys(range(len(start)), Fraction(0))
    moved[nonbasic[k]] = far
    for row, variable in zip(rows, basic, strict=True):
        moved[variable] = row[0] + row[k + 1] * far
    return tuple(x + moved[i] for i, x in enumerate(start))


def vertices(cell: ExactCell) -> set[Point]:
    """The corners of a cell's closure, in one or two dimensions."""
    if len(cell.inside) == 1:
        corners = [(-wall[1] / wall[0],) for wall in cell.walls]
    else:
        corners = []
        for p, q in combinations(cell.walls, 2):
            determinant = p[0] * q[1] - p[1] * q[0]
            if determinant:
                corners.append(((p[1] * q[2] - p[2] * q[1]) / determinant, (p[2] * q[0] - p[0] * q[2]) / determinant))
    return {corner for corner in corners if all(value(wall, corner) >= 0 for wall in cell.walls)}
