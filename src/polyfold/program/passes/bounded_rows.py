"""Forward passes of many rows with one error per row: what `bounded.py` does, at the price of a plain pass.

`bounded.py` carries an error for every entry, which takes three more products per stage. Here the error of entry j of
row i is errors[i] * scale[j], with one scale for all rows. That is coarser by the factor by which entries of a stage
differ in size, and decides all signs but about one in a billion; those are looked at again by `bounded.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Flags, Ids
from polyfold.exact.bounded_values import BoundedValues
from polyfold.exact.rounding import TINY, relative
from polyfold.program.affine import Affine
from polyfold.program.passes import bounded
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage
from polyfold.program.steps import forgotten_by

ThreeSigns = npt.NDArray[np.uint8]

# As in native/geometry/slice_cut.hpp: or-ed over the corners of a cell they tell what a gate does on it.
# POSITIVE is one more than NEGATIVE. A sign that is open has no bit.
OPEN, NEGATIVE, POSITIVE, ZERO = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(4)


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """Rows of values: entry j of row i is right up to errors[i] * scale[j], and none is larger than scale[j].

    A value of 0 in a `clean` column is exactly 0: the column holds what a gate puts out that is flat on one side.
    """

    values: Array
    errors: Array
    scale: Array
    clean: Flags

    def take(self, rows: Ids) -> BoundedRows:
        """Some of the rows."""
        return BoundedRows(self.values[rows], self.errors[rows], self.scale, self.clean)

    def empty(self) -> Flags:
        """The columns that are exactly 0 in all rows."""
        if not self.clean.any():
            return self.clean
        empty: Flags = self.clean & (self.values.max(axis=0, initial=0.0) == 0)
        # Few are left, in most cases.
        columns = np.flatnonzero(empty)
        empty[columns] = self.values[:, columns].min(axis=0, initial=0.0) == 0
        return empty

    def entry_errors(self) -> Array:
        """The error of every entry."""
        exact = self.clean & (self.values == 0)
        return np.where(exact, 0.0, self.errors[:, None] * self.scale)


Sources = Mapping[int, BoundedRows] | Sequence[BoundedRows]


def rounded(values: Array, scale: Array, roundings: int) -> BoundedRows:
    """Values that so many roundings made, out of terms that add up to the scale."""
    errors = np.full(len(values), relative(roundings))
    return BoundedRows(values, errors, scale, np.zeros(len(scale), dtype=bool))


def pre_activations(affine: Affine, sources: Sources, rows: int) -> BoundedRows:
    """An affine function of the sources."""
    read = sorted(affine.sources)
    last = max(read, default=0)
    # A function that reads nothing gives a view of its bias, in which nothing could be set to zero.
    values = np.require(
        affine([sources[k].values if k in read else np.zeros((rows, 0)) for k in range(last + 1)]), requirements="W"
    )
    # No value is larger than its scale: what becomes of the scales bounds errors that are carried on, and the sizes of
    # all terms. What no row has any term of gets a scale of 0.
    probe = [np.zeros((1, 0))] * (last + 1)
    for k in read:
        probe[k] = np.where(sources[k].empty(), 0.0, sources[k].scale)[None]
    scale = bounded.sum_of_sizes(affine, probe)[0]
    unit = relative(4 + affine.terms)
    errors = np.max([sources[k].errors for k in read], axis=0) if read else np.zeros(rows)
    return BoundedRows(values, (errors + unit) * (1 + relative(8)) + TINY, scale, np.zeros(len(scale), dtype=bool))


@dataclass(frozen=True, eq=False)
class Undecided:
    """Signs that could not be decided: their rows and gates."""

    rows: Ids
    gates: Ids


def signs_of(affine: Affine, sources: Sources, z: BoundedRows) -> tuple[ThreeSigns, Undecided]:
    """The sign of every entry of z, and which could not be decided: those are taken for zero.

    In z itself, values that count as zero become 0. A zero that is decided is one by its terms: all of them are 0.

    An undecided value may in truth be up to two errors away from 0, and its error stays what it was. So the rest of
    its row is proved under the condition that the value is exactly zero. Whoever uses it proves that, or the row by
    other means: in `engine/slices/witnesses.py` a row with undecided gates counts as proved only where exact numbers
    show that these vanish on the whole cell, so that 0 is their value; the others are proved in exact numbers
    altogether, as all rows with undecided gates are in `explain/shapley/locators.py`.
    """
    # Rows differ little in their errors: the largest one decides nearly all signs, in two passes over the values.
    widest = float(z.errors.max(initial=0.0)) * z.scale
    positive, negative = z.values > widest, z.values < -widest
    decided = positive | negative
    signs = positive.view(np.uint8) + NEGATIVE
    if decided.all():
        return signs, Undecided(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    doubtful = ~decided
    signs[doubtful] = ZERO
    # A column that is near zero in every row is a tie, which tighter bounds would not break.
    ties = doubtful.all(axis=0)
    # Without a term a value is 0 already.
    tied = np.flatnonzero(ties & (z.scale > 0))
    z.values[:, tied] = 0.0
    tied_rows, tied_gates = np.repeat(np.arange(len(signs)), len(tied)), np.tile(tied, len(signs))
    others = doubtful & ~ties
    if not others.any():
        return signs, Undecided(tied_rows, tied_gates)
    rows, columns = np.nonzero(others)
    distinct, at = np.unique(rows, return_inverse=True)
    closer = [BoundedValues(np.zeros((len(distinct), 0)), np.zeros((len(distinct), 0)))] * (
        1 + max(affine.sources, default=0)
    )
    for k in affine.sources:
        part = sources[k].take(distinct)
        closer[k] = BoundedValues(part.values, part.entry_errors())
    again = bounded.affine(affine, closer)
    values, errors = again.values[at, columns], again.errors[at, columns]
    decided = np.abs(values) > errors
    signs[rows, columns] = np.where(decided, np.where(values > 0, POSITIVE, NEGATIVE), ZERO)
    z.values[rows, columns] = np.where(decided, values, 0.0)
    open_ = ~decided & (errors != 0)
    return signs, Undecided(np.concatenate([tied_rows, rows[open_]]), np.concatenate([tied_gates, columns[open_]]))


def passed_on(stage: Stage, z: BoundedRows, signs: ThreeSigns) -> BoundedRows:
    """What the gates put out."""
    on, off = stage.slope_on, stage.slope_off
    # A value has its sign, and is 0 where it counts as that.
    values = np.maximum(z.values, 0.0) if stage.is_relu else z.values * np.where(signs == POSITIVE, on, off)
    steepest = np.maximum(np.abs(on), np.abs(off))
    # With a slope below one a value that is not 0 could become 0.
    clean = ((on == 0) | (off == 0)) & (steepest >= 1)
    return BoundedRows(values, z.errors + relative(2), z.scale * steepest, clean)


def on_parameters(z: BoundedRows, U: Array) -> BoundedRows:
    """An affine function of parameters at rows of U, from its values at 0 and at every unit vector."""
    reach = 1 + 2 * float(np.abs(U).sum(axis=1).max(initial=0.0))
    forms = np.concatenate([z.values[:1], z.values[1:] - z.values[0]])
    values = np.concatenate([np.ones((len(U), 1)), U], axis=1) @ forms
    errors = np.full(len(U), (z.errors.max() + relative(2 * U.shape[1] + 6)) * (1 + relative(8)))
    return BoundedRows(values, errors, z.scale * reach, z.clean)


def patterns_at(program: Program, inputs: BoundedRows, first: BoundedRows) -> tuple[Flags, Undecided]:
    """The pattern at every row of inputs, and what of it is not proved; `first` are the first step's values there.

    A gate that is proved to be zero by its terms is zero wherever the pattern is the same.
    """
    rows, gates = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    on = [np.zeros((len(inputs.values), 0), dtype=bool)]
    passed = walk(program, _Rows(program, inputs), inputs, first=first, forgotten=forgotten_by(last_readers(program)))
    for at in islice(passed, len(program.stages)):
        assert at.gates is not None
        assert at.decided is not None
        signs, undecided = at.decided
        rows.append(undecided.rows)
        gates.append(undecided.gates + at.gates.numbers.start)
        on.append(signs == POSITIVE)
        del at, signs
    return np.concatenate(on, axis=1), Undecided(np.concatenate(rows), np.concatenate(gates))


class _Rows:
    """Rows of values with one error each. A value that is not proved to have a sign counts as zero, and so as off."""

    def __init__(self, program: Program, inputs: BoundedRows) -> None:
        self._value_of_source, self._rows = program.steps.value_of_source, len(inputs.values)
        self._values: Sequence[BoundedRows] = [inputs]

    def affine(self, affine: Affine, values: Sequence[BoundedRows]) -> BoundedRows:
        self._values = values
        return pre_activations(affine, values, self._rows)

    def decide(self, gates: Gates[Stage], z: BoundedRows) -> tuple[ThreeSigns, Undecided]:
        """A closer look is at the stage's own sources, not at what its step reads: bounds are tighter from there."""
        sources = [self._values[value] for value in self._value_of_source[: gates.number + 1]]
        return signs_of(gates.stage.affine, sources, z)

    def output(self, gates: Gates[Stage], z: BoundedRows, decided: tuple[ThreeSigns, Undecided]) -> BoundedRows:
        return passed_on(gates.stage, z, decided[0])

    def nothing(self, inputs: BoundedRows) -> BoundedRows:
        return BoundedRows(inputs.values[:, :0], inputs.errors, inputs.scale[:0], inputs.clean[:0])


def last_readers(program: Program) -> list[int]:
    """For each step's value the last step, counted from 0, that needs it, or -1; outputs are not asked for here.

    A stage needs what its step reads, and the sources of its own function, for a closer look.
    """
    steps = program.steps
    last = [-1] * (len(steps.steps) + 1)
    for number, step in enumerate(steps.steps):
        for value in step.affine.sources:
            last[value] = number
        if step.stage is not None:
            for source in program.stages[step.stage].affine.sources:
                last[steps.value_of_source[source]] = number
    return last


def floats_a_row(program: Program) -> int:
    """How many floats a row holds at most while it passes the stages."""
    last = last_readers(program)
    widths = [0, *(len(step.affine.bias) for step in program.steps.steps)]
    held = [
        2 * widths[number + 1] + sum(widths[k] for k in range(number + 1) if last[k] >= number)
        for number in range(len(widths) - 1)
    ]
    return max(held, default=0)
