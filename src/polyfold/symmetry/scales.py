"""One scale for every neuron, whatever positive rescaling a network comes in.

Every neuron is scaled so that the absolute values of its incoming weights and its bias add up to 1. The sum is
rational, which a Euclidean length would not be, and it does not depend on the order of neurons.

Some weights cannot serve: a neuron whose incoming weights and bias are all zero has no scale of its own, and then
neither has the weight by which another one reads it. Such neurons are scaled last, so that their outgoing weights add
up to 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold.errors import PolyfoldError
from polyfold.exact.rational_arrays import Rationals, by_rows, product, zeros
from polyfold.program.exact_program import ExactProgram

_ONE = fmpq(1)
Mask = npt.NDArray[np.bool_]


def normalising_factors(program: ExactProgram) -> list[Rationals]:
    """For each hidden layer the factors of the rescaling that normalises it.

    >>> from polyfold.program.exact_program import from_layers
    >>> normalising_factors(from_layers([([[3], [0]], [1, 0]), ([[1, 5]], [0])]))
    [array([1/4, 5], dtype=object)]
    """
    search = _Search(program)
    search.forward()
    # What is left is zero at every input. It gets its scale from those that read it, or from what it reads.
    while search.open:
        before = search.open
        search.backward()
        search.forward()
        if search.open == before:
            break
    search.close()
    return search.factors[1:]


class _Search:
    """Factors of all sources, as far as they are known."""

    def __init__(self, program: ExactProgram) -> None:
        self.program = program
        self.factors = [np.full(width, _ONE, dtype=object) for width in program.widths]
        self.known: list[Mask] = [np.full(width, source == 0) for source, width in enumerate(program.widths)]
        self.sizes = [
            {source: by_rows(abs, matrix) for source, matrix in rows.terms.items()} for rows in program.affines
        ]

    @property
    def open(self) -> int:
        """How many neurons have no scale yet."""
        return sum(int((~known).sum()) for known in self.known)

    def forward(self) -> None:
        """Scales from incoming weights on what is known, and biases, from the first layer to the last."""
        for layer, stage in enumerate(self.program.stages, start=1):
            total = abs(stage.rows.bias)
            for source, sizes in self.sizes[layer - 1].items():
                total = total + product(sizes, np.where(self.known[source], _ONE / self.factors[source], fmpq(0)))
            self._learn(layer, total, inverted=True)

    def backward(self) -> None:
        """Scales from outgoing weights into what is known, from the last layer to the first."""
        for layer in range(len(self.program.stages), 0, -1):
            total = zeros(self.program.widths[layer])
            for number, sizes in enumerate(self.sizes, start=1):
                if layer in sizes:
                    total = total + product(sizes[layer].T, self._reader(number))
            self._learn(layer, total, inverted=False)

    def close(self) -> None:
        """Neurons without any weight need no scale; others that have none cannot be given one."""
        for layer, known in enumerate(self.known):
            for neuron in np.flatnonzero(~known).tolist():
                if self._has_weights(layer, neuron):
                    raise PolyfoldError(
                        f"neuron {neuron} of hidden layer {layer} has no normal scale: it is zero at every input, "
                        "and reads and is read by nothing but neurons of that kind; remove them first (pf.reduce does)"
                    )

    def _learn(self, layer: int, total: Rationals, *, inverted: bool) -> None:
        new = ~self.known[layer] & np.asarray(total > 0, dtype=np.bool_)
        self.factors[layer][new] = _ONE / total[new] if inverted else total[new]
        self.known[layer] |= new

    def _reader(self, number: int) -> Rationals:
        """What the rows of an affine function are multiplied by, zero where that is not known."""
        if number > len(self.program.stages):
            return np.full(self.program.output_dim, _ONE, dtype=object)
        return np.where(self.known[number], self.factors[number], fmpq(0))

    def _has_weights(self, layer: int, neuron: int) -> bool:
        into = any(sizes[neuron].any() for sizes in self.sizes[layer - 1].values())
        return into or any(sizes[layer][:, neuron].any() for sizes in self.sizes if layer in sizes)
