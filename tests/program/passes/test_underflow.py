"""Slopes so small that products with them underflow, and are multiplied up again by the next stage."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polyfold as pf
from polyfold.testing.networks import program_from_layers
from polyfold.testing.reference import reference_unfold


@pytest.mark.parametrize("slopes", [(1e-200, 0.0), (1e-200, 1.0), (-1e-200, 0.5)])
def test_a_slope_that_underflows(slopes):
    """1e300 (1e-400 x) - 1e-150 is positive on [1/2, 1] though 1e-400 is no float; certify says so, too."""
    sign = 1.0 if slopes[0] > 0 else -1.0
    layers = [([[1e-200]], [0.0]), ([[sign * 1e300]], [-1e-150]), ([[1.0]], [0.0])]
    program, domain = program_from_layers(layers, slopes=[slopes, (1.0, 0.0)]), pf.box(0.5, 1)
    atlas = pf.unfold(program, domain)
    assert (
        [tuple(row) for row in atlas.signs().tolist()] == reference_unfold(program, domain).patterns == [(True, True)]
    )
    assert pf.certify(atlas).level == "certified"
    wrong = replace(atlas, patterns=atlas.patterns & 1)
    assert pf.certify(wrong).level == "counted"
