"""A program with one of its outputs only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold.program.affine import Affine, Block, Structured, WrittenOut
from polyfold.program.program import Program
from polyfold.program.rounding import Rounding, own_changes
from polyfold.program.structured import Taken


def with_one_output(program: Program, output: int) -> Program:
    """The same gates, and one of the outputs: of a model with a head, one score, without what the head makes of it.

    >>> from polyfold.testing import program_from_layers
    >>> two = program_from_layers([([[1.0], [-1.0]], [0.0, 0.5])])
    >>> with_one_output(two, 1).evaluate(np.array([[2.0]]))[0].tolist()
    [[-1.5]]
    """
    if program.output_dim == 1:
        return replace(program, head=None)
    whole, index = program.output, np.array([output])
    bias = np.ascontiguousarray(whole.bias[index])
    bias.setflags(write=False)
    one: Affine
    if isinstance(whole, Structured):
        one = Structured(Taken(index, whole.form), bias, whole.widths)
    else:
        blocks = []
        for block in whole.blocks:
            weight = np.ascontiguousarray(block.weight[index])
            weight.setflags(write=False)
            blocks.append(Block(block.source, weight))
        one = WrittenOut(tuple(blocks), bias)
    rounding = None
    if program.rounding is not None:
        *stages, last = own_changes(program)
        rounding = Rounding(program.rounding.why, (*stages, None if last is None else last.take(index)))
    return replace(program, output=one, head=None, rounding=rounding)
