"""Real numbers out of whatever a user has them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import ShapeError


def real_array(what: str, values: Any) -> npt.NDArray[np.float64]:
    """A new float64 array of lists, arrays or tensors (with gradients, on any device), or an error that quotes `what`.

    >>> real_array("inputs", [[1, 2]])
    array([[1., 2.]])
    """
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu().double().numpy()
        found = np.array(values)
        if np.iscomplexobj(found):
            raise TypeError("these numbers are complex")
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ShapeError(f"{what}: {error}") from None
