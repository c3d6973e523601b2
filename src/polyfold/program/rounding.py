"""What lowering has rounded, and how far that can move the outputs.

A Program holds floats. Where the network's own numbers lead to coefficients that are none (a third, a root, the product
of two long numbers), the Program is a neighbour of the network's function. It then says so, with a bound on every
coefficient from which the distance of the outputs follows wherever inputs are bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import how_many
from polyfold.exact.roots import ROOT_BITS
from polyfold.program.lower.changes import LARGEST, Change, not_lost, upwards
from polyfold.program.passes.fold import fold, fold_form
from polyfold.program.passes.walk import Gates, StageByStage, walk

if TYPE_CHECKING:
    from polyfold.program.affine import Affine
    from polyfold.program.program import Program, Stage

# So many nodes are named in a sentence.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Rounding:
    """That a program is a neighbour of the network's function: where it was rounded, and by how much.

    `why` names the network's nodes, `changes` has what the coefficients of every stage and of the output have moved by
    at most (None: not at all). If a program was made of another one without changing its outputs, they are the
    other's stages, and `of` is that program.
    """

    why: tuple[str, ...]
    changes: tuple[Change | None, ...]
    of: Program | None = None

    @property
    def largest(self) -> float:
        """What the coefficients of a row, on one source or in its bias, have moved by at most, all together."""
        present = [change for change in self.changes if change is not None]
        sizes = [float(part.max(initial=0.0)) for c in present for part in (*c.of_source.values(), c.of_bias)]
        return max(sizes, default=0.0)

    def words(self, distance: float | None = None) -> str:
        """The sentence that a verdict about the program owes to whoever asked about the network.

        `distance` is what outputs can differ by on the domain that is spoken of, if that is known.
        """
        named = ", ".join(self.why[:_NAMED]) + (
            "" if len(self.why) <= _NAMED else f" and {len(self.why) - _NAMED} more"
        )
        moved = f"the coefficients of a row moved by {self.largest:.2g} at most"
        if distance is not None and np.isfinite(distance):
            moved += f", outputs here by {distance:.2g} at most"
        return (
            f"of a neighbour of the network's function: floats cannot hold all of its coefficients, so "
            f"{how_many(len(self.why), 'node')} rounded ({named}); {moved}"
        )


def rounding_of(program: Program) -> Rounding | None:
    """What is said of a program that is made of this one and has the same outputs."""
    if program.rounding is None:
        return None
    return Rounding(program.rounding.why, program.rounding.changes, program.rounding.of or program)


def own_changes(program: Program) -> tuple[Change | None, ...]:
    """What the coefficients of a program's own stages and output have moved by; infinite where only the outputs'
    distance is known."""
    if program.rounding is None:
        return (None,) * len(program.affines)
    if program.rounding.of is None:
        return program.rounding.changes
    return tuple(Change({}, np.full(len(affine.bias), np.inf)) for affine in program.affines)


def distance(program: Program, reach: Array) -> Array:
    """How far the outputs can be from those of the network's own numbers, where |x_i| <= reach_i.

    >>> from polyfold.network.load import load
    >>> from polyfold.program.lower.lower import lower
    >>> program = lower(load([([[0.1]], [0.0]), ([[1.0]], [0.0])]))
    >>> distance(program, np.array([1.0])).tolist()
    [0.0]
    """
    if program.rounding is None:
        return np.zeros(program.output_dim)
    if program.rounding.of is not None:
        return distance(program.rounding.of, reach)
    with np.errstate(over="ignore", invalid="ignore"):
        inputs = _Moved(np.array(reach, dtype=np.float64), np.zeros(program.input_dim))
        # Nothing is forgotten: a coefficient that became zero has moved, though its source is not read any more.
        everything: list[tuple[int, ...]] = [()] * len(program.stages)
        *_, last = walk(StageByStage(program), _Moves(program.rounding.changes), inputs, forgotten=everything)
    return last.z.by


class _Moved(NamedTuple):
    """How large values can be, and by how much they can have moved: (width,) each."""

    reach: Array
    by: Array


class _Moves:
    """What values move by with the coefficients of every stage; a gate moves by no more than its steepest slope."""

    def __init__(self, changes: Sequence[Change | None]) -> None:
        self._changes = iter(changes)

    def affine(self, affine: Affine, values: Sequence[_Moved]) -> _Moved:
        reaches, moved = [value.reach for value in values], [value.by for value in values]
        size = upwards(fold(affine, reaches, LARGEST), affine.terms + 2)
        return _Moved(size, _moved(affine, next(self._changes), reaches, moved))

    def decide(self, gates: Gates[Stage], z: _Moved) -> Array:
        return np.maximum(np.abs(gates.stage.slope_on), np.abs(gates.stage.slope_off))

    def output(self, gates: Gates[Stage], z: _Moved, steepest: Array) -> _Moved:
        moved = not_lost(steepest * z.by, steepest * np.sign(z.by))
        return _Moved(upwards(steepest * z.reach, 1), upwards(moved, 1))

    def nothing(self, inputs: _Moved) -> _Moved:
        return _Moved(inputs.reach[:0], inputs.by[:0])


def _moved(affine: Affine, change: Change | None, reaches: Sequence[Array], moved: Sequence[Array]) -> Array:
    """What an affine function's values move by: with their sources, and with their own coefficients."""
    total = not_lost(
        fold_form(affine.form, moved, LARGEST), fold_form(affine.form, [np.sign(m) for m in moved], LARGEST)
    )
    if change is not None:
        total = total + change.of_bias
        for source, part in change.of_source.items():
            # The coefficients' change counts times what the network's own source can be.
            largest = float((reaches[source] + moved[source]).max(initial=0.0))
            total = total + np.where(part > 0, not_lost(part * largest, np.full(len(part), largest)), 0.0)
    return upwards(total, affine.terms + len(affine.sources) + 4)


def root_words(node: str) -> str:
    """What is said of a node whose roots are irrational."""
    return f"{node!r}: roots, within 2^-{ROOT_BITS} of themselves"
