"""Cells' maps and walls over the few parameters of a slice, pushed forward instead of pulled back.

A jet is a value at the slice's origin and its rate of change along every parameter. A cell's pattern held fixed, the
network is affine, so jets pass it like rows of inputs: as many rows per cell as there are parameters, and one more. To
pull back whole maps takes as many as there are outputs, through all of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.types import Array, Ids, Signs
from polyfold.domain.domain import Domain
from polyfold.program.affine import Affine
from polyfold.program.passes.beyond_floats import Round, mend_gates, mend_outputs, rounded
from polyfold.program.passes.held import slopes
from polyfold.program.passes.pulled_back import majorant, output_forms
from polyfold.program.passes.walk import Gates, walk
from polyfold.program.program import Program, Stage

# More parameters than this are more rows than a small network has outputs.
_FEW_PARAMETERS = 3
# What jets may hold at once: 16 MB, much more would leave the processor's cache.
_FLOATS = 1 << 21


def has_short_jets(domain: Domain) -> bool:
    """Whether forms over a domain's parameters are better pushed forward."""
    return domain.is_slice and domain.dim <= _FEW_PARAMETERS


def parameter_maps(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """(A, c) with outputs A u + c for each pattern: (n, m, d) and (n, m)."""
    A, c = _output_jets(program, domain, signs)
    mend_outputs(program, domain, signs, np.arange(program.output_dim), A, c)
    return A, c


def sizes_of_terms(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """The sums of the absolute values of all terms in the cells' maps over the parameters: (n, m, d) and (n, m)."""
    if has_short_jets(domain):
        return _output_jets(program, domain, signs, sizes=True)
    A, c = output_forms(majorant(program), signs)
    return A @ np.abs(domain.basis), c + A @ np.abs(domain.origin)


@np.errstate(over="ignore", invalid="ignore")
def _output_jets(program: Program, domain: Domain, signs: Signs, *, sizes: bool = False) -> tuple[Array, Array]:
    A, c = np.empty((len(signs), program.output_dim, domain.dim)), np.empty((len(signs), program.output_dim))

    def fill(part: slice) -> None:
        for jets in _pushed(program, domain, signs[part], sizes=sizes):
            last = jets
        A[part], c[part] = last[:, 1:].transpose(0, 2, 1), last[:, 0]

    in_chunks(len(signs), _floats_a_pattern(program, domain), fill, _FLOATS)
    return A, c


@np.errstate(over="ignore", invalid="ignore")
def parameter_walls(
    program: Program, domain: Domain, signs: Signs, rows: Ids, gates: Ids, as_floats: Round = rounded
) -> tuple[Array, Array]:
    """(a, b) with a . u + b the value of gate gates[i] under pattern signs[rows[i]]; `rows` are ascending."""
    a, b = np.empty((len(rows), domain.dim)), np.empty(len(rows))

    def fill(part: slice) -> None:
        asked = slice(*np.searchsorted(rows, [part.start, part.stop]))
        here, gate = rows[asked] - part.start, gates[asked]
        passed = _pushed(program, domain, signs[part])
        for number, first in enumerate(program.first_gate[:-1]):
            if first > gate.max(initial=-1):
                break
            jets = next(passed)
            at = np.flatnonzero((gate >= first) & (gate < program.first_gate[number + 1]))
            found = jets[here[at], :, gate[at] - first]
            b[asked][at], a[asked][at] = found[:, 0], found[:, 1:]

    in_chunks(len(signs), _floats_a_pattern(program, domain), fill, _FLOATS)
    mend_gates(program, domain, signs, rows, gates, a, b, as_floats)
    return a, b


def _floats_a_pattern(program: Program, domain: Domain) -> int:
    widest = max([program.output_dim, *program.steps.widths])
    return 3 * widest * (1 + domain.dim) + program.gates


def _pushed(program: Program, domain: Domain, signs: Signs, *, sizes: bool = False) -> Iterator[Array]:
    """The gates' jets (n, 1 + d, width) stage by stage, and at last those of the outputs.

    With sizes=True those of the sums of all terms' sizes.
    """
    rows = np.concatenate([domain.origin[None], domain.basis.T])
    by = _Sizes(program, signs) if sizes else _Jets(program, signs)
    for at in walk(program, by, np.abs(rows)[None] if sizes else rows[None]):
        yield np.broadcast_to(at.z, (len(signs), *at.z.shape[1:]))


class _Jets:
    """Values and rates (n, 1 + d, width) under patterns that are held. What no gate comes before is the same for all
    patterns, n = 1, and is computed once."""

    def __init__(self, program: Program, signs: Signs) -> None:
        self._program, self._signs = program, signs

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        """A bias only changes values, not rates."""
        count = max((len(values[k]) for k in affine.sources), default=1)
        columns = values[0].shape[1]
        rows = [
            np.broadcast_to(value, (count, *value.shape[1:])).reshape(count * columns, -1)
            if k in affine.sources
            else np.zeros((count * columns, 0))
            for k, value in enumerate(values)
        ]
        bias = np.concatenate([affine.bias[None], np.zeros((columns - 1, len(affine.bias)))])
        jets: Array = affine.linear(rows).reshape(count, columns, -1) + bias
        return jets

    def decide(self, gates: Gates[Stage], z: Array) -> Array:
        return slopes(self._program, gates.number, self._signs)

    def output(self, gates: Gates[Stage], z: Array, slope: Array) -> Array:
        return z * slope[:, None]

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :, :0]


class _Sizes(_Jets):
    """The same with all coefficients and slopes made positive."""

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        return super().affine(affine.changed(np.abs), values)

    def decide(self, gates: Gates[Stage], z: Array) -> Array:
        return np.abs(super().decide(gates, z))
