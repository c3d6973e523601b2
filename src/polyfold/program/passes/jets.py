"""Cells' maps and walls over the few parameters of a slice, pushed forward instead of pulled back.

A jet is a value at the slice's origin and its rate of change along every parameter. A cell's pattern held fixed, the
network is affine, so jets pass it like rows of inputs: as many rows a cell as there are parameters, and one more. To
pull back whole maps takes as many as there are outputs, through all of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from polyfold._base.chunks import in_chunks
from polyfold.domain.domain import Domain
from polyfold.program.affine import Affine
from polyfold.program.passes.beyond_floats import Round, mend_gates, mend_outputs, rounded
from polyfold.program.passes.held import slopes
from polyfold.program.passes.pulled_back import majorant, output_forms
from polyfold.program.program import Program
from polyfold.program.steps import Steps

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Signs = npt.NDArray[np.bool_]

# More parameters than this are more rows than a small network has outputs.
_FEW_PARAMETERS = 3
# What jets may hold at once: 16 MB, much more would leave the processor's cache.
_FLOATS = 1 << 21


def has_short_jets(domain: Domain) -> bool:
    """Whether forms over a domain's parameters are better pushed forward."""
    return domain.is_slice and domain.dim <= _FEW_PARAMETERS


def parameter_maps(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """(A, c) with outputs A u + c for each pattern: (n, m, d) and (n, m)."""
    A, c = _output_jets(program, program.steps, domain, signs)
    mend_outputs(program, domain, signs, np.arange(program.output_dim), A, c)
    return A, c


def sizes_of_terms(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    """The sums of the absolute values of all terms in the cells' maps over the parameters: (n, m, d) and (n, m)."""
    if has_short_jets(domain):
        return _sizes_by_jets(program, domain, signs)
    A, c = output_forms(majorant(program), signs)
    return A @ np.abs(domain.basis), c + A @ np.abs(domain.origin)


def _sizes_by_jets(program: Program, domain: Domain, signs: Signs) -> tuple[Array, Array]:
    sizes = replace(domain, origin=np.abs(domain.origin), basis=np.abs(domain.basis))
    return _output_jets(program, program.steps.changed(np.abs), sizes, signs, absolute=True)


@np.errstate(over="ignore", invalid="ignore")
def _output_jets(
    program: Program, steps: Steps, domain: Domain, signs: Signs, *, absolute: bool = False
) -> tuple[Array, Array]:
    A, c = np.empty((len(signs), program.output_dim, domain.dim)), np.empty((len(signs), program.output_dim))

    def fill(part: slice) -> None:
        for jets in _pushed(program, steps, domain, signs[part], absolute=absolute):
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
        passed = _pushed(program, program.steps, domain, signs[part])
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


def _pushed(program: Program, steps: Steps, domain: Domain, signs: Signs, *, absolute: bool = False) -> Iterator[Array]:
    """The gates' jets (n, 1 + d, width) stage by stage, and at last those of the outputs.

    What no gate comes before is the same for all patterns, and is computed once.
    """
    values = [np.concatenate([domain.origin[None], domain.basis.T])[None]]
    for number, step in enumerate(steps.steps):
        z = _applied(step.affine, values)
        if step.stage is not None:
            yield np.broadcast_to(z, (len(signs), *z.shape[1:]))
            factor = slopes(program, step.stage, signs)
            z = z * (np.abs(factor) if absolute else factor)[:, None]
        values.append(z)
        del z
        for value in range(1, len(values)):
            if steps.last_reader[value] <= number:
                values[value] = values[0][:, :, :0]
    outputs = _applied(steps.output, values)
    yield np.broadcast_to(outputs, (len(signs), *outputs.shape[1:]))


def _applied(affine: Affine, values: Sequence[Array]) -> Array:
    """An affine function of jets: its bias only changes values, not rates."""
    count, columns = max((len(values[k]) for k in affine.sources), default=1), values[0].shape[1]
    rows = [
        np.broadcast_to(value, (count, *value.shape[1:])).reshape(count * columns, -1)
        if k in affine.sources
        else np.zeros((count * columns, 0))
        for k, value in enumerate(values)
    ]
    bias = np.concatenate([affine.bias[None], np.zeros((columns - 1, len(affine.bias)))])
    jets: Array = affine.linear(rows).reshape(count, columns, -1) + bias
    return jets
