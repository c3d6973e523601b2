"""Where instructions are counted, and what a cell may take there against version 0.1.

Each regime spends its time elsewhere: layers before the last one, sections of the last one, vertices far out, many
lines in one layer, linear programs in many dimensions. Domains are as small as still shows that: callgrind is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cases import ACASXU, Case, write_acasxu, write_acasxu_on

# The inputs that ACAS-Xu is made for, normalised as the network wants them.
ACASXU_DOMAIN = np.array([(-0.328422, 0.679858), *[(-0.5, 0.5)] * 4])


@dataclass(frozen=True)
class Regime:
    """Networks on domains, and for each call the largest share of 0.1's instructions per cell that is aimed at."""

    label: str
    write: Callable[[Path], list[Path]]  # files for the worker; none where the network is not at hand
    aims: dict[str, float]


def of(case: Case, **aims: float) -> Regime:
    return Regime(case.label, lambda folder: [case.write(folder)], aims)


def property_3(folder: Path) -> list[Path]:
    written = write_acasxu(folder)
    return [written] if written else []


def small_boxes(folder: Path) -> list[Path]:
    """Twelve random boxes in the whole domain of ACAS-Xu, each a twenty-fourth of it wide."""
    if not ACASXU.exists():
        return []
    low, high = ACASXU_DOMAIN.T
    side = (high - low) / 24
    corners = low + np.random.default_rng(0).random((12, len(low))) * (high - low - side)
    return [write_acasxu_on(folder / f"acasxu_box_{k}.npz", corner, corner + side) for k, corner in enumerate(corners)]


REGIMES = (
    of(Case((2, 32, 32, 1)), count=1 / 3, unfold=1 / 2),
    of(Case((3, 16, 16, 1)), count=1 / 3, unfold=1 / 2),
    of(Case((5, 16, 16, 1), 1), count=0.4, unfold=1 / 2),
    of(Case((2, 128, 128, 128, 1), 1), count=1 / 3, unfold=1 / 2),
    of(Case((3, 64, 64, 1), 1), count=1 / 3, unfold=1 / 2),
    of(Case((4, 16, 16, 1), 1000), count=0.4, unfold=1 / 2),
    of(Case((5, 16, 16, 1), 1000), count=0.4, unfold=1 / 2),
    Regime("ACAS-Xu 1_1, property 3", property_3, {"count": 0.45, "unfold": 2 / 3}),
    Regime("ACAS-Xu 1_1, twelve small boxes", small_boxes, {"count": 0.45, "unfold": 2 / 3}),
    of(Case((8, 10, 10, 1), 1), count=1 / 3),
    of(Case((30, 10, 10, 1), 0.05), count=1 / 3),
    # Counting lines is a formula, and was one in 0.1.
    of(Case((2, 500, 1)), count=1, unfold=1 / 2),
    of(Case((1, 5000, 1)), count=1, unfold=1 / 2),
)
