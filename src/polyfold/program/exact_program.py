"""ExactProgram: a network in rationals, which analyses rewrite without rounding, and the names that lead back.

As in a Program, source 0 is the input, source s >= 1 the output of stage s, and every stage computes its
pre-activations from any earlier sources; here coefficients are rationals. `to_network` (to_network.py) makes a
Network of it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.types import Array, Flags
from polyfold.errors import ShapeError
from polyfold.exact.rational import fraction
from polyfold.exact.rational_arrays import Rationals, are_floats, nearest, product, rationals
from polyfold.exact.rounding import LEAST
from polyfold.network.graph import Network, Port
from polyfold.network.head import Head
from polyfold.network.ops.op import Shape
from polyfold.program.lower.changes import Change, added, upwards
from polyfold.program.lower.lower import write
from polyfold.program.lower.rational_rows import RationalRows, padded, rows_of
from polyfold.program.lower.rows import frozen
from polyfold.program.lower.writer import Writer
from polyfold.program.origins import GateOrigin, OriginGroup
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import Rounding, own_changes
from polyfold.program.steps import Steps, one_each

# Entries that are written down between two looks at the clock.
_WRITTEN_AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class ExactStage:
    """Gates that can be decided together: slope_on * z where z > 0, slope_off * z elsewhere, z being the rows."""

    rows: RationalRows
    slope_on: Rationals
    slope_off: Rationals
    origins: tuple[GateOrigin, ...]

    @property
    def width(self) -> int:
        return len(self.slope_on)

    def take(self, gates: Any) -> ExactStage:
        """Some of the gates, in this order."""
        index = np.asarray(gates, dtype=np.int64)
        return ExactStage(
            self.rows.take(index),
            self.slope_on[index],
            self.slope_off[index],
            tuple(self.origins[number] for number in index.tolist()),
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """What a network has besides numbers: names and shapes of its inputs and outputs, and who feeds which switch."""

    inputs: tuple[Port, ...]
    outputs: tuple[tuple[str, Shape], ...]
    source: str = "arrays"
    head: Head | None = None
    feeds: dict[str, str] = field(default_factory=dict)
    """The node that each switching node reads, by names."""
    neighbours: tuple[str, ...] = ()
    """The nodes whose numbers are irrational, or were rounded before, so that rationals next to them stand for them."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ExactProgram:
    """A piecewise-linear function in rationals. Every matrix has all columns of its source.

    Where a network has irrational numbers, roots of normalisations, it is a neighbour of the network's function, and
    `rounding` says how near.
    """

    frame: Frame
    stages: tuple[ExactStage, ...]
    output: RationalRows

    def __post_init__(self) -> None:
        widths = self.widths
        for number, rows in enumerate(self.affines):
            for source, matrix in rows.terms.items():
                if source > number or matrix.shape != (rows.size, widths[source]):
                    raise ShapeError(
                        f"stage {number + 1} reads source {source} by a matrix of shape {matrix.shape}; it should be "
                        f"{(rows.size, widths[source])}, of an earlier stage"
                    )

    @property
    def input_dim(self) -> int:
        return sum(int(np.prod(port.shape, dtype=np.int64)) for port in self.frame.inputs)

    @property
    def output_dim(self) -> int:
        return self.output.size

    @property
    def gates(self) -> int:
        return sum(stage.width for stage in self.stages)

    @property
    def widths(self) -> tuple[int, ...]:
        """How wide the sources are."""
        return (self.input_dim, *(stage.width for stage in self.stages))

    @property
    def affines(self) -> tuple[RationalRows, ...]:
        """The affine functions of all stages, and that of the output."""
        return (*(stage.rows for stage in self.stages), self.output)

    @cached_property
    def steps(self) -> Steps[RationalRows]:
        """The stages and the output in the order of a pass."""
        return one_each(self.affines)

    def gates_of(self, stage: int) -> slice:
        """The numbers of a stage's gates: their columns in patterns."""
        before = sum(each.width for each in self.stages[:stage])
        return slice(before, before + self.stages[stage].width)

    def in_fractions(self) -> list[dict[str, Any]]:
        """All numbers as nested lists of Fractions, for whoever wants to compute with them without polyfold.

        One entry for every stage and one for the output: "weights" by source (0 is the input, s the output of stage s)
        and "bias"; of a stage also "slope_on" and "slope_off", what its gates multiply positive and other values with.

        >>> from_layers([([[0.5]], [1]), ([[2]], [0])]).in_fractions()[-1]
        {'weights': {1: [[Fraction(2, 1)]]}, 'bias': [Fraction(0, 1)]}
        """
        found = [
            {"weights": {k: _fractions(m) for k, m in rows.terms.items()}, "bias": _fractions(rows.bias)}
            for rows in self.affines
        ]
        for entry, stage in zip(found, self.stages, strict=False):
            entry |= {"slope_on": _fractions(stage.slope_on), "slope_off": _fractions(stage.slope_off)}
        return found

    @property
    def rounding(self) -> Rounding | None:
        """What stands for irrational numbers, and how far it is off; None if the function is the network's own."""
        changes = tuple(rows.change for rows in self.affines)
        if all(change is None for change in changes):
            return None
        return Rounding(self.frame.neighbours, changes)

    @property
    def in_floats(self) -> bool:
        """Whether every coefficient is a float, so that leaving rationals changes nothing."""
        slopes = (slope for stage in self.stages for slope in (stage.slope_on, stage.slope_off))
        return all(rows.in_floats for rows in self.affines) and all(are_floats(slope) for slope in slopes)

    def evaluate(self, X: Any) -> Rationals:
        """The exact outputs (n, m) at input rows (n, d) of rationals, or of numbers that are rational.

        >>> from flint import fmpq
        >>> from_layers([([[1, -1]], [fmpq(1, 3)]), ([[2]], [0])]).evaluate([[0.5, 0.25]])
        array([[7/6]], dtype=object)
        """
        return self.passes(X)[-1].T

    def passes(self, X: Any) -> list[Rationals]:
        """The pre-activations (width, n) of all stages, and the outputs (m, n) last."""
        return [at.z for at in walk(self, _Columns(), rationals(X).T)]

    def to_program(self) -> Program:
        """The program with the nearest floats; its `rounding` tells what that changes, if any coefficient was none."""
        widths = self.widths
        changes = tuple(added([rows.change, _to_floats(rows)]) for rows in self.affines)
        why = (*self.frame.neighbours, *(() if self.in_floats else ("coefficients that are no floats",)))
        slopes = (slope for stage in self.stages for slope in (stage.slope_on, stage.slope_off))
        if not all(are_floats(slope) for slope in slopes):
            # No bound is kept on what a slope moves by.
            changes = tuple(Change({}, np.full(rows.size, np.inf)) for rows in self.affines)
        rounding = None if all(change is None for change in changes) else Rounding(why, changes)
        stages = tuple(
            Stage(stage.rows.affine(widths), frozen(nearest(stage.slope_on)), frozen(nearest(stage.slope_off)))
            for stage in self.stages
        )
        origins = tuple(origin for stage in self.stages for origin in stage.origins)
        return Program(self.input_dim, stages, self.output.affine(widths), origins, rounding, self.frame.head)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all coefficients and the head: names the function."""
        hasher = hashlib.sha256()
        if self.frame.head is not None:
            hasher.update(self.frame.head.text.encode())
        for number, rows in enumerate(self.affines):
            arrays = [(f"{number}:{source}", matrix) for source, matrix in rows.terms.items()] + [
                (f"{number}", rows.bias)
            ]
            if number < len(self.stages):
                arrays += [("on", self.stages[number].slope_on), ("off", self.stages[number].slope_off)]
            for name, array in arrays:
                hasher.update(f"{name}:{array.shape}:[".encode())
                for text in _written(array):
                    hasher.update(text.encode())
                hasher.update(b"]")
        return hasher.hexdigest()


def lower_exactly(network: Network | ExactProgram, *, salt: bytes = b"") -> ExactProgram:
    """A network's function without any rounding: linear steps that follow each other are put together in rationals.

    Irrational roots are stood for by rationals next to them, drawn with the salt; see `exact/roots.py`.
    """
    if isinstance(network, ExactProgram):
        return network
    writer = Writer(RationalRows, salt=salt)
    output = write(network, writer)
    assert isinstance(output, RationalRows)
    widths = [network.input_dim, *(stage.width for stage in writer.stages)]
    stages = []
    for stage in writer.stages:
        rows = RationalRows.stacked([part for part in stage.pre_activations if isinstance(part, RationalRows)])
        on, off = (rationals(np.concatenate([pair[k] for pair in stage.slopes])) for k in (0, 1))
        stages.append(ExactStage(_settled(rows, widths), on, off, tuple(_origins(stage.origins))))
    frame = replace(_frame(network), neighbours=tuple(writer.rounded))
    return ExactProgram(frame, tuple(stages), _settled(output, widths))


def from_program(program: Program) -> ExactProgram:
    """A program's coefficients, as they are."""
    ends = program.first_gate
    changes = own_changes(program)
    widths = [program.input_dim, *(stage.width for stage in program.stages)]
    stages = tuple(
        ExactStage(
            replace(_settled(rows_of(stage.affine, widths), widths), change=changes[number]),
            rationals(stage.slope_on),
            rationals(stage.slope_off),
            tuple(program.origins[gate] for gate in range(ends[number], ends[number + 1])),
        )
        for number, stage in enumerate(program.stages)
    )
    frame = Frame(
        (Port("input", (program.input_dim,)),),
        (("output", (program.output_dim,)),),
        head=program.head,
        neighbours=() if program.rounding is None else program.rounding.why,
    )
    output = _settled(rows_of(program.output, widths), widths)
    return ExactProgram(frame, stages, replace(output, change=changes[-1]))


