"""A network's forward pass in rational arithmetic.

What flows through the stages is a matrix of jets: one line per entry of a source, column 0 for its value
and the other columns for its rates of change. One column evaluates at a point. A second one gives the signs
just next to the point in that direction. With d more columns that stand for the coordinates, the lines are
affine functions on a cell. Biases only ever enter column 0, and a gate is on where the first non-zero entry
of its line is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from polyfold.exact.rational import rational, rational_matrix

Array = npt.NDArray[np.float64]


class BlockLike(Protocol):
    """A matrix applied to one source."""

    @property
    def source(self) -> int: ...
    @property
    def weight(self) -> Array: ...


class AffineLike(Protocol):
    """A sum of blocks, plus bias."""

    @property
    def blocks(self) -> Sequence[BlockLike]: ...
    @property
    def bias(self) -> Array: ...
    @property
    def sources(self) -> frozenset[int]: ...
    @property
    def terms(self) -> int: ...
    @property
    def smallest(self) -> float: ...
    def __call__(self, sources: Sequence[Array]) -> Array: ...
    def linear(self, sources: Sequence[Array]) -> Array: ...
    def changed(self, change: Callable[[Array], Array]) -> AffineLike: ...


class StageLike(Protocol):
    """Gates that can be decided together."""

    @property
    def affine(self) -> AffineLike: ...
    @property
    def slope_on(self) -> Array: ...
    @property
    def slope_off(self) -> Array: ...
    @property
    def is_relu(self) -> bool: ...


class StepLike(Protocol):
    """A function of the values so far, and the stage whose gates it feeds, if any."""

    @property
    def affine(self) -> AffineLike: ...
    @property
    def stage(self) -> int | None: ...


class StepsLike(Protocol):
    """A program in the order of a pass."""

    @property
    def steps(self) -> Sequence[StepLike]: ...
    @property
    def output(self) -> AffineLike: ...
    @property
    def value_of_source(self) -> Sequence[int]: ...
    @property
    def last_reader(self) -> Sequence[int]: ...


class ProgramLike(Protocol):
    """The shape of a `polyfold.program.Program`, which lies above this package: no import."""

    @property
    def stages(self) -> Sequence[StageLike]: ...
    @property
    def output(self) -> AffineLike: ...
    @property
    def steps(self) -> StepsLike: ...


class RationalAffine:
    """An affine function of the sources with exact coefficients."""

    def __init__(self, affine: AffineLike) -> None:
        self._blocks = [(block.source, rational_matrix(block.weight)) for block in affine.blocks]
        self._bias = [rational(entry) for entry in affine.bias.tolist()]

    def __call__(self, sources: Sequence[fmpq_mat]) -> fmpq_mat:
        """The lines of the function's values, from the lines of every source."""
        columns = sources[0].ncols()
        rest = [fmpq(0)] * (columns - 1)
        total = fmpq_mat(len(self._bias), columns, [x for entry in self._bias for x in (entry, *rest)])
        for source, weight in self._blocks:
            total += weight * sources[source]
        return total


class RationalStage:
    """A stage of gates with exact coefficients."""

    def __init__(self, stage: StageLike) -> None:
        self.preactivations = RationalAffine(stage.affine)
        self._slopes = {
            True: [rational(slope) for slope in stage.slope_on.tolist()],
            False: [rational(slope) for slope in stage.slope_off.tolist()],
        }

    def outputs(self, z: fmpq_mat, pattern: Sequence[bool]) -> fmpq_mat:
        """What the gates pass on, given their pre-activations and which of them are on."""
        lines = [
            [self._slopes[on][i] * entry for entry in line]
            for i, (line, on) in enumerate(zip(z.tolist(), pattern, strict=True))
        ]
        return fmpq_mat(z.nrows(), z.ncols(), [entry for line in lines for entry in line])


class RationalProgram:
    """A program with exact coefficients: convert once, evaluate often."""

    def __init__(self, program: ProgramLike) -> None:
        self.stages = [RationalStage(stage) for stage in program.stages]
        self.output = RationalAffine(program.output)

    def forward(self, jets: fmpq_mat) -> Evaluation:
        """The network at the jets of its inputs."""
        sources, lines, pattern = [jets], [], []
        for stage in self.stages:
            z = stage.preactivations(sources)
            signs = [is_positive(line) for line in z.tolist()]
            sources.append(stage.outputs(z, signs))
            lines += z.tolist()
            pattern += signs
        return Evaluation(tuple(pattern), lines, self.output(sources).tolist())


@dataclass(frozen=True)
class Evaluation:
    """A forward pass: the pattern, and one line of jets per gate and per output."""

    pattern: tuple[bool, ...]
    preactivations: list[list[fmpq]]
    outputs: list[list[fmpq]]


@dataclass(frozen=True)
class PointEvaluation:
    """A forward pass at one point: the pattern, every gate's pre-activation and the outputs."""

    pattern: tuple[bool, ...]
    preactivations: list[fmpq]
    outputs: list[fmpq]


def evaluate_exactly(program: ProgramLike, point: Sequence[fmpq]) -> PointEvaluation:
    """The network at a rational input point."""
    passed = RationalProgram(program).forward(fmpq_mat(len(point), 1, list(point)))
    return PointEvaluation(
        passed.pattern,
        [value for (value,) in passed.preactivations],
        [value for (value,) in passed.outputs],
    )


def is_positive(line: Sequence[fmpq]) -> bool:
    """Whether a jet is positive just next to its point: its first non-zero entry decides; all zeros are not.

    >>> is_positive([fmpq(0), fmpq(2)]), is_positive([fmpq(0), fmpq(0)])
    (True, False)
    """
    return next((entry > 0 for entry in line if entry != 0), False)
