"""The compiled core. This is the one module that imports the extension."""

from __future__ import annotations

from polyfold.core._native import (
    FlatDomain,
    FoundCells,
    GivenUp,
    KnownCells,
    OpenDomain,
    Problem,
    TooLarge,
    blend_rows,
    certify,
    count,
    count_disorder,
    count_faces,
    count_pairing,
    cut_slice,
    find_cells,
    measure,
    prove_witnesses,
    read_slice,
    trace,
)

__all__ = [
    "FlatDomain",
    "FoundCells",
    "GivenUp",
    "KnownCells",
    "OpenDomain",
    "Problem",
    "TooLarge",
    "blend_rows",
    "certify",
    "count",
    "count_disorder",
    "count_faces",
    "count_pairing",
    "cut_slice",
    "find_cells",
    "measure",
    "prove_witnesses",
    "read_slice",
    "trace",
]
