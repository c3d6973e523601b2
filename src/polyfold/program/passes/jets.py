"""Cells' maps and walls over a few parameters, pushed forward instead of pulled back.

A jet is a value at the domain's origin and its rate of change along every parameter. A cell's pattern held fixed, the
network is affine, so jets pass it like rows of inputs: as many rows per cell as there are parameters, and one more. To
pull back whole maps takes as many as there are outputs, through all of the inputs.

What cells in a row have in common is pushed once: jets up to a stage are the same as long as the patterns of all stages
before it are, and in an atlas such cells come one behind the other.
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
# Of a domain in all inputs, where stages in common make up for more rows.
_FEW_INPUTS = 8
# A row that is pushed takes as long as so many that are pulled back through one stage.
_ROWS_WORTH_PUSHING = 4
# What jets may hold at once: 16 MB, much more would leave the processor's cache.
_FLOATS = 1 << 21


def has_short_jets(domain: Domain) -> bool:
    """Whether forms over a domain's parameters are better pushed forward."""
    return domain.dim <= (_FEW_PARAMETERS if domain.is_slice else _FEW_INPUTS)


def has_short_map_jets(program: Program, domain: Domain) -> bool:
    """The same for whole maps: through few stages few outputs are as quickly pulled back."""
    if domain.is_slice:
        return has_short_jets(domain)
    return has_short_jets(domain) and program.output_dim * len(program.stages) > _ROWS_WORTH_PUSHING * (1 + domain.dim)