def from_layers(layers: Sequence[tuple[Any, Any]], *, slope_off: Any = 0) -> ExactProgram:
    """A feed-forward network from pairs (W, b) of any rational numbers, with a ReLU between the layers.

    `slope_off` is the slope of a LeakyReLU on the negative side.
    """
    pairs = [(rationals(weight), rationals(bias)) for weight, bias in layers]
    stages = []
    for number, (weight, bias) in enumerate(pairs[:-1]):
        on, off = (rationals([slope] * len(bias)) for slope in (1, slope_off))
        origins = tuple(GateOrigin(f"relu{number + 1}", (i,)) for i in range(len(bias)))
        stages.append(ExactStage(RationalRows({number: weight}, bias), on, off, origins))
    weight, bias = pairs[-1]
    frame = Frame(
        (Port("input", (pairs[0][0].shape[1],)),),
        ((f"linear{len(pairs)}", (len(bias),)),),
        feeds={f"relu{k}": f"linear{k}" for k in range(1, len(pairs))},
    )
    return ExactProgram(frame, tuple(stages), RationalRows({len(pairs) - 1: weight}, bias))


class _Columns:
    """Columns of rationals (width, n), one per point. A gate is on where z > 0."""

    def affine(self, rows: RationalRows, values: Sequence[Rationals]) -> Rationals:
        total = np.broadcast_to(rows.bias[:, None], (rows.size, values[0].shape[1]))
        for source, matrix in rows.terms.items():
            total = total + product(matrix, values[source])
        return total

    def decide(self, gates: Gates[ExactStage], z: Rationals) -> Flags:
        return np.asarray(z > 0, dtype=bool)

    def output(self, gates: Gates[ExactStage], z: Rationals, on: Flags) -> Rationals:
        out: Rationals = z * np.where(on, gates.stage.slope_on[:, None], gates.stage.slope_off[:, None])
        return out

    def nothing(self, inputs: Rationals) -> Rationals:
        return inputs[:0]


