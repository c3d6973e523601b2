"""Every certificate that is handed out can be checked with `fractions.Fraction` alone, and holds.

docs/checking.md shows the same checks to users. The oracle (plain.py) shares no code with the library.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from soundness.plain import evaluate, inequalities, random_layers


def network(seed: int, *widths: int):
    return random_layers(np.random.default_rng(seed), *widths, lattice=seed % 2 == 0)


# -- contradictions


@pytest.mark.parametrize("batch", range(3))
def test_contradictions_of_patterns(batch):
    infeasible = 0
    for seed in range(batch, 60, 3):
        layers = network(seed, 2, 5, 3, 1)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            pattern = rng.integers(0, 2, size=8).astype(bool).tolist()
            found = pf.map_of(layers, pattern, domain=pf.box(-1, 1))
            rows = inequalities(layers, pattern, -1, 1)
            if found.feasible:
                assert [value > 0 for value in evaluate(layers, found.witness.fractions)[1]] == pattern
                continue
            infeasible += 1
            assert found.contradiction, (seed, pattern)
            total, bound, strict = [Fraction(0), Fraction(0)], Fraction(0), False
            for wall, multiplier in found.contradiction.items():
                a, b, is_strict = rows[wall]
                assert multiplier > 0 and found.exact_row(wall) == (tuple(a), b), (seed, wall)
                total = [t + multiplier * v for t, v in zip(total, a, strict=True)]
                bound, strict = bound + multiplier * b, strict or is_strict
            assert not any(total) and (bound < 0 or (bound == 0 and strict)), (seed, pattern)
    assert infeasible > 30