def parameter_maps(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """(A, c) with outputs A u + c for each pattern: (n, m, d) and (n, m)."""
    A, c = _output_jets(program, domain, signs)
    mend_outputs(program, domain, signs, np.arange(program.output_dim), A, c)
    return A, c


def sizes_of_terms(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """The sums of the absolute values of all terms in the cells' maps over the parameters: (n, m, d) and (n, m)."""
    if has_short_map_jets(program, domain):
        return _output_jets(program, domain, signs, sizes=True)
    A, c = output_forms(majorant(program), signs)
    return A @ np.abs(domain.basis), c + A @ np.abs(domain.origin)


@np.errstate(over="ignore", invalid="ignore")
def _output_jets(program: Program, domain: Domain, signs: Signs, *, sizes: bool = False) -> tuple[Array, Array]:
    A, c = np.empty((len(signs), program.output_dim, domain.dim)), np.empty((len(signs), program.output_dim))

    def fill(part: slice) -> None:
        for jets, row in _pushed(program, domain, signs[part], sizes=sizes):
            last, of = jets, row
        A[part], c[part] = last[of, 1:].transpose(0, 2, 1), last[of, 0]

    in_chunks(len(signs), _floats_a_pattern(program, domain), fill, _FLOATS)
    return A, c


def parameter_walls(
    program: Program, domain: Domain, signs: Signs, rows: Ids, gates: Ids, as_floats: Round = rounded
) -> tuple[Array, Array]:
    """(a, b) with a . u + b the value of gate gates[i] under pattern signs[rows[i]]; `rows` are ascending."""
    a, b = _wall_jets(program, domain, signs, rows, gates)
    mend_gates(program, domain, signs, rows, gates, a, b, as_floats)
    return a, b


def sizes_of_wall_terms(program: Program, domain: Domain, signs: Signs, rows: Ids, gates: Ids) -> tuple[Array, Array]:
    """The sums of the absolute values of all terms in these."""
    return _wall_jets(program, domain, signs, rows, gates, sizes=True)


@np.errstate(over="ignore", invalid="ignore")
def _wall_jets(
    program: Program, domain: Domain, signs: Signs, rows: Ids, gates: Ids, *, sizes: bool = False
) -> tuple[Array, Array]:
    a, b = np.empty((len(rows), domain.dim)), np.empty(len(rows))

    def fill(part: slice) -> None:
        asked = slice(*np.searchsorted(rows, [part.start, part.stop]))
        here, gate = rows[asked] - part.start, gates[asked]
        passed = _pushed(program, domain, signs[part], sizes=sizes)
        for number, first in enumerate(program.first_gate[:-1]):
            if first > gate.max(initial=-1):
                break
            jets, row = next(passed)
            at = np.flatnonzero((gate >= first) & (gate < program.first_gate[number + 1]))
            found = jets[row[here[at]], :, gate[at] - first]
            b[asked][at], a[asked][at] = found[:, 0], found[:, 1:]

    in_chunks(len(signs), _floats_a_pattern(program, domain), fill, _FLOATS)
    return a, b


def _floats_a_pattern(program: Program, domain: Domain) -> int:
    widest = max([program.output_dim, *program.steps.widths])
    return 3 * widest * (1 + domain.dim) + program.gates


def _pushed(program: Program, domain: Domain, signs: Signs, *, sizes: bool = False) -> Iterator[tuple[Array, Ids]]:
    """The gates' jets (k, 1 + d, width) stage by stage, and at last those of the outputs; and which of them are those
    of each pattern (n,).

    With sizes=True those of the sums of all terms' sizes.
    """
    rows = np.concatenate([domain.origin[None], domain.basis.T])
    by = _Sizes(program, signs) if sizes else _Jets(program, signs)
    for at in walk(program, by, np.abs(rows)[None] if sizes else rows[None]):
        yield at.z, by.row_of_each(len(at.z))


class _Jets:
    """Values and rates (k, 1 + d, width) under patterns that are held: one each for runs of patterns that agree in all
    gates before. So what no gate comes before has k = 1."""

    def __init__(self, program: Program, signs: Signs) -> None:
        self._program, self._signs = program, signs
        # Later stages divide runs further, so as many runs are the same runs.
        self._begins = np.zeros(len(signs), dtype=bool)
        self._begins[:1] = True
        self._starts = {1: np.zeros(1, dtype=np.int64)}

    def row_of_each(self, count: int) -> Ids:
        """The run of each pattern, where there are so many."""
        return self._run_of(np.arange(len(self._signs)), count)

    def _run_of(self, patterns: Ids, count: int) -> Ids:
        found: Ids = np.searchsorted(self._starts[count], patterns, side="right") - 1
        return found

    def _in_runs(self, values: Array, count: int) -> Array:
        """The same for more runs."""
        return values if len(values) == count else values[self._run_of(self._starts[count], len(values))]

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        """A bias only changes values, not rates."""
        count = max((len(values[k]) for k in affine.sources), default=1)
        columns = values[0].shape[1]
        rows = [
            self._in_runs(value, count).reshape(count * columns, -1)
            if k in affine.sources
            else np.zeros((count * columns, 0))
            for k, value in enumerate(values)
        ]
        bias = np.concatenate([affine.bias[None], np.zeros((columns - 1, len(affine.bias)))])
        jets: Array = affine.linear(rows).reshape(count, columns, -1) + bias
        return jets

    def decide(self, gates: Gates[Stage], z: Array) -> Array:
        some = self._signs[:, self._program.gates_of(gates.number)]
        self._begins[1:] |= (some[1:] != some[:-1]).any(axis=1)
        starts = np.flatnonzero(self._begins)
        self._starts[len(starts)] = starts
        return slopes(self._program, gates.number, self._signs[starts])

    def output(self, gates: Gates[Stage], z: Array, slope: Array) -> Array:
        return self._in_runs(z, len(slope)) * slope[:, None]

    def nothing(self, inputs: Array) -> Array:
        return inputs[:, :, :0]


class _Sizes(_Jets):
    """The same with all coefficients and slopes made positive."""

    def affine(self, affine: Affine, values: Sequence[Array]) -> Array:
        return super().affine(affine.changed(np.abs), values)

    def decide(self, gates: Gates[Stage], z: Array) -> Array:
        return np.abs(super().decide(gates, z))
