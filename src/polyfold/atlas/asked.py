"""What a question about a whole domain needs of an atlas, and errors that say what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyfold._base.distinct import distinct
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.atlas.atlas import Atlas
from polyfold.errors import DomainError, PolyfoldError


def an_atlas(given: Any, question: str) -> Atlas:
    """The atlas itself, or an error that says how to get one."""
    if not isinstance(given, Atlas):
        raise PolyfoldError(
            f"{question} is asked of an atlas, not of {_short(given)}: call pf.unfold(network, domain) and give what "
            "it returns"
        )
    return given


def cells_asked_for(atlas: Atlas, cells: ArrayLike | None, question: str) -> Ids:
    """The cells that are meant. All of them are all of the domain, so none may be missing."""
    if cells is None and not atlas.complete:
        raise PolyfoldError(
            f"{question} over the whole domain needs all cells, and {atlas.certificate.how_to_complete}, or choose "
            "cells"
        )
    ids = atlas.ids(cells)
    if not len(ids):
        raise PolyfoldError(f"{question} over no cells at all: choose at least one")
    if cells is not None and len(distinct(ids)) < len(ids):
        raise PolyfoldError(f"{question}: a cell is named twice among those chosen")
    return ids


def bounded_cells(atlas: Atlas, ids: Ids, question: str) -> None:
    """Refuse cells that have no end."""
    unbounded = np.flatnonzero(~atlas.bounded[ids])
    if len(unbounded):
        raise DomainError(
            f"{question} needs a bounded domain, and {len(unbounded):,} of the {len(ids):,} cells are unbounded (cell "
            f"{int(ids[unbounded[0]])} for one): unfold on a bounded one, say pf.box(lo, hi), or choose bounded cells"
        )


def finite(found: Array, question: str) -> Array:
    """The answer, unless floats cannot hold it or what leads to it."""
    if not np.isfinite(found).all():
        raise PolyfoldError(
            f"{question} overflows: coefficients of the network, multiplied, are larger than floats can be: rescale "
            "its weights"
        )
    return found


def no_underflow(lost: bool, question: str) -> None:
    """Refuse to weigh cells whose volumes floats cannot hold."""
    if lost:
        raise PolyfoldError(
            f"{question} underflows: volumes of cells are smaller than floats can be: rescale the inputs, or choose a "
            "larger domain"
        )


def _short(given: Any) -> str:
    text = " ".join(repr(given).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
