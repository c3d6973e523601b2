"""The volume of a domain: that of its only cell when there are no gates."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.geometry.generators import find_measures
from polyfold.domain.domain import Domain
from polyfold.program.affine import WrittenOut
from polyfold.program.program import Program


def domain_volume(domain: Domain) -> float:
    """Volume in the domain's parameters.

    >>> from polyfold.domain.domain import box
    >>> domain_volume(box(-1, 2).resolve(3))
    27.0
    """
    return float(find_measures(no_gates(domain), domain, np.zeros((1, 0), dtype=np.uint8)).volumes[0])


def no_gates(domain: Domain) -> Program:
    """A program without gates or outputs: its only cell is the domain."""
    return Program(domain.input_dim, (), WrittenOut((), np.zeros(0)), ())
