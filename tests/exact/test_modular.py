"""Elimination in blocks beside elimination at once."""

from __future__ import annotations

import numpy as np
import pytest
from flint import nmod_mat

from polyfold.exact import modular
from polyfold.exact.modular import blocks, reduced

PRIME = 10007


def _at_once(rows: list[list[int]]) -> list[list[int]]:
    found, rank = nmod_mat(len(rows), len(rows[0]), [value % PRIME for row in rows for value in row], PRIME).rref()
    return [[int(found[i, j]) for j in range(len(rows[0]))] for i in range(rank)]


@pytest.mark.parametrize("seed", range(30))
def test_blocks_give_what_one_elimination_gives(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    height, width, rank = random.integers(1, 40), random.integers(1, 20), random.integers(1, 12)
    # Of small rank, with rows that are 0 and columns that are 0, and entries below zero and beyond the prime.
    rows = random.integers(-9, 9, (height, rank)) @ random.integers(-9000, 9000, (rank, width))
    rows[random.random(height) < 0.2] = 0
    rows[:, random.random(width) < 0.2] = 0
    monkeypatch.setattr(modular, "_PRODUCTS_AT_ONCE", 1)
    monkeypatch.setattr(modular, "_FEWEST_ROWS", int(random.integers(1, 6)))
    expected = _at_once(rows.tolist())
    found = blocks(rows.tolist(), PRIME)
    assert sum(len(block.pivots) for block in found) == len(expected)
    lines = [
        (pivot, [int(block.rows[i, j]) for j in range(int(width))])
        for block in reduced(found)
        for i, pivot in enumerate(block.pivots)
    ]
    assert [line for _, line in sorted(lines)] == expected


def test_nothing_to_eliminate() -> None:
    assert blocks([], PRIME) == []
    assert blocks([[0, 0]], PRIME) == []
