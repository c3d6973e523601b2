"""Two programs as one: both read the same input, and the outputs of the second follow those of the first.

Nothing is computed on the way, so nothing is rounded: the difference of two outputs is left to whoever can take it
exactly. Stage k holds the gates of both programs' stages k, those of the first program in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import ShapeError, how_many
from polyfold.network.head import joined as joined_heads
from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.forms import Entries, Form, Stacked
from polyfold.program.lower.changes import Change
from polyfold.program.lower.changes import stacked as stacked_changes
from polyfold.program.origins import GateOrigin, Origins
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import Rounding, own_changes
from polyfold.program.steps import with_parts


def side_by_side(a: Program, b: Program) -> Program:
    """The program x -> (a(x), b(x)).

    >>> from polyfold.testing import program_from_layers
    >>> absolute = program_from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> double = program_from_layers([([[2.0]], [1.0])])
    >>> side_by_side(absolute, double).evaluate(np.array([[-3.0]]))[0].tolist()
    [[3.0, -5.0]]
    """
    if a.input_dim != b.input_dim:
        raise ShapeError(
            f"the first network takes {how_many(a.input_dim, 'input')}, the second one "
            f"{how_many(b.input_dim, 'input')}: they must take the same"
        )
    written = a.written_out and b.written_out
    depth = max(len(a.stages), len(b.stages))
    widths = _Widths(a, b)
    joined = _joined if written else _stacked
    stages = tuple(
        Stage(
            joined([program.stages[k].affine if k < len(program.stages) else None for program in (a, b)], widths),
            _side_by_side([program.stages[k].slope_on for program in (a, b) if k < len(program.stages)]),
            _side_by_side([program.stages[k].slope_off for program in (a, b) if k < len(program.stages)]),
        )
        for k in range(depth)
    )
    return Program(
        a.input_dim,
        stages,
        joined([a.output, b.output], widths),
        _Origins(a, b, depth),
        _both_rounded(a, b, depth),
        joined_heads(a.head, a.output_dim, b.head, b.output_dim),
    )


def _both_rounded(a: Program, b: Program, depth: int) -> Rounding | None:
    """What was rounded in either program."""
    if a.rounding is None and b.rounding is None:
        return None

    def changes(program: Program) -> list[tuple[Change | None, int]]:
        own = own_changes(program)
        found = [(change, len(affine.bias)) for change, affine in zip(own, program.affines, strict=True)]
        return [*found[:-1], *[(None, 0)] * (depth + 1 - len(found)), found[-1]]

    why = [
        f"{name} network's {node}"
        for name, program in (("first", a), ("second", b))
        for node in (program.rounding.why if program.rounding is not None else ())
    ]
    pairs = zip(changes(a), changes(b), strict=True)
    return Rounding(tuple(why), tuple(stacked_changes(pair) for pair in pairs))


class _Widths:
    """How wide the sources are, and where each program's part of them begins."""

    def __init__(self, a: Program, b: Program) -> None:
        self.of_a, self.of_b = ([0, *(stage.width for stage in program.stages)] for program in (a, b))
        depth = max(len(self.of_a), len(self.of_b))
        for widths in (self.of_a, self.of_b):
            widths += [0] * (depth - len(widths))
        # What forms became, with the forms themselves: while these are there, nothing else gets their ids.
        self.moved: tuple[dict[int, tuple[Form, Form]], ...] = ({}, {})
        self.of_both = (a.input_dim, *(x + y for x, y in zip(self.of_a[1:], self.of_b[1:], strict=True)))

    def first(self, which: int, source: int) -> int:
        """Where the entries of a program's source begin in the common one; both read the same input."""
        return self.of_a[source] if which and source else 0


def _joined(affines: Sequence[Affine | None], widths: _Widths) -> WrittenOut:
    """Matrices below each other, each on its own part of every source."""
    rows = [0 if affine is None else len(affine.bias) for affine in affines]
    weights: dict[int, Array] = {}
    for which, affine in enumerate(affines):
        for block in () if affine is None else affine.blocks:
            weight = weights.setdefault(block.source, np.zeros((sum(rows), widths.of_both[block.source])))
            top, left = which * rows[0], widths.first(which, block.source)
            # A program may have several blocks on one source: what they add up to would be rounded.
            place = weight[top : top + rows[which], left : left + block.weight.shape[1]]
            assert not place.any()
            place[...] = block.weight
    for weight in weights.values():
        weight.setflags(write=False)
    blocks = tuple(Block(source, weight) for source, weight in sorted(weights.items()))
    return WrittenOut(blocks, _side_by_side([affine.bias for affine in affines if affine is not None]))


def _stacked(affines: Sequence[Affine | None], widths: _Widths) -> Structured:
    """The same for forms that stay as they are."""
    present = [(which, affine) for which, affine in enumerate(affines) if affine is not None]
    form = Stacked(tuple(_moved(affine.form, which, widths) for which, affine in present))
    return Structured(form, _side_by_side([affine.bias for _, affine in present]), widths.of_both)


def _moved(form: Form, which: int, widths: _Widths) -> Form:
    """The form over the common sources; forms that are shared stay shared."""
    known = widths.moved[which]
    if id(form) not in known:
        if isinstance(form, Entries):
            moved: Form = replace(form, first=form.first + widths.first(which, form.source))
        else:
            moved = with_parts(form, [_moved(part, which, widths) for part in form.parts])
        known[id(form)] = form, moved
    return known[id(form)][1]


def _side_by_side(arrays: Sequence[Array]) -> Array:
    joined = np.concatenate(arrays)
    joined.setflags(write=False)
    return joined


@dataclass(frozen=True, eq=False)
class _Origins(Origins):
    """Gates' names in a program of two, made when they are asked for."""

    a: Program
    b: Program
    depth: int

    def __len__(self) -> int:
        return self.a.gates + self.b.gates

    def origin(self, number: int) -> GateOrigin:
        for stage in range(self.depth):
            for name, program in (("first", self.a), ("second", self.b)):
                width = program.stages[stage].width if stage < len(program.stages) else 0
                if number < width:
                    origin = program.origins[program.first_gate[stage] + number]
                    return replace(origin, node=f"{name} network's {origin.node}")
                number -= width
        raise AssertionError("every gate is in a stage")
