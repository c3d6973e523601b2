"""The compiled core. This is the one module that imports the extension."""

from __future__ import annotations

from polyfold.core._native import (
    FlatDomain,
    GivenUp,
    OpenDomain,
    Problem,
    TooLarge,
    certify,
    count,
    count_disorder,
    count_faces,
    count_pairing,
    measure,
    prove_witnesses,
    trace,
    unfold,
)

__all__ = [
    "FlatDomain",
    "GivenUp",
    "OpenDomain",
    "Problem",
    "TooLarge",
    "certify",
    "count",
    "count_disorder",
    "count_faces",
    "count_pairing",
    "measure",
    "prove_witnesses",
    "trace",
    "unfold",
]
