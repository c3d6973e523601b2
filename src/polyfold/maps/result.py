"""MapMatrices: the local affine maps of a network at many inputs, one matrix per output."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import labels_of, place_of_output
from polyfold._base.result import Result
from polyfold._base.types import AnyArray, ArrayLike, Ids
from polyfold.errors import ShapeError, how_many

# Of either precision.
Floats = npt.NDArray[np.float64]

# Inputs whose rows are read together.
AT_ONCE = 4096


@dataclass(frozen=True, eq=False, repr=False)
class MapMatrices(Result):
    """Rows [w, b] of a network around inputs X: output j is w . x + b on the closed cell of X[i].

    If the work was stopped, these are the rows of the first inputs only, and `stopped_by` says so.

    Attributes
    ----------
    matrices : array of float, shape (outputs, n, inputs + 1)
        `matrices[k]` is C_j of output j = `outputs[k]`. It may be a file that is mapped into memory.
    X : array of float, shape (n, inputs)
        The inputs.
    outputs : tuple of int
        The numbers of the outputs.
    input_shape : tuple of int
        The shape of one input.
    cells : array of uint8, shape (n, 16)
        A digest of what every gate decided at each input.
    residual : float
        The largest |w . x + b - f(x)| of all rows, the former computed in the matrices' type of floats.
    path : Path, optional
        The folder that keeps them, if there is one.
    """

    matrices: AnyArray
    X: AnyArray
    outputs: tuple[int, ...]
    input_shape: tuple[int, ...]
    cells: npt.NDArray[np.uint8]
    residual: float
    path: Path | None = None

    def __post_init__(self) -> None:
        m, n, columns = self.matrices.shape
        if m != len(self.outputs) or self.X.shape != (n, columns - 1) or self.cells.shape != (n, 16):
            raise ShapeError(
                f"matrices of shape {self.matrices.shape} do not fit {how_many(len(self.outputs), 'output')}, inputs "
                f"of shape {self.X.shape} and digests of shape {self.cells.shape}"
            )

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        stopped = f"; stopped by {self.stopped_by}" if self.stopped_by else ""
        where = f", in {str(self.path)!r}" if self.path else ""
        return (
            f"MapMatrices: {how_many(len(self.outputs), 'output')}, {how_many(len(self), 'input')} of "
            f"{how_many(self.X.shape[1], 'number')}, {self.matrices.dtype}{where}{stopped}"
        )

    def facts(self) -> dict[str, Any]:
        """The numbers that tell what they are; the maps themselves are too many for a text."""
        return {
            "inputs": len(self),
            "features": self.X.shape[1],
            "outputs": self.outputs,
            "input_shape": self.input_shape,
            "dtype": self.matrices.dtype.name,
            "distinct_cells": self.distinct_cells,
            "residual": self.residual,
            "path": None if self.path is None else str(self.path),
        }

    def of(self, output: int) -> AnyArray:
        """C_j: one row [w, b] per input."""
        found: AnyArray = self.matrices[place_of_output(output, self.outputs, "maps")]
        return found

    @cached_property
    def distinct_cells(self) -> int:
        """How many cells the inputs lie in: in each of them every gate is on one side and every maximum has one winner.

        Entries that lose in a maximum are not compared with each other. Told by digests of 128 bits.
        """
        return len({row.tobytes() for row in self.cells})

    def values(self) -> Floats:
        """The outputs (n, outputs) that the rows give: w . x + b."""
        found = np.empty((len(self), len(self.outputs)))
        for start in range(0, len(self), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            found[part] = applied(self.matrices[:, part], self.X[part])
        return found

    def predict(self) -> Ids:
        """The output that is largest at each input."""
        return largest_output(self.outputs, self.values())

    def score(self, y: ArrayLike) -> float:
        """The share of inputs whose largest output is the one that `y` says."""
        return share_right(self.predict(), y)

    def images(self, output: int, inputs: slice | list[int] | None = None) -> AnyArray:
        """The slopes w of an output in the shape of the inputs, (n, *input_shape)."""
        rows = self.of(output)[slice(None) if inputs is None else inputs]
        return np.asarray(rows[:, :-1]).reshape(len(rows), *self.input_shape)


def applied(rows: AnyArray, X: AnyArray) -> Floats:
    """w . x + b of rows (outputs, n, inputs + 1) at inputs (n, inputs): (n, outputs)."""
    x = X.astype(np.float64)
    found = [np.einsum("nd,nd->n", each[:, :-1], x, dtype=np.float64) + each[:, -1] for each in rows]
    return np.stack(found, axis=1)


def largest_output(outputs: tuple[int, ...], values: AnyArray) -> Ids:
    """The number of the output that is largest in each row of values."""
    return np.asarray(np.asarray(outputs, dtype=np.int64)[values.argmax(axis=1)])


def share_right(predicted: Ids, y: ArrayLike) -> float:
    """The share of labels that were predicted, or an error that quotes what does not fit."""
    expected = labels_of(y, len(predicted))
    return float((predicted == expected).mean()) if len(predicted) else float("nan")
