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
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """A matrix applied to one source; its columns are the source's entries."""

    source: int
    weight: Array


@dataclass(frozen=True, eq=False)
class Affine:
    """sum over blocks of W @ source, plus bias."""

    blocks: tuple[Block, ...]
    bias: Array

    @property
    def sources(self) -> frozenset[int]:
        """The sources that it reads."""
        return frozenset(block.source for block in self.blocks)

    def __call__(self, sources: list[Array]) -> Array:
        """Rows of values from the rows of every source."""
        total = np.broadcast_to(self.bias, (len(sources[0]), len(self.bias)))
        for block in self.blocks:
            total = total + sources[block.source] @ block.weight.T
        return total

    def linear(self, sources: list[Array]) -> Array:
        """The blocks without the bias: how the values change along directions."""
        total = np.zeros((len(sources[0]), len(self.bias)))
        for block in self.blocks:
            total = total + sources[block.source] @ block.weight.T
        return total


@dataclass(frozen=True, eq=False)
class Stage:
    """Gates that can be decided together: none depends on another one's output."""

    affine: Affine
    slope_on: Array
    slope_off: Array

    @property
    def width(self) -> int:
        return len(self.slope_on)


@dataclass(frozen=True)
class GateOrigin:
    """Where a gate comes from: the user's node, the entry of its value, and which switch of it."""

    node: str
    index: tuple[int, ...]
    role: str = "relu"

    def __str__(self) -> str:
        place = f"{self.node}[{','.join(map(str, self.index))}]"
        return place if self.role == "relu" else f"{place}.{self.role}"


@dataclass(frozen=True, eq=False)
class Program:
    """A network lowered to stages of gates. Frozen; arrays are read-only."""

    input_dim: int
    stages: tuple[Stage, ...]
    output: Affine
    origins: tuple[GateOrigin, ...]

    @property
    def gates(self) -> int:
        return len(self.origins)

    @property
    def output_dim(self) -> int:
        return len(self.output.bias)

    @cached_property
    def first_gate(self) -> tuple[int, ...]:
        """The number of each stage's first gate; one entry more than there are stages."""
        return tuple(np.cumsum([0, *(stage.width for stage in self.stages)]).tolist())

    def evaluate(self, X: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Outputs (n, m) and patterns (n, gates) at input rows, in plain float arithmetic."""
        sources, signs = [X], [np.zeros((len(X), 0), dtype=bool)]
        for stage in self.stages:
            z = stage.affine(sources)
            signs.append(z > 0)
            sources.append(z * np.where(z > 0, stage.slope_on, stage.slope_off))
        return self.output(sources), np.concatenate(signs, axis=1)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all coefficients: names the function that an atlas speaks of."""
        hasher = hashlib.sha256()
        for stage in self.stages:
            _update(hasher, stage.affine)
            hasher.update(stage.slope_on.tobytes() + stage.slope_off.tobytes())
        _update(hasher, self.output)
        return hasher.hexdigest()


def _update(hasher: hashlib._Hash, affine: Affine) -> None:
    for block in affine.blocks:
        hasher.update(f"{block.source}:{block.weight.shape}".encode() + np.ascontiguousarray(block.weight).tobytes())
    hasher.update(affine.bias.tobytes())
