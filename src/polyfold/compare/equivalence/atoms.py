"""Networks in one common form: every value is a combination, in rationals, of 1, the inputs and shared atoms.

An atom is relu(z) for a combination z of what came before it. Atoms are told apart up to positive factors of z, and
relu(-z) is relu(z) - z, so it is no new one. A gate with other slopes is an atom and a multiple of z. What is surely
not negative passes a ReLU as it is. Networks that differ by the order of their neurons, by positive factors, by neurons
that are split, repeated, dead or cancel out, or by layers that pass values on, so become the same combinations. If the
outputs do, the functions are the same on all of R^d.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold._base.clock import tick
from polyfold._base.types import Array
from polyfold.exact.rational import rational
from polyfold.exact.rational_arrays import rationals
from polyfold.program.affine import Affine
from polyfold.program.exact_program import ExactProgram, ExactStage
from polyfold.program.lower.rational_rows import RationalRows
from polyfold.program.operators import Operator
from polyfold.program.passes.fold import fold
from polyfold.program.passes.walk import Gates, StageByStage, outputs
from polyfold.program.program import Program, Stage

# Index 0 is the constant 1, then come the inputs, then the atoms.
Combination = dict[int, fmpq]
Fingerprint = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]

_ZERO, _ONE = fmpq(0), fmpq(1)
# So many products are done between two looks at the clock.
_BETWEEN_LOOKS = 1 << 14
# So many coefficients are part of a fingerprint.
_COMPARED = 4


class Atoms:
    """The atoms of any number of networks with the same inputs."""

    def __init__(self, input_dim: int) -> None:
        self.input_dim = input_dim
        self.rows: list[Combination] = []  # the z of every atom
        self._alike: dict[Fingerprint, list[int]] = {}  # atoms with this fingerprint
        self._products = 0

    @property
    def first(self) -> int:
        """The index of the first atom."""
        return 1 + self.input_dim

    def outputs_of(self, program: Program | ExactProgram) -> list[Combination]:
        """A network's outputs as combinations; its atoms are added."""
        inputs = [{1 + i: _ONE} for i in range(self.input_dim)]
        if isinstance(program, ExactProgram):
            return outputs(program, self, inputs)
        return outputs(StageByStage(program), self, inputs)

    # -- an arithmetic of `program/passes/walk.py`: values are combinations, and gates become atoms

    def affine(self, affine: Affine | RationalRows, values: Sequence[list[Combination]]) -> list[Combination]:
        """An affine function of combinations."""
        if isinstance(affine, RationalRows):
            return self._sums(affine, values)
        return fold(affine, values, _CombinationTerms(self.added))

    def decide(self, gates: Gates[Stage] | Gates[ExactStage], z: list[Combination]) -> None:
        """Nothing: what is not known to have one sign becomes an atom."""

    def output(self, gates: Gates[Stage] | Gates[ExactStage], z: list[Combination], decided: None) -> list[Combination]:
        """What gates put out: multiples of their values and of atoms."""
        on, off = (rationals(slopes).tolist() for slopes in (gates.stage.slope_on, gates.stage.slope_off))
        return [self._switched(value, on[i], off[i]) for i, value in enumerate(z)]

    def nothing(self, inputs: list[Combination]) -> list[Combination]:
        """In place of what nobody reads any more."""
        return []

    def _sums(self, rows: RationalRows, sources: Sequence[list[Combination]]) -> list[Combination]:
        found = []
        for i, bias in enumerate(rows.bias.tolist()):
            terms = [(bias, {0: _ONE})] if bias else []
            for source, matrix in rows.terms.items():
                terms += [(factor, sources[source][j]) for j, factor in enumerate(matrix[i].tolist()) if factor]
            found.append(self.added(terms))
        return found

    def added(self, terms: Iterable[tuple[fmpq, Combination]]) -> Combination:
        """A sum of multiples."""
        total: Combination = {}
        for factor, combination in terms:
            self._add(total, factor, combination)
        return {index: value for index, value in total.items() if value}

    def _add(self, total: Combination, factor: fmpq, other: Combination) -> None:
        self._products += len(other)
        if self._products > _BETWEEN_LOOKS:
            self._products = 0
            tick()
        for index, value in other.items():
            total[index] = total.get(index, _ZERO) + factor * value

    def _switched(self, z: Combination, on: fmpq, off: fmpq) -> Combination:
        """on * z where z > 0, off * z elsewhere."""
        terms = [(off, z)] if off else []
        return self.added([*terms, (on - off, self._rectified(z))] if on != off else terms)

    def _rectified(self, z: Combination) -> Combination:
        varying = [index for index in z if index]
        if not varying:
            return z if z.get(0, _ZERO) > 0 else {}
        if min(varying) >= self.first:
            # Atoms are nowhere negative.
            if all(value > 0 for value in z.values()):
                return z
            if all(value < 0 for value in z.values()):
                return {}
        for index in self._alike.setdefault(_fingerprint(z), []):
            row = self.rows[index - self.first]
            ratio = z[max(varying)] / row[max(varying)]
            if all(value == ratio * row[k] for k, value in z.items()):
                return self.added([*([(_ONE, z)] if ratio < 0 else []), (abs(ratio), {index: _ONE})])
        index = self.first + len(self.rows)
        self._alike[_fingerprint(z)].append(index)
        self.rows.append(z)
        return {index: _ONE}


class _CombinationTerms:
    """What forms do to combinations (`program/passes/fold.py`)."""

    def __init__(self, added: Callable[[Iterable[tuple[fmpq, Combination]]], Combination]) -> None:
        self._added = added

    def entries(self, value: list[Combination], first: int, count: int) -> list[Combination]:
        return value[first : first + count]

    def zeros(self, values: Sequence[list[Combination]], count: int) -> list[Combination]:
        return [{} for _ in range(count)]

    def through(self, operator: Operator, value: list[Combination]) -> list[Combination]:
        rows = (operator.row(number) for number in range(operator.rows))
        return [
            self._added((rational(w), value[k]) for k, w in zip(columns.tolist(), weights.tolist(), strict=True) if w)
            for columns, weights in rows
        ]

    def scaled(self, factor: Array, value: list[Combination]) -> list[Combination]:
        return [self._added([(rational(f), z)] if f else []) for f, z in zip(factor.tolist(), value, strict=True)]

    def taken(self, index: npt.NDArray[np.int64], value: list[Combination]) -> list[Combination]:
        return [value[k] for k in index.tolist()]

    def summed(self, parts: Sequence[list[Combination]]) -> list[Combination]:
        return [self._added((_ONE, z) for z in each) for each in zip(*parts, strict=True)]

    def stacked(self, parts: Sequence[list[Combination]]) -> list[Combination]:
        return [z for part in parts for z in part]

    def shifted(self, value: list[Combination], bias: Array) -> list[Combination]:
        return [
            self._added([(_ONE, z), (rational(shift), {0: _ONE})]) if shift else z
            for z, shift in zip(value, bias.tolist(), strict=True)
        ]


def _fingerprint(z: Combination) -> Fingerprint:
    """The same for all multiples of a combination, and for hardly any other."""
    indices = sorted(z)
    lead = z[indices[-1]]
    some = [z[index] / lead for index in indices[:_COMPARED]]
    return tuple(indices), tuple((int(value.p), int(value.q)) for value in some)
