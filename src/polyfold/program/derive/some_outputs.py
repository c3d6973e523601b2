"""A program with some of its outputs only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.forms import Taken
from polyfold.program.program import Program
from polyfold.program.rounding import Rounding, own_changes


def with_one_output(program: Program, output: int) -> Program:
    """The same gates, and one of the outputs: of a model with a head, one score, without what the head makes of it.

    >>> from polyfold.testing import program_from_layers
    >>> two = program_from_layers([([[1.0], [-1.0]], [0.0, 0.5])])
    >>> with_one_output(two, 1).evaluate(np.array([[2.0]]))[0].tolist()
    [[-1.5]]
    """
    return with_outputs(program, [output])


def with_outputs(program: Program, outputs: Sequence[int]) -> Program:
    """The same gates, and these of the outputs, in this order; without a head, which would not know them."""
    if list(outputs) == list(range(program.output_dim)):
        return replace(program, head=None)
    whole, index = program.output, np.array(outputs)
    bias = np.ascontiguousarray(whole.bias[index])
    bias.setflags(write=False)
    some: Affine
    if isinstance(whole, Structured):
        some = Structured(Taken(index, whole.form), bias, whole.widths)
    else:
        blocks = []
        for block in whole.blocks:
            weight = np.ascontiguousarray(block.weight[index])
            weight.setflags(write=False)
            blocks.append(Block(block.source, weight))
        some = WrittenOut(tuple(blocks), bias)
    rounding = None
    if program.rounding is not None:
        *stages, last = own_changes(program)
        rounding = Rounding(program.rounding.why, (*stages, None if last is None else last.take(index)))
    return replace(program, output=some, head=None, rounding=rounding)
