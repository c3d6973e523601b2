"""Where an output is at most, at least or exactly a number, as sets of faces.

Cells are cut where the output takes the value: a gate behind it, whose sign the engine decides like that of any other
(`program/derive/argmax.py`). A face then has one sign of the difference all over, so that each of these sets is a union
of faces.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polyfold._base.inputs import real_array
from polyfold._base.numbers import one_output
from polyfold.atlas.asked import an_atlas, cells_asked_for
from polyfold.atlas.atlas import Atlas
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.some_outputs import with_one_output
from polyfold.topology.face_complex import FaceComplex, listed
from polyfold.topology.subcomplex import Subcomplex

Side = Literal["below", "above", "level"]


def sublevel(atlas: Atlas, threshold: float = 0.0, *, output: int = 0) -> Subcomplex:
    """The closed set on which an output is at most `threshold`.

    >>> import polyfold as pf
    >>> bump = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]     # |x|
    >>> atlas = pf.unfold(bump, pf.box(-2, 2))
    >>> sets = (pf.topology.sublevel, pf.topology.superlevel, pf.topology.level_set)
    >>> tuple(pf.topology.betti(each(atlas, 1.0)) for each in sets)
    ((1, 0), (2, 0), (2,))
    """
    return _set(atlas, threshold, output, "below")


def superlevel(atlas: Atlas, threshold: float = 0.0, *, output: int = 0) -> Subcomplex:
    """The closed set on which an output is at least `threshold`."""
    return _set(atlas, threshold, output, "above")


def level_set(atlas: Atlas, threshold: float = 0.0, *, output: int = 0) -> Subcomplex:
    """The set on which an output equals `threshold`; where it does on a whole cell, that cell too."""
    return _set(atlas, threshold, output, "level")


def _set(atlas: Atlas, threshold: float, output: int, side: Side) -> Subcomplex:
    faces = cut_at(atlas, threshold, output)
    gate = faces.atlas.gates - 1
    chosen = []
    for k in range(faces.dim + 1):
        sign = faces.signs_of(k, gate)
        chosen.append({"below": sign <= 0, "above": sign >= 0, "level": sign == 0}[side])
    return Subcomplex(faces, tuple(chosen))


def cut_at(atlas: Atlas, threshold: float, output: int) -> FaceComplex:
    """The faces of the cells, cut where an output takes a value; the last gate is the difference."""
    an_atlas(atlas, "a level set")
    cells_asked_for(atlas, None, "a level set")
    output = one_output(output, atlas.outputs)
    level = real_array(f"threshold={threshold!r} is no number", threshold)
    if level.shape or not np.isfinite(level):
        raise PolyfoldError(f"threshold={threshold!r} must be a finite number")
    asked = with_classes(with_one_output(atlas.program, output), float(level))
    parts = unfold_program(asked.program, atlas.domain)
    if not parts.complete:
        if parts.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        raise LimitError(f"cutting cells at {threshold!r} was stopped by {parts.certificate.stopped_by}")
    return listed(parts, original=atlas)
