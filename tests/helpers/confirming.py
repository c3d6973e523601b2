"""Reductions looked at by `pf.equivalent`, which knows nothing of their steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import polyfold as pf


def confirmed(found: pf.rewrite.Reduction, *, max_seconds: float | None = None) -> pf.compare.Equivalence:
    """Whether the scores of both networks agree on the domain, up to what the reduction says."""
    before, after = (replace(network, head=None) for network in (found.before, found.network))
    return pf.equivalent(before, after, found.domain, tolerance=Fraction(found.difference), max_seconds=max_seconds)
