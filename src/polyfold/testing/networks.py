"""Programs made by hand: from plain layers, at random, and as a draft that can still be edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.program.affine import Block, WrittenOut
from polyfold.program.origins import GateOrigin
from polyfold.program.program import Program, Stage


@dataclass
class DraftAffine:
    """An affine function under construction: a weight for each source that it reads."""

    weights: dict[int, Array]
    bias: Array

    def add(self, source: int, weight: Array) -> None:
        """Adds to the weight of a source, which may be new."""
        self.weights[source] = self.weights[source] + weight if source in self.weights else weight

    def freeze(self) -> WrittenOut:
        blocks = tuple(Block(source, _read_only(weight)) for source, weight in sorted(self.weights.items()))
        return WrittenOut(blocks, _read_only(self.bias))


@dataclass
class DraftStage:
    """A stage under construction."""

    affine: DraftAffine
    slope_on: Array
    slope_off: Array

    @property
    def width(self) -> int:
        return len(self.slope_on)


@dataclass
class Draft:
    """A program that can still be edited. Source 0 is the input, source k the output of the k-th stage."""

    input_dim: int
    stages: list[DraftStage]
    output: DraftAffine

    @property
    def affines(self) -> list[DraftAffine]:
        """The affine functions of all stages, and the output's."""
        return [*(stage.affine for stage in self.stages), self.output]

    def freeze(self) -> Program:
        """The program, with gate i of stage k named gatek[i]."""
        stages = tuple(
            Stage(stage.affine.freeze(), _read_only(stage.slope_on), _read_only(stage.slope_off))
            for stage in self.stages
        )
        origins = tuple(
            GateOrigin(f"gate{k}", (i,)) for k, stage in enumerate(stages, start=1) for i in range(stage.width)
        )
        return Program(self.input_dim, stages, self.output.freeze(), origins)


def program_from_layers(
    layers: Sequence[tuple[Any, Any]], *, slopes: Sequence[tuple[Any, Any]] | None = None
) -> Program:
    """The network of plain layers, as a program; the last layer is the output, without gates.

    Parameters
    ----------
    layers : list of pairs of array_like, shapes (outputs, inputs) and (outputs,)
        The layers (W, b).
    slopes : list of pairs, optional
        (on, off) for each hidden layer, as numbers or one per neuron (default: ReLU, (1, 0)).

    Returns
    -------
    Program
        One stage per hidden layer.

    Examples
    --------
    >>> net = program_from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> net.evaluate(np.array([[-3.0]]))[0].tolist()
    [[3.0]]
    """
    return draft_from_layers(layers, slopes=slopes).freeze()


def draft_from_layers(layers: Sequence[tuple[Any, Any]], *, slopes: Sequence[tuple[Any, Any]] | None = None) -> Draft:
    """Plain layers as a draft: each layer reads the one before it."""
    arrays = [(np.array(W, dtype=np.float64), np.array(b, dtype=np.float64)) for W, b in layers]
    affines = [DraftAffine({source: W}, b) for source, (W, b) in enumerate(arrays)]
    pairs = [(1.0, 0.0)] * (len(affines) - 1) if slopes is None else slopes
    stages = [
        DraftStage(
            affine,
            *(np.broadcast_to(np.asarray(s, dtype=np.float64), affine.bias.shape).copy() for s in pair),
        )
        for affine, pair in zip(affines[:-1], pairs, strict=True)
    ]
    return Draft(arrays[0][0].shape[1], stages, affines[-1])


def random_draft(rng: np.random.Generator, dims: Sequence[int]) -> Draft:
    """A ReLU network with Gaussian weights and biases; dims are its input, hidden and output dimensions."""
    shapes = list(zip(dims[1:], dims[:-1], strict=True))
    return draft_from_layers([(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes])


def random_program(rng: np.random.Generator, dims: Sequence[int]) -> Program:
    """A ReLU network with Gaussian weights and biases.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the numbers come from.
    dims : list of int
        The input dimension, the widths of the hidden layers, and the output dimension.

    Returns
    -------
    Program
        One stage per hidden layer.

    Examples
    --------
    >>> random_program(np.random.default_rng(0), [2, 4, 3, 1]).gates
    7
    """
    return random_draft(rng, dims).freeze()


def _read_only(array: Array) -> Array:
    array = np.array(array, dtype=np.float64)
    array.setflags(write=False)
    return array
