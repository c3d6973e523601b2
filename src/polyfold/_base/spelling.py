"""Names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def unknown_node(name: str, names: Sequence[str]) -> str:
    """What to say where a model has no node of this name.

    >>> unknown_node("relu", ["linear1", "relu1"])
    "until='relu' is no node of the model; nodes are called 'relu1', ..."
    """
    known = list(dict.fromkeys(names))
    close = get_close_matches(name, known, n=3, cutoff=0.4) or known[-3:]
    more = ", ..." if len(known) > len(close) else ""
    return f"until={name!r} is no node of the model; nodes are called {', '.join(map(repr, close))}{more}"
