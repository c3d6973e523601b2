"""How much of what is generated is a quick test; `make test-all` runs all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

QUICK_SHARE = 3


def quick_then_slow(values: Iterable[Any], *, quick: int) -> list[Any]:
    """Parameters of which the first few are quick tests and all others slow ones."""
    return [value if k < quick else pytest.param(value, marks=pytest.mark.slow) for k, value in enumerate(values)]


def examples(count: int) -> int:
    """So many examples of Hypothesis in `make test-all`, a third of them in `make test`."""
    return count if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else -(-count // QUICK_SHARE)
