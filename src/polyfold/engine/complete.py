"""An atlas with all cells, for questions that mean nothing without some of them."""

from __future__ import annotations

from typing import Any

from polyfold._base.clock import running, tick
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import own_domain
from polyfold.engine.unfold import unfold
from polyfold.errors import PolyfoldError


def complete_atlas(
    source: Any, domain: DomainLike, why: str, *, threads: int | None = None, max_cells: int | None = None
) -> Atlas:
    """An atlas as it is, or the cells of a source; `why` says what is wrong if some are missing.

    With `max_cells` one that has more is handed out as it is, for whoever knows what to say of that.
    """
    if isinstance(source, Atlas):
        own_domain(source, domain)
        atlas = source
    else:
        atlas = unfold(source, domain, max_seconds=running().limit, max_cells=max_cells, threads=threads)
        if atlas.certificate.stopped_by == "interrupt":
            raise KeyboardInterrupt
        tick()
        if max_cells is not None and atlas.certificate.stopped_by == "max_cells":
            return atlas
    if not atlas.complete:
        raise PolyfoldError(f"{why}, and {atlas.certificate.how_to_complete}")
    return atlas
