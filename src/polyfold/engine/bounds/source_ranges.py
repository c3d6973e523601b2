"""Ranges of what stages read and put out, over a domain; infinite where it is not bounded."""

from __future__ import annotations

import numpy as np

from polyfold.engine.bounds.bounded_domain import BoundedDomain
from polyfold.exact.rounding import TINY, relative
from polyfold.program.exact_program import ExactProgram
from polyfold.program.passes.bounded_layers import Range, in_floats, over_parameters
from polyfold.program.passes.intervals import output_range, ranges
from polyfold.program.passes.linear_bounds import whole_box


def parameter_range(place: BoundedDomain) -> Range:
    """Bounds on the parameters."""
    dim = place.domain.dim
    if place.limits is not None:
        return place.limits
    if place.box is None:
        return np.full(dim, -np.inf), np.full(dim, np.inf)
    box = place.box
    return np.nextafter(box.centre - box.half, -np.inf), np.nextafter(box.centre + box.half, np.inf)


def source_ranges(program: ExactProgram, place: BoundedDomain, stages: int | None = None) -> list[Range]:
    """Bounds on the network's inputs, and on the outputs of its first stages."""
    low, high = parameter_range(place)
    layers = in_floats(over_parameters(program, place.domain), stages)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = ranges(layers, low, high)
        if np.isfinite(low).all() and np.isfinite(high).all():
            found = whole_box(layers, low, high, found)
        outputs = [output_range(layers, layer, z) for layer, z in zip(layers.layers, found, strict=True)]
    return [_input_range(place, low, high), *outputs]


def _input_range(place: BoundedDomain, low: np.ndarray, high: np.ndarray) -> Range:
    domain = place.domain
    if not domain.is_slice:
        return low, high
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return np.full(domain.input_dim, -np.inf), np.full(domain.input_dim, np.inf)
    up, down = np.maximum(domain.basis, 0.0), np.minimum(domain.basis, 0.0)
    reach = np.abs(domain.origin) + np.abs(domain.basis) @ np.maximum(np.abs(low), np.abs(high))
    doubt = relative(2 * domain.dim + 8) * reach + TINY
    least, most = domain.origin + up @ low + down @ high - doubt, domain.origin + up @ high + down @ low + doubt
    return np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
