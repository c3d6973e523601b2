"""A program without gates that repeat others: a gate that is another one of its stage times a power of two goes.

Who reads it reads the other one instead. That is done only where it rounds nothing, so the function stays the same to
the last digit; in two networks side by side it is what makes walls that they have in common one wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import rounding_of


def without_repeats(program: Program) -> Program:
    """The same function with every repeated gate read from the first of its kind. Matrices must be written out.

    >>> from polyfold.testing import program_from_layers
    >>> twice = program_from_layers([([[1.0], [4.0]], [0.5, 2.0]), ([[1.0, 1.0]], [0.0])])
    >>> once = without_repeats(twice)
    >>> once.gates, once.output.blocks[0].weight.tolist()
    (1, [[5.0]])
    """
    drafts = [_Draft(affine) for affine in program.affines]
    stages, origins = [], []
    for number, stage in enumerate(program.stages):
        draft, readers = drafts[number], drafts[number + 1 :]
        kept = _kept(draft, stage, number + 1, readers)
        stages.append(Stage(draft.frozen(kept), _some(stage.slope_on, kept), _some(stage.slope_off, kept)))
        origins += [program.origins[program.first_gate[number] + gate] for gate in kept]
        for reader in readers:
            reader.keep(number + 1, kept)
    return Program(
        program.input_dim,
        tuple(stages),
        drafts[-1].frozen(None),
        tuple(origins),
        rounding_of(program),
        program.head,
    )


class _Draft:
    """An affine function whose matrices can still be changed."""

    def __init__(self, affine: Affine) -> None:
        self.weights = {block.source: np.array(block.weight) for block in affine.blocks}
        self.bias = affine.bias

    def rows(self) -> Array:
        """All coefficients of every value, the bias last. Zeros have no sign."""
        return np.column_stack([*(self.weights[source] for source in sorted(self.weights)), self.bias]) + 0.0

    def keep(self, source: int, kept: Sequence[int]) -> None:
        """Forget the other columns of a source."""
        if source in self.weights:
            self.weights[source] = self.weights[source][:, kept]

    def frozen(self, kept: Sequence[int] | None) -> WrittenOut:
        """Some of the values, or all."""
        rows = slice(None) if kept is None else list(kept)
        blocks = tuple(Block(source, _read_only(self.weights[source][rows])) for source in sorted(self.weights))
        return WrittenOut(blocks, _read_only(self.bias[rows]))


@dataclass(frozen=True, eq=False)
class _Normal:
    """Rows divided by powers of two such that multiples become the same; `fine` where nothing was rounded."""

    rows: Array
    power: npt.NDArray[np.int32]
    fine: npt.NDArray[np.bool_]


def _normal(rows: Array) -> _Normal:
    _, power = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
    divided = np.ldexp(rows, -power[:, None])
    return _Normal(divided, power, (np.ldexp(divided, power[:, None]) == rows).all(axis=1))


def _kept(draft: _Draft, stage: Stage, source: int, readers: Sequence[_Draft]) -> list[int]:
    """The gates that stay; what is read of the others is added to what is read of their firsts."""
    normal = _normal(draft.rows())
    first: dict[bytes, int] = {}
    kept = []
    for gate in range(stage.width):
        slopes = np.array([stage.slope_on[gate], stage.slope_off[gate]]) + 0.0
        other = first.setdefault(normal.rows[gate].tobytes() + slopes.tobytes(), gate)
        if other == gate or not (normal.fine[gate] and normal.fine[other]):
            kept.append(gate)
            continue
        power = int(normal.power[gate]) - int(normal.power[other])
        if not _moved(gate, other, power, source, readers):
            kept.append(gate)
    return kept


def _moved(gate: int, other: int, power: int, source: int, readers: Sequence[_Draft]) -> bool:
    """Read 2**power times the other gate instead of a gate, if that rounds nothing anywhere."""
    sums = []
    for weight in (reader.weights[source] for reader in readers if source in reader.weights):
        old, more = weight[:, other], np.ldexp(weight[:, gate], power)
        total = old + more
        with np.errstate(invalid="ignore"):
            exact = (total - old == more) & (total - more == old) & (np.ldexp(more, -power) == weight[:, gate])
        if not exact.all():
            return False
        sums.append((weight, total))
    for weight, total in sums:
        weight[:, other] = total
    return True


def _some(array: Array, kept: Sequence[int]) -> Array:
    return _read_only(array[list(kept)])


def _read_only(array: Array) -> Array:
    array = np.array(array)
    array.setflags(write=False)
    return array
