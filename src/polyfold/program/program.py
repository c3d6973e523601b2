"""Program: what the engine runs. Affine stages and numbered gates, with the way back to the user's neurons.

Sources are numbered: source 0 is the network's input x, source s >= 1 is the output of stage s (the first stage is 1).
A stage computes its pre-activations from any earlier sources,

    z = sum_k W_k source_k + bias,

and gate i of the stage then outputs slope_on[i] * z[i] if z[i] > 0 and slope_off[i] * z[i] otherwise. The network's
output is one more affine function of the sources. A plain ReLU network has one block per stage and slopes (1, 0).
Gates are numbered stage by stage, in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyfold._base.notebook import InNotebooks
from polyfold._base.read_only import ReadOnly
from polyfold._base.types import Array, Signs
from polyfold.network.head import Head
from polyfold.program.affine import Affine, Block, WrittenOut
from polyfold.program.derive.exact_matrices import exact_blocks
from polyfold.program.number_range import NumberRange, number_range
from polyfold.program.origins import GateOrigin
from polyfold.program.passes.floats import evaluate
from polyfold.program.pools import NO_POOLS, Pools
from polyfold.program.rounding import Rounding, distance
from polyfold.program.steps import Steps, in_steps


@dataclass(frozen=True, eq=False)
class Stage(ReadOnly):
    """Gates that can be decided together: none depends on another one's output."""

    affine: Affine
    slope_on: Array
    slope_off: Array

    @property
    def width(self) -> int:
        return len(self.slope_on)

    @cached_property
    def is_relu(self) -> bool:
        """Whether all gates pass on what is positive, and nothing else."""
        return bool((self.slope_on == 1).all() and (self.slope_off == 0).all())


@dataclass(frozen=True, eq=False)
class Program(ReadOnly, InNotebooks):
    """A network lowered to stages of gates. Frozen; arrays are read-only.

    Where `rounding` is None, the program is the network's function to the last digit. Else it is a neighbour, because
    the network's own numbers lead to coefficients that are no floats; `rounding` says where and by how much at most.
    Its outputs are scores, if the model has a `head`. `pools` says which of the gates are matches of tournaments.
    """

    input_dim: int
    stages: tuple[Stage, ...]
    output: Affine
    origins: Sequence[GateOrigin]
    rounding: Rounding | None = None
    head: Head | None = None
    pools: Pools = NO_POOLS

    @property
    def rounded(self) -> bool:
        """Whether it is a neighbour of the network's function, and not that function itself."""
        return self.rounding is not None

    def distance(self, reach: Array) -> Array:
        """How far the outputs can be from those of the network's own numbers, where |x_i| <= reach_i: 0 if it is not
        rounded, and infinite where no bound is known."""
        return distance(self, reach)

    @property
    def gates(self) -> int:
        return len(self.origins)

    @property
    def output_dim(self) -> int:
        return len(self.output.bias)

    @property
    def model_output_dim(self) -> int:
        """How many numbers the model puts out, behind its head if it has one."""
        return self.output_dim if self.head is None else self.head.output_dim

    @cached_property
    def first_gate(self) -> tuple[int, ...]:
        """The number of each stage's first gate; one entry more than there are stages."""
        return tuple(np.cumsum([0, *(stage.width for stage in self.stages)]).tolist())

    def gates_of(self, stage: int) -> slice:
        """The numbers of a stage's gates: their columns in patterns."""
        return slice(self.first_gate[stage], self.first_gate[stage + 1])

    @property
    def written_out(self) -> bool:
        """Whether all coefficients are there as matrices, as enumerating cells needs them."""
        return all(isinstance(affine, WrittenOut) for affine in self.affines)

    @cached_property
    def exact_matrices(self) -> tuple[tuple[Block, ...], ...] | None:
        """Matrices for every stage that add up to its coefficients to the last digit, or None: see `exact_blocks`.

        `blocks` of a structured stage may be rounded, and what is proved of them is proved of a function nearby.
        """
        widths = [self.input_dim, *(stage.width for stage in self.stages)]
        found = []
        for stage in self.stages:
            blocks = exact_blocks(stage.affine, widths)
            if blocks is None:
                return None
            found.append(blocks)
        return tuple(found)

    @property
    def affines(self) -> tuple[Affine, ...]:
        """The affine functions of all stages, and that of the output."""
        return (*(stage.affine for stage in self.stages), self.output)

    @cached_property
    def last_reader(self) -> tuple[int, ...]:
        """For each source the last of the `affines` that reads it (0 if none does): after that it can be forgotten."""
        last = [0] * (len(self.stages) + 1)
        for number, affine in enumerate(self.affines):
            for source in affine.sources:
                last[source] = number
        return tuple(last)

    @cached_property
    def steps(self) -> Steps[Affine]:
        """The stages and the output in the order of a pass, with what several of them read computed once."""
        return in_steps(self.input_dim, self.affines)

    @cached_property
    def number_range(self) -> NumberRange:
        """How small and how large products of weights along ways through the program become."""
        return number_range(self, np.full(self.input_dim, 2.0))

    def evaluate(self, X: Array) -> tuple[Array, Signs]:
        """Outputs (n, m) and patterns (n, gates) at input rows, in plain float arithmetic."""
        return evaluate(self, X)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all coefficients and the head: names the function that an atlas speaks of."""
        hasher = hashlib.sha256()
        for stage in self.stages:
            stage.affine.update(hasher)
            hasher.update(stage.slope_on.tobytes() + stage.slope_off.tobytes())
        self.output.update(hasher)
        if self.head is not None:
            hasher.update(self.head.text.encode())
        return hasher.hexdigest()
