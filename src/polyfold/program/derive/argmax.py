"""A program with gates behind its outputs that tell which of them is the largest, or whether the only one is positive.

Classes play a tournament, the second of two being the challenger: a gate is on where the challenger is larger, so that
the lower number wins where both are the same. The winner's value is the first one's plus what the gate puts out, which
is how later rounds read it. One output plays against a threshold.

Nothing is computed on the way, so nothing is rounded: a difference of two outputs is two blocks of weights, and of
their constants one is read from a gate that always puts out 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold.exact.error_free import sums_are_exact
from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Summed, Taken
from polyfold.program.operators import Matrix
from polyfold.program.origins import GateOrigin, Origins
from polyfold.program.program import Program, Stage
from polyfold.program.rounding import rounding_of

_THRESHOLD = -1


@dataclass(frozen=True)
class _Match:
    """Two groups of classes whose winners meet; each winner is its first class plus some gates of earlier matches."""

    first: int
    challenger: int
    first_gates: tuple[int, ...]
    challenger_gates: tuple[int, ...]
    first_group: range
    challenger_group: range


@dataclass(frozen=True, eq=False)
class ClassProgram:
    """A program whose last gates decide the class: `program` has the outputs of the one that it was made of.

    `among` are the outputs that play; classes are numbered from the first of them.
    """

    original: Program
    program: Program
    among: range
    rounds: tuple[tuple[_Match, ...], ...]

    @property
    def classes(self) -> int:
        return max(2, len(self.among))

    def winners(self, signs: npt.NDArray[np.bool_]) -> Ids:
        """The class of every pattern (n, gates); patterns may have gates of a longer program behind those of this."""
        matches = [match for matches in self.rounds for match in matches]
        on = signs[:, self.program.gates - len(matches) : self.program.gates]
        if len(self.among) == 1:
            return on[:, -1].astype(np.int64)
        winner = np.tile(np.arange(len(self.among)), (len(signs), 1))
        for number, match in enumerate(matches):
            # The winner of a group stands at the place of its first class.
            left, right = (group.start - self.among.start for group in (match.first_group, match.challenger_group))
            winner[:, left] = np.where(on[:, number], winner[:, right], winner[:, left])
        return winner[:, 0]


def with_classes(program: Program, threshold: float = 0.0, among: range | None = None) -> ClassProgram:
    """The program with gates that decide the class: the largest output, or if there is one only, whether it exceeds
    the threshold. With `among`, only these outputs play.

    >>> from polyfold.testing import program_from_layers
    >>> three = program_from_layers([([[1.0], [-1.0], [0.0]], [0.0, 0.0, 0.5])])
    >>> found = with_classes(three)
    >>> outputs, signs = found.program.evaluate(np.array([[-2.0], [0.0], [3.0]]))
    >>> found.winners(signs).tolist()
    [1, 2, 0]
    """
    among = range(program.output_dim) if among is None else among
    rounds = _rounds(among)
    writer = _Writer(program, threshold)
    writer.prepare([match for matches in rounds for match in matches])
    for matches in rounds:
        writer.add(matches)
    return ClassProgram(program, writer.finish(), among, rounds)


def _rounds(among: range) -> tuple[tuple[_Match, ...], ...]:
    if len(among) == 1:
        return ((_Match(_THRESHOLD, among.start, (), (), range(0), among),),)
    playing: list[tuple[range, tuple[int, ...]]] = [(range(k, k + 1), ()) for k in among]
    rounds, number = [], 0
    while len(playing) > 1:
        matches, left = [], []
        for (one, gates), (other, other_gates) in zip(playing[0::2], playing[1::2], strict=False):
            matches.append(_Match(one.start, other.start, gates, other_gates, one, other))
            left.append((range(one.start, other.stop), (*gates, number)))
            number += 1
        # Who has no opponent plays on.
        playing = left + playing[len(playing) - len(playing) % 2 :]
        rounds.append(tuple(matches))
    return tuple(rounds)


class _Writer:
    """Puts the stages together; all of them written out, or all structured."""

    def __init__(self, program: Program, threshold: float) -> None:
        self._program, self._threshold = program, threshold
        self._stages = list(program.stages)
        self._widths = [program.input_dim, *(stage.width for stage in program.stages)]
        self._names: list[GateOrigin] = []
        self._one: int | None = None  # the source that is always 1, once there is one
        self._place_of_match: list[tuple[int, int]] = []  # its source, and its gate there

    def prepare(self, matches: Sequence[_Match]) -> None:
        """A gate that always puts out 1, if some difference of constants needs it. Matches come behind it."""
        if not sums_are_exact(*self._constants(matches)):
            self._one = len(self._widths)
            self._append(self._affine(np.ones(1), (), {}), [GateOrigin("class", (), "one")])

    def add(self, matches: Sequence[_Match]) -> None:
        """A stage with a gate a match."""
        upper, minus_lower = self._constants(matches)
        gates: dict[int, Array] = {}
        for row, match in enumerate(matches):
            for sign, numbers in ((1.0, match.challenger_gates), (-1.0, match.first_gates)):
                for number in numbers:
                    source, gate = self._place_of_match[number]
                    gates.setdefault(source, np.zeros((len(matches), self._widths[source])))[row, gate] = sign
        if self._one is not None:
            gates[self._one] = minus_lower[:, None]
        affine = self._affine(upper + minus_lower if self._one is None else upper, matches, gates)
        source = len(self._widths)
        self._place_of_match += [(source, gate) for gate in range(len(matches))]
        self._append(affine, [GateOrigin("class", (), _role(match)) for match in matches])

    def finish(self) -> Program:
        output = self._program.output
        if isinstance(output, Structured):
            output = Structured(output.form, output.bias, tuple(self._widths))
        origins = _ClassOrigins(self._program, tuple(self._names))
        return replace(
            self._program,
            stages=tuple(self._stages),
            output=output,
            origins=origins,
            rounding=rounding_of(self._program),
        )

    def _constants(self, matches: Sequence[_Match]) -> tuple[Array, Array]:
        """What is added for the challengers, and for the others."""
        known = {_THRESHOLD: self._threshold, **dict(enumerate(self._program.output.bias.tolist()))}
        return np.array([known[m.challenger] for m in matches]), -np.array([known[m.first] for m in matches])

    def _append(self, affine: Affine, names: list[GateOrigin]) -> None:
        width = len(names)
        self._stages.append(Stage(affine, _frozen(np.ones(width)), _frozen(np.zeros(width))))
        self._widths.append(width)
        self._names += names

    def _affine(self, bias: Array, matches: Sequence[_Match], gates: dict[int, Array]) -> Affine:
        """Challengers' outputs minus the others', plus multiples of earlier gates."""
        output = self._program.output
        upper = np.array([match.challenger for match in matches], dtype=np.int64)
        lower = np.array([match.first for match in matches if match.first != _THRESHOLD], dtype=np.int64)
        if isinstance(output, Structured):
            parts: list[Form] = [Applied(Matrix(_frozen(w)), Entries(s, 0, w.shape[1])) for s, w in gates.items()]
            if len(upper):
                parts = [Taken(upper, output.form), *parts]
            if len(lower):
                parts.append(Scaled(np.full(len(lower), -1.0), Taken(lower, output.form)))
            form = (Summed(tuple(parts)) if len(parts) > 1 else parts[0]) if parts else Nothing(len(bias))
            return Structured(form, _frozen(bias), tuple(self._widths))
        blocks = [Block(block.source, _frozen(block.weight[upper])) for block in output.blocks if len(upper)]
        blocks += [Block(block.source, _frozen(-block.weight[lower])) for block in output.blocks if len(lower)]
        blocks += [Block(source, _frozen(weight)) for source, weight in gates.items()]
        return WrittenOut(tuple(blocks), _frozen(bias))


def _role(match: _Match) -> str:
    if match.first == _THRESHOLD:
        return "above threshold"

    def some(group: range) -> str:
        return str(group.start) if len(group) == 1 else f"{group.start}-{group.stop - 1}"

    return f"max({some(match.first_group)},{some(match.challenger_group)})"


def _frozen(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class _ClassOrigins(Origins):
    """The original's gates, and those that decide the class."""

    original: Program
    names: tuple[GateOrigin, ...]

    def __len__(self) -> int:
        return self._first + len(self.names)

    def origin(self, number: int) -> GateOrigin:
        return self.original.origins[number] if number < self._first else self.names[number - self._first]

    @cached_property
    def _first(self) -> int:
        return self.original.gates