def _settled(rows: RationalRows, widths: Sequence[int]) -> RationalRows:
    """All columns that sources have in the end, and no matrix that is zero."""
    terms = {
        source: padded(matrix, rows.size, widths[source])
        for source, matrix in sorted(rows.terms.items())
        if matrix.any()
    }
    return RationalRows(terms, rows.bias, rows.change)


def _to_floats(rows: RationalRows) -> Change | None:
    """What rows move by when the nearest floats are taken."""
    if rows.in_floats:
        return None

    def gaps(array: Rationals) -> Array:
        with np.errstate(invalid="ignore"):
            close = nearest(array)
        if not np.isfinite(close).all():
            return np.full(array.shape, np.inf)
        apart = array - rationals(close)
        # A gap that is too small for floats is still one: as 0 it would say that nothing was rounded.
        return upwards(np.where(apart != 0, np.maximum(np.abs(nearest(apart)), LEAST), 0.0), 1)

    sums = {s: upwards(gaps(m).sum(axis=1), m.shape[1]) for s, m in rows.terms.items()}
    return Change(sums, gaps(rows.bias))


def _origins(groups: Sequence[OriginGroup]) -> Iterator[GateOrigin]:
    for group in groups:
        yield from (group[number] for number in range(len(group)))


def _frame(network: Network) -> Frame:
    return Frame(
        network.inputs,
        tuple((name, network.shapes[name]) for name in network.outputs),
        network.source,
        network.head,
        {node.name: node.inputs[0] for node in network.nodes},
        notes=network.notes,
    )


def _written(array: Rationals) -> Iterator[str]:
    """All entries with commas between them, piece by piece: writing down long numbers takes long."""
    entries = array.ravel().tolist()
    for start in range(0, len(entries), _WRITTEN_AT_ONCE):
        tick()
        yield (", " if start else "") + ", ".join(map(repr, entries[start : start + _WRITTEN_AT_ONCE]))


def _fractions(array: Any) -> Any:
    """Nested lists of Fractions."""
    return [_fractions(part) for part in array] if isinstance(array, np.ndarray) else fraction(array)
