"""The file in which a network and a box travel to a worker. Needs NumPy only: other environments read it too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Layers = list[tuple[Floats, Floats]]


def write(path: Path, layers: Layers, box: tuple[Floats, Floats] | None) -> None:
    """Weights and biases as w0, b0, w1, b1, ..., and the box as lower and upper."""
    arrays: dict[str, Any] = {
        f"{name}{k}": array for k, layer in enumerate(layers) for name, array in zip("wb", layer, strict=True)
    }
    if box is not None:
        arrays |= {"lower": box[0], "upper": box[1]}
    np.savez(path, **arrays)


def read(path: Path) -> tuple[Layers, tuple[Floats, Floats] | None]:
    """The layers, and the box or None for all of R^d."""
    with np.load(path) as archive:
        box = (archive["lower"], archive["upper"]) if "lower" in archive else None
        count = (len(archive.files) - (2 if box else 0)) // 2
        return [(archive[f"w{k}"], archive[f"b{k}"]) for k in range(count)], box
