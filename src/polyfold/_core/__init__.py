"""The compiled core. This is the one module that imports the extension."""

from __future__ import annotations

from polyfold._core._native import (
    FlatDomain,
    FoundCells,
    GivenUp,
    KnownCells,
    OpenDomain,
    Problem,
    TooLarge,
    certify,
    corner_signs,
    count,
    count_disorder,
    count_faces,
    count_pairing,
    cut_slice,
    eccentricities,
    find_cells,
    hop_distances,
    list_faces,
    measure,
    prove_witnesses,
    pull_rows_double,
    pull_rows_single,
    raise_contradictions_as,
    sparse_rank,
    trace,
)
from polyfold.errors import ContradictionError

raise_contradictions_as(ContradictionError)

__all__ = [
    "FlatDomain",
    "FoundCells",
    "GivenUp",
    "KnownCells",
    "OpenDomain",
    "Problem",
    "TooLarge",
    "certify",
    "corner_signs",
    "count",
    "count_disorder",
    "count_faces",
    "count_pairing",
    "cut_slice",
    "eccentricities",
    "find_cells",
    "hop_distances",
    "list_faces",
    "measure",
    "prove_witnesses",
    "pull_rows_double",
    "pull_rows_single",
    "sparse_rank",
    "trace",
]
