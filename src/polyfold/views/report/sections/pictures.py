"""Pictures of the pieces."""

from __future__ import annotations

from polyfold.views.report.blocks import Section
from polyfold.views.report.found import Found


def what_it_looks_like(found: Found) -> Section | None:
    return None
