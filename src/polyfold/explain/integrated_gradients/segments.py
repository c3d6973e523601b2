"""The cells along a way between two inputs: their patterns in order, and how much of the way each of them takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.options import thread_count
from polyfold._base.types import Array, Signs
from polyfold.atlas.geometry.generators import find_measures
from polyfold.atlas.patterns import unpack
from polyfold.domain.domain import line
from polyfold.engine.method import VERTICES, Cells, as_method_takes_it, find_cells
from polyfold.engine.run import Leave, watched
from polyfold.engine.unfold import put_together
from polyfold.program.program import Program


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of one way, in order: patterns (segments, gates), and lengths that add up to 1.

    `undecided` counts gates that floats could not tell from zero at some ends of segments; they were taken for zero
    there, the same way on both sides.
    """

    signs: Signs
    lengths: Array
    undecided: int


def segments(program: Program, start: Array, end: Array) -> Segments:
    """All segments between two different inputs.

    Straight from the engine: an atlas would also be looked over, which proves what is not asked for here and takes
    long where many gates vanish, as on the black border of a picture.
    """
    domain = line(start, end).resolve(program.input_dim)
    as_taken = as_method_takes_it(program, domain)

    def search(leave: Leave) -> tuple[Cells, str]:
        cells, method = find_cells(as_taken, domain, thread_count(None), -1, leave)
        return put_together(cells, -1, leave), method

    run = watched(search, domain)
    found, method = run.result
    if run.stopped_by is not None or not isinstance(found, dict):
        tick()
        raise KeyboardInterrupt
    signs = unpack(found["patterns"], program.gates)
    if method == VERTICES:
        return Segments(signs, found["measures"] / found["whole"], len(found["doubts"].gates))
    lengths = find_measures(as_taken, domain, found["patterns"]).volumes
    order = np.argsort(found["witnesses"][:, 0], kind="stable")
    return Segments(signs[order], lengths[order], 0)
