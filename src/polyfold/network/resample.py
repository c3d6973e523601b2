"""Interpolation along one axis as a matrix, with ONNX's many rules for where the new places lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[np.float64]

COORDINATES = (
    *("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"),
    "tf_half_pixel_for_nn",
)


@dataclass(frozen=True)
class Settings:
    """What ONNX's Resize says about interpolation; the words are ONNX's."""

    mode: str
    coordinates: str
    nearest: str
    cubic: float = -0.75
    exclude_outside: bool = False


def matrix(before: int, after: int, factor: float, settings: Settings) -> sparse.csr_array:
    """The matrix (after, before) of one axis; each row of a nearest one has a single entry."""
    if before == after and factor == 1:
        return sparse.csr_array(sparse.eye_array(before, format="csr"))
    where = _places(before, after, factor, settings.coordinates)
    if settings.mode == "nearest":
        chosen = np.clip(_rounded(where, settings.nearest), 0, before - 1)[:, None]
        weights = np.ones((after, 1))
    elif settings.mode == "linear":
        where = np.clip(where, 0, before - 1)
        low = np.floor(where)[:, None]
        chosen = low + np.array([0, 1])
        part = where[:, None] - low
        weights = np.concatenate([1 - part, part], axis=1)
    else:
        low = np.floor(where)[:, None]
        chosen = low + np.array([-1, 0, 1, 2])
        weights = _cubic(np.abs(where[:, None] - chosen), settings.cubic)
        if settings.exclude_outside:
            weights = np.where((chosen >= 0) & (chosen < before), weights, 0.0)
            weights = weights / weights.sum(axis=1, keepdims=True)
    columns = np.clip(chosen, 0, before - 1).astype(np.int64)
    rows = np.repeat(np.arange(after), columns.shape[1])
    result = sparse.csr_array((weights.ravel(), (rows, columns.ravel())), shape=(after, before))
    result.sum_duplicates()
    if settings.mode != "nearest":
        result.eliminate_zeros()
    return result


def _places(before: int, after: int, factor: float, coordinates: str) -> Array:
    """Where the new places lie, in the old coordinates."""
    # In float32, like onnxruntime: where a place lies right between two others, that decides which one is nearest.
    new = np.arange(after, dtype=np.float32)
    return np.asarray(_in_old_coordinates(new, before, after, np.float32(factor), coordinates), dtype=np.float64)


def _in_old_coordinates(
    new: npt.NDArray[np.float32], before: int, after: int, factor: np.float32, coordinates: str
) -> npt.NDArray[np.float32]:
    if coordinates == "align_corners":
        return new * np.float32(before - 1) / np.float32(after - 1) if after > 1 else 0 * new
    if coordinates == "asymmetric":
        return new / factor
    if coordinates == "tf_half_pixel_for_nn":
        return (new + np.float32(0.5)) / factor
    if coordinates == "pytorch_half_pixel" and after == 1:
        return 0 * new
    if coordinates == "half_pixel_symmetric":
        # The length is rounded, so that the middle would move; this puts it back.
        moved = np.float32(before / 2) * (np.float32(1) - np.float32(after) / (factor * np.float32(before)))
        return moved + (new + np.float32(0.5)) / factor - np.float32(0.5)
    return (new + np.float32(0.5)) / factor - np.float32(0.5)


def _rounded(where: Array, rule: str) -> Array:
    if rule == "floor":
        return np.floor(where)
    if rule == "ceil":
        return np.ceil(where)
    if rule == "round_prefer_ceil":
        return np.floor(where + 0.5)
    return np.ceil(where - 0.5)


def _cubic(distance: Array, a: float) -> Array:
    """The weight of an entry at this distance, by the cubic convolution kernel with parameter a."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
